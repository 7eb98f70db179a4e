"""Which files a source consists of, and which format they are in."""

import os
from pathlib import Path

import pytest

from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.formats import Columns, find_files, has_column, read, write
from corpus.formats.sources import format_of, locate


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def names(folder: Path, source: str | Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in find_files(source)]


def test_a_folder_is_its_files_of_any_depth(tmp_path: Path) -> None:
    touch(tmp_path, "b.txt", "a/z/c.txt", "a/d.ANN", "README.md", "data.xml")
    assert names(tmp_path, tmp_path) == ["a/d.ANN", "a/z/c.txt", "b.txt"]
    assert names(tmp_path, str(tmp_path)) == names(tmp_path, tmp_path)


def test_hidden_names_are_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "a.jsonl", "._a.jsonl", ".b.jsonl.partial-0123/c.jsonl", ".git/d.jsonl")
    assert names(tmp_path, tmp_path) == ["a.jsonl"]
    assert names(tmp_path, tmp_path / "._a.jsonl") == ["._a.jsonl"]  # unless named


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", ["a.txt", "b.txt"]),
        ("?.ann", ["a.ann"]),
        ("[b-z].txt", ["b.txt"]),
        ("**/*.txt", ["a.txt", "b.txt", "d/c.txt", "d/e/f.txt"]),
        ("d*", ["d/c.txt", "d/e/f.txt"]),
        ("**", ["a.ann", "a.txt", "b.txt", "d/c.txt", "d/e/f.txt"]),
    ],
)
def test_a_pattern_is_what_it_matches(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    touch(tmp_path, "a.txt", "a.ann", "b.txt", "d/c.txt", "d/e/f.txt")
    assert names(tmp_path, f"{tmp_path}/{pattern}") == expected
    assert names(tmp_path, tmp_path / pattern) == expected


def test_a_name_that_exists_is_no_pattern(tmp_path: Path) -> None:
    touch(tmp_path, "notes[1].jsonl", "notes1.jsonl", "part*/a.txt", "part1/b.txt")
    assert names(tmp_path, tmp_path / "notes[1].jsonl") == ["notes[1].jsonl"]
    assert names(tmp_path, tmp_path / "part*") == ["part*/a.txt"]


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    touch(tmp_path, "elsewhere/a.txt", "corpus/b.txt")
    (tmp_path / "corpus" / "more").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "corpus" / "again").symlink_to(tmp_path / "corpus")
    assert names(tmp_path, tmp_path / "corpus") == ["corpus/b.txt", "corpus/more/a.txt"]


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("nowhere", "there is no such file or folder"),
        ("nowhere.txt", "there is no such file or folder"),
        ("x" * 300, "there is no such file or folder"),
        ("no*.txt", "no file matches this pattern"),
        ("[xyz]" * 100, "no file matches this pattern"),
    ],
)
def test_nothing_there_is_an_error(tmp_path: Path, missing: str, message: str) -> None:
    source = f"{tmp_path}/empty/{missing}"
    with pytest.raises(InputError, match=message):
        find_files(source)
    with pytest.raises(InputError, match=message):
        read(source, problems=Problems())  # at once, not when the first document is asked for


