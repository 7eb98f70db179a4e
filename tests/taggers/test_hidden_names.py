"""Characters that are not displayed hide no name of real notes; nor do hyphens at line ends."""

import functools
import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.evaluation.scoring import score
from corpus.formats import read
from corpus.tokens.characters import LINE_ENDS
from taggers.base import Tagger
from taggers.crf import CRFOptions
from taggers.registry import make_tagger

EVERY = map(chr, range(sys.maxunicode + 1))
HIDDEN = [c for c in EVERY if unicodedata.category(c) in ("Cc", "Cf") and c not in LINE_ENDS + "\t"]
#: Words in which a place for a mark is found.
WORD, NAME = r"[^\W\d_]{2,}", "[A-Z][a-zñáéíóú]{3,}"


@functools.cache
def trained_on(folder: Path, number: int) -> Tagger:
    notes = list(read(folder, problems=Problems()))[:number]
    options = CRFOptions(streams=("patterns", "header"), phrases=(), names=())
    batch = make_batch(notes, labelled=True)
    return make_tagger("crf", options).fit(batch, rng=np.random.default_rng(0))


def with_marks(note: Document, marks: Sequence[str], word: str) -> Document:
    """Insert marks in turn into the middle of words of annotations."""
    places = [
        span.start + (match.start() + match.end()) // 2
        for span in note.spans
        for match in re.finditer(word, note.text[span.start : span.end])
    ]
    before = {place: marks[number % len(marks)] for number, place in enumerate(places)}
    pieces = [before.get(place, "") + letter for place, letter in enumerate(note.text)]
    ends = [0, *accumulate(map(len, pieces))]
    spans = tuple(Span(ends[s.start + 1] - 1, ends[s.end], s.label) for s in note.spans)
    return Document(note.id, "".join(pieces), spans)


def tagged(tagger: Tagger, notes: Sequence[Document]) -> list[Document]:
    batch = make_batch([replace(note, spans=()) for note in notes], labelled=False)
    tagging = tagger.tag(batch)
    return batch.with_tags(tagging.tags, tagging.labels).to_documents()


@pytest.mark.parametrize("number", [25, pytest.param(150, marks=pytest.mark.slow)])
def test_hidden_characters_cost_no_recall(meddocan: Path, number: int) -> None:
    tagger = trained_on(meddocan / "train", number)
    dev = list(read(meddocan / "dev", problems=Problems()))[:25]
    whole = score(dev, tagged(tagger, dev)).counts("covered").recall
    assert whole > 0.6
    tried = [([c], WORD) for c in HIDDEN] if number > 25 else [(HIDDEN, WORD), (["\x1f"], WORD)]
    for marks, word in [*tried, (["-\n"], NAME)]:
        changed = [with_marks(note, marks, word) for note in dev]
        assert all(len(one.text) > len(other.text) for one, other in zip(changed, dev, strict=True))
        recall = score(changed, tagged(tagger, changed)).counts("covered").recall
        assert abs(recall - whole) < 0.01, marks


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["-\n", "\u2010\r\n  ", "\xad\n", "\x02\r\n", "-\u2028"])
def test_a_name_that_a_line_end_breaks_is_one_name(meddocan: Path, mark: str) -> None:
    dev = [with_marks(note, [mark], NAME) for note in read(meddocan / "dev", problems=Problems())]
    names = whole = 0
    predicted = tagged(trained_on(meddocan / "train", 150), dev)
    for note, other in zip(dev, predicted, strict=True):
        for span in (span for span in note.spans if mark in note.text[span.start : span.end]):
            names += 1
            whole += any(p.start <= span.start and span.end <= p.end for p in other.spans)
    assert whole >= 0.9 * names > 2000
