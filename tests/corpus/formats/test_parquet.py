"""Reading and writing Parquet."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus.document import Document, Span
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import Columns, batches, read, read_batches, write, write_batches
from tests.corpus.formats.reading import documents, lenient, with_confidences


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.parquet"


def save(path: Path, row_group_size: int | None = None, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=row_group_size)
    return path


def label(start: int | None, end: int | None, name: str | None) -> dict[str, Any]:
    return {"start": start, "end": end, "label": name}


def test_a_row_is_a_document(path: Path) -> None:
    labels = [[label(6, 10, "TOWN"), label(0, 4, "NAME")], None]
    save(path, id=["a", "b"], text=["Anna, Reus", ""], label=labels, group=["p", None], age=[3, 4])
    assert documents(path) == [
        Document("a", "Anna, Reus", (Span(0, 4, "NAME"), Span(6, 10, "TOWN")), "p"),
        Document("b", ""),
    ]


@pytest.mark.parametrize(
    "ids",
    [
        *[pa.array([7, 300 % 256], kind) for kind in (pa.int8(), pa.uint8(), pa.int64())],
        pa.array([2**64 - 1, 0], pa.uint64()),
        *[pa.array(["x", "ñ"], kind) for kind in (pa.string(), pa.large_string())],
        pa.array(["x", "ñ"], pa.string_view()),
        pa.array(["x", "x"]).dictionary_encode(),
        pa.array([5, 5]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type),
)
def test_ids_and_groups_are_of_any_integer_or_string_type(path: Path, ids: pa.Array) -> None:
    save(path, id=ids, text=["A", "B"], group=ids)
    expected = [str(value) for value in ids.to_pylist()]
    assert [document.id for document in documents(path)] == expected
    assert [document.group for document in documents(path)] == expected


def test_annotations_are_of_any_integer_and_string_type(path: Path) -> None:
    fields = [("start", pa.uint16()), ("label", pa.large_string()), ("end", pa.int64())]
    labels = pa.array([[label(0, 1, "N")]], pa.large_list(pa.struct(fields)))
    (document,) = documents(save(path, id=[1], text=["A"], label=labels))
    assert document.spans == (Span(0, 1, "N"),)


def test_columns_of_nulls_are_no_annotations_and_no_groups(path: Path) -> None:
    save(path, id=["a"], text=["A"], label=pa.nulls(1), group=pa.nulls(1))
    assert documents(path) == [Document("a", "A")]


def test_columns_can_have_other_names(path: Path) -> None:
    save(path, nhc=[1], nota=["A"], tags=[[label(0, 1, "N")]], pat=[2], text=[3.5], id=[b"x"])
    columns = Columns(id="nhc", text="nota", label="tags", group="pat")
    assert documents(path, columns=columns) == [Document("1", "A", (Span(0, 1, "N"),), "2")]


@pytest.mark.parametrize("missing", ["id", "text"])
def test_a_missing_column_is_an_error(path: Path, missing: str) -> None:
    columns = {"nhc": [1], "text": ["Joan"], "nota": ["Joan"]}
    named = Columns(id="nhc")
    missing = getattr(named, missing)
    del columns[missing]
    save(path, **columns)
    with pytest.raises(InputError) as error:
        documents(path, columns=named)
    there = "2 columns, among them " + ", ".join(name for name in columns if name != "nhc")
    assert f"{path} has no column '{missing}': it has {there};" in str(error.value)


def test_rows_without_ids_are_named_by_their_file_and_number(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("a.parquet", "a.pq"):
        save(tmp_path / "deep" / name, 2, text=["A", "B", "C"])
    expected = [f"deep/a.{suffix}:{row}" for suffix in ("parquet", "pq") for row in range(3)]
    assert [document.id for document in documents(tmp_path)] == expected


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [True], "text": ["A"]}, "'id' is bool: expected a string or an integer"),
        ({"id": [b"x"], "text": ["A"]}, "'id' is binary: expected a string or an integer"),
        ({"id": [1], "text": [5]}, "'text' is int64: expected a string"),
        ({"id": [1], "text": ["A"], "group": [True]}, "'group' is bool: expected a string or an"),
        ({"id": [1], "text": ["A"], "label": ["N"]}, "'label' is string: expected a list of str"),
        ({"id": [1], "text": ["A"], "label": [["N"]]}, "expected a list of struct<start: int, end"),
        ({"id": [1], "text": ["A"], "label": [[{"start": 1, "end": 2}]]}, "expected a list of str"),
    ],
)
def test_a_column_of_another_type_is_an_error(path, columns, message) -> None:
    with pytest.raises(InputError, match=message):
        documents(save(path, **columns))


def test_null_ids_and_texts_are_rejected(path: Path) -> None:
    save(path, id=["a", None, "c"], text=[None, "Joan", "C"])
    problems = lenient()
    assert documents(path, problems) == [Document("c", "C")]
    assert [str(each) for each in problems.named["rows without an id or a text"]] == [
        f"{path}, row 0: rows without an id or a text: the text is null",
        f"{path}, row 1: rows without an id or a text: the id is null",
    ]
    with pytest.raises(ProblemError, match="row 0: rows without"):
        documents(path)


def test_whole_numbers_of_a_floating_column_are_integers(path: Path) -> None:
    """As pandas writes integers where one of them is null."""
    save(path, id=[7.0, 8.0, 9.0], text=["a", "b", "c"], group=[12.0, None, float("nan")])
    actual = [(document.id, document.group) for document in documents(path)]
    assert actual == [("7", "12"), ("8", None), ("9", None)]


@pytest.mark.parametrize(
    ("ids", "groups", "kind"),
    [
        ([1.5], [1.0], "broken numbers: expected whole numbers"),
        ([1.0], [1.5], "broken numbers: expected whole numbers"),
        ([float("inf")], [1.0], "broken numbers: "),
        ([float("nan")], [1.0], "rows without an id or a text: the id is null"),
    ],
)
def test_other_numbers_are_no_ids_and_no_groups(ids, groups, kind, path) -> None:
    save(path, id=ids, text=["a"], group=groups)
    with pytest.raises(ProblemError, match=kind):
        documents(path)


@pytest.mark.parametrize("column", ["id", "text", "group"])
def test_bytes_that_are_not_utf8_are_rejected(path: Path, column: str) -> None:
    bad = pa.array([b"J\xff", b"b"]).view(pa.string())
    save(path, **{"id": ["a", "b"], "text": ["A", "b"], column: bad})
    problems = lenient()
    assert [document.id for document in documents(path, problems)] == ["b"]
    assert problems.counts == {"text that is not UTF-8": 1}
    with pytest.raises(ProblemError, match="row 0: text that is not UTF-8"):
        documents(path)


@pytest.mark.parametrize("damage", ["empty", "head", "no footer", "text"])
def test_a_file_that_is_not_complete_is_an_error(path: Path, damage: str) -> None:
    save(path, id=list(range(100)), text=["Joan"] * 100)
    data = path.read_bytes()
    pieces = {"empty": b"", "head": data[:20], "no footer": data[:-10], "text": b"Joan Vila" * 9}
    path.write_bytes(pieces[damage])
    with pytest.raises(InputError, match="is not a complete Parquet file: was it cut") as error:
        documents(path)
    assert "\n" not in str(error.value)
    assert "Joan" not in str(error.value)


def test_damage_inside_of_a_file_is_an_error(path: Path) -> None:
    save(path, id=list(range(100)), text=[f"Joan {n}" for n in range(100)])
    data = bytearray(path.read_bytes())
    data[4:600] = b"\xff" * 596
    path.write_bytes(data)
    with pytest.raises(InputError, match="is damaged: its rows cannot be read") as error:
        documents(path)
    assert "\n" not in str(error.value)


def test_rows_are_read_over_row_groups_and_files(tmp_path: Path) -> None:
    for name, low, high, size in [("a", 0, 10, 3), ("b", 10, 10, 3), ("c", 10, 17, 100)]:
        ids = pa.array(range(low, high), pa.int64())
        texts = pa.array([f"t{n}" for n in range(low, high)], pa.string())
        save(tmp_path / f"{name}.parquet", size, id=ids, text=texts)
    assert [document.id for document in documents(tmp_path)] == [str(n) for n in range(17)]


def test_a_file_that_vanished_while_others_were_read_is_an_error(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(tmp_path / f"{name}.parquet", id=[name], text=["x"])
    notes = read(tmp_path, problems=Problems())
    assert next(notes).id == "a"
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(InputError, match=r"b\.parquet cannot be read: No such file"):
        next(notes)


def test_a_later_file_without_texts_is_refused_before_any_is_written(tmp_path: Path) -> None:
    save(tmp_path / "a.parquet", id=["a"], text=["x"])
    save(tmp_path / "b.parquet", id=["b"], note=["x"])
    with pytest.raises(InputError, match=r"b\.parquet has no column 'text'"):
        next(read_batches(tmp_path, problems=Problems()))


def test_texts_are_of_any_string_type(path: Path) -> None:
    texts = pa.array(["Núria", None, "", "Núria"])
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        save(path, id=list("abcd"), text=texts.cast(kind))
        problems = lenient()
        assert [note.text for note in documents(path, problems)] == ["Núria", "", "Núria"]
        assert problems.rejected == 1


def test_row_groups_are_bounded_by_rows_and_by_bytes(path, monkeypatch) -> None:
    monkeypatch.setattr(batches, "MOST_ROWS", 4)
    monkeypatch.setattr(batches, "MOST_BYTES", 50)
    sizes = [1] * 9 + [60, 1, 25, 25, 1]
    written = [Document(str(n), "x" * size) for n, size in enumerate(sizes)]
    report = write(iter(written), path)
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert groups == [4, 4, 2, 3, 1]
    assert report.documents == 14
    assert documents(path) == written


def test_what_is_written(path: Path) -> None:
    anna = Document("a", "Núria", (Span(0, 5, "NAME"),), "p")
    write_batches(with_confidences([anna, Document("b", "")], [0.25, 1]), path)
    assert pq.read_table(path).to_pylist() == [
        {
            "id": "a",
            "text": "Núria",
            "label": [label(0, 5, "NAME")],
            "group": "p",
            "confidence": 0.25,
        },
        {"id": "b", "text": "", "label": [], "group": None, "confidence": 1.0},
    ]
    assert documents(path) == [anna, Document("b", "")]


IDS = {"id": ["0", "1", "2"], "text": ["Anna, Reus"] * 3}


@pytest.mark.parametrize("rows", [0, 2, 4, 63])
def test_a_file_with_other_numbers_of_rows_than_its_groups_is_refused(path, rows) -> None:
    save(path, **IDS)
    content = path.read_bytes()
    # The number of rows, in the field before the groups of rows: twice the number, as one byte.
    places = [b"\x16" + bytes([2 * number]) + b"\x19\x1c" for number in (3, rows)]
    assert content.count(places[0]) == 1
    path.write_bytes(content.replace(*places))
    with pytest.raises(InputError, match=r"is damaged: its groups have other numbers of rows"):
        documents(path)
