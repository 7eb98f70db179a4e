"""Tagging notes of any format with the best model of a run, or with any model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bootstrap import tagging
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.inference import UnitFile, find_model, read_unit_file, tag_documents
from bootstrap.runs.folder import Run
from bootstrap.tagging import TagOptions
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.formats import batches, read, write
from corpus.tags import find_entities
from corpus.units import split_batch
from taggers.model_folder import add_to_model, write_model

Command = Callable[..., Any]
MakeNotes = Callable[..., list[Document]]


def documents_at(path: Path, **options: Any) -> list[Document]:
    return list(read(path, problems=Problems(), **options))


@pytest.fixture(scope="module")
def tagger(finished: Path) -> ParallelTagger:
    return ParallelTagger.load(find_model(finished))


def expected(tagger: ParallelTagger, documents: list[Document]) -> list[Document]:
    """Tag documents as they are, all at once."""
    batch = make_batch(documents, labelled=False)
    tagging = tagger.tag(batch)
    return batch.with_tags(tagging.tags, tagging.labels).to_documents()


@pytest.fixture(scope="module")
def fresh(notes: MakeNotes) -> list[Document]:
    """Notes nobody has seen, some of them odd; with gold spans and groups."""
    some = [replace(document, group=f"p{i % 3}") for i, document in enumerate(notes(40, 77))]
    odd = [
        Document("empty", ""),
        Document("blank", " \r\n\t"),
        Document("odd", "\ufeffPac Anna Puig 😀 ve\r\nVive en Vic\x85", (Span(1, 4, "GOLD"),)),
    ]
    return [*some, *odd]


# Where a model is


def test_a_run_means_its_best_model(finished: Path) -> None:
    best = Run(finished).best_model()
    assert find_model(finished) == best
    assert find_model(best) == best
    assert find_model(best.parent) == best
    assert find_model(finished / "best").resolve() == best.resolve()


def test_what_is_neither_run_nor_model_is_refused(tmp_path, project, command) -> None:
    assert command("init", tmp_path / "init").code == 0
    for what in ("nowhere", "init"):
        done = command("tag", tmp_path / what, project / "seed.jsonl", tmp_path / "out.jsonl")
        assert done.code == 2
        assert f"{what} is neither a run" in done.err
        assert not (tmp_path / "out.jsonl").exists()


def test_a_model_knows_its_unit(finished: Path, tmp_path: Path) -> None:
    assert read_unit_file(find_model(finished)) == UnitFile("document")
    write_model(tmp_path, {"kind": "crf"}, {})
    assert read_unit_file(tmp_path) == UnitFile("document")
    for text in ('{"unit": "word"}', "{}", "no", '{"unit": "line", "propagate": {"A": "all"}}'):
        add_to_model(tmp_path, {"unit.json": text.encode()})
        with pytest.raises(InputError, match="does not name a unit, one of document, line"):
            read_unit_file(tmp_path)
    add_to_model(tmp_path, {"unit.json": b'{"unit": "line"}'})
    assert read_unit_file(tmp_path) == UnitFile("line")
    chosen = {"propagate": {"PERSON": "text"}, "min_probability": {"PERSON": 0.4}}
    assert UnitFile("line", **chosen).tag_options() == TagOptions("line", **chosen)


# Unusual characters


def hidden(document: Document, mark: str) -> Document:
    """Return a document with a mark before all letters and digits of words but the first."""
    parts, moved = [], []
    for place, character in enumerate(document.text):
        if character.isalnum() and document.text[place - 1 : place].isalnum():
            parts.append(mark)
        moved.append(sum(map(len, parts)))
        parts.append(character)
    spans = [Span(moved[s.start], moved[s.end - 1] + 1, s.label) for s in document.spans]
    return replace(document, text="".join(parts), spans=tuple(spans))


@pytest.mark.parametrize("mark", ["\xad", "\u200b\u200d"])
@pytest.mark.parametrize("unit", ["document", "sentence"])
def test_invisible_characters_change_no_span(mark, unit, tagger, fresh) -> None:
    options = TagOptions(unit, propagate={"PERSON": "words"})
    plain = tag_documents(fresh, tagger, options)
    changed = [hidden(document, mark) for document in fresh]
    tagged = tag_documents(changed, tagger, options)
    some = 0
    for one, other in zip(plain, tagged, strict=True):
        assert other.document == hidden(one.document, mark)
        assert other.confidence == one.confidence
        some += len(one.spans)
    assert some > 20


def test_tag_names_unusual_characters(finished: Path, tmp_path: Path, command: Command) -> None:
    notes = [
        Document("a", "Pac An\xadna Puig"),
        Document("b", "Pac Pu\xadig, ﬁebre"),
        Document("c", "x"),
    ]
    for name, some in (("odd", notes), ("plain", notes[2:])):
        write(some, tmp_path / f"{name}.jsonl")
        done = command("tag", finished, tmp_path / f"{name}.jsonl", tmp_path / f"{name}-out.jsonl")
        assert done.code == 0
        expected = [
            "invisible characters (U+00AD) in 2 of 3 notes",
            "unusual forms of letters, digits and signs in 1 of 3 notes",
        ]
        named = [line for line in expected if line in done.err]
        assert named == (expected if name == "odd" else [])
        assert "Pac" not in done.err
    assert [d.text for d in documents_at(tmp_path / "odd-out.jsonl")] == [d.text for d in notes]


# Units


@pytest.mark.parametrize("unit", ["document", "line", "sentence"])
def test_units_are_put_together_at_the_offsets_of_the_source(unit, tagger, notes) -> None:
    ends = ["\n", "\r\n", "\n\n  ", ". ", "\r"]
    some = iter(notes(60, 5))
    sources = [
        Document(f"d{i}", "".join(next(some).text + end for end in ends), group="p")
        for i in range(12)
    ]
    sources.insert(3, Document("empty", "", group="q"))
    tagged = list(tag_documents(sources, tagger, TagOptions(unit)))
    assert [item.document.text for item in tagged] == [source.text for source in sources]
    assert [item.document.group for item in tagged] == [source.group for source in sources]
    total = 0
    for source, item in zip(sources, tagged, strict=True):
        units = split_batch(batches.batch_of([source]), unit, Problems())
        pieces = list(zip(units.offsets.tolist(), batches.documents_of(units.batch), strict=True))
        alone = expected(tagger, [piece for _, piece in pieces])
        spans = [
            (source.text[offset:][span.start : span.end], span.start + offset, span.label)
            for (offset, _), piece in zip(pieces, alone, strict=True)
            for span in piece.spans
        ]
        assert [
            (source.text[span.start : span.end], span.start, span.label)
            for span in item.document.spans
        ] == spans
        batch = make_batch([piece for _, piece in pieces], labelled=False)
        confidence = tagger.tag(batch).confidence
        # Linear algebra libraries may round a row by the number of rows beside it.
        assert item.confidence == pytest.approx(confidence.min() if len(confidence) else 1.0, 1e-5)
        total += len(spans)
    assert total > 20


def test_documents_are_tagged_as_they_come(tagger, fresh, monkeypatch) -> None:
    monkeypatch.setattr(batches, "MOST_ROWS", 4)
    monkeypatch.setattr(tagging, "_ROWS", 4)
    asked = []

    def stream() -> Any:
        for document in fresh:
            asked.append(document.id)
            yield document

    first = next(iter(tag_documents(stream(), tagger, TagOptions())))
    assert first.document.id == fresh[0].id
    assert len(asked) == 8  # the next batch may go on with the last patient


# The command


@pytest.mark.parametrize(
    ("name", "target"),
    [("jsonl", "x.jsonl"), ("parquet", "x.parquet"), ("brat", "x"), ("text", "x")],
)
def test_notes_of_every_format_are_tagged(
    name, target, finished, tagger, fresh, tmp_path, command
) -> None:
    """And gold spans that are there already give way to those found."""
    source = tmp_path / ("in" if name in ("brat", "text") else f"in.{name}")
    out = tmp_path / ("out" if name in ("brat", "text") else f"out.{name}")
    write(fresh, source, format=name)
    done = command("tag", finished, source, out, "--jobs", 1, "--to", name)
    assert done.code == 0, done
    ours = {document.id: document for document in documents_at(out, format=name)}
    assert list(ours) == [document.id for document in documents_at(source, format=name)]
    for document in expected(tagger, fresh):
        ours_tagged = ours[document.id]
        assert ours_tagged.text == document.text
        assert ours_tagged.spans == (() if name == "text" else document.spans)
        assert ours_tagged.group == (document.group if name in ("jsonl", "parquet") else None)
    spans = sum(len(document.spans) for document in ours.values())
    assert f"wrote 43 documents with {spans} spans to {out}" in done.out
    lost = {
        "jsonl": "",
        "parquet": "",
        "brat": "left out, not supported by the format: confidences (43)",
        "text": "confidences (43)",
    }[name]
    assert lost in done.out and ("left out" in done.out) == bool(lost)


def test_confidence_of_spans_stands_beside_them_where_asked_for(
    finished: Path, tagger: ParallelTagger, fresh: list[Document], tmp_path: Path, command: Command
) -> None:
    write(fresh, tmp_path / "in.jsonl")
    for suffix in ("jsonl", "parquet"):
        out = tmp_path / f"out.{suffix}"
        done = command("tag", finished, tmp_path / "in.jsonl", out, "--span-confidence")
        assert done.code == 0
        assert "left out" not in done.out
    batch = make_batch(fresh, labelled=False)
    whole = tagger.tag(batch, detail="entity")
    entities = find_entities(whole.tags, batch.document_offsets, whole.labels)
    truth = whole.entity_confidence(entities).tolist()
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    records = [json.loads(line) for line in lines]
    assert [sure for record in records for sure in record["span_confidences"]] == truth
    assert [len(record["span_confidences"]) for record in records] == [
        len(record["label"]) for record in records
    ]
    assert len(truth) > 20
    column = pq.read_table(tmp_path / "out.parquet")["span_confidences"].to_pylist()
    assert column == [record["span_confidences"] for record in records]
    assert [record["confidence"] for record in records] == whole.confidence.tolist()
    assert documents_at(tmp_path / "out.jsonl") == [
        replace(document, group=source.group)
        for document, source in zip(expected(tagger, fresh), fresh, strict=True)
    ]


@pytest.mark.parametrize("unit", ["document", "line"])
def test_confidence_of_spans_goes_with_them_through_units(unit, tagger, notes, monkeypatch) -> None:
    some = iter(notes(30, 5))
    sources = [
        Document(f"d{i}", "\n".join(next(some).text for _ in range(3)), group="p")
        for i in range(10)
    ]
    sources.insert(3, Document("empty", ""))
    whole = list(tag_documents(sources, tagger, TagOptions(unit, detail="entity")))
    monkeypatch.setattr(batches, "MOST_ROWS", 4)
    monkeypatch.setattr(tagging, "_ROWS", 4)
    parts = list(tag_documents(sources, tagger, TagOptions(unit, detail="entity")))
    assert [item.document for item in parts] == [item.document for item in whole]
    for part, item in zip(parts, whole, strict=True):
        assert part.confidence == pytest.approx(item.confidence, rel=1e-5)
        assert len(item.span_confidences) == len(item.document.spans)
        assert part.span_confidences == pytest.approx(item.span_confidences, abs=1e-5)
    assert len({sure for item in whole for sure in item.span_confidences}) > 10
    plain = list(tag_documents(sources, tagger, TagOptions(unit)))
    assert {item.span_confidences for item in plain} == {()}


def test_a_model_works_without_its_run(finished, project, tmp_path, command) -> None:
    shutil.copytree(find_model(finished), tmp_path / "model")
    for model, out in ((tmp_path / "model", "a.jsonl"), (finished, "b.jsonl")):
        assert command("tag", model, project / "validation.jsonl", tmp_path / out).code == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_tagging_that_fails_leaves_nothing(finished, project, tmp_path, command) -> None:
    (tmp_path / "in.jsonl").write_bytes((project / "unlabeled.jsonl").read_bytes() + b"{")
    for name in ("out.jsonl", "out.parquet", "out"):
        done = command("tag", finished, tmp_path / "in.jsonl", tmp_path / name)
        assert done.code == 2
        assert "in.jsonl:2001: lines that are not a JSON object" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    skipped = command("tag", finished, tmp_path / "in.jsonl", tmp_path / "out", "--invalid", "skip")
    assert skipped.code == 0
    assert "lines that are not a JSON object: 1" in skipped.err
    assert len(documents_at(tmp_path / "out")) == 2000


def test_no_notes_are_no_obstacle(finished: Path, tmp_path: Path, command: Command) -> None:
    (tmp_path / "in.jsonl").write_text("\n\n")
    done = command("tag", finished, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert done.code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""
