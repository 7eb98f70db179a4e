"""Synthetic clinical notes in Spanish and Catalan, with gold spans. They contain no real text.

Most sentences have no mention. Noise is added to them: misspellings, missing spaces and accents,
inconsistent capitals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, count, islice, pairwise
from math import log
from typing import Literal

import numpy as np

from corpus.document import Document, Span
from corpus.synthetic.grammar import Draft, Draws, Grammar, Part, Piece, grammar_of

#: Notes per generator.
_BLOCK = 1000
_PARTS: tuple[Part, ...] = ("all", "seed")

#: The fraction of notes with mentions, and the probability of each further sentence with one.
_NAMING: dict[Part, float] = {"all": 0.155, "seed": 0.8}
_NAMING_AGAIN: dict[Part, float] = {"all": 0.28, "seed": 0.5}

#: Sections with mentions, and their cumulative probabilities. The ratios are taken
#: from the validation corpus and the small training corpus of the thesis.
_MENTIONS = ("person", "place", "both")
_MENTION_WEIGHTS: dict[Part, list[float]] = {
    "all": list(accumulate((0.26, 0.67, 0.07))),
    "seed": list(accumulate((0.30, 0.55, 0.15))),
}

#: The target length of a note in words has a Weibull distribution: mostly a few words, sometimes a
#: hundred. Notes of the seed have little context around mentions, as matches of rules do.
_LENGTH_SCALE: dict[Part, float] = {"all": 15.9, "seed": 0.0}
_LENGTH_SPREAD = 1.2

_LANGUAGES = ("es", "ca", "mixed")
_LANGUAGE_WEIGHTS = list(accumulate((0.42, 0.36, 0.22)))

_SEPARATORS = (". ", ", ", ".", " ", "; ", " . ", "...", " - ", ",", " , ", ".  ", "/ ")
_SEPARATOR_WEIGHTS = list(accumulate((9, 3, 4, 3, 0.5, 1, 0.7, 0.4, 0.6, 0.6, 0.5, 0.2)))
_FULL_STOP = 0.4

_Case = Literal["written", "lower", "upper", "mixed"]

_CASES: tuple[_Case, ...] = ("written", "lower", "upper", "mixed")
#: Cumulative probabilities of the cases of a note. Mentions of the seed mostly have capitals.
_CASE_WEIGHTS: dict[Part, list[float]] = {
    "all": list(accumulate((0.58, 0.18, 0.10, 0.14))),
    "seed": list(accumulate((0.78, 0.08, 0.14, 0.00))),
}
#: The cases of a sentence in a note of mixed case.
_SENTENCE_CASES: tuple[_Case, ...] = ("written", "lower", "upper")

#: Probabilities that only a mention, and not its sentence, is in lower or in upper case.
_LOWER_MENTION: dict[Part, float] = {"all": 0.15, "seed": 0.06}
_UPPER_MENTION: dict[Part, float] = {"all": 0.05, "seed": 0.0}

#: Probabilities of a misspelled word in a sentence, and of a misspelled mention.
_TYPO = 0.12
_MENTION_TYPO: dict[Part, float] = {"all": 0.03, "seed": 0.0}

_NO_ACCENTS = 0.4
_TIGHT_PUNCTUATION = 0.25
_GLUED_WORDS = 0.03
_CAPITALISED_WORDS = 0.06
_SENTENCE_CAPITAL = 0.5

_UNACCENTED = str.maketrans("áàéèíïóòúüÁÀÉÈÍÏÓÒÚÜ", "aaeeiioouuAAEEIIOOUU")

#: Letters that sound alike or are adjacent on the keyboard.
_CONFUSED = {
    **{"b": "v", "v": "b", "s": "d", "c": "s", "z": "s", "g": "j", "j": "g", "i": "u", "n": "m"},
    **{"m": "n", "e": "a", "a": "s", "o": "p", "u": "i", "r": "t", "t": "r", "l": "k", "y": "i"},
    **{"ñ": "n", "ç": "c", "q": "w", "d": "f", "p": "o"},
}


def synthetic_notes(
    number: int,
    *,
    random_state: int = 0,
    part: Literal["all", "seed"] = "all",
    language: Literal["all", "es", "ca", "mixed"] = "all",
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
    language : {"all", "es", "ca", "mixed"}, default "all"
        The language of the notes, or the languages of their sentences if ``"mixed"``. In ``"all"``,
        42 % of the notes are in Spanish, 36 % in Catalan and 22 % mixed.

    Yields
    ------
    Document
        A note depends only on `random_state`, `part`, `language` and its own number.

    Raises
    ------
    ValueError
        If a number is negative or the part is unknown.
    """
    for name, value in (("number", number), ("random_state", random_state)):
        if value < 0:
            raise ValueError(f"{name} must not be negative, but is {value}")
    if part not in _PARTS:
        raise ValueError(f"part must be one of {', '.join(_PARTS)}, but is {part!r}")
    if language not in ("all", *_LANGUAGES):
        raise ValueError(
            f"language must be one of all, {', '.join(_LANGUAGES)}, but is {language!r}"
        )
    return islice(_notes(random_state, part, language), number)


