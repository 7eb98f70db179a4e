"""The grammar of synthetic notes, read from text files of sections.

A file is a list of sections::

    [symptom es] zipf
    tos
    3* dolor {part}
    ----
    fiebre de {38-40}{º|}

The name of a section is its symbol, followed by the language if sections differ by language. With
``zipf``, the frequencies of lines follow Zipf's law, like words and names; otherwise all lines are
equally frequent. A weight such as ``3*`` multiplies the frequency of a line. ``{part}``
expands a section (of the same language, if there is one), ``{38-40}`` is an integer, ``{º|}`` one
of two literals, and ``<PERSON:doctor>`` expands a section into an annotated mention. The seed part
does not use the lines below the dashes.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Literal, NamedTuple, TypeVar

import numpy as np

Part = Literal["all", "seed"]
_T = TypeVar("_T")

#: Random numbers generated at a time: single calls of the generator are slow.
_BUFFER = 8192

_FILES = ("names.txt", "places.txt", "vocabulary.txt", "sentences.txt", "patterns.txt")
_HEADER = re.compile(r"\[(?P<symbol>[^\]]+)\](?P<zipf> zipf)?")
_WEIGHT = re.compile(r"(\d+)\* ")
_SLOT = re.compile(r"\{(?P<slot>[^}]*)\}|<(?P<label>[A-Z]+):(?P<mention>[^>]+)>")
_RANGE = re.compile(r"(\d+)-(\d+)")
_RULE = "----"

#: The k-th line of a Zipf section has weight 1 / (k + shift) ** exponent, k from 0.
_ZIPF_SHIFT = 7.0
_ZIPF_EXPONENT = 1.0

#: The probability that a note repeats a mention of the same kind.
_REPEAT = 0.3


class Draws:
    """A source of random decisions.

    Parameters
    ----------
    rng : numpy.random.Generator
        Numbers are drawn from it in advance, so it must not be shared.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        #: Draw a number from the half-open interval [0, 1).
        self.uniform = _numbers(rng).__next__

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.uniform() < probability

    def below(self, limit: int) -> int:
        """Draw an integer from 0 to ``limit - 1``."""
        return int(self.uniform() * limit)

    def choose(self, options: Sequence[_T]) -> _T:
        """Draw one of several options with equal probabilities."""
        return options[int(self.uniform() * len(options))]

    def weigh(self, options: Sequence[_T], cumulative: Sequence[float]) -> _T:
        """Draw one of several options by the cumulative sums of their weights."""
        return options[bisect(cumulative, self.uniform() * cumulative[-1])]


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(_BUFFER).tolist()


class Line(NamedTuple):
    """A line of a section: its text, its weight and whether the seed part uses it."""

    text: str
    weight: float
    in_seed: bool


class Piece(NamedTuple):
    """A piece of a note, with its label if it is a mention, or else an empty label."""

    text: str
    label: str = ""


@dataclass(slots=True)
class Draft:
    """An unfinished note: its pieces so far, and its last mention of each symbol."""

    draws: Draws
    pieces: list[Piece] = field(default_factory=list)
    mentions: dict[str, str] = field(default_factory=dict)


#: Appends an expansion of a part of a line to a draft.
_Node = Callable[[Draft], None]


def _literal(text: str) -> _Node:
    piece = Piece(text)
    return lambda draft: draft.pieces.append(piece)


def _either(texts: Iterable[str]) -> _Node:
    pieces = tuple(map(Piece, texts))
    return lambda draft: draft.pieces.append(draft.draws.choose(pieces))


def _integer(first: str, last: str) -> _Node:
    low, high, digits = int(first), int(last), len(first) if first.startswith("0") else 1

    def write(draft: Draft) -> None:
        number = low + draft.draws.below(high - low + 1)
        draft.pieces.append(Piece(f"{number:0{digits}d}"))

    return write


