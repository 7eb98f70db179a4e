"""Parquet files that claim or unpack to more than they may stop at a limit, in bounded memory."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.tables import read_columns, table_bytes, write_table
from corpus.storage.unpacking import ALWAYS, MOST_RATIO
from gazetteers.gazetteer import COLUMNS, Gazetteer
from tests.measuring import measured

ROWS = st.lists(st.tuples(st.text(max_size=5), st.sampled_from("ab"), st.integers(0, 9)))


@given(ROWS, st.sampled_from(["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", ""]))
def test_a_table_is_read_as_it_was_written(tmp_path_factory, rows, encoding) -> None:
    path = tmp_path_factory.mktemp("table") / "a.parquet"
    names = COLUMNS.names
    columns = list(zip(*rows, strict=True)) or [[], [], []]
    table = pa.table([pa.array(column) for column in columns], names=names).cast(COLUMNS)
    options = {"use_dictionary": not encoding}
    if encoding:
        options["column_encoding"] = dict.fromkeys(("term", "class"), encoding)
    with path.open("wb") as file:
        write_table(table, file, **options, row_group_size=7)
    assert read_columns(path, COLUMNS).equals(table)


def bomb(path: Path, kind: str) -> None:
    """Write a small file that stands for hundreds of megabytes, or for more."""
    classes, counts = pa.array(["a"]), pa.array([1])
    options: dict[str, object] = {"compression": "zstd", "row_group_size": 1 << 22}
    if kind == "one long string":
        terms = pa.array(["x" * 331_000_000])
    else:
        terms = pa.array(["x" * 1_000_000] * 500)
        if kind == "difference":
            options |= {"use_dictionary": False, "column_encoding": {"term": "DELTA_BYTE_ARRAY"}}
    if kind == "rows":
        terms = pa.array(["x"] * 20_000_000)
    repeated = [each.take(pa.array(np.zeros(len(terms), np.int64))) for each in (classes, counts)]
    if kind == "difference":
        options["column_encoding"] |= {"class": "PLAIN", "count": "PLAIN"}  # type: ignore[operator]
    table = pa.table([terms, *repeated], names=COLUMNS.names).cast(COLUMNS)
    pq.write_table(table, path, **options)


SCRIPT = """
import sys
from pathlib import Path
from corpus.errors import InputError
from corpus.storage.tables import read_table
from gazetteers.gazetteer import Gazetteer
try:
    print(len(READER(Path(sys.argv[1]))))
except InputError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize("reader", ["Gazetteer.load", "read_table"])
@pytest.mark.parametrize("kind", ["one long string", "dictionary", "difference", "rows"])
def test_a_small_file_that_stands_for_much_is_refused(tmp_path, kind, reader) -> None:
    good, path = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    Gazetteer(
        pa.array(["a"], pa.large_string()), pa.array(["b"], pa.large_string()), np.array([1])
    ).save(good)
    bomb(path, kind)
    size = path.stat().st_size
    assert size < 1_000_000
    script = SCRIPT.replace("READER", reader)
    message, memory = measured(script, path)
    most = max(MOST_RATIO * size, ALWAYS)
    expected = f"{path} has {size:,} bytes and unpacks to more than {most:,}, the limit"
    assert message.startswith(expected)
    # A piece may have 8 MiB, of which Arrow needs several while it is built.
    assert memory < measured(script, good)[1] + 100


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, -1], "row 2: the count is negative; expected 0 or more"),
        ([2**61, 2**61], "the sum of its counts is 2 ** 62 or more, the limit"),
    ],
)
def test_counts_that_cannot_be_are_refused(tmp_path: Path, counts: list[int], message: str) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(table_bytes(pa.table([["a", "b"], ["c", "c"], counts], schema=COLUMNS)))
    with pytest.raises(InputError) as caught:
        Gazetteer.load(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5]),
        pa.array([None], pa.int64()),
        pa.array([[1]]),
        pa.array([b"\xff"]),
        pa.array([1], pa.int32()),
        pa.array([1], pa.uint64()),
        pa.array(["1"]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_counts_of_other_types_are_refused(tmp_path: Path, column: pa.Array) -> None:
    path = tmp_path / "a.parquet"
    terms = pa.array(["a"], pa.large_string())
    path.write_bytes(table_bytes(pa.table([terms, terms, column], names=COLUMNS.names)))
    with pytest.raises(InputError, match="is not a gazetteer"):
        Gazetteer.load(path)


def test_strings_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    terms = pa.array([b"\xff\x91"]).view(pa.string()).cast(pa.large_string(), safe=False)
    table = pa.table([terms, pa.array(["a"], pa.large_string()), [1]], COLUMNS.names)
    path.write_bytes(table_bytes(table))
    with pytest.raises(InputError, match="is not a gazetteer"):
        Gazetteer.load(path)
