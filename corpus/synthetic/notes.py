"""Synthetic notes: sentences in one or two languages, most of them without mentions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, islice
from math import log
from typing import Final, Literal

import numpy as np

from corpus.document import Document, Span
from corpus.synthetic.draws import Draws
from corpus.synthetic.grammar import Draft, Grammar, Part, Piece, grammar_of
from corpus.synthetic.noise import disturb, draw_case, drop_accents

#: Notes per generator. Notes of a block before `start` are generated and discarded.
_BLOCK = 1000
_PARTS: Final[tuple[Part, ...]] = ("all", "seed")

#: The fraction of notes with mentions, and the probability of each further sentence with one.
_NAMING: Final[dict[Part, float]] = {"all": 0.155, "seed": 0.8}
_NAMING_AGAIN: Final[dict[Part, float]] = {"all": 0.28, "seed": 0.5}

#: Sections with mentions, and their cumulative probabilities. The ratios are those of the
#: validation corpus and of the small training corpus of the thesis.
_MENTIONS: Final = ("person", "place", "both")
_MENTION_WEIGHTS: Final[dict[Part, list[float]]] = {
    "all": list(accumulate((0.26, 0.67, 0.07))),
    "seed": list(accumulate((0.30, 0.55, 0.15))),
}

#: The target length of a note in words has a Weibull distribution: mostly a few words, sometimes a
#: hundred. Notes of the seed have little context around mentions, as matches of rules do.
_LENGTH_SCALE: Final[dict[Part, float]] = {"all": 15.9, "seed": 0.0}
_LENGTH_SPREAD = 1.2

_LANGUAGES: Final = ("es", "ca", "mixed")
_LANGUAGE_WEIGHTS: Final = list(accumulate((0.42, 0.36, 0.22)))

_SEPARATORS: Final = (". ", ", ", ".", " ", "; ", " . ", "...", " - ", ",", " , ", ".  ", "/ ")
_SEPARATOR_WEIGHTS: Final = list(accumulate((9, 3, 4, 3, 0.5, 1, 0.7, 0.4, 0.6, 0.6, 0.5, 0.2)))
_FULL_STOP = 0.4


def synthetic_notes(
    number: int,
    *,
    random_state: int = 0,
    part: Literal["all", "seed"] = "all",
    start: int = 0,
) -> Iterator[Document]:
    """Generate clinical notes with annotated mentions of people and places.

    They resemble the primary care notes of the thesis (appendices B and C): short, telegraphic, in
    Spanish, Catalan or both, with contractions, misspellings, missing spaces and inconsistent
    capitals. Spans are labelled ``PERSON`` and ``LOCATION``. A title such as ``Dra.`` is not part
    of a person's span; ``Hospital``, ``CAP`` or ``Pº`` is part of the span of the place.

    Parameters
    ----------
    number : int
        The number of notes.
    random_state : int, default 0
        The seed of the random numbers, not negative. Equal seeds generate equal notes.
    part : {"all", "seed"}, default "all"
        ``"seed"`` is a biased sample, as handwritten rules would find it: most of its notes have
        mentions, with clear cues and capitals, and only of the most frequent names. In ``"all"``,
        five of six notes have no mention.
    start : int, default 0
        The number of the first note, so that a large set can be generated in parts.

    Yields
    ------
    Document
        The notes ``start``, ``start + 1`` and so on. A note depends only on `random_state`, `part`
        and its own number.

    Raises
    ------
    ValueError
        If a number is negative or the part is unknown.
    """
    for name, value in (("number", number), ("random_state", random_state), ("start", start)):
        if value < 0:
            raise ValueError(f"{name} must not be negative, but is {value}")
    if part not in _PARTS:
        raise ValueError(f"part must be one of {', '.join(_PARTS)}, but is {part!r}")
    return islice(_notes(random_state, part, start), number)


def _notes(random_state: int, part: Part, start: int) -> Iterator[Document]:
    """Yield all notes from `start` on, without end."""
    grammar = grammar_of(part)
    block, skipped = divmod(start, _BLOCK)
    while True:
        seeds = np.random.SeedSequence([random_state, _PARTS.index(part), block])
        draws = Draws(np.random.default_rng(seeds))
        for place in range(_BLOCK):
            pieces = _note(grammar, part, draws)
            if place >= skipped:
                number = block * _BLOCK + place
                yield _document(f"synthetic-{part}-{random_state}-{number:07d}", pieces)
        block, skipped = block + 1, 0


def _note(grammar: Grammar, part: Part, draws: Draws) -> list[Piece]:
    language = draws.weigh(_LANGUAGES, _LANGUAGE_WEIGHTS)
    case = draw_case(part, draws)
    note: list[Piece] = []
    for sentence in _sentences(grammar, part, language, draws):
        if note:
            note.append(Piece(draws.weigh(_SEPARATORS, _SEPARATOR_WEIGHTS)))
        note.extend(disturb(sentence, case, part, draws))
    if draws.chance(_FULL_STOP):
        note.append(Piece("."))
    return drop_accents(note, draws)


def _sentences(grammar: Grammar, part: Part, language: str, draws: Draws) -> list[list[Piece]]:
    """Draw the sentences of a note: first those with mentions, then others up to its length."""
    draft = Draft(draws)
    sentences: list[list[Piece]] = []

    def write(symbol: str) -> list[Piece]:
        chosen = draws.choose(("es", "ca")) if language == "mixed" else language
        draft.pieces = []
        grammar.write(f"{symbol} {chosen}", draft)
        return draft.pieces

    if draws.chance(_NAMING[part]):
        sentences.append(write(draws.weigh(_MENTIONS, _MENTION_WEIGHTS[part])))
        while draws.chance(_NAMING_AGAIN[part]):
            sentences.append(write(draws.weigh(_MENTIONS, _MENTION_WEIGHTS[part])))
    missing = _LENGTH_SCALE[part] * (-log(1.0 - draws.uniform())) ** _LENGTH_SPREAD
    missing -= sum(map(_words, sentences))
    while missing > 0 or not sentences:
        sentence = write("sentence")
        missing -= _words(sentence)
        sentences.insert(draws.below(len(sentences) + 1), sentence)
    return sentences


def _words(sentence: list[Piece]) -> int:
    """Count the words of a sentence approximately, by its spaces."""
    return 1 + sum(piece.text.count(" ") for piece in sentence)


def _document(identity: str, pieces: list[Piece]) -> Document:
    spans = []
    end = 0
    for text, label in pieces:
        start, end = end, end + len(text)
        if label:
            spans.append(Span(start, end, label))
    return Document(identity, "".join(piece.text for piece in pieces), tuple(spans))
