"""Noise of synthetic notes: misspellings, missing spaces and accents, inconsistent capitals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Final, Literal

from corpus.synthetic.draws import Draws
from corpus.synthetic.grammar import Part, Piece

Case = Literal["written", "lower", "upper", "mixed"]

_CASES: Final[tuple[Case, ...]] = ("written", "lower", "upper", "mixed")
#: Cumulative probabilities of the cases of a note. Mentions of the seed mostly have capitals.
_CASE_WEIGHTS: Final[dict[Part, list[float]]] = {
    "all": list(accumulate((0.58, 0.18, 0.10, 0.14))),
    "seed": list(accumulate((0.78, 0.08, 0.14, 0.00))),
}
#: The cases of a sentence in a note of mixed case.
_SENTENCE_CASES: Final[tuple[Case, ...]] = ("written", "lower", "upper")

#: Probabilities that only a mention, and not its sentence, is in lower or in upper case.
_LOWER_MENTION: Final[dict[Part, float]] = {"all": 0.15, "seed": 0.06}
_UPPER_MENTION: Final[dict[Part, float]] = {"all": 0.05, "seed": 0.0}

#: Probabilities of a misspelled word in a sentence, and of a misspelled mention.
_TYPO = 0.12
_MENTION_TYPO: Final[dict[Part, float]] = {"all": 0.03, "seed": 0.0}

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


def draw_case(part: Part, draws: Draws) -> Case:
    """Draw the case of a note."""
    return draws.weigh(_CASES, _CASE_WEIGHTS[part])


def disturb(pieces: list[Piece], case: Case, part: Part, draws: Draws) -> list[Piece]:
    """Add noise to a sentence.

    Parameters
    ----------
    pieces : list of Piece
        The sentence. It is not modified.
    case : {"written", "lower", "upper", "mixed"}
        The case of the note.
    part : {"all", "seed"}
        The seed part has less noise in mentions.
    draws : Draws
        The source of random decisions.

    Returns
    -------
    list of Piece
        The same number of pieces; none is empty or has new spaces at its ends.
    """
    sentence = pieces.copy()
    _respace(sentence, draws)
    if draws.chance(_TYPO):
        _change_one(sentence, misspell, draws)
    for place, piece in enumerate(sentence):
        if piece.label and draws.chance(_MENTION_TYPO[part]):
            sentence[place] = Piece(misspell(piece.text, draws), piece.label)
    if case == "mixed":
        case = draws.choose(_SENTENCE_CASES)
    if case == "lower":
        return [Piece(text.lower(), label) for text, label in sentence]
    if case == "upper":
        return [Piece(text.upper(), label) for text, label in sentence]
    _capitalise(sentence, part, draws)
    return sentence


def drop_accents(pieces: list[Piece], draws: Draws) -> list[Piece]:
    """Remove the accents of some notes."""
    if not draws.chance(_NO_ACCENTS):
        return pieces
    return [Piece(text.translate(_UNACCENTED), label) for text, label in pieces]


def misspell(text: str, draws: Draws) -> str:
    """Drop, double, swap or replace a letter, if the position drawn is inside a word."""
    if len(text) < 4:
        return text
    place = 1 + draws.below(len(text) - 3)
    if not text[place - 1 : place + 3].isalpha():
        return text
    before, letter, following, after = (
        text[:place],
        text[place],
        text[place + 1],
        text[place + 2 :],
    )
    kind = draws.below(4)
    if kind == 0:
        return before + following + after
    if kind == 1:
        return before + letter + letter + following + after
    if kind == 2:
        return before + following + letter + after
    return before + _CONFUSED.get(letter, letter) + following + after


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


def _respace(sentence: list[Piece], draws: Draws) -> None:
    if draws.chance(_TIGHT_PUNCTUATION):
        for place, (text, label) in enumerate(sentence):
            if not label:
                sentence[place] = Piece(text.replace(", ", ",").replace(": ", ":"))
    if draws.chance(_GLUED_WORDS):
        _change_one(sentence, _glue, draws)


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
