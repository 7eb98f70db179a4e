"""Reading and writing CSV and TSV."""

import csv
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import (
    Columns,
    batches,
    count_records,
    has_column,
    read,
    read_batches,
    write_batches,
)
from corpus.formats.records import NO_ID
from corpus.formats.tabular import delimited_rows as module
from tests.corpus.formats.reading import documents, lenient, with_confidences


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.csv"


def test_a_row_is_a_document(path: Path) -> None:
    path.write_text(
        "\ufeffage,id,text,group,label\r\n"
        '3,007,"Anna, ""Reus""\r\n",p,"[[7,11,""TOWN""],[0,4,""NAME""]]"\r\n'
        "\r\n4,NA,,,\r\n",
        newline="",
    )
    problems = Problems()
    spans = (Span(0, 4, "NAME"), Span(7, 11, "TOWN"))
    assert documents(path, problems) == [
        Document("007", 'Anna, "Reus"\r\n', spans, "p"),
        Document("NA", ""),
    ]
    assert problems.unused == {"age"}


def test_columns_can_have_other_names(path: Path) -> None:
    path.write_text('nhc;pat,"nota",tags,pat\n1,Anna,"[[0, 4, ""N""]]",2\n')
    columns = Columns(id="nhc;pat", text="nota", label="tags", group="pat")
    assert documents(path, columns=columns) == [Document("1", "Anna", (Span(0, 4, "N"),), "2")]
    assert has_column(path, "tags") and not has_column(path, "label")
    with pytest.raises(InputError, match="has no column or key 'labels'"):
        documents(path, columns=Columns(text="nota", label="labels"))


def test_the_suffix_names_the_delimiter(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('id\ttext\n1\t"a\tb"\n2\tc,d\n')
    (tmp_path / "b.CSV").write_text("id,text\n3,e\tf\n")
    assert [document.text for document in documents(tmp_path)] == ["a\tb", "c,d", "e\tf"]


def test_rows_without_ids_are_named_by_their_file_and_number(tmp_path: Path) -> None:
    """As a spreadsheet numbers them: the header is row 1."""
    (tmp_path / "a.csv").write_text('text\n"two\nlines"\nB\n')
    (tmp_path / "b.tsv").write_text("text\nC")
    expected = ["a.csv:2", "a.csv:3", "b.tsv:2"]
    assert [document.id for document in documents(tmp_path)] == expected


@pytest.mark.parametrize("content", ["", "\n", "id,text", "id,text\n", "\ufeff"])
def test_a_file_without_rows_has_no_documents(path: Path, content: str) -> None:
    path.write_text(content)
    assert documents(path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "id,nota\n1,Joan\n",
            r"has no column 'text': .* 2 columns, among them id, nota, read as utf-8 with a comma",
        ),
        ("id,text,text\n1,Joan,x\n", "has several columns 'text': expected one"),
    ],
)
def test_a_column_that_is_missing_or_there_twice_is_an_error(path, content, message) -> None:
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        documents(path)


ROWS = [
    (b"b,Joan", "rows of another number of columns"),
    (b"b,Joan,[],x", "rows of another number of columns"),
    (b",Joan,", "rows without an id or a text"),
    (b"b,Joan\xff,", "text that is not UTF-8"),
    (b"\xff,Joan,", "text that is not UTF-8"),
    (b"b,Joan,\xff", "text that is not UTF-8"),
    (b"b,Joan,Joan", "annotations that are not a JSON list"),
    (b"b,Joan,{}", "annotations that are not a JSON list"),
    (b"b,Joan,7", "annotations that are not a JSON list"),
]


