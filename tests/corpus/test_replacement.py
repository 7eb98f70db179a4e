"""Replaced spans: equal to slicing each text, and a map for everything else in it."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.document import Span
from corpus.formats.batches import SCHEMA
from corpus.replacement import OffsetMap, replace_spans

Replacement = tuple[int, int, str | None]  # a span and its new text
Note = tuple[str, list[Replacement]]

texts = st.text(st.sampled_from("aé\u0301€\n 𝒳👩"), max_size=12)


@st.composite
def notes(draw: st.DrawFn) -> Note:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)))))
    spans = [pair for pair in pairwise(cuts) if draw(st.booleans())]
    return text, [(*pair, draw(st.none() | texts)) for pair in spans]


def batch_of(notes: list[Note]) -> pa.RecordBatch:
    """Return notes as a part of a record batch, with another column."""
    notes = [("é𝒳", [(0, 2, None)]), *notes, ("𝒳", [(0, 1, None)])]
    rows = [
        {
            "id": str(row),
            "text": text,
            "starts": [start for start, *_ in spans],
            "ends": [end for _, end, _ in spans],
            "labels": ["AB"[start % 2] for start, *_ in spans],
            "n": row,
        }
        for row, (text, spans) in enumerate(notes)
    ]
    return pa.RecordBatch.from_pylist(rows, SCHEMA.append(pa.field("n", pa.int8()))).slice(
        1, len(notes) - 2
    )


def replaced(note: Note) -> tuple[str, list[tuple[int, int]], list[tuple[Span, Span]]]:
    """Replace the spans of one text: the new text, the spans in it, and what became of what."""
    text, spans = note
    new, after = "", 0
    places, became = [], []

    def keep(start: int, end: int) -> None:
        nonlocal new
        for place in range(start, end):
            became.append((Span(place, place + 1, ""), Span(len(new), len(new) + 1, "")))
            new += text[place]

    for start, end, other in spans:
        keep(after, start)
        begin = len(new)
        if other is None:
            keep(start, end)
        else:
            new += other
            became.append((Span(start, end, ""), Span(begin, len(new), "")))
        places.append((begin, len(new)))
        after = end
    keep(after, len(text))
    return new, places, became


def replace(notes: list[Note]) -> tuple[pa.RecordBatch, OffsetMap]:
    new = [other for _, spans in notes for *_, other in spans]
    # A part of an array, too.
    return replace_spans(batch_of(notes), pa.array(["é", *new, None], pa.large_string())[1:-1])


several = st.lists(notes(), max_size=5)


@given(several)
@example([])
@example([("", []), ("ab", [(0, 1, ""), (1, 2, "")]), ("", []), ("é", [(0, 1, "𝒳𝒳")])])
@example([("ab", [(0, 1, "x"), (1, 2, None)]), ("a", [(0, 1, None)])])
def test_new_texts_are_those_of_slicing(notes: list[Note]) -> None:
    before = batch_of(notes)
    after, _ = replace(notes)
    after.validate(full=True)
    assert after.schema == before.schema
    expected = list(map(replaced, notes))
    assert after.column("text").to_pylist() == [text for text, *_ in expected]
    assert after.column("starts").to_pylist() == [[a for a, _ in spans] for _, spans, _ in expected]
    assert after.column("ends").to_pylist() == [[b for _, b in spans] for _, spans, _ in expected]
    for name in ("id", "group", "labels", "n"):
        assert after.column(name) == before.column(name)


@given(several)
@example([("aé", [(1, 2, "")]), ("ab", [(0, 1, ""), (1, 2, "x")]), ("a", [(0, 1, "")]), ("", [])])
def test_offsets_lead_to_what_became_of_a_character_and_back(notes: list[Note]) -> None:
    _, offsets = replace(notes)
    for row, note in enumerate(notes):
        new, _, became = replaced(note)
        for each_map, of_map, length, new_length in (
            (offsets, became, len(note[0]), len(new)),
            (offsets.inverse, [(b, a) for a, b in became], len(new), len(note[0])),
        ):
            starts, ends = [new_length] * (length + 1), [0] * (length + 1)
            for source, target in of_map:
                for place in range(source.start, source.end):
                    starts[place], ends[place + 1] = target.start, target.end
            rows = np.full(length + 1, row)
            places = np.arange(length + 1)
            assert each_map.convert(rows, places, "start").tolist() == starts
            assert each_map.convert(rows, places, "end").tolist() == ends


def test_other_annotations_are_carried_over() -> None:
    note: Note = ("Ana Puig, Sr. Vila, Vic", [(0, 8, "María"), (14, 18, ""), (20, 23, None)])
    _, offsets = replace([note])
    assert replaced(note)[0] == "María, Sr. , Vic"
    zeros = np.zeros(4, np.int64)
    # "Ana", "Puig, Sr", "Vila" and "Vic"
    starts, ends = np.array([0, 4, 14, 20]), np.array([3, 12, 18, 23])
    new_starts = offsets.convert(zeros, starts, "start")
    new_ends = offsets.convert(zeros, ends, "end")
    assert new_starts.tolist() == [0, 0, 11, 13]
    assert new_ends.tolist() == [5, 9, 11, 16]
    assert offsets.inverse.convert(zeros, new_starts, "start").tolist() == [0, 0, 18, 20]
    assert offsets.inverse.convert(zeros, new_ends, "end").tolist() == [8, 12, 14, 23]
