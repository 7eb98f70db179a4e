"""Compressed files, the standard streams, and files in other encodings than UTF-8."""

import gzip
import io
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import FORMATS, count_records, find_files, write
from corpus.formats.files import checked_codec
from tests.corpus.formats.reading import documents

DOCUMENTS = [
    Document(f"n{number}", f"Núria Puig {number}", (Span(0, 10, "NAME"),)) for number in range(300)
]


@pytest.mark.parametrize("compression", [".gz", ".ZST"])
@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".csv", ".tsv", ".conll"])
def test_files_of_text_may_be_compressed(tmp_path: Path, suffix: str, compression: str) -> None:
    path, plain = tmp_path / f"notes{suffix}{compression}", tmp_path / f"plain{suffix}"
    write(DOCUMENTS, path)
    write(DOCUMENTS, plain)
    assert path.stat().st_size < plain.stat().st_size / 2
    assert documents(path) == documents(plain) == DOCUMENTS
    assert count_records(path) == count_records(plain) == 300


@pytest.mark.parametrize("compression", [".gz", ".zst"])
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".conll"])
@pytest.mark.parametrize("damage", ["cut", "empty", "other"])
def test_a_damaged_compressed_file_is_an_error(tmp_path, suffix, compression, damage) -> None:
    path = tmp_path / f"notes{suffix}{compression}"
    write(DOCUMENTS, path)
    data = path.read_bytes()
    path.write_bytes({"cut": data[:-9], "empty": b"", "other": b"Joan Vila" * 9}[damage])
    expected = "is damaged" if damage == "other" else "is truncated"
    with pytest.raises(
        InputError, match=f"cannot be read: the compressed file {expected}"
    ) as error:
        documents(path)
    assert "Joan" not in str(error.value) and "\n" not in str(error.value)


def compress(path: Path) -> None:
    with path.open("rb") as file, gzip.open(f"{path}.gz", "wb") as target:
        shutil.copyfileobj(file, target)
    path.unlink()


def test_files_made_by_gzip_are_read_with_all_of_their_members(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(DOCUMENTS, path)
    compress(path)
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(packed.read_bytes() * 2)
    assert documents(packed) == DOCUMENTS * 2


def test_folders_of_compressed_notes_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write(DOCUMENTS[:3], folder, format="brat")
    for path in [folder / "n0.txt", folder / "n0.ann", folder / "n1.ann"]:
        compress(path)
    assert documents(folder) == DOCUMENTS[:3]
    assert documents(folder / "*.ann*") == DOCUMENTS[:3]
    assert [document.id for document in documents(folder, format="text")] == ["n0", "n1", "n2"]
    (folder / "n0.ann.gz").write_bytes((folder / "n0.ann.gz").read_bytes()[:-5])
    problems = Problems(invalid="skip")
    assert documents(folder, problems) == DOCUMENTS[1:3]
    assert problems.counts == {"files that cannot be read": 1}
    with pytest.raises(ProblemError, match="the compressed file is truncated"):
        documents(folder)


def test_a_compressed_file_of_no_format_needs_a_named_format(tmp_path: Path) -> None:
    write(DOCUMENTS, tmp_path / "notes.gz", format="jsonl")
    with pytest.raises(InputError, match=r"holds 1 \.gz: expected"):
        documents(tmp_path / "notes.gz")
    assert documents(tmp_path / "notes.gz", format="jsonl") == DOCUMENTS
    with pytest.raises(InputError, match=r"the suffix \.gz names no format"):
        write(DOCUMENTS, tmp_path / "notes.parquet.gz")


def pipe(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input_is_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b'\n{"text": "Anna"}\n{"id": 7, "text": "Pere"}')
    assert documents("-") == [Document("stdin:2", "Anna"), Document("7", "Pere")]


def test_a_line_of_text_in_a_pipe_is_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"Anna\r\n\n N\xfaria")
    notes = documents("-", format="text", encoding="latin-1")
    assert [(document.id, document.text) for document in notes] == [
        ("stdin:1", "Anna\r"),
        ("stdin:2", ""),
        ("stdin:3", " Núria"),
    ]
    assert count_records("-", format="text") == 0