@pytest.mark.parametrize(("row", "kind"), ROWS)
def test_rows_that_make_no_document_are_rejected(path: Path, row: bytes, kind: str) -> None:
    path.write_bytes('id,text,label\na,"A\nñ",\n'.encode() + row + b"\nc,C,\n")
    problems = lenient()
    assert [document.id for document in documents(path, problems)] == ["a", "c"]
    assert problems.counts == {kind: 1}
    (problem,) = problems.named[kind]
    assert problem.where == f"{path}, row 3"
    assert "Joan" not in problem.detail
    notes = read(path, problems=Problems())
    assert next(notes).id == "a"  # what comes before it is read
    with pytest.raises(ProblemError, match=r"notes\.csv, row 3: "):
        next(notes)


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("[0,4]", "malformed annotations"),
        ('["0",4,"X"]', "malformed annotations"),
        ('[0,10,"X"]', "annotations outside of the text"),
        (f'[0,{"9" * 30},"X"]', None),
        ('[0,2147483648,"X"]', "annotations outside of the text"),
        ('[-1,4,"X"]', "annotations outside of the text"),
    ],
)
def test_annotations_that_cannot_be_used_are_rejected(path, item, kind) -> None:
    quoted = f'[{item},[5,9,"Y"]]'.replace('"', '""')
    path.write_text(f'id,text,label\na,Joan Vila,"{quoted}"\n')
    problems = lenient()
    (document,) = documents(path, problems)
    assert document.spans == (Span(5, 9, "Y"),)
    assert problems.counts == {kind or "annotations outside of the text": 1}


def test_rows_are_read_a_block_at_a_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 50)
    monkeypatch.setattr(batches, "MOST_BYTES", 200)
    rows = [f'{number},"{"x" * (number % 60)}\n"' for number in range(100)]
    rows[50] = rows[97] = "1,2,3"
    path.write_text("\n".join(["id,text", *rows]))
    assert len(list(read_batches(path, problems=lenient()))) > 10
    problems = lenient()
    expected = [str(number) for number in range(100) if number not in (50, 97)]
    assert [document.id for document in documents(path, problems)] == expected
    assert [each.where[-2:] for each in problems.named["rows of another number of columns"]] == [
        "52",
        "99",
    ]


def test_a_quotation_mark_that_is_not_closed_is_reported(path: Path) -> None:
    path.write_text('id,text\n1,"Anna\n2,Joan\n3,Pere\n')
    problems = lenient()
    assert len(documents(path, problems)) == 1
    assert problems.counts == {"quotation marks that are not closed": 1}
    with pytest.raises(ProblemError, match=r"notes\.csv: quotation marks that are not closed"):
        documents(path)


def test_another_encoding_is_named(path: Path) -> None:
    path.write_bytes("id,text,año\n1,Nüria,2\n".encode("cp850"))
    with pytest.raises(ProblemError, match=r"row 2: .* is no character of cp1252"):
        documents(path)
    assert documents(path, encoding="cp850") == [Document("1", "Nüria")]
    problems = Problems()
    (batch,) = read_batches(path, problems=problems, encoding="cp850")
    assert batch.column("others").to_pylist() == [{"año": "2"}]


@given(
    texts=st.lists(st.text("aéñ ,;|\t\n\"'", min_size=1), min_size=1, max_size=5),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
def test_delimiter_and_encoding_are_detected(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], delimiter: str, encoding: str
) -> None:
    """As spreadsheets write them; one of Spain has semicolons and cp1252."""
    path = tmp_path_factory.mktemp("csv") / "notes.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(["id", "text", "año"])
        rows.writerows((number, text, "") for number, text in enumerate(texts))
    assert [document.text for document in documents(path)] == texts
    (batch,) = read_batches(path, problems=Problems())
    assert batch.column("others").type.names == ["año"]


def test_a_delimiter_that_is_named_overrides_the_detected_one(path: Path) -> None:
    path.write_text("id;text,nota\n1;a,b\n")
    assert documents(path, columns=Columns(id="id;text", text="nota")) == [Document("1;a", "b")]
    columns = Columns(text="text,nota")
    assert documents(path, columns=columns, delimiter=";") == [Document("1", "a,b")]
    path.write_text("id\ttext\n1\ta,b\n")
    assert documents(path, delimiter="tab") == [Document("1", "a,b")]
    with pytest.raises(InputError, match="expected one character"):
        documents(path, delimiter=";;")
    with pytest.raises(InputError, match="jsonl have no delimiter"):
        documents(path, format="jsonl", delimiter=";")


