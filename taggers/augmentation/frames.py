"""Frames: mentions with open slots, and the sources of random text that fill the slots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from taggers.augmentation.letter_case import Case, LetterCase
from taggers.augmentation.term_lists import TermLists

_NUMBER = re.compile("[0-9]+")

#: The prior count of each digit at each place of a number.
_PRIOR = 0.1


class Source(Protocol):
    """A source of random text. Slots with the same source share its draws."""

    def draw(self, rng: np.random.Generator, number: int) -> Sequence[str]:
        """Return a number of independent texts."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The terms of a class of gazetteers, with probabilities in proportion to their counts."""

    lists: TermLists
    name: str

    def draw(self, rng: np.random.Generator, number: int) -> Sequence[str]:
        """Return terms."""
        return self.lists.draw(self.name, rng, number)


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The members of a list, all with the same probability."""

    members: Sequence[str]

    def draw(self, rng: np.random.Generator, number: int) -> Sequence[str]:
        """Return members of the list."""
        return [self.members[place] for place in rng.integers(len(self.members), size=number)]


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Texts of several sources with spaces between them, such as a given name and a surname."""

    sources: Sequence[Source]

    def draw(self, rng: np.random.Generator, number: int) -> Sequence[str]:
        """Return one text of each source, joined."""
        return [
            " ".join(each)
            for each in zip(*(s.draw(rng, number) for s in self.sources), strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Numbers whose digits are drawn place by place.

    Parameters
    ----------
    cumulative : ndarray of float64, shape (L, 10)
        The cumulative probabilities of the digits at each place.
    """

    cumulative: npt.NDArray[np.float64]

    @classmethod
    def like(cls, numbers: Sequence[str]) -> Numbers:
        """Build a source from numbers of the same length.

        A place has the digits that it has in the numbers, and each other digit as if a tenth of a
        number had it. The first digit is not 0 if it is not 0 in any of the numbers.
        """
        digits = np.array([[ord(digit) - ord("0") for digit in each] for each in numbers])
        counts = (digits[:, :, None] == np.arange(10)).sum(axis=0) + _PRIOR
        if digits[:, 0].all():
            counts[0, 0] = 0
        sums: npt.NDArray[np.float64] = np.cumsum(counts, axis=1)
        return cls(sums / sums[:, -1:])

    def draw(self, rng: np.random.Generator, number: int) -> Sequence[str]:
        """Return numbers."""
        length = len(self.cumulative)
        drawn = (rng.random((number, length, 1)) >= self.cumulative[:, :-1]).sum(axis=2)
        text = (drawn + ord("0")).astype(np.uint8).tobytes().decode("ascii")
        return [text[begin : begin + length] for begin in range(0, len(text), length)]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of a frame that is filled from a source.

    Parameters
    ----------
    source : Source
        The source of its texts.
    case : {"upper", "lower", "title", "after", "lower_first"}
        The case of its texts.
    """

    source: Source
    case: Case = "lower"


#: A mention as text and slots in turn.
Frame = tuple[str | Slot, ...]


def fill(
    frames: Sequence[Frame], numbers: Sequence[int], rng: np.random.Generator, case: LetterCase
) -> list[str]:
    """Fill the slots of frames with random texts.

    Parameters
    ----------
    frames : sequence of Frame
        The frames.
    numbers : sequence of int
        How many times each frame is filled.
    rng : numpy.random.Generator
        The source of randomness.
    case : LetterCase
        Converts the texts to the case of the slots.

    Returns
    -------
    list of str
        The texts of the first frame, then those of the second, and so on.
    """
    wanted: dict[Source, int] = {}
    for frame, number in zip(frames, numbers, strict=True):
        for part in frame:
            if isinstance(part, Slot):
                wanted[part.source] = wanted.get(part.source, 0) + number
    drawn = {source: iter(source.draw(rng, number)) for source, number in wanted.items()}
    texts: list[str] = []
    for frame, number in zip(frames, numbers, strict=True):
        for _ in range(number):
            parts = [
                part if isinstance(part, str) else case.convert(next(drawn[part.source]), part.case)
                for part in frame
            ]
            texts.append("".join(parts))
    return texts


class NumberSources:
    """The sources of the numbers of mentions, by the length of the number.

    Parameters
    ----------
    mentions : sequence of str
        Mentions of one class, from whose numbers the digits are drawn.
    """

    def __init__(self, mentions: Sequence[str]) -> None:
        numbers: dict[tuple[int, bool], list[str]] = {}
        for mention in mentions:
            for number in _NUMBER.findall(mention):
                numbers.setdefault(_shape(number), []).append(number)
        self._sources = {shape: Numbers.like(found) for shape, found in numbers.items()}

    def frame(self, text: str) -> Frame:
        """Replace the numbers of the text of a mention by slots."""
        parts: list[str | Slot] = []
        end = 0
        for match in _NUMBER.finditer(text):
            parts += [text[end : match.start()], Slot(self._sources[_shape(match[0])])]
            end = match.end()
        return (*parts, text[end:])


def _shape(number: str) -> tuple[int, bool]:
    """Return the length of a number, and whether its first digit is 0."""
    return len(number), number[0] == "0"
