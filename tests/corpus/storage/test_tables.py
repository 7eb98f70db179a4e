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
    has_digest,
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
    assert has_digest(path)


@given(_ROWS, st.integers(0, 6))
def test_the_digest_does_not_depend_on_how_a_table_is_divided(rows, cut) -> None:
    table = table_of(rows)
    divided = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    assert digest_of_table(divided) == digest_of_table(table)
    assert digest_of_table(table.slice(0, cut)) == digest_of_table(table_of(rows[:cut]))


@given(_ROWS, _ROWS)
def test_other_tables_have_other_digests(rows, others) -> None:
    same = repr(rows) == repr(others)
    assert (digest_of_table(table_of(rows)) == digest_of_table(table_of(others))) == same


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
            # A damaged schema may lose the digest; it then says so.
            assert read_table(path).equals(table) or not has_digest(path)
        except (OSError, ValueError):
            actual += 1
    assert actual > 500


def test_a_table_of_another_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"a": [1, 2]})
    digest = {DIGEST: digest_of_table(table).encode()}
    pq.write_table(pa.table({"a": [1, 3]}).replace_schema_metadata(digest), path)
    with pytest.raises(ChangedTableError, match="its content is not what was written"):
        read_table(path)
    pq.write_table(table, path)
    assert read_table(path).equals(table)
    assert not has_digest(path)
