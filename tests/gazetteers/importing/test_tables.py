"""Tables are read as a parser reads them that takes one character after the other."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.formats.tabular import delimited_rows, dialects
from gazetteers.importing import tables
from gazetteers.importing.tables import Table

#: A row: the line on which it begins, and its fields.
Record = tuple[int, list[str]]

BODIES = st.lists(
    st.sampled_from(["a", "ñ", ",", ",", '"', '"', "\n", "\n", "\r\n", "\r", " ", '"b,c",', '""']),
    max_size=40,
).map("".join)


def parsed(text: str) -> tuple[list[Record], bool]:
    """Parse CSV character by character; return, too, whether a quote is open at the end."""
    records: list[Record] = []
    fields: list[str] = []
    value, state, begin, line = "", "begin", 1, 1
    for character in [*text.replace("\r\n", "\n").replace("\r", "\n"), "\n"]:
        line += character == "\n"
        if state == "quoted":
            state = "closed" if character == '"' else "quoted"
            value += "" if character == '"' else character
        elif character in ",\n":
            fields, value, state = [*fields, value], "", "begin"
            if character == "\n":
                records.append((begin, fields))
                fields, begin = [], line
        elif character == '"' and state in ("begin", "closed"):
            value, state = value + '"' * (state == "closed"), "quoted"
        else:
            value, state = value + character, "open"
    return records, state == "quoted"


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: Path, **options: Any) -> list[Record]:
    return list(Table(path, **options).rows())


@settings(max_examples=60)
@given(body=BODIES, size=st.integers(1, 140), repeats=st.integers(1, 12))
@example(body='"a\n\nb",1\n', size=100, repeats=1)
@example(body='a"b,"1"\n"c"x,2\nd,3\n', size=100, repeats=9)
@example(body="a,b\r\nc\r\n\r\n", size=1, repeats=9)
def test_rows_and_faults_are_those_of_a_parser_of_characters(
    body: str, size: int, repeats: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = f"one,two\n{body * repeats}"
    path = write(tmp_path_factory.mktemp("t") / "t.csv", text)
    records, unclosed = parsed(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited_rows, "_BLOCK", size)
        if unclosed:
            with pytest.raises(InputError, match="has a quote that is not closed"):
                read(path, delimiter=",")
            return
        rows = read(path, delimiter=",")
    assert [_plain(record) for record in rows] == [
        _plain((number, fields))
        for number, fields in records[1:]
        if (any(fields) if len(fields) == 2 else len(fields) > 1 or fields[0].strip(' "'))
    ]


def _plain(record: Record) -> Record:
    """Write line breaks within fields in one way."""
    number, fields = record
    return number, [field.replace("\r\n", "\n").replace("\r", "\n") for field in fields]


@settings(max_examples=40)
@given(
    rows=st.lists(st.lists(st.text('ab,;"\n ñ·', max_size=6), min_size=3, max_size=3), max_size=12),
    dialect=st.sampled_from(
        [(",", csv.QUOTE_ALL), (";", csv.QUOTE_MINIMAL), ("\t", csv.QUOTE_ALL)]
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
def test_what_the_csv_module_writes_is_read(rows, dialect, end, encoding, tmp_path_factory) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=dialect[0], quoting=dialect[1], lineterminator=end)
    writer.writerows([["x", "y", "z"], *rows])
    path = write(tmp_path_factory.mktemp("t") / "t.csv", text.getvalue().encode(encoding))
    named = encoding if encoding == "cp1252" else None
    read_rows = read(path, delimiter=dialect[0], encoding=named)
    assert [fields for _, fields in read_rows] == [row for row in rows if any(row)]


# Headers


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("a,b", ["a", "b"]),
        ("\n\n a  b ,c", ["a b", "c"]),
        ('"a,b",c', ["a,b", "c"]),
        ('"a\nb",c', ["a b", "c"]),
        ("n,x,n,n", ["n", "x", "n.2", "n.3"]),
        ("n,n,n.2", ["n", "n.3", "n.2"]),
        (",a,", ["column1", "a", "column3"]),
        ("año,çà", ["año", "çà"]),
        ("alone", ["alone"]),
    ],
)
def test_every_column_has_a_name_of_its_own(header, columns, tmp_path) -> None:
    assert Table(write(tmp_path / "t.csv", f"{header}\n")).columns == columns


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n", "\t"),
        ("a|b\n", "|"),
        ('"a,b,c,d";e\nx;1\n', ";"),
        ('"a;b;c";"d"|"e"\n"x;y"|1\n', "|"),
        ("name;rate, all\nx;1\ny;2\n", ";"),
        ("name;rate,all,of,them\nx;1\ny;2\n", ";"),
        ("a,b;c\n1,2\n1,2\n", ","),
        ("alone\nx;y\n", ","),
    ],
)
def test_the_delimiter_is_that_of_the_header_and_the_rows(text, delimiter, tmp_path) -> None:
    assert Table(write(tmp_path / "t.csv", text)).delimiter == delimiter


@pytest.mark.parametrize(("name", "delimiter"), [("tab", "\t"), ("\\t", "\t"), (":", ":")])
def test_a_delimiter_can_be_named(name: str, delimiter: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", f"a,b{delimiter}c\n")
    assert Table(path, delimiter=name).columns == ["a,b", "c"]


@pytest.mark.parametrize("name", ["", ",,", '"', "\n", "ñ", "x", "5"])
def test_what_delimits_nothing_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"delimiter .*expected one character"):
        Table(write(tmp_path / "t.csv", "a\n"), delimiter=name)


# Encodings


@pytest.mark.parametrize(
    ("encoding", "detected"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32-le"),
        ("cp1252", "cp1252"),
        ("latin-1", "cp1252"),
    ],
)
def test_encodings_are_found(encoding, detected, tmp_path, monkeypatch) -> None:
    """Also where the first letter that tells them apart is cut in two, or comes late."""
    monkeypatch.setattr(dialects, "_PIECE", 1)
    monkeypatch.setattr(tables, "SAMPLE", 80)
    text = "nombre;n\nANA;1\n" + "LUIS;2\n" * 50 + "MUÑOZ NÚÑEZ;3\r\n"
    path = write(tmp_path / "t.csv", text.encode(encoding))
    table = Table(path)
    terms = [term for _, (term, _) in table.rows()]
    assert terms == ["ANA", *["LUIS"] * 50, "MUÑOZ NÚÑEZ"]
    assert table.encoding == detected


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "nombre,n\nMUÑOZ,1\n".encode("cp850"))
    assert read(path, encoding="cp850") == [(2, ["MUÑOZ", "1"])]
    assert read(path) != [(2, ["MUÑOZ", "1"])]


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"nombre,n\nANA,1\nMU\xd1OZ,2\n", "utf-8", "t.csv:3: this is not utf-8; name the enc"),
        ("nombre,n\nMUÑOZ,1\n".encode() + b"PE\xd1A,2\n", None, "t.csv:3: this is not utf-8"),
        (b"nombre,n\rANA,1\rx\x81,2\r", None, "t.csv:3: this is not cp1252; name the encoding"),
        (b"nombre,n\nANA,1\n", "utf-99", "there is no encoding utf-99; expected a name such as"),
        (b"nombre,n\nANA,1\n", "base64", "there is no encoding base64"),
        ("nombre,n\n".encode("utf-16") + b"x", None, "this is not utf-16"),
    ],
)
def test_what_is_not_of_the_encoding_is_named(data, encoding, message, tmp_path) -> None:
    path = write(tmp_path / "t.csv", data)
    with pytest.raises(InputError, match=message):
        read(path, encoding=encoding)


# What is no table


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "t.csv is empty; expected a header and rows"),
        (b"\n \r\n\n", "t.csv is empty; expected a header and rows"),
        (b"\xef\xbb\xbf", "t.csv is empty; expected a header and rows"),
        (b",,\na,b,c\n", "t.csv:1: expected a header: names of columns"),
        (b'"a,b\nc,1\n', "t.csv:1: this row has a quote that is not closed"),
        (b"a\0b,c\n", "t.csv is a binary file; expected text: CSV or TSV"),
        (b"a,b\n" * 5000 + b"\0,1\n", "t.csv:5001: a NUL character: this is a binary file"),
        (b"PK\x03\x04etc", "t.csv is a spreadsheet or a zip file; save it as CSV"),
        (b"\x1f\x8b\x08\0", "t.csv is compressed by gzip; unpack it first"),
        (b"PAR1\0\0", "t.csv is a Parquet file; expected CSV or TSV"),
        (b'a,b\nx,1\ny,2\n"z,3\nw,4\n', "t.csv:4: this row has a quote that is not closed"),
        (b'a,b\nx,"1\ny,2\n', "t.csv:2: this row has a quote that is not closed"),
        (b'a,b\n"x\ny",1\n"z', "t.csv:4: this row has a quote that is not closed"),
    ],
)
def test_what_is_no_table_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "t.csv", data))


def test_rows_longer_than_the_limit_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(delimited_rows, "LONGEST_LINE", 100)
    monkeypatch.setattr(tables, "SAMPLE", 50)
    path = write(tmp_path / "t.csv", "a,b\nx,1\n" + "y" * 300 + ",2\n")
    expected = r"t.csv:3: this row has more than 100 characters; is a quotation mark missing"
    with pytest.raises(InputError, match=expected):
        read(path)
    with pytest.raises(InputError, match=expected):
        read(write(path, 'a,b\nx,1\ny,"' + "y\n" * 150 + '",2\n'))
    with pytest.raises(InputError, match=r"t.csv:1: expected a header, .* longer than 50 char"):
        read(write(path, "y" * 300 + ",2\n"))


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        Table(tmp_path)
    with pytest.raises(InputError, match=r"none.csv cannot be read: No such file"):
        Table(tmp_path / "none.csv")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"pipe is not a regular file; save its text in one"):
        Table(tmp_path / "pipe")


def test_progress_goes_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited_rows, "_BLOCK", 10_000)
    path = write(tmp_path / "t.csv", "a,b\n" * 10_000)
    steps: list[tuple[int, int]] = []
    list(Table(path).rows(lambda done, total: steps.append((done, total))))
    assert steps == sorted(steps)
    assert steps[-1] == (40_000, 40_000)
    assert len(steps) >= 3