@pytest.mark.parametrize(
    "rows",
    ["1;Anna, que va\n2;Jan, no\n", "1,Anna; ve | va; i\n2,Jan; no; va\n", "1;a, b, c\n"],
)
def test_without_a_header_the_first_values_are_ids(path: Path, rows: str) -> None:
    path.write_text(rows)
    texts = [row[2:] for row in rows.splitlines()]
    assert [note.text for note in documents(path, columns=Columns(text="2"))] == texts


def test_a_header_is_no_note(path: Path) -> None:
    path.write_text("id,text\n1,Anna\n")
    with pytest.raises(InputError, match="has a header, which would be read as a note"):
        documents(path, columns=Columns(text="2"))
    path.write_text("n1,Ana\nn2,Bob\n")
    with pytest.raises(InputError, match="without a header, columns are numbers, such as --text-c"):
        documents(path)


def test_a_pipe_is_not_counted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.csv")
    assert count_records(tmp_path / "p.csv") == 0


def test_a_file_without_a_header_has_columns_by_number(path: Path) -> None:
    path.write_bytes("7;El pacient és aquí;x\n8;No hi és;y\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"no header: row 1 .*read as cp1252.*--text-column 2"):
        documents(path)
    problems = Problems()
    columns = Columns(text="2")
    texts = {"notes.csv:1": "El pacient és aquí", "notes.csv:2": "No hi és"}
    notes = documents(path, problems, columns=columns)
    assert {document.id: document.text for document in notes} == texts
    assert problems.counts == {NO_ID: 2}
    named = documents(path, columns=Columns(id="1", text="2", group="3"))
    assert [(document.id, document.group) for document in named] == [("7", "x"), ("8", "y")]
    with pytest.raises(InputError, match="has no column '4': it has 3 columns, read as"):
        documents(path, columns=Columns(text="4"))


def test_what_is_written_is_read_by_others(path: Path) -> None:
    anna = Document("a", 'Anna, "x"\r\n', (Span(0, 4, "N"),), "p")
    write_batches(with_confidences([anna, Document("b", "", (), "")], [0.25, 1]), path)
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["id", "text", "label", "group", "confidence"]
    assert rows == [
        ["a", 'Anna, "x"\r\n', '[[0, 4, "N"]]', "p", "0.25"],
        ["b", "", "[]", "", "1.0"],
    ]


def test_other_columns_and_confidences_are_carried_along(tmp_path: Path, path: Path) -> None:
    path.write_text(
        "id,text,label,ward,confidence,span_confidences\n"
        'a,Anna,"[[0,4,""N""]]",007,0.5,[0.25]\n'
        "b,Pere,,,,\n"
        "c,Pau,,x,Joan,[[]\n"
    )
    problems = Problems()
    batches = list(read_batches(path, problems=problems))
    assert not problems.unused
    assert problems.counts == {"confidences that are not numbers": 2}
    write_batches(iter(batches), tmp_path / "o.tsv")
    rows = [line.split("\t")[3:] for line in (tmp_path / "o.tsv").read_text().splitlines()]
    assert rows == [
        ["ward", "confidence", "span_confidences", "group"],
        ["007", "0.5", "[0.25]", ""],
        ["", "", "", ""],
        ["x", "", "", ""],
    ]


def test_the_name_of_a_carried_column_has_to_be_decoded(path: Path) -> None:
    path.write_bytes("id,text,año\n1,Nuria,2\n".encode("latin-1"))
    assert documents(path, encoding="ascii") == [Document("1", "Nuria")]  # no other columns
    with pytest.raises(InputError, match=r"row 1: a name of a column is not in ascii; .* latin-1"):
        list(read_batches(path, problems=Problems(), encoding="ascii"))
