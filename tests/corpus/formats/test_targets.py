"""What is written is complete or absent, and harms nothing that exists."""

import errno
import json
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.formats import Columns, WriteReport, read, write, write_batches
from corpus.formats.files import open_source
from corpus.storage import atomic as storage
from tests.corpus.formats.reading import with_confidences

TARGETS = [
    *(("out.jsonl", None), ("out.parquet", None), ("out.csv", None), ("out.jsonl.gz", None)),
    *(("out.conll", "conll"), ("out", "brat"), ("out", "text")),
]
every_target = pytest.mark.parametrize(("name", "format"), TARGETS)

ANNA = Document("a", "Anna Puig", (Span(0, 4, "NAME"), Span(5, 9, "NAME")), group="7")
JOAN = Document("deep/b", "", ())


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("name", ["o.xml", "o.txt", "o.ann", "corpus.v2"])
def test_another_suffix_needs_a_named_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"names no format to write .*; name the format"):
        write([ANNA], tmp_path / name)
    write([ANNA], tmp_path / name, format="text")
    assert [document.text for document in read(tmp_path / name, problems=Problems())] == [
        "Anna Puig"
    ]


@every_target
def test_the_report_counts_what_was_written_and_left_out(tmp_path, name, format) -> None:
    batches = with_confidences([ANNA, JOAN], [0.5, 0.25])
    report = write_batches(batches, tmp_path / name, format=format)
    expected = {
        "brat": WriteReport(2, 2, {"groups": 1, "confidences": 2}),
        "text": WriteReport(2, 0, {"spans": 2, "groups": 1, "confidences": 2}),
        "conll": WriteReport(2, 2, {"confidences": 2}),
        None: WriteReport(2, 2),
    }
    assert report == expected[format]
    assert write([JOAN], tmp_path / f"2{name}", format=format).left_out == {}


@every_target
def test_folders_above_are_made_and_what_is_written_is_private(tmp_path, name, format) -> None:
    target = tmp_path / "new" / "newer" / name
    write([ANNA], target, format=format)
    assert [path.name for path in target.parent.iterdir()] == [name]
    for path in [target, *target.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@every_target
def test_what_exists_is_not_touched(tmp_path: Path, name: str, format: str | None) -> None:
    for make in (Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        make(folder / name)
        documents = iter([ANNA])
        with pytest.raises(InputError, match="exists: nothing is overwritten"):
            write(documents, folder / name, format=format)
        assert next(documents) is ANNA  # before any document is asked for
        assert [path.name for path in folder.iterdir()] == [name]


@every_target
@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()]
)
def test_a_failure_leaves_nothing_behind(tmp_path, name, format, failure) -> None:
    (tmp_path / "precious").write_text("as it was")
    before = contents(tmp_path)

    def documents() -> Iterator[Document]:
        yield ANNA
        yield JOAN
        assert len(contents(tmp_path)) > 1  # something is being written beside the target
        assert not (tmp_path / name).exists()
        raise failure

    with pytest.raises(type(failure)):
        write(documents(), tmp_path / name, format=format)
    assert contents(tmp_path) == before
    write([ANNA], tmp_path / name, format=format)


@every_target
def test_what_a_killed_process_leaves_is_no_corpus_and_in_nobodys_way(
    tmp_path: Path, name: str, format: str | None
) -> None:
    write([JOAN], tmp_path / f"other-{name}", format=format)
    code = (
        "import os, signal, sys\n"
        "from corpus.document import Document\n"
        "from corpus.formats import write\n"
        "def documents():\n"
        "    for number in range(20_000):\n"
        "        yield Document(str(number), 'Anna Puig')\n"
        "        if number == int(sys.argv[3]):\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "write(documents(), sys.argv[1], format=sys.argv[2] or None)\n"
    )
    written = "50" if name == "out" else "9000"  # more than is written at once
    command = [sys.executable, "-c", code, str(tmp_path / name), format or "", written]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2  # something was left
    for source in (tmp_path, f"{tmp_path}/*", f"{tmp_path}/**"):
        assert [document.text for document in read(source, format=format, problems=Problems())] == [
            ""
        ]
    write([ANNA], tmp_path / name, format=format)
    assert [document.text for document in read(tmp_path / name, problems=Problems())] == [
        "Anna Puig"
    ]
    assert len(list(read(tmp_path, format=format, problems=Problems()))) == 2
    # What was left may hold the text of notes: whoever writes there again removes it.
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


@every_target
def test_a_target_that_appears_in_the_meantime_is_kept(tmp_path, name, format) -> None:
    for make in (lambda path: path.write_text("theirs"), Path.mkdir):
        target = tmp_path / str(len(list(tmp_path.iterdir()))) / name

        def documents(make=make, target=target) -> Iterator[Document]:
            yield ANNA
            make(target)

        with pytest.raises(InputError, match="exists: nothing is overwritten"):
            write(documents(), target, format=format)
        assert [path.name for path in target.parent.iterdir()] == [name]
        assert target.is_dir() or target.read_text() == "theirs"


