"""Tables in Parquet files: what is read is what was written, or is refused."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.storage.tables import (
    DIGEST,
    ChangedTableError,
    digest_of_table,
    read_table,
    table_bytes,
)

_PART = pa.struct([("start", pa.int64()), ("label", pa.large_string())])
_SCHEMA = pa.schema(
    [
        ("text", pa.large_string()),
        ("name", pa.string()),
        ("number", pa.int64()),
        ("share", pa.float64()),
        ("yes", pa.bool_()),
        ("parts", pa.large_list(_PART)),
        ("bytes", pa.large_binary()),
    ]
)
_TEXTS = st.text(st.characters(codec="utf-8"))
_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | _TEXTS,
            "name": st.none() | _TEXTS,
            "number": st.none() | st.integers(-(2**63), 2**63 - 1),
            "share": st.none() | st.floats(),
            "yes": st.none() | st.booleans(),
            "parts": st.none()
            | st.lists(
                st.none()
                | st.fixed_dictionaries(
                    {"start": st.none() | st.integers(0, 9), "label": st.none() | _TEXTS}
                )
            ),
            "bytes": st.none() | st.binary(),
        }
    ),
    max_size=6,
)


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


@given(_ROWS)
def test_a_table_is_read_as_it_was_written(tmp_path_factory, rows) -> None:
    path = tmp_path_factory.mktemp("tables") / "a.parquet"
    table = table_of(rows).replace_schema_metadata({"total": "7"})
    path.write_bytes(table_bytes(table))
    actual = read_table(path)
    assert repr(actual.to_pylist()) == repr(table.to_pylist())  # NaN is not equal to itself
    assert actual.schema.metadata == {b"total": b"7"}


def test_names_types_and_metadata_are_part_of_the_digest() -> None:
    table = pa.table({"a": pa.array([1], pa.int64())})
    others = [
        table.rename_columns(["b"]),
        pa.table({"a": pa.array([1], pa.uint64())}),
        table.replace_schema_metadata({"total": "1"}),
        table.slice(1),
    ]
    assert len({digest_of_table(each) for each in [table, *others]}) == 5


def test_every_flipped_bit_is_found_or_changes_nothing(tmp_path: Path) -> None:
    rows = [
        {"text": f"El paciente {number} vive en Girona.", "name": "Girona", "number": number}
        for number in range(20)
    ]
    table, path = table_of(rows), tmp_path / "a.parquet"
    content = table_bytes(table)
    actual = 0
    for bit in random.Random(0).sample(range(8 * len(content)), 1000):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert read_table(path).equals(table)
        except (OSError, ValueError):
            actual += 1
    assert actual > 500


def test_a_damaged_value_is_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"a": list(range(1000))})
    content = bytearray(table_bytes(table))
    content[len(content) // 4] ^= 1
    path.write_bytes(content)
    with pytest.raises(ChangedTableError, match="its content is not what was written"):
        read_table(path)


def test_a_table_with_the_digest_of_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"a": [1, 2]})
    digest = {DIGEST: digest_of_table(table).encode()}
    pq.write_table(pa.table({"a": [1, 2, 3]}).replace_schema_metadata(digest), path)
    with pytest.raises(ChangedTableError, match="its content is not what was written"):
        read_table(path)


def test_a_table_without_digest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    with pytest.raises(ChangedTableError, match="has no digest of its content"):
        read_table(path)
