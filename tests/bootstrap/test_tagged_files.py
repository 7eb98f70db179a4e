"""What `bootstrap tag` writes, beside a specification that tags one unit of one note at a time."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from bootstrap import tagging
from bootstrap.inference import find_model
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.formats import read_batches, write_batches
from corpus.formats.batches import batch_of, documents_of
from corpus.tags import find_entities
from taggers import load_tagger
from taggers.base import Tagger
from taggers.model_folder import add_to_model

FORMATS = ["jsonl", "parquet", "csv", "conll", "brat", "text"]


def specification(
    note: Document, tagger: Tagger, unit: str
) -> tuple[list[Span], float, list[float]]:
    """Return the spans of a note, its confidence and those of its spans."""
    borders = [(0, len(note.text))]
    if unit == "line":
        matches = re.finditer("[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+", note.text)
        borders = [match.span() for match in matches if not match.group().isspace()]
    spans, confidence, of_spans = [], 1.0, []
    for start, end in borders:
        batch = make_batch([Document("", note.text[start:end])], labelled=False)
        tagging = tagger.tag(batch, detail="entity")
        (inside,) = batch.with_tags(tagging.tags, tagging.labels).spans()
        spans += [Span(span.start + start, span.end + start, span.label) for span in inside]
        confidence = min(confidence, float(tagging.confidence[0]))
        entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
        of_spans += tagging.entity_confidence(entities).tolist()
    return spans, confidence, of_spans


@pytest.fixture(scope="module")
def long_notes(notes):
    """Notes of several lines; one has none."""
    lines = iter(notes(60, 5))
    long = [
        Document(f"d/{n}", "\r\n".join(next(lines).text for _ in range(3)), (Span(0, 3, "OLD"),))
        for n in range(12)
    ]
    return [replace(long[0], id="p", group="7"), *long, Document("empty", ""), Document("b", " \n")]


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_every_format_equals_the_specification(
    unit, jobs, finished: Path, long_notes, tmp_path: Path, command, monkeypatch
) -> None:
    monkeypatch.setattr(tagging, "_ROWS", 4)
    shutil.copytree(find_model(finished), tmp_path / "model")
    add_to_model(tmp_path / "model", {"unit.json": json.dumps({"unit": unit}).encode()})
    tagger = load_tagger(tmp_path / "model")
    expected = [specification(note, tagger, unit) for note in long_notes]
    assert sum(len(spans) for spans, *_ in expected) > 10
    others = [{"ward": str(number)} for number in range(len(long_notes))]
    source = batch_of(long_notes).append_column("others", pa.array(others))
    for name in FORMATS:
        file, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
        write_batches([source], file, format=name)
        keeps = name in ("jsonl", "parquet", "csv")
        arguments = ["--from", name, "--to", name, "--jobs", jobs]
        done = command(
            "tag", tmp_path / "model", file, out, *arguments, *["--span-confidence"] * keeps
        )
        assert done.code == 0, done.err
        tagged = pa.Table.from_batches(read_batches(out, format=name, problems=Problems()))
        (batch,) = tagged.combine_chunks().to_batches()
        actual = {document.id: document for document in documents_of(batch)}
        assert actual.keys() == {note.id for note in long_notes}
        for note, (spans, *_) in zip(long_notes, expected, strict=True):
            assert actual[note.id].text == note.text
            assert list(actual[note.id].spans) == ([] if name == "text" else spans)
        if keeps:
            assert batch.column("others").to_pylist() == others
            confidences = [confidence for _, confidence, _ in expected]
            assert batch.column("confidence").to_pylist() == pytest.approx(confidences, rel=1e-5)
            for sure, (*_, of_spans) in zip(
                batch.column("span_confidences").to_pylist(), expected, strict=True
            ):
                assert sure == pytest.approx(of_spans, rel=1e-5)


def test_the_columns_of_the_run_are_expected(finished, notes, tmp_path, command) -> None:
    shutil.copytree(find_model(finished), tmp_path / "model")
    of_run = json.loads((tmp_path / "model" / "unit.json").read_text())
    assert of_run["columns"] == {"id": "id", "text": "text", "label": "label", "group": "group"}
    columns = {"id": "nhc", "text": "nota", "label": "tags", "group": "pat"}
    content = json.dumps({**of_run, "columns": columns}).encode()
    add_to_model(tmp_path / "model", {"unit.json": content})
    records = [{"nhc": n.id, "nota": n.text, "pat": "p", "id": 7} for n in notes(20, 77)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "in.jsonl").write_text(lines)
    arguments = ["tag", tmp_path / "model", tmp_path / "in.jsonl"]
    assert command(*arguments, tmp_path / "a.jsonl").code == 0
    tagged = [json.loads(line) for line in (tmp_path / "a.jsonl").open()]
    assert [{key: one[key] for key in records[0]} for one in tagged] == records
    assert any(one["tags"] for one in tagged)
    done = command(*arguments, tmp_path / "b.jsonl", "--text-column", "texto")
    assert (done.code, "'texto' must be a string" in done.err) == (2, True)
