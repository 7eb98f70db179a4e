"""Parquet files of a few kilobytes whose strings fill gigabytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus.errors import InputError
from corpus.formats import batches, read, read_batches
from corpus.formats.tabular import parquet_rows
from corpus.problems import Problems
from tests.corpus.formats.test_parquet import documents, label

LONG = "Anna Puig vive en Olot. " * 50_000


def repeated(value: str, rows: int) -> pa.DictionaryArray[Any]:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([value]))


def save(path: Path, rows: int, **columns: Any) -> Path:
    ids = {"id": [str(row) for row in range(rows)], "text": ["Anna, Reus"] * rows}
    pq.write_table(pa.table({**ids, **columns}), path)
    return path


def labels(values: pa.Array[Any]) -> pa.Array[Any]:
    """Return a column of labels, one in each row."""
    offsets = [pa.array([number] * len(values), pa.int32()) for number in (0, 4)]
    spans = pa.StructArray.from_arrays([*offsets, values], ["start", "end", "label"])
    return pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), spans)


def test_a_long_text_in_many_rows_is_decoded_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path / "notes.parquet", 300, text=repeated(LONG, 300))
    assert path.stat().st_size < len(LONG) / 10
    monkeypatch.setattr(parquet_rows, "MOST_AT_ONCE", 1 << 28)
    sizes: list[int] = []
    decoded = parquet_rows.decoded

    def measured(column: pa.Array[Any]) -> pa.Array[Any]:
        found = decoded(column)
        sizes.append(found.nbytes)
        return found

    monkeypatch.setattr("corpus.formats.tabular.parquet.decoded", measured)
    texts = [len(document.text) for document in read(path, problems=Problems())]
    assert texts == [len(LONG)] * 300
    assert len(LONG) * 5 < max(sizes) < batches.MOST_BYTES + 2 * len(LONG)


@pytest.mark.parametrize("column", ["id", "group", "label"])
def test_many_names_as_long_as_texts_are_refused(
    tmp_path: Path, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_rows, "MOST_AT_ONCE", 200_000)
    values: Any = repeated("x" * 70_000, 3)
    path = save(
        tmp_path / "notes.parquet", 3, **{column: labels(values) if column == "label" else values}
    )
    message = f"column '{column}' has a string of 70,000 bytes: expected 65,536 or fewer"
    with pytest.raises(InputError, match=message):
        documents(path)


@pytest.mark.parametrize("most", [1 << 30, 2000])
def test_a_row_has_a_limit(tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "MOST_OF_ROW", 1000)
    monkeypatch.setattr(parquet_rows, "MOST_AT_ONCE", most)
    path = save(tmp_path / "notes.parquet", 3, text=["A", "B" * 1000, "C"])
    with pytest.raises(InputError, match="strings of a row unpack to 1,001 bytes: expected 1,000"):
        documents(path)


def test_a_group_of_rows_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "MOST_OF_GROUP", 10_000)
    path = tmp_path / "notes.parquet"
    table = pa.table({"id": ["a"], "text": [" " * 1_000_000]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    with pytest.raises(InputError, match=r"row group 0 has .* unpacks to more than .*, the limit"):
        documents(path)


def test_long_strings_that_continue_the_row_before_are_read_in_few_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.parquet"
    table = pa.table({"id": [str(row) for row in range(50)], "text": ["x" * 100_000] * 50})
    pq.write_table(table, path, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"})
    monkeypatch.setattr(parquet_rows, "MOST_AT_ONCE", 300_000)
    found = list(read_batches(path, problems=Problems()))
    assert max(batch.nbytes for batch in found) < 400_000
    assert pa.Table.from_batches(found)["text"].to_pylist() == ["x" * 100_000] * 50


@pytest.mark.parametrize("most", [1 << 30, 1])
def test_what_is_read_as_dictionaries_is_as_it_was(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also strings in lists and structures, of columns that are carried along."""
    monkeypatch.setattr(parquet_rows, "MOST_AT_ONCE", most)
    others = {
        "ward": ["A", None, "A"],
        "codes": pa.array([["x", "y"], None, []], pa.list_(pa.large_string())),
        "staff": pa.array([{"role": "r", "years": 2}, None, {"role": None, "years": 1}]),
    }
    spans = [[label(0, 4, "NAME"), label(6, 10, "TOWN")], None, [label(0, 4, "NAME")]]
    path = save(tmp_path / "notes.parquet", 3, label=spans, group=["p", None, "p"], **others)
    expected = pq.read_table(path)
    found = pa.Table.from_batches(read_batches(path, problems=Problems()))
    for name in others:
        assert found[name].combine_chunks().equals(expected[name].combine_chunks()), name
    assert [[span.label for span in each.spans] for each in documents(path)] == [
        ["NAME", "TOWN"],
        [],
        ["NAME"],
    ]


@pytest.mark.parametrize("rows", [0, 2, 4, 63])
def test_a_file_with_other_numbers_of_rows_than_its_groups_is_refused(
    tmp_path: Path, rows: int
) -> None:
    path = save(tmp_path / "notes.parquet", 3)
    content = path.read_bytes()
    # The number of rows, in the field before the groups of rows: twice the number, as one byte.
    places = [b"\x16" + bytes([2 * number]) + b"\x19\x1c" for number in (3, rows)]
    assert content.count(places[0]) == 1
    path.write_bytes(content.replace(*places))
    with pytest.raises(InputError, match=r"is damaged: its groups have other numbers of rows"):
        documents(path)