def _notes(random_state: int, part: Part, language: str) -> Iterator[Document]:
    """Yield all notes, without end."""
    name = part if language == "all" else f"{part}-{language}"
    grammar = grammar_of(part)
    for block in count():
        seeds = np.random.SeedSequence([random_state, _PARTS.index(part), block])
        draws = Draws(np.random.default_rng(seeds))
        for number in range(block * _BLOCK, (block + 1) * _BLOCK):
            pieces = _note(grammar, part, language, draws)
            yield _document(f"synthetic-{name}-{random_state}-{number:07d}", pieces)


def _note(grammar: Grammar, part: Part, language: str, draws: Draws) -> list[Piece]:
    drawn = draws.weigh(_LANGUAGES, _LANGUAGE_WEIGHTS)
    language = drawn if language == "all" else language
    case = draws.weigh(_CASES, _CASE_WEIGHTS[part])
    note: list[Piece] = []
    for sentence in _sentences(grammar, part, language, draws):
        if note:
            note.append(Piece(draws.weigh(_SEPARATORS, _SEPARATOR_WEIGHTS)))
        note.extend(_disturb(sentence, case, part, draws))
    if draws.chance(_FULL_STOP):
        note.append(Piece("."))
    if draws.chance(_NO_ACCENTS):
        note = [Piece(text.translate(_UNACCENTED), label) for text, label in note]
    return note


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
    offsets = accumulate((len(piece.text) for piece in pieces), initial=0)
    spans = [
        Span(start, end, piece.label)
        for piece, (start, end) in zip(pieces, pairwise(offsets), strict=True)
        if piece.label
    ]
    return Document(identity, "".join(piece.text for piece in pieces), tuple(spans))


def _disturb(pieces: list[Piece], case: _Case, part: Part, draws: Draws) -> list[Piece]:
    """Add noise to a copy of a sentence of a note in some case; no piece becomes empty."""
    sentence = pieces.copy()
    if draws.chance(_TIGHT_PUNCTUATION):
        for place, (text, label) in enumerate(sentence):
            if not label:
                sentence[place] = Piece(text.replace(", ", ",").replace(": ", ":"))
    if draws.chance(_GLUED_WORDS):
        _change_one(sentence, _glue, draws)
    if draws.chance(_TYPO):
        _change_one(sentence, _misspell, draws)
    for place, piece in enumerate(sentence):
        if piece.label and draws.chance(_MENTION_TYPO[part]):
            sentence[place] = Piece(_misspell(piece.text, draws), piece.label)
    if case == "mixed":
        case = draws.choose(_SENTENCE_CASES)
    if case == "lower":
        return [Piece(text.lower(), label) for text, label in sentence]
    if case == "upper":
        return [Piece(text.upper(), label) for text, label in sentence]
    _capitalise(sentence, part, draws)
    return sentence


def _misspell(text: str, draws: Draws) -> str:
    """Drop, double, swap or replace a letter, if the position drawn is inside a word."""
    if len(text) < 4:
        return text
    place = 1 + draws.below(len(text) - 3)
    if not text[place - 1 : place + 3].isalpha():
        return text
    before, letter, following, after = text[:place], *text[place : place + 2], text[place + 2 :]
    changed = (
        following,
        letter + letter + following,
        following + letter,
        _CONFUSED.get(letter, letter) + following,
    )
    return before + draws.choose(changed) + after


def _capitalise(sentence: list[Piece], part: Part, draws: Draws) -> None:
    """Change the capitals of some mentions and of some other words."""
    for place, (text, label) in enumerate(sentence):
        if not label:
            continue
        if draws.chance(_LOWER_MENTION[part]):
            sentence[place] = Piece(text.lower(), label)
        elif draws.chance(_UPPER_MENTION[part]):
            sentence[place] = Piece(text.upper(), label)
    if draws.chance(_CAPITALISED_WORDS):
        _change_one(sentence, lambda text, _: text.title(), draws)
    first = sentence[0]
    if not first.label and draws.chance(_SENTENCE_CAPITAL):
        sentence[0] = Piece(first.text[:1].upper() + first.text[1:])


def _glue(text: str, draws: Draws) -> str:
    """Remove a space between two words, if there is one."""
    spaces = [place for place in range(1, len(text) - 1) if text[place] == " "]
    if not spaces:
        return text
    place = draws.choose(spaces)
    return text[:place] + text[place + 1 :]


def _change_one(sentence: list[Piece], change: Callable[[str, Draws], str], draws: Draws) -> None:
    """Change a random piece, unless it is a mention."""
    place = draws.below(len(sentence))
    text, label = sentence[place]
    if not label:
        sentence[place] = Piece(change(text, draws))
