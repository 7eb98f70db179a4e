"""The real files: 750 clinical cases, 22 of them with a byte-order mark."""

from dataclasses import replace
from pathlib import Path

import pytest

from corpus.document import Document
from corpus.errors import Problems
from corpus.formats import WriteReport, find_files, read, write


@pytest.fixture(scope="module")
def corpus(meddocan: Path) -> list[Document]:
    problems = Problems()
    documents = list(read(meddocan, problems=problems))
    assert not problems.counts
    return documents


def test_everything_is_read(meddocan: Path, corpus: list[Document]) -> None:
    assert len(find_files(meddocan)) == 1500
    assert len(corpus) == 750
    assert sum(len(document.spans) for document in corpus) == 17_134
    assert sum(document.text.startswith("\ufeff") for document in corpus) == 22
    for document in corpus:
        stored = (meddocan / f"{document.id}.txt").read_bytes()
        assert document.text.encode() == stored


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "out"])
def test_every_format_holds_it(tmp_path: Path, corpus: list[Document], name: str) -> None:
    written = [replace(note, group=note.id) for note in corpus] if "." in name else corpus
    assert write(written, tmp_path / name) == WriteReport(750, 17_134)
    problems = Problems()
    assert list(read(tmp_path / name, problems=problems)) == written
    assert not problems.counts


def test_brat_is_written_as_it_was_but_for_the_order(tmp_path, meddocan, corpus) -> None:
    write(corpus, tmp_path / "out")
    for document in corpus:
        stored, written = (
            (folder / f"{document.id}.ann").read_text(encoding="utf-8").splitlines()
            for folder in (meddocan, tmp_path / "out")
        )
        assert sorted(line.split("\t", 1)[1] for line in stored if line[0] == "T") == sorted(
            line.split("\t", 1)[1] for line in written
        )
