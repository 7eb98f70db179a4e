"""The notes of a run without a seed, and what `bootstrap check` says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.config.configuration import Configuration, load_configuration
from bootstrap.data.checks import check_notes, warnings
from bootstrap.data.splits import fingerprint, read_labelled, read_notes, source_lines, splits_of
from corpus.counts import count_words
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats import write
from gazetteers.gazetteer import Gazetteer

Command = Callable[..., Any]
MakeGazetteer = Callable[..., Gazetteer]
Configure = Callable[..., Configuration]


def person(name: str, text: str = "Anna ve") -> Document:
    return Document(name, text, (Span(0, text.index(" "), "PERSON"),))


@pytest.fixture
def files(make_gazetteer: MakeGazetteer, tmp_path: Path) -> Path:
    """A folder with notes and with all that a start can read."""
    write([person(f"v{i}", f"Anna ve {i}") for i in range(30)], tmp_path / "validation.jsonl")
    write([person("s", "Puig va"), person("t")], tmp_path / "seed.jsonl")
    pool = [Document("u", "Puig y ANNA no ven"), Document("w", "nada de nada")]
    write(pool, tmp_path / "unlabeled.jsonl")
    write([Document("empty", "nada")], tmp_path / "empty.jsonl")
    names = ("anna", "given", 50), ("puig", "surname", 40), ("casa", "surname", 1)
    make_gazetteer(*names).save(tmp_path / "names.parquet")
    make_gazetteer(("nada", "noun", 1)).save(tmp_path / "nouns.parquet")
    count_words(pool).save(tmp_path / "words.parquet")
    (tmp_path / "text.csv").write_text("anna\npuig\n")
    return tmp_path


@pytest.fixture
def configure(files: Path) -> Configure:
    def make(*lines: str, data: str = "", names: str = '["names.parquet"]') -> Configuration:
        start = f'\n[start]\nkind = "dictionary"\nnames = {names}\n'
        (files / "config.toml").write_text(
            f"[data]\n{data}\n{start}" + "\n".join([*lines, "[loop]\nbatch = 2"])
        )
        return load_configuration(files / "config.toml")

    return make


# Notes


def test_there_are_only_the_splits_that_are_named(configure: Configure) -> None:
    alone, beside = configure(), configure(data='seed = "seed.jsonl"')
    assert splits_of(alone.data) == ["validation", "unlabeled"]
    assert splits_of(beside.data) == ["seed", "validation", "unlabeled"]
    assert [line.split()[0] for line in source_lines(alone.data)] == ["validation", "unlabeled"]


def test_without_a_seed_the_class_of_names_is_all_that_is_known(configure: Configure) -> None:
    notes = read_notes(configure('label = "NAME"'))
    assert notes.seed.documents == ()
    assert notes.seed.groups == notes.seed.digests == frozenset()
    assert (len(notes.seed.batch), len(notes.seed.batch.words)) == (0, 0)
    assert notes.seed.batch.labels == ("O", "B-NAME", "I-NAME")
    assert len(notes.validation.documents) == 30


def test_a_seed_beside_a_start_knows_both_classes(configure: Configure, files: Path) -> None:
    seed = read_labelled(configure('label = "NAME"', data='seed = "seed.jsonl"'), "seed")
    assert [document.id for document in seed.documents] == ["s", "t"]
    assert seed.batch.labels == ("O", "B-NAME", "I-NAME", "B-PERSON", "I-PERSON")
    validation = read_labelled(configure('label = "NAME"'), "validation")
    assert validation.batch.labels == ("O", "B-PERSON", "I-PERSON")
    with pytest.raises(InputError, match="1 documents and not one entity"):
        read_labelled(configure(data='seed = "empty.jsonl"'), "seed")


def test_proportions_can_be_given_of_the_class_of_the_start(configure: Configure) -> None:
    given = "[select.reference]\nempty = 0.5\nlength = {{ {0} = 1 }}\nper_token = {{ {0} = 0.1 }}"
    assert read_notes(configure(given.format("PERSON"))).seed.documents == ()
    with pytest.raises(InputError, match=r"\[select.reference\] names AGE, which"):
        read_notes(configure(given.format("AGE")))


def test_dictionaries_and_counts_have_a_fingerprint(configure: Configure, files: Path) -> None:
    def found(configuration: Configuration) -> list[tuple[str, str]]:
        rows = fingerprint(configuration).to_pylist()
        assert all(len(row["blake2b"]) == 32 and row["bytes"] for row in rows)
        return [(row["split"], Path(row["file"]).name) for row in rows]

    notes = [("validation", "validation.jsonl"), ("unlabeled", "unlabeled.jsonl")]
    assert found(configure(names='["starter"]')) == notes
    whole = configure(
        'not_names = ["nouns.parquet"]\ncounts = "words.parquet"',
        '[tagger]\nnames = ["starter", "names.parquet"]',
        names='["starter", "names.parquet"]',
    )
    start = [("start", f"{name}.parquet") for name in ("names", "nouns", "words")]
    assert found(whole) == [*notes, *start, ("names", "names.parquet")]
    before = fingerprint(whole).to_pylist()
    (files / "nouns.parquet").write_bytes(b"other")
    changed = [row["file"] for row in fingerprint(whole).to_pylist() if row not in before]
    assert changed == [str(files / "nouns.parquet")]
    (files / "nouns.parquet").unlink()
    with pytest.raises(InputError, match=r"nouns\.parquet cannot be read: No such file"):
        fingerprint(whole)


# Checking


def test_tokens_in_the_dictionaries_are_counted(configure: Configure) -> None:
    reports = check_notes(configure())
    assert list(reports) == ["validation", "unlabeled"]
    assert {split: report.named for split, report in reports.items()} == {
        "validation": 30,
        "unlabeled": 2,
    }
    given = check_notes(configure('classes = ["given"]', data='seed = "seed.jsonl"'))
    assert [report.named for report in given.values()] == [1, 30, 1]
    assert [report.tokens for report in given.values()] == [4, 90, 8]


def test_warnings_are_of_what_the_start_tags(configure: Configure) -> None:
    def warned(*lines: str, **others: str) -> list[str]:
        configuration = configure(*lines, **others)
        return list(warnings(configuration, check_notes(configuration)))

    assert warned() == []
    assert warned('label = "NAME"') == [
        "PERSON is in validation and not in [start]: nothing can learn it, all are missed",
        "NAME is in [start] and not in validation: nothing judges it",
    ]
    beside = warned('label = "NAME"', data='seed = "seed.jsonl"')
    assert "seed: only 2 PERSON; fewer than 30 say little" in beside
    assert not any("PERSON is in validation and not" in line for line in beside)


def test_check_shows_no_seed_where_there_is_none(
    configure: Configure, files: Path, command: Command
) -> None:
    configure()
    done = command("check", files / "config.toml")
    assert (done.code, done.err) == (0, "")
    header = next(line for line in done.out.splitlines() if line.split()[-1:] == ["unlabeled"])
    assert header.split() == ["validation", "unlabeled"]
    rows = {line[:42].strip(): line[42:].split() for line in done.out.splitlines()}
    assert rows["in the dictionaries of [start]"] == ["30", "2"]
    assert rows["texts"] == ["30", "2"]
    assert rows["PERSON"] == ["30"]
    assert "no warnings" in done.out
    configure(data='seed = "empty.jsonl"')
    done = command("check", files / "config.toml")
    assert done.code == 2
    assert "! seed: not one entity; a run will not start" in done.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('names = ["gone.parquet"]', "gone.parquet is not there"),
        ('names = ["text.csv"]', "text.csv is not a gazetteer"),
        ('names = ["words.parquet"]', "words.parquet is not a gazetteer"),
        ('names = ["names.parquet"]\nclasses = ["town"]', "no class town in the gazetteer"),
        ('names = ["starter"]\nnot_names = ["text.csv"]', "text.csv is not a gazetteer"),
        ('names = ["starter"]\ncounts = "text.csv"', "text.csv holds no counts of words"),
        ('names = ["starter"]\ncounts = "names.parquet"', "names.parquet holds no counts"),
        ('names = ["starter"]\n[tagger]\nnames = ["text.csv"]', "text.csv is not a gazetteer"),
    ],
)
def test_what_cannot_be_read_is_told_before_there_is_a_run(
    files: Path, command: Command, line: str, message: str
) -> None:
    config = files / "config.toml"
    config.write_text(f'[start]\nkind = "dictionary"\n{line}\n')
    for name in ("check", "run"):
        out = ("--out", files / "run", "--jobs", 1) if name == "run" else ()
        done = command(name, config, *out)
        assert done.code == 2, done
        assert message in done.err
        assert len(done.err.strip().splitlines()) == 1
    assert not (files / "run").exists()
