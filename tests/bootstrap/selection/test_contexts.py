"""Contexts: the header of the line of a span, or the words before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bootstrap.selection.contexts import contexts_of
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.tags import find_entities

# The context that each line gives to its span, Ana.
LINES = {
    "Nombre: Ana": "nombre",
    "NOMBRE : sra. Ana": "nombre",
    "Fecha de alta: Ana": "fecha de alta",
    "ve a Ana": "ve a",
    "hoy ve a Ana": "ve a",
    "a las 10:30 ve a Ana": "ve a",
    "ve Ana": "| ve",
    "Ana": "| |",
}


@given(st.lists(st.sampled_from([*LINES]), max_size=8))
def test_spans_of_a_context_and_class_have_the_same_number(lines: list[str]) -> None:
    documents = [
        Document(str(row), line, (Span(len(line) - 3, len(line), "XY"[row % 2]),))
        for row, line in enumerate(lines)
    ]
    batch = make_batch(documents, labelled=True)
    spans = find_entities(batch.tags, batch.document_offsets, batch.labels)
    numbers = contexts_of(batch, spans).tolist()
    contexts = [(LINES[line], row % 2) for row, line in enumerate(lines)]
    assert len(numbers) == len(lines)
    for first, context in zip(numbers, contexts, strict=True):
        same = [number for number, other in zip(numbers, contexts, strict=True) if other == context]
        assert same == [first] * len(same) and numbers.count(first) == len(same)