@pytest.mark.parametrize("appears", [False, True])
def test_a_file_system_without_links_is_as_safe(tmp_path, monkeypatch, appears) -> None:
    def refuse(*paths: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    def documents() -> Iterator[Document]:
        yield ANNA
        if appears:
            target.write_text("theirs")

    monkeypatch.setattr(storage.os, "link", refuse)
    target = tmp_path / "out.jsonl"
    if appears:
        with pytest.raises(InputError, match="exists: nothing is overwritten"):
            write(documents(), target)
        assert target.read_text() == "theirs"
    else:
        write(documents(), target)
        assert list(read(target, problems=Problems())) == [ANNA]
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


@every_target
def test_a_target_that_cannot_be_made_is_an_error(tmp_path, name, format) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be made: (Not a directory|File exists)"):
        write([ANNA], tmp_path / "file" / name, format=format)
    long = "x" * 300 + name
    with pytest.raises(InputError, match="cannot be made: File name too long"):
        write([ANNA], tmp_path / long, format=format)


def test_confidences_have_a_column_of_their_own(tmp_path: Path) -> None:
    columns = Columns(group="confidence")
    write([ANNA], tmp_path / "a.jsonl", columns=columns)
    with pytest.raises(InputError, match="column 'confidence' is also the name of a part"):
        write_batches(with_confidences([ANNA], [1]), tmp_path / "b.jsonl", columns=columns)


@pytest.mark.parametrize("name", ["o.jsonl", "o.parquet", "o.ndjson.zst"])
@pytest.mark.parametrize("confidences", [None, [1, 0.5]])
def test_confidences_of_spans_stand_beside_them(tmp_path, name, confidences) -> None:
    path = tmp_path / name
    sure = [[0.25, 1], []]
    report = write_batches(with_confidences([ANNA, JOAN], confidences, sure), path)
    assert report == WriteReport(2, 2)
    if name == "o.parquet":
        records = pq.read_table(path).to_pylist()
    else:
        with open_source(path) as file:
            records = [json.loads(line) for line in file]
    assert [record["span_confidences"] for record in records] == sure
    assert [record.get("confidence") for record in records] == (confidences or [None, None])
    assert list(read(path, problems=Problems())) == [ANNA, JOAN]


@every_target
@pytest.mark.parametrize("given", [[[0.5, 0.5], [0.5]], [[0.5], []]])
def test_there_is_a_confidence_for_each_span(tmp_path, name, format, given) -> None:
    with pytest.raises(InputError, match="span_confidences and annotations differ in length"):
        write_batches(with_confidences([ANNA, JOAN], None, given), tmp_path / name, format=format)
    assert not list(tmp_path.iterdir())


folders = pytest.mark.parametrize("format", ["brat", "text"])


@folders
@pytest.mark.parametrize(
    "name",
    [
        *("", "/", "/etc/passwd", "..", "../a", "a/../../b", "a/..", ".", "./a", "a/./b"),
        *("a//b", "a/", "a\0b", "a\\b", "..\\a", ".hidden", "a/.b", "x" * 252, "é" * 126),
        "/".join(["x" * 200] * 30),
    ],
)
def test_ids_that_name_no_file_in_the_folder_are_refused(tmp_path, format, name) -> None:
    with pytest.raises(InputError, match=r"its id .*; write JSONL or Parquet instead"):
        write([JOAN, Document(name, "")], tmp_path / "deep" / "out", format=format)
    assert contents(tmp_path) == {"deep": None}


@folders
@pytest.mark.parametrize(
    "ids", [["a", "a"], ["a", "a.txt/b"], ["a.txt/b", "a"], ["x/y", "x/z", "x/y"]]
)
def test_ids_that_name_the_same_file_are_refused(tmp_path, format, ids) -> None:
    with pytest.raises(InputError, match="names the file of another document"):
        write([Document(name, "") for name in ids], tmp_path / "out", format=format)
    assert not list(tmp_path.iterdir())


@folders
def test_ids_that_are_unusual_file_names_come_back(tmp_path: Path, format: str) -> None:
    ids = ["a", "a b", "a.b", "a.", "a.txt", "a/b/c", "CON", "Àngel", "*", "[1]", "a\nb", "-", "~"]
    write([Document(name, name) for name in ids], tmp_path / "out", format=format)
    actual = {
        document.id: document.text for document in read(tmp_path / "out", problems=Problems())
    }
    assert actual == {name: name for name in ids}


@every_target
def test_nothing_to_write_is_read_again_as_nothing_or_is_an_error(tmp_path, name, format) -> None:
    """A folder that was named by mistake is empty too."""
    if name != "out":
        assert write([], tmp_path / name) == WriteReport(0, 0)
        assert list(read(tmp_path / name, problems=Problems())) == []
    else:
        with pytest.raises(InputError, match=r"no document to write.*; write JSONL or Parquet"):
            write([], tmp_path / name, format=format)
        assert not list(tmp_path.iterdir())