def test_a_folder_without_a_readable_file_says_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no files: expected brat: \.txt \.ann; conll"):
        find_files(tmp_path)
    touch(tmp_path, "a.xml", "b.xml", "Makefile")
    with pytest.raises(InputError, match=r"holds 2 \.xml, 1 without a suffix: expected"):
        find_files(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt", "closed/b.txt")
    (tmp_path / "closed").chmod(0)
    try:
        with pytest.raises(InputError, match="closed cannot be listed"):
            find_files(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["a.txt", "a.ann"], "brat"),
        (["a.txt", "b.txt", "deep/c.ann"], "brat"),
        (["a.ann"], "brat"),
        (["a.txt", "deep/b.TXT"], "text"),
        (["a.jsonl"], "jsonl"),
        (["a.jsonl", "b.ndjson", "README.md"], "jsonl"),
        (["part-0.parquet", "deep/part-1.pq", "_SUCCESS"], "parquet"),
    ],
)
def test_suffixes_tell_the_format(tmp_path: Path, files: list[str], expected: str) -> None:
    touch(tmp_path, *files)
    assert format_of(locate(tmp_path)) == expected
    if len(files) == 1:
        assert format_of(locate(tmp_path / files[0])) == expected


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["a.txt", "b.jsonl"], "1 .jsonl, 1 .txt"),
        (["a.ann", "a.txt", "b.pq"], "1 .pq"),
        (["a.jsonl", "b.parquet"], "1 .jsonl, 1 .parquet"),
    ],
)
def test_a_mixture_is_an_error(tmp_path: Path, files: list[str], found: str) -> None:
    touch(tmp_path, *files)
    with pytest.raises(InputError, match="name the format") as error:
        format_of(locate(tmp_path))
    assert all(part in str(error.value) for part in found.split(", "))


def test_an_unknown_suffix_is_an_error_unless_the_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text('{"id": "a", "text": "b"}\n')
    with pytest.raises(InputError, match=r"holds 1 \.json: .* name the format"):
        read(path, problems=Problems())
    assert [document.id for document in read(path, format="jsonl", problems=Problems())] == ["a"]
    pattern = f"{tmp_path}/*.json"
    assert [document.id for document in read(pattern, format="jsonl", problems=Problems())] == ["a"]


def test_a_named_format_reads_its_own_files_of_a_mixture(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "a.ann").write_text("")
    (tmp_path / "b.jsonl").write_text('{"id": "b", "text": "B"}\n')
    for source in (tmp_path, f"{tmp_path}/*"):
        for format, expected in [("jsonl", "b"), ("brat", "a"), ("text", "a")]:
            actual = [document.id for document in read(source, format=format, problems=Problems())]
            assert actual == [expected], (source, format)


def test_a_named_format_that_a_folder_does_not_hold_is_an_error(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt")
    with pytest.raises(InputError, match=r"holds 1 \.txt: expected \.parquet or \.pq"):
        list(read(tmp_path, format="parquet", problems=Problems()))


def test_an_unknown_format_is_an_error(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt")
    with pytest.raises(InputError, match="'docx' is unknown: expected brat, conll, csv, jsonl"):
        read(tmp_path, format="docx", problems=Problems())


def test_columns_need_names_of_their_own() -> None:
    with pytest.raises(InputError, match="each needs a name of its own"):
        Columns(id="text")


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("part", ["label", "group"])
def test_a_column_that_was_named_is_somewhere(suffix: str, part: str, tmp_path: Path) -> None:
    """Or mistyped annotations would be none, and mistyped patients on both sides of a split."""
    named = Columns(**{part: "other"})
    write([Document("a", "Anna")], tmp_path / f"a.{suffix}")
    with pytest.raises(InputError, match=f"has no column or key 'other'.* column of the {part}"):
        read(tmp_path, columns=named, problems=Problems())
    assert len(list(read(tmp_path, problems=Problems()))) == 1
    document = Document("b", "Pere", (Span(0, 4, "PERSON"),), "p7")
    write([document], tmp_path / f"b.{suffix}", columns=named)
    assert list(read(tmp_path, columns=named, problems=Problems()))[1] == document
    assert has_column(tmp_path, "other") and not has_column(tmp_path, "another")


def test_annotations_are_missed_only_where_they_are_asked_for(tmp_path: Path) -> None:
    write([Document("a", "Anna")], tmp_path / "a.jsonl")
    names = Columns(label="other")
    assert list(read(tmp_path, columns=names, problems=Problems(), labelled=False))


def test_folders_of_texts_have_no_columns_to_lack(tmp_path: Path) -> None:
    write([Document("a", "Anna")], tmp_path / "notes")
    assert list(read(tmp_path / "notes", columns=Columns(label="other"), problems=Problems()))
