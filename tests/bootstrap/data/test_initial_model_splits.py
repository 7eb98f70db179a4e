"""The notes of a run without a seed, and what `bootstrap check` says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.config.configuration import Configuration, load_configuration
from bootstrap.data.checks import SplitReport, check_notes, warnings
from bootstrap.data.preparation import fingerprint, prepare
from bootstrap.data.splits import HeldOut, Notes, read_labelled, source_lines, splits_of
from corpus.counts import count_words
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats import write
from corpus.formats.batches import batches_of
from gazetteers.gazetteer import Gazetteer

MakeGazetteer = Callable[..., Gazetteer]
Configure = Callable[..., Configuration]


def person(name: str, text: str = "Anna ve") -> Document:
    return Document(name, text, (Span(0, text.index(" "), "PERSON"),))


SEEDED = 'seed = "seed.jsonl"\nvalidation = "validation.jsonl"'


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
    make_gazetteer().save(tmp_path / "no-terms.parquet")
    count_words(batches_of(pool)).save(tmp_path / "words.parquet")
    (tmp_path / "text.csv").write_text("anna\npuig\n")
    return tmp_path


@pytest.fixture
def configure(files: Path) -> Configure:
    def make(*lines: str, data: str = "", names: str = '["names.parquet"]') -> Configuration:
        start = f'\n[initial_model]\nkind = "dictionary"\nnames = {names}\n'
        (files / "config.toml").write_text(
            f"[data]\n{data}\n{start}" + "\n".join([*lines, "[loop]\nbatch = 2"])
        )
        return load_configuration(files / "config.toml")

    return make


def notes_of(configuration: Configuration) -> Notes:
    return prepare(configuration)[0]


def fingerprinted(configuration: Configuration) -> list[dict[str, Any]]:
    return fingerprint(configuration.data, configuration.training_files()).to_pylist()


def checked(configuration: Configuration) -> tuple[dict[str, SplitReport], list[str]]:
    coverages, data = configuration.check(), configuration.data
    reports = check_notes(data, configuration.labels, coverages)
    lines = warnings(
        reports,
        data,
        batch_size=configuration.loop.batch,
        classes=configuration.initial_model.classes,
        coverages=coverages,
    )
    return reports, list(lines)


# Documents


def test_there_are_only_the_splits_that_are_named(configure: Configure) -> None:
    alone, beside = configure(), configure(data=SEEDED)
    assert splits_of(alone.data) == ["validation", "unlabeled"]
    assert splits_of(beside.data) == ["seed", "validation", "unlabeled"]
    assert [line.split()[0] for line in source_lines(alone.data)] == ["validation", "unlabeled"]


def test_without_a_seed_the_class_of_names_is_all_that_is_known(configure: Configure) -> None:
    notes = notes_of(configure('label = "NAME"'))
    assert notes.seed.documents == ()
    assert notes.seed.own == HeldOut(frozenset(), frozenset())
    assert (len(notes.seed.batch), notes.seed.batch.n_tokens) == (0, 0)
    assert notes.seed.batch.labels == ("O", "B-NAME", "I-NAME")
    assert len(notes.validation.documents) == 30


def test_a_seed_beside_a_start_knows_both_classes(configure: Configure, files: Path) -> None:
    data = configure(data=SEEDED).data
    seed = read_labelled(data, "seed", None, ["NAME"])
    assert [document.id for document in seed.documents] == ["s", "t"]
    assert seed.batch.labels == ("O", "B-NAME", "I-NAME", "B-PERSON", "I-PERSON")
    validation = read_labelled(data, "validation", None)
    assert validation.batch.labels == ("O", "B-PERSON", "I-PERSON")
    with pytest.raises(InputError, match="1 document without any entity"):
        read_labelled(configure(data=SEEDED.replace("seed.", "empty.")).data, "seed", None)


def test_proportions_can_be_given_of_the_class_of_the_start(configure: Configure) -> None:
    given = "[select.reference]\nempty = 0.5\nlength = {{ {0} = 1 }}\nper_token = {{ {0} = 0.1 }}"
    assert notes_of(configure(given.format("PERSON"))).seed.documents == ()
    with pytest.raises(InputError, match=r"\[select.reference\] names AGE, which"):
        notes_of(configure(given.format("AGE")))


def test_dictionaries_and_counts_have_a_fingerprint(configure: Configure, files: Path) -> None:
    def files_of(configuration: Configuration) -> list[tuple[str, str]]:
        rows = fingerprinted(configuration)
        assert all(len(row["blake2b"]) == 32 and row["bytes"] for row in rows)
        return [(row["split"], Path(row["file"]).name) for row in rows]

    notes = [("validation", "validation.jsonl"), ("unlabeled", "unlabeled.jsonl")]
    assert files_of(configure(names='["census-es"]')) == notes
    whole = configure(
        'not_names = ["nouns.parquet"]\ncounts = "words.parquet"',
        '[tagger]\nnames = ["census-es", "names.parquet"]',
        names='["census-es", "names.parquet"]',
    )
    expected = [
        ("tagger.names", "names.parquet"),
        ("initial_model.names", "names.parquet"),
        ("initial_model.counts", "words.parquet"),
        ("initial_model.not_names", "nouns.parquet"),
    ]
    assert files_of(whole) == [*notes, *expected]
    before = fingerprinted(whole)
    (files / "nouns.parquet").write_bytes(b"other")
    changed = [row["file"] for row in fingerprinted(whole) if row not in before]
    assert changed == [str(files / "nouns.parquet")]
    (files / "nouns.parquet").unlink()
    with pytest.raises(InputError, match=r"nouns\.parquet cannot be read: No such file"):
        fingerprinted(whole)


# Checking


NAMED = "an entry in the name lists"


def test_tokens_in_the_dictionaries_are_counted(configure: Configure) -> None:
    reports, _ = checked(configure())
    assert list(reports) == ["validation", "unlabeled"]
    assert [report.covered for report in reports.values()] == [{NAMED: 30}, {NAMED: 2}]
    given, _ = checked(configure('classes = ["given"]', data=SEEDED))
    assert [report.covered[NAMED] for report in given.values()] == [1, 30, 1]
    assert [report.tokens for report in given.values()] == [4, 90, 8]


def test_warnings_are_of_what_the_initial_model_tags(configure: Configure) -> None:
    assert checked(configure())[1] == []
    assert checked(configure('label = "NAME"'))[1] == [
        "PERSON is in validation and not in [initial_model]: it cannot be learned, so all "
        "its entities are missed",
        "NAME is in [initial_model] and not in validation: it cannot be evaluated",
    ]
    beside = checked(configure('label = "NAME"', data=SEEDED))[1]
    assert "seed: only 2 PERSON entities; scores on fewer than 30 are unreliable" in beside
    assert not any("PERSON is in validation and not" in line for line in beside)


def test_check_shows_no_seed_where_there_is_none(configure, files, command) -> None:
    configure()
    done = command("check", files / "config.toml")
    assert (done.code, done.err) == (0, "")
    header = next(line for line in done.out.splitlines() if line.split()[-1:] == ["unlabeled"])
    assert header.split() == ["validation", "unlabeled"]
    rows = {line[:42].strip(): line[42:].split() for line in done.out.splitlines()}
    assert rows[f"with {NAMED}"] == ["30", "2"]
    assert rows["texts"] == ["30", "2"]
    assert rows["PERSON"] == ["30"]
    assert done.out.count("! ") == 1 and "! validation: with" in done.out
    configure(data=SEEDED.replace("seed.", "empty."))
    done = command("check", files / "config.toml")
    assert done.code == 2
    assert done.out.startswith("not ready: seed has no entities\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('names = ["gone.parquet"]', "gone.parquet does not exist"),
        ('names = ["text.csv"]', "text.csv is not a gazetteer"),
        ('names = ["words.parquet"]', "words.parquet is not a gazetteer"),
        ('names = ["names.parquet"]\nclasses = ["town"]', "no class town in the gazetteer"),
        ('names = ["census-es"]\nnot_names = ["text.csv"]', "text.csv is not a gazetteer"),
        ('names = ["census-es"]\ncounts = "text.csv"', "text.csv is not a file of word counts"),
        (
            'names = ["census-es"]\ncounts = "names.parquet"',
            "names.parquet is not a file of word counts",
        ),
        ('names = ["census-es"]\nblocked = ["blocking", "gone.parquet"]', "gone.parquet does not"),
        ('names = ["census-es"]\nblocked = ["no-terms.parquet"]', "has no terms"),
        ('names = ["census-es"]\n[tagger]\nnames = ["text.csv"]', "text.csv is not a gazetteer"),
        ('names = ["census-es"]\n[tagger]\nphrases = ["text.csv"]', "text.csv is not a gaz"),
        ('names = ["census-es"]\n[tagger]\nclusters = "gone"', "gone"),
    ],
)
def test_what_cannot_be_read_is_told_before_there_is_a_run(files, command, line, message) -> None:
    config = files / "config.toml"
    config.write_text(f'[initial_model]\nkind = "dictionary"\n{line}\n')
    for name in ("check", "run"):
        out = ("--out", files / "run", "--jobs", 1) if name == "run" else ()
        done = command(name, config, *out)
        assert done.code == 2, done
        assert message in done.err
        assert len(done.err.strip().splitlines()) == 1
    assert not (files / "run").exists()