def _mention(label: str, symbol: str, choice: _Choice) -> _Node:
    def write(draft: Draft) -> None:
        text = draft.mentions.get(symbol)
        if text is None or not draft.draws.chance(_REPEAT):
            inner = Draft(draft.draws)
            choice.write(inner)
            text = "".join(piece.text for piece in inner.pieces)
            draft.mentions[symbol] = text
        draft.pieces.append(Piece(text, label))

    return write


@dataclass(slots=True)
class _Choice:
    """A compiled section, whose templates are added after all sections exist."""

    templates: list[tuple[_Node, ...]] = field(default_factory=list)
    cumulative: list[float] = field(default_factory=list)

    def write(self, draft: Draft) -> None:
        for append in draft.draws.weigh(self.templates, self.cumulative):
            append(draft)


class Grammar:
    """The compiled sections of a part.

    Parameters
    ----------
    sections : mapping of str to sequence of Line
        The result of `read_sections`.
    part : {"all", "seed"}
        Whether to keep all lines, or only the lines of the seed part.

    Raises
    ------
    ValueError
        If a line names a section that does not exist or has no lines in this part.
    """

    def __init__(self, sections: Mapping[str, Iterable[Line]], part: Part) -> None:
        self.lines: dict[str, tuple[Line, ...]] = {
            symbol: tuple(line for line in lines if line.in_seed or part == "all")
            for symbol, lines in sections.items()
        }
        self._choices = {symbol: _Choice() for symbol in self.lines}
        for symbol, choice in self._choices.items():
            language = symbol.rpartition(" ")[2]
            for line in self.lines[symbol]:
                choice.templates.append(tuple(self._parse(line.text, language)))
            choice.cumulative.extend(accumulate(line.weight for line in self.lines[symbol]))

    def write(self, symbol: str, draft: Draft) -> None:
        """Append an expansion of a section to a draft."""
        self._choices[symbol].write(draft)

    def _parse(self, text: str, language: str) -> Iterator[_Node]:
        end = 0
        for match in _SLOT.finditer(text):
            if match.start() > end:
                yield _literal(text[end : match.start()])
            end = match.end()
            yield self._slot(match, language)
        if end < len(text):
            yield _literal(text[end:])

    def _slot(self, match: re.Match[str], language: str) -> _Node:
        label, mention, slot = match["label"], match["mention"], match["slot"]
        if label:
            return _mention(label, mention, self._choice(mention, language))
        if "|" in slot:
            return _either(slot.split("|"))
        if limits := _RANGE.fullmatch(slot):
            return _integer(limits[1], limits[2])
        return self._choice(slot, language).write

    def _choice(self, symbol: str, language: str) -> _Choice:
        for name in (f"{symbol} {language}", symbol):
            if self.lines.get(name):
                return self._choices[name]
        raise ValueError(f"the grammar has no lines for [{symbol}] ({language})")


def read_sections() -> dict[str, list[Line]]:
    """Read the sections of the resource files of this package."""
    sections: dict[str, list[Line]] = {}
    folder = files("corpus.synthetic") / "resources"
    for name in _FILES:
        _read_file((folder / name).read_text(encoding="utf-8").splitlines(), sections)
    return sections


def _read_file(rows: Iterable[str], sections: dict[str, list[Line]]) -> None:
    lines: list[Line] = []
    zipf = in_seed = True
    for row in rows:
        if not row or row.startswith("# "):
            continue
        if header := _HEADER.fullmatch(row):
            lines = sections[header["symbol"]] = []
            zipf, in_seed = header["zipf"] is not None, True
        elif row == _RULE:
            in_seed = False
        else:
            weight = _WEIGHT.match(row)
            text = row[weight.end() :] if weight else row
            factor = (len(lines) + _ZIPF_SHIFT) ** -_ZIPF_EXPONENT if zipf else 1.0
            lines.append(Line(text, factor * (int(weight[1]) if weight else 1), in_seed))


@cache
def grammar_of(part: Part) -> Grammar:
    """Return the grammar of a part, which is read at its first use."""
    return Grammar(read_sections(), part)
