"""Reading and writing JSON lines."""

import json
from pathlib import Path

import pytest

from corpus.document import Document, Span
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import Columns, read, write, write_batches
from tests.corpus.formats.reading import documents, lenient, with_confidences

GOOD = '{"id": "z", "text": "Joan Vila"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.jsonl"


def test_a_line_is_a_document(path: Path) -> None:
    record = {
        "id": "a",
        "text": "Anna, Reus",
        "label": [[6, 10, "TOWN"], [0, 4, "NAME"]],
        "group": "p1",
        "confidence": 0.5,
        "age": float("nan"),
    }
    path.write_text(json.dumps(record) + "\n" + GOOD)
    assert documents(path) == [
        Document("a", "Anna, Reus", (Span(0, 4, "NAME"), Span(6, 10, "TOWN")), "p1"),
        Document("z", "Joan Vila"),
    ]


@pytest.mark.parametrize(
    ("number", "expected"),
    [("-3", "-3"), ("1.5", "1.5"), ("17.0", "17"), ("12345678901234567890123", None)],
)
def test_numbers_are_ids_and_groups(path: Path, number: str, expected: str | None) -> None:
    path.write_text(f'{{"id": {number}, "text": "", "group": {number}}}')
    (document,) = documents(path)
    assert document.id == document.group == (expected or number)


def test_absent_and_null_labels_and_groups_are_none(path: Path) -> None:
    path.write_text('{"id": "a", "text": "", "label": null, "group": null}\n')
    assert documents(path) == [Document("a", "")]


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_are_no_matter(path: Path) -> None:
    path.write_bytes(f"\ufeff\r\n{GOOD}\r\n \t\r\n\n{GOOD}".encode())
    assert len(documents(path)) == 2
    path.write_bytes(f"\ufeff{GOOD}".encode())
    assert len(documents(path)) == 1


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('{"id": "a", "text": "Joan', "lines that are not a JSON object"),
        ('["a", "Joan"]', "lines that are not a JSON object"),
        ("Joan Vila", "lines that are not a JSON object"),
        ("[" * 100_000, "lines that are not a JSON object"),
        ('{"id": "a", "text": "Joan", "text": "Pau"}', "lines that are not a JSON object"),
        ('{"id": ' + "9" * 5000 + ', "text": "Joan"}', "lines that are not a JSON object"),
        ('{"id": null, "text": "Joan"}', "keys that are missing or of another type"),
        ('{"id": true, "text": "Joan"}', "keys that are missing or of another type"),
        ('{"id": NaN, "text": "Joan"}', "keys that are missing or of another type"),
        ('{"id": "a"}', "keys that are missing or of another type"),
        ('{"id": "a", "text": ["Joan"]}', "keys that are missing or of another type"),
        ('{"id": "a", "text": "Joan", "group": {}}', "keys that are missing or of another type"),
        ('{"id": "a", "text": "Joan", "label": "x"}', "keys that are missing or of another type"),
        (r'{"id": "a", "text": "Joan \ud800"}', "text with half a surrogate pair"),
        (r'{"id": "\udfff", "text": "Joan"}', "text with half a surrogate pair"),
        (r'{"id": "a", "text": "Joan", "group": "\ud800"}', "text with half a surrogate pair"),
    ],
)
def test_lines_that_make_no_document_are_rejected(path: Path, line: str, kind: str) -> None:
    path.write_text(f"\n{line}\n{GOOD}\n")
    problems = lenient()
    assert [document.id for document in documents(path, problems)] == ["z"]
    assert problems.counts == {kind: 1}
    (problem,) = problems.named[kind]
    assert problem.where == f"{path}:2"
    assert "Joan" not in problem.detail
    with pytest.raises(ProblemError, match=r"notes\.jsonl:2: ") as error:
        documents(path)
    assert "\n" not in str(error.value)


