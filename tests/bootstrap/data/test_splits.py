"""The notes of a run, read whole where people labelled them and in batches where not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bootstrap.config.configuration import Configuration, load_configuration
from bootstrap.data.preparation import fingerprint
from bootstrap.data.splits import (
    HELD_OUT,
    SHARED,
    LabelledNotes,
    Notes,
    UnlabeledNotes,
    read_labelled,
    read_notes,
)
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.formats import write
from corpus.formats.batches import batch_of

Configure = Callable[..., Configuration]


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Write the notes of splits and configure a run of them."""

    def write_all(*settings: str, **splits: list[Document]) -> Configuration:
        for split, documents in splits.items():
            write(documents, tmp_path / f"{split}.jsonl")
        (tmp_path / "config.toml").write_text('[data]\nvalidation = "validation.jsonl"\n')
        return load_configuration(tmp_path / "config.toml", settings)

    return write_all


SEED = [Document("s", "Anna Vila ve", (Span(0, 9, "PERSON"),))]


def all_notes(configuration: Configuration) -> Notes:
    return read_notes(configuration.data, batch_size=configuration.loop.batch)


def seed_of(configuration: Configuration) -> LabelledNotes:
    return read_labelled(configuration.data, "seed", configuration.labels)


def ids(pool: UnlabeledNotes, start: int = 0) -> list[list[str]]:
    return [batch.ids.to_pylist() for batch in pool.batches(start)]


def test_the_pool_comes_in_batches_the_same_every_time(configure: Configure) -> None:
    options = configure(unlabeled=[Document(f"u{i}", f"nota {i}") for i in range(10)]).data
    pool = UnlabeledNotes(options, 4)
    whole = [[f"u{i}" for i in range(first, min(first + 4, 10))] for first in (0, 4, 8)]
    for start in range(5):
        assert ids(pool, start) == whole[start:]
    assert ids(UnlabeledNotes(options, 10)) == [[f"u{i}" for i in range(10)]]
    assert ids(UnlabeledNotes(options, 99)) == [[f"u{i}" for i in range(10)]]


def test_a_copy_of_a_validation_note_is_held_out_whatever_its_characters(configure) -> None:
    gold = [Document("v", "José Puig ve", (Span(0, 9, "PERSON"),))]
    pool = [
        Document("a", "José Puig ve"),
        Document("b", "Jose\u0301 Pu\xadig ve"),
        Document("c", "Jose\u0301 Puig va"),
    ]
    notes_read = all_notes(configure(seed=SEED, validation=gold, unlabeled=pool))
    assert ids(notes_read.unlabeled) == [["c"]]


def test_units_fill_the_batches(configure: Configure) -> None:
    texts = [Document(f"u{i}", "uno\ndos\n\ntres") for i in range(3)]
    pool = UnlabeledNotes(configure("data.unit=line", unlabeled=texts).data, 4)
    names = [f"u{i}#{offset}" for i in range(3) for offset in (0, 4, 9)]
    assert ids(pool) == [names[:4], names[4:8], names[8:]]
    assert ids(pool, 2) == [names[8:]]


def test_labels_of_unlabeled_notes_are_not_seen(configure: Configure) -> None:
    labelled = [Document("u", "Anna ve", (Span(0, 4, "PERSON"),))]
    (batch,) = UnlabeledNotes(configure(unlabeled=labelled).data, 4).batches()
    assert (batch.tags == -1).all() and batch.labels == ()
    assert batch.to_documents() == [Document("u", "Anna ve")]


@pytest.mark.parametrize("unit", ["document", "line"])
def test_texts_of_validation_are_held_out_of_the_pool(unit: str, configure: Configure) -> None:
    """Whole texts: lines that many notes have are no copies of a note."""
    person = (Span(0, 4, "PERSON"),)
    notes = all_notes(
        configure(
            f"data.unit={unit}",
            seed=[Document("s", "Anna ve", person)],
            validation=[Document("v", "Anna ve\nalta", person), Document("blank", "\n")],
            unlabeled=[
                *(Document("other", "alta"), Document("copy", "Anna ve\nalta")),
                *(Document("near", "Anna ve\nalta "), Document("blank", "\n")),
            ],
        )
    )
    (kept,) = ids(notes.unlabeled)
    assert {name.split("#")[0] for name in kept} - {"blank"} == {"other", "near"}
    assert list(notes.unlabeled.problems.lines()) == [
        "notes held out because a validation or test note has the same text: 1"
    ]


