"""Lines and files that would fill the memory end in one line, in bounded memory."""

import gzip
import sys
from pathlib import Path

import pytest

from corpus.document import Document
from corpus.errors import InputError, ProblemError, Problems
from corpus.formats import count_records, read, write
from corpus.formats import files as files_module
from tests.measuring import measured

LIMIT = files_module.LONGEST_LINE


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set limits of 100 characters and bytes."""
    for module in ("files", "records", "targets", "sources", "tabular.delimited_rows"):
        for name in ("LONGEST_LINE", "LONGEST_WRITTEN", "LONGEST_FILE"):
            monkeypatch.setattr(f"corpus.formats.{module}.{name}", 100, raising=False)


def _line(name: str, size: int) -> str:
    line = f'{{"id": "{name}", "text": ""}}'
    return line.replace('""', '"' + "x" * (size - len(line)) + '"')


@pytest.mark.usefixtures("short_limits")
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_up_to_the_limit_is_read_and_a_longer_one_is_not(tmp_path: Path, end: str) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join([_line("a", 99), _line("b", 1000), _line("c", 102)]) + end)
    problems = Problems(invalid="skip")
    documents = list(read(path, problems=problems))
    assert [document.id for document in documents] == ["a"]
    assert [str(each) for each in problems.named["lines or files that are too long"]] == [
        f"{path}:{row}: lines or files that are too long: the line has more than 100 characters, "
        "the limit"
        for row in (2, 3)
    ]
    with pytest.raises(ProblemError, match=r"jsonl:2: .* more than 100 characters, the limit"):
        list(read(path, problems=Problems()))
    assert count_records(path) == 3


@pytest.mark.usefixtures("short_limits")
def test_long_files_and_lines_of_other_formats_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("x" * 100)
    (tmp_path / "text" / "b.txt").write_text("x" * 101)
    problems = Problems(invalid="skip")
    assert list(read(tmp_path / "text", problems=problems)) == [Document("a", "x" * 100)]
    assert problems.rejected == 1
    (tmp_path / "notes.conll").write_text("x O\n" + "y" * 101 + " O\n")
    with pytest.raises(InputError, match=r"conll:2: .* the line has more than 100 characters"):
        list(read(tmp_path / "notes.conll", problems=Problems()))
    (tmp_path / "notes.csv").write_text("id,text," + ",".join("abcdefgh" * 10) + "\n")
    with pytest.raises(InputError, match=r"notes\.csv:1: this row has more than 100 characters"):
        list(read(tmp_path / "notes.csv", problems=Problems()))


@pytest.mark.usefixtures("short_limits")
@pytest.mark.parametrize("format", ["jsonl", "csv", "conll", "brat", "text", "parquet"])
def test_what_would_be_too_long_to_be_read_is_not_written(format: str, tmp_path: Path) -> None:
    path = tmp_path / "new"
    for size in (20, 120):
        document = Document("a", "é" * size)
        if size > 100 and format != "parquet":
            with pytest.raises(InputError, match="write Parquet"):
                write([document], path / str(size), format=format)
            assert not (path / str(size)).exists()
        else:
            write([document], path / str(size), format=format)
            assert list(read(path / str(size), format=format, problems=Problems())) == [document]


MEASURE = """
import sys
from corpus.errors import InputError, Problems
from corpus.formats import read
message = "read"
try:
    list(read(sys.argv[1], problems=Problems()))
except InputError as error:
    message = str(error)
print(message)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize("name", ["notes.jsonl", "notes.jsonl.gz", "notes.csv", "notes.csv.gz"])
def test_a_line_of_331_megabytes_takes_little_memory(tmp_path: Path, name: str) -> None:
    header = b"id,text\n" if ".csv" in name else b""
    good, bad = tmp_path / "good" / name, tmp_path / name
    good.parent.mkdir()
    opened = gzip.open if name.endswith(".gz") else open
    with opened(good, "wb") as file:
        file.write(header + (b"a,b\n" if header else b'{"id": "a", "text": "b"}\n'))
    with opened(bad, "wb") as file:
        file.write(header + (b'a,"' if header else b'{"id": "a", "text": "'))
        for _ in range(331):
            file.write(b"x" * 1_000_000)
        file.write(b'"\n' if header else b'"}\n')
    assert measured(MEASURE, good)[0] == "read"
    message, memory = measured(MEASURE, bad)
    assert f"more than {LIMIT:,} characters" in message and message.startswith(str(bad))
    assert memory < measured(MEASURE, good)[1] + 4 * LIMIT // 2**20