def test_problems_in_a_pipe_have_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for format in ("text", "jsonl"):
        pipe(monkeypatch, b'{"text": "a"}\n\xff\n')
        with pytest.raises(ProblemError, match=r"-:2: text that is not UTF-8|stdin:2"):
            documents("-", format=format)


def test_standard_output_has_the_documents_and_nothing_else(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = write(DOCUMENTS[:2], "-")
    assert (report.documents, report.spans) == (2, 2)
    write(DOCUMENTS[:2], tmp_path / "notes.jsonl")
    assert capfdbinary.readouterr().out == (tmp_path / "notes.jsonl").read_bytes()
    write([Document("a", "Núria"), Document("b", "")], "-", format="text")
    assert capfdbinary.readouterr().out == "Núria\n\n".encode()
    with pytest.raises(InputError, match="document b has several lines"):
        write([Document("a", "A"), Document("b", "B\nC")], "-", format="text")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.jsonl"]


@pytest.mark.parametrize("format", [name for name, each in FORMATS.items() if not each.is_stream])
def test_other_formats_have_no_standard_streams(format: str) -> None:
    with pytest.raises(
        InputError, match=f"{format} cannot be read from .*: expected jsonl or text"
    ):
        documents("-", format=format)
    with pytest.raises(
        InputError, match=f"{format} cannot be written to .*: expected jsonl or text"
    ):
        write(DOCUMENTS, "-", format=format)


def test_standard_input_is_no_file() -> None:
    with pytest.raises(InputError, match="standard input can be read only once"):
        find_files("-")


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_formats_that_are_utf8_have_no_encoding(tmp_path: Path, format: str) -> None:
    write(DOCUMENTS, tmp_path / f"n.{format}")
    with pytest.raises(InputError, match=f"files of the format {format} are UTF-8"):
        documents(tmp_path / f"n.{format}", encoding="latin-1")
    assert documents(tmp_path / f"n.{format}", encoding="UTF8") == DOCUMENTS


def test_brat_and_text_may_be_in_another_encoding(tmp_path: Path) -> None:
    for suffix, content in ((".txt", "Núria Puig"), (".ann", "T1\tNAME 6 10\tPuig\n")):
        (tmp_path / f"a{suffix}").write_bytes(content.encode("latin-1"))
    (document,) = documents(tmp_path, encoding="latin-1")
    assert document == Document("a", "Núria Puig", (Span(6, 10, "NAME"),))
    with pytest.raises(ProblemError, match=r"byte 1 .* is no character of ascii"):
        documents(tmp_path, encoding="ascii")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_missing_byte_order_mark_is_an_error(tmp_path: Path, encoding: str) -> None:
    """Python's codec then calls no error handler."""
    (tmp_path / "n.conll").write_bytes(b"a,b,c,d,")
    with pytest.raises(InputError, match=f"is not text in {encoding}; name another encoding"):
        documents(tmp_path / "n.conll", encoding=encoding)


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "base64", "undefined", "a\0b", ""])
def test_what_is_no_encoding_of_text_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"there is no encoding .*; expected .* utf-8 or latin-1"):
        checked_codec(name)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "cp1252"])
def test_every_text_format_has_any_encoding(tmp_path: Path, encoding: str) -> None:
    """Lines are found after decoding: a line feed of UTF-16 is two bytes."""
    contents = {
        "n.conll": "Núria\tB-N\nve\tO\n\nĊ".replace("Ċ", "ú\tO\n"),
        "n.csv": 'id,text\n1,"Núria ve"\n',
        "n.txt": "Núria ve",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content.encode(encoding))
        first = documents(tmp_path / name, encoding=encoding)[0]
        assert first.text.split()[:2] == ["Núria", "ve"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "ascii", "cp1252", "idna"])
@pytest.mark.parametrize("name", ["n.conll", "n.csv", "n.txt", "n.ann"])
@given(data=st.binary(max_size=60))
def test_any_bytes_in_any_encoding_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, encoding: str, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("notes")
    (folder / "n.txt").write_bytes(data)
    (folder / name).write_bytes(data)
    source = folder if name == "n.ann" else folder / name
    try:
        notes = documents(source, Problems(invalid="skip"), encoding=encoding)
    except InputError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert all(isinstance(note, Document) for note in notes)