@pytest.mark.parametrize("unit", ["document", "line"])
def test_what_is_held_out_is_counted_and_does_not_divide_what_is_read(unit, configure) -> None:
    gold = [Document("v", "Anna ve", (Span(0, 4, "PERSON"),))]
    pool = [Document(name, "Anna ve" if name.isdigit() else "nota") for name in "0ab12cd3ef45"]
    settings = (f"data.unit={unit}", "loop.batch=2")
    notes = all_notes(configure(*settings, seed=SEED, validation=gold, unlabeled=pool))
    for start, read in ((0, ["ab", "cd", "ef"]), (1, ["cd", "ef"]), (3, [])):
        batches = notes.unlabeled.batches(start)
        assert ["".join(name[0] for name in batch.ids.to_pylist()) for batch in batches] == read
        assert notes.unlabeled.problems.counts == {HELD_OUT: 6}
    assert [len(units) for units in notes.unlabeled.units()] == [6]


def test_no_more_is_read_than_is_asked_for(configure, monkeypatch) -> None:
    read = []

    def endless(*arguments: Any, **options: Any) -> Iterator[pa.RecordBatch]:
        for number in range(0, 10**9, 4):
            documents = [Document(f"u{row}", "nota") for row in range(number, number + 4)]
            read.extend(documents)
            yield batch_of(documents)

    monkeypatch.setattr("bootstrap.data.splits.read_batches", endless)
    batches = UnlabeledNotes(configure().data, 100).batches()
    for number in (1, 2, 3):
        next(batches)
        assert len(read) == 100 * number


def test_what_the_pool_could_not_use_is_counted_in_each_pass(configure, tmp_path) -> None:
    options = configure("data.invalid=skip").data
    lines = ['{"id": "a", "text": "uno"}', "no", '{"id": "b", "text": "dos"}', "{}"]
    (tmp_path / "unlabeled.jsonl").write_text("\n".join(lines))
    pool = UnlabeledNotes(options, 10)
    for _ in range(2):
        assert ids(pool) == [["a", "b"]]
        assert sum(pool.problems.counts.values()) == 2