def test_a_line_without_an_id_is_named_by_its_file_and_number(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.jsonl").write_text('\n{"text": "A"}\n{"id": "x", "text": "B"}\n')
    (tmp_path / "deep" / "a.ndjson").write_text('{"text": "A"}\n\n\n{"text": "A"}\n')
    expected = ["deep/a.jsonl:2", "x", "deep/a.ndjson:1", "deep/a.ndjson:4"]
    assert [document.id for document in documents(tmp_path)] == expected
    assert [document.id for document in documents(tmp_path / "deep" / "a.jsonl")] == [
        "a.jsonl:2",
        "x",
    ]
    with pytest.raises(ProblemError, match="'nhc' must be a string or a number"):
        documents(tmp_path, columns=Columns(id="nhc"))


def test_a_cut_line_says_where(path: Path) -> None:
    path.write_text('{"id": "a", "text": "Joan')
    with pytest.raises(ProblemError, match="no JSON from character 20 of the line on"):
        documents(path)


def test_surrogate_pairs_that_are_whole_are_characters(path: Path) -> None:
    path.write_text(r'{"id": "a", "text": "\ud83d\ude00!", "label": [[0, 1, "FACE"]]}')
    assert documents(path) == [Document("a", "\U0001f600!", (Span(0, 1, "FACE"),))]


def test_bytes_that_are_not_utf8_are_rejected(path: Path) -> None:
    path.write_bytes(f"{GOOD}\n".encode() + '{"id": "a", "text": "Núria"}\n'.encode("latin-1"))
    with pytest.raises(ProblemError, match=r"jsonl:2: text that is not UTF-8: character 22 "):
        documents(path)
    assert len(documents(path, lenient())) == 1
    path.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(ProblemError, match=r"jsonl:1: text that is not UTF-8: character 0 "):
        documents(path)


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ('[0, 4, "X", "Joan"]', "malformed annotations"),
        ("[0, 4]", "malformed annotations"),
        ('[0.0, 4.0, "X"]', "malformed annotations"),
        ('[false, true, "X"]', "malformed annotations"),
        ('[0, 4, ""]', "malformed annotations"),
        ("[0, 4, null]", "malformed annotations"),
        (r'[0, 4, "\ud800"]', "malformed annotations"),
        ('{"start": 0, "end": 4, "label": "X"}', "malformed annotations"),
        ('[0, 10, "X"]', "annotations outside of the text"),
        ('[-1, 4, "X"]', "annotations outside of the text"),
        ('[4, 0, "X"]', "annotations outside of the text"),
        (f'[0, {"9" * 30}, "X"]', "annotations outside of the text"),
    ],
)
def test_annotations_that_cannot_be_used_are_rejected(path: Path, item: str, kind: str) -> None:
    path.write_text(f'{{"id": "a", "text": "Joan Vila", "label": [{item}, [5, 9, "Y"]]}}\n')
    problems = lenient()
    (document,) = documents(path, problems)
    assert document.spans == (Span(5, 9, "Y"),)
    assert problems.counts == {kind: 1}
    assert problems.named[kind][0].where == f"{path}:1"
    assert "Joan" not in problems.named[kind][0].detail
    with pytest.raises(ProblemError, match=r"notes\.jsonl:1: "):
        documents(path)


def test_overlaps_are_conflicts(path: Path) -> None:
    path.write_text(r'{"id": "a\n", "text": "Joan", "label": [[0, 2, "A\u001b"], [1, 4, "B"]]}')
    with pytest.raises(ProblemError) as error:
        documents(path)
    assert str(error.value).startswith(
        rf"{path}:1: overlapping annotations: 1-4 (B) and 0-2 (<2 characters>)"
    )
    assert documents(path, lenient()) == [Document("a\n", "Joan", (Span(1, 4, "B"),))]


def test_blank_lines_are_no_documents(tmp_path: Path) -> None:
    lines = [json.dumps({"id": n, "text": "x" * n}) for n in range(10)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines[:4]))
    (tmp_path / "b.jsonl").touch()
    (tmp_path / "c.jsonl").write_text("\n\n".join(["", *lines[4:], ""]))
    assert [document.id for document in documents(tmp_path)] == [str(n) for n in range(10)]


def test_a_file_that_vanished_is_an_error(path: Path) -> None:
    path.write_text(GOOD)
    notes = read(path, problems=Problems())
    path.unlink()
    with pytest.raises(InputError, match=r"notes\.jsonl cannot be read: No such file"):
        next(notes)


def test_what_is_written(path: Path) -> None:
    anna = Document("a", "Núria\n\u2028\U0001f600", (Span(0, 5, "NAME"),), "p")
    write_batches(with_confidences([anna, Document("b", "")], [0.25, 1]), path)
    assert path.read_bytes().decode() == (
        '{"id":"a","text":"Núria\\n\u2028\U0001f600","label":[[0,5,"NAME"]],"group":"p",'
        '"confidence":0.25}\n'
        '{"id":"b","text":"","label":[],"confidence":1.0}\n'
    )


def test_keys_are_written_under_other_names(path: Path) -> None:
    columns = Columns(id="nhc", text="nota", label="tags", group="pat")
    anna = Document("a", "Anna", (Span(0, 4, "N"),), "p")
    write([anna], path, columns=columns)
    assert json.loads(path.read_text()) == {
        "nhc": "a",
        "nota": "Anna",
        "tags": [[0, 4, "N"]],
        "pat": "p",
    }
    assert documents(path, columns=columns) == [anna]
