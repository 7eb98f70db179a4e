"""The numbers of a footer are those that Arrow reads; damage never ends the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.storage.parquet_footer import ColumnChunk, column_chunks

#: Numbers of some encodings in ``parquet.thrift``.
ENCODINGS = {
    "PLAIN": 0,
    "PLAIN_DICTIONARY": 2,
    "RLE": 3,
    "BIT_PACKED": 4,
    "DELTA_BINARY_PACKED": 5,
    "DELTA_LENGTH_BYTE_ARRAY": 6,
    "DELTA_BYTE_ARRAY": 7,
    "RLE_DICTIONARY": 8,
    "BYTE_STREAM_SPLIT": 9,
}

#: What reads files whose footer Arrow takes for sound until it is asked about a column.
USES = """
import sys
from pathlib import Path
from corpus.counts import WordCounts
from corpus.errors import InputError
from corpus.formats import read
from corpus.problems import Problems

for use in (
    lambda: WordCounts.load(Path(sys.argv[1])),
    lambda: len(list(read(Path(sys.argv[2]), problems=Problems()))),
):
    try:
        print(use())
    except InputError as error:
        print(error)
"""

COLUMNS = {
    "texts": pa.list_(pa.string()),
    "number": pa.int64(),
    "nested": pa.struct([("a.b", pa.float32()), ("c", pa.list_(pa.bool_()))]),
    "with.dot": pa.large_string(),
}
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "texts": st.none() | st.lists(st.text(max_size=20), max_size=3),
            "number": st.none() | st.integers(-(2**63), 2**63 - 1),
            "nested": st.none()
            | st.fixed_dictionaries(
                {"a.b": st.floats(width=32), "c": st.lists(st.booleans(), max_size=2)}
            ),
            "with.dot": st.text(max_size=300),
        }
    ),
    max_size=40,
)
OPTIONS = st.fixed_dictionaries(
    {
        "row_group_size": st.integers(1, 20),
        "use_dictionary": st.booleans(),
        "compression": st.sampled_from(["none", "snappy", "zstd", "gzip"]),
        "data_page_version": st.sampled_from(["1.0", "2.0"]),
        "write_statistics": st.booleans(),
        "write_page_index": st.booleans(),
    }
)


def as_arrow_reads(path: Path) -> list[list[ColumnChunk]]:
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    return [
        [
            ColumnChunk(
                column.path_in_schema,
                frozenset(ENCODINGS[name] for name in column.encodings),
                column.total_compressed_size,
                column.total_uncompressed_size,
            )
            for column in map(group.column, range(group.num_columns))
        ]
        for group in groups
    ]


@given(rows=ROWS, options=OPTIONS)
def test_it_has_the_numbers_that_arrow_reads(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(COLUMNS.items())), path, **options)
    assert column_chunks(path) == as_arrow_reads(path)


def test_lists_of_many_groups_and_long_numbers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["x" * 100_000] * 40})
    pq.write_table(table, path, row_group_size=1, use_dictionary=False, compression="none")
    assert column_chunks(path) == as_arrow_reads(path)
    assert len(column_chunks(path)) == 40
    assert column_chunks(path)[0][0].unpacked > 100_000


@given(st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_footer_is_an_error_or_reads_as_another(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    pq.write_table(pa.table({"a": ["b", "c"], "n": [[1], None]}), path)
    content = bytearray(path.read_bytes())
    begin = len(content) - 8 - pq.read_metadata(path).serialized_size
    for place, value in changes:
        content[begin + place % (len(content) - begin)] = value
    path.write_bytes(content)
    try:
        chunks = column_chunks(path)
    except ValueError:
        return
    assert all(isinstance(chunk, ColumnChunk) for group in chunks for chunk in group)


@pytest.mark.parametrize(
    "footer",
    [
        b"",
        b"\x1c" * 100_000,  # structures in structures
        b"\x19" * 100_000,  # lists in lists
        b"\x19\xfc\xff\xff\xff\xff\x0f",  # a list of four billion structures
        b"\x18\xff\xff\xff\xff\x7f",  # a string of 32 gigabytes
        b"\x16" + b"\xff" * 1000 + b"\x00",  # a number of 7,000 bits
        b"\x49\x0c\x00",  # row groups without columns
        b"\x4b\x00\x00",  # a map
    ],
)
def test_what_is_no_footer_is_an_error(tmp_path: Path, footer: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    if footer == b"\x49\x0c\x00":
        assert column_chunks(path) == []
        return
    with pytest.raises(ValueError, match="the footer"):
        column_chunks(path)
    path.write_bytes(path.read_bytes()[-7:])
    with pytest.raises(ValueError, match="the footer is missing"):
        column_chunks(path)


def test_a_footer_that_contradicts_itself_does_not_end_the_process(tmp_path: Path) -> None:
    """Arrow raises an error that Python cannot catch when it is asked about such a column."""
    counts, notes = tmp_path / "counts.parquet", tmp_path / "notes.parquet"
    labels = pa.array([["NAME"]])
    pq.write_table(pa.table({"word": ["Anna"], "count": [1], "labels": labels}), counts)
    pq.write_table(pa.table({"id": ["a"], "text": ["Anna"], "labels": labels}), notes)
    for path in (counts, notes):
        content = path.read_bytes()
        # The histogram of repetition levels becomes one of definition levels, of another size.
        changed = content.replace(b"\x19\x26", b"\x29\x26")
        assert changed != content
        path.write_bytes(changed)
    done = subprocess.run(
        [sys.executable, "-c", USES, counts, notes], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    refused, notes_read = done.stdout.splitlines()
    assert "counts.parquet is not a file of word counts" in refused
    assert notes_read == "1"  # whose labels are in a column that is not read