@pytest.mark.parametrize("source", ["jsonl", "parquet", "brat", "synthetic:11?random_state=3"])
def test_batches_from_a_number_on_are_the_same(
    source: str, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = source
    if ":" not in source:
        pool = f"pool.{source}" if source != "brat" else "pool"
        write([Document(f"u{i:02}", f"nota {i}") for i in range(11)], tmp_path / pool)
    if source == "jsonl":
        file = tmp_path / pool
        file.write_text(file.read_text().replace("\n", "\n \n"))
    monkeypatch.chdir(tmp_path)
    options = configure(f"data.unlabeled={pool}").data
    whole = [batch.to_documents() for batch in UnlabeledNotes(options, 3).batches()]
    assert list(map(len, whole)) == [3, 3, 3, 2]
    for start in range(5):
        notes = UnlabeledNotes(options, 3)
        assert [batch.to_documents() for batch in notes.batches(start)] == whole[start:]


def test_labelled_notes_keep_their_patients_and_their_tags(configure: Configure) -> None:
    seed = [
        Document("a", "Anna\nve a Vic", (Span(0, 4, "PERSON"), Span(10, 13, "LOCATION")), "p1"),
        Document("b", "hola"),
    ]
    notes = seed_of(configure("data.unit=line", seed=seed))
    assert [document.id for document in notes.documents] == ["a#0", "a#5", "b#0"]
    assert notes.own.groups == {"p1"}
    assert tuple(notes.batch.to_documents()) == notes.documents


def test_the_pool_is_looked_at_before_anything_is_trained(configure, tmp_path) -> None:
    gold = [Document("a", "Anna", (Span(0, 4, "PERSON"),))]
    configuration = configure(seed=SEED, validation=gold)
    with pytest.raises(InputError, match=r"unlabeled\.jsonl: there is no such file or folder"):
        all_notes(configuration)
    (tmp_path / "unlabeled.jsonl").write_text("no\n")
    with pytest.raises(InputError, match=r"unlabeled\.jsonl:1: lines that are not a JSON object"):
        all_notes(configuration)
    (tmp_path / "unlabeled.jsonl").write_text("")
    assert list(all_notes(configuration).unlabeled.batches()) == []


def test_every_file_has_a_fingerprint(configure: Configure, tmp_path: Path) -> None:
    some = [Document("a", "uno")]
    options = configure("data.unlabeled=synthetic:9", seed=some, validation=some)
    rows = fingerprint(options.data).to_pylist()
    assert [(row["split"], Path(row["file"]).name, row["bytes"]) for row in rows] == [
        ("seed", "seed.jsonl", (tmp_path / "seed.jsonl").stat().st_size),
        ("validation", "validation.jsonl", (tmp_path / "validation.jsonl").stat().st_size),
        ("unlabeled", "synthetic:9", 0),
    ]
    assert rows[0]["blake2b"] == rows[1]["blake2b"] != ""
    (tmp_path / "seed.jsonl").write_text(json.dumps({"id": "a", "text": "dos"}))
    assert fingerprint(options.data).to_pylist()[0]["blake2b"] != rows[0]["blake2b"]


def test_sources_may_be_lists_of_paths_and_patterns_of_any_formats(configure, tmp_path) -> None:
    person = (Span(0, 4, "PERSON"),)
    configuration = configure(
        f'data.seed=["{tmp_path}/a.jsonl", "{tmp_path}/b*.csv"]',
        f'data.unlabeled=["synthetic:2", "{tmp_path}/c.conll"]',
        "data.encoding=latin-1",
        "data.delimiter=;",
        validation=[Document("v", "Anna ve", person)],
    )
    write([Document("a", "Anna va", person)], tmp_path / "a.jsonl")
    for name in ("b1", "b2"):
        row = f'{name};Núria;"[[0, 5, ""PERSON""]]"\n'
        (tmp_path / f"{name}.csv").write_text(f"id;text;label\n{row}", encoding="latin-1")
    (tmp_path / "c.conll").write_text("Lluís\tO\n\nÀngel\tO\n", encoding="latin-1")
    notes = all_notes(configuration)
    assert [document.id for document in notes.seed.documents] == ["a", "b1", "b2"]
    assert [document.text for document in notes.seed.documents[1:]] == ["Núria"] * 2
    texts = [text for batch in notes.unlabeled.batches() for text in batch.texts.to_pylist()]
    assert len(texts) == 4 and texts[2:] == ["Lluís", "Àngel"]
    files = fingerprint(configuration.data)
    assert files["split"].to_pylist() == [*["seed"] * 3, "validation", *["unlabeled"] * 2]
    with pytest.raises(InputError, match=r'seed names "": expected paths'):
        configure('data.seed=["a.jsonl", ""]')


@pytest.mark.parametrize("unit", ["document", "line"])
def test_texts_of_validation_and_test_are_left_out_of_the_seed(configure, tmp_path, unit) -> None:
    """Lines without annotations are shared by all notes, and say nothing about a model."""
    name = (Span(0, 4, "PERSON"),)
    seed = [
        Document("a", "Anna ve", name),
        Document("b", "Datos:"),
        Document("c", "Pere va", name),
        Document("d", "Lola sí", name),
    ]
    validation = [Document("v", "Anna ve", name), Document("w", "Datos:")]
    test = [Document("t", "Pere va", name)]
    splits = {"seed": seed, "validation": validation, "test": test, "unlabeled": []}
    settings = f"data.unit={unit}", f"data.test={tmp_path / 'test.jsonl'}"
    notes = all_notes(configure(*settings, **splits)).seed
    kept = ["d"] if unit == "document" else ["b", "d"]
    assert [document.id.partition("#")[0] for document in notes.documents] == kept
    assert notes.problems.counts == {SHARED: 4 - len(kept)}
    (tmp_path / "seed.jsonl").unlink()
    splits = {"seed": validation}
    with pytest.raises(InputError, match="every annotated note has the text of a validation or"):
        all_notes(configure(*settings, **splits))


def test_one_annotated_set_is_divided_by_patient(configure, tmp_path) -> None:
    person = (Span(0, 4, "PERSON"),)
    seed = [Document(f"s{i}", f"Anna va a {i}", person, f"p{i // 2}") for i in range(20)]
    configuration = configure("data.validation=0.3", seed=seed, unlabeled=[])
    notes = all_notes(configuration)
    parts = [
        {document.id for document in part.documents} for part in (notes.seed, notes.validation)
    ]
    assert (len(parts[0]), len(parts[1])) == (14, 6) and not parts[0] & parts[1]
    assert not notes.seed.own.groups & notes.validation.own.groups
    read = read_labelled(configuration.data, "validation", None).documents
    assert {document.id for document in read} == parts[1]  # as other commands read them
