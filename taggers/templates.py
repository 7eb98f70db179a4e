"""Where features and streams are looked at: their names with the places around a token.

``shape`` is looked at in the whole window, ``shape[0]`` at the token itself, ``rules[-1..1]`` also
at its neighbours. ``capitalization[-1] capitalization[0]`` is a conjunction: one value of two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from corpus.errors import InputError, shown
from taggers.features import Feature, feature, is_feature

_TERM = re.compile(r"([^\[\]\s:=|]+)(?:\[(-?[0-9])(?:\.\.(-?[0-9]))?\])?")


@dataclass(frozen=True, slots=True)
class Template:
    """A feature or a stream, and where it is looked at.

    Parameters
    ----------
    name : str
        Of the feature or the stream.
    offsets : tuple of int
        Places, counted from the token.
    """

    name: str
    offsets: tuple[int, ...]

    @classmethod
    def parse(cls, text: str, offsets: Sequence[int]) -> Template:
        """Read such as ``shape``, which is looked at `offsets`, ``shape[0]`` or ``shape[-1..1]``.

        Raises
        ------
        InputError
            If it is written in another way.
        """
        match = _TERM.fullmatch(text)
        if match is None:
            raise InputError(
                f"{shown(text)} is not written as NAME, NAME[0] or NAME[-1..1], places from -9 to 9"
            )
        if match[2]:
            offsets = range(int(match[2]), int(match[3] or match[2]) + 1)
        if not offsets:
            raise InputError(f"{shown(text)} looks at no place: the first comes after the last")
        return cls(match[1], tuple(offsets))


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Features and streams at certain places, whose values are taken together.

    Parameters
    ----------
    terms : tuple of (str, int)
        Names and places.
    """

    terms: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """Such as ``capitalization[-1] capitalization[0]``."""
        return " ".join(f"{name}[{offset}]" for name, offset in self.terms)

    @classmethod
    def parse(cls, text: str) -> Conjunction:
        """Read such as ``capitalization[-1] capitalization[0]``.

        Raises
        ------
        InputError
            If it is written in another way.
        """
        terms = [Template.parse(term, (0,)) for term in text.split()]
        if len(terms) < 2 or any(len(term.offsets) > 1 for term in terms):
            raise InputError(
                f"{shown(text)} is not a conjunction: expected two or more names with one place "
                "each, such as capitalization[-1] capitalization[0]"
            )
        return cls(tuple((term.name, term.offsets[0]) for term in terms))


@dataclass(frozen=True, slots=True)
class Templates:
    """All that is looked at around a token.

    Parameters
    ----------
    features, streams : tuple of Template
        What depends on a word alone, and what stands beside it.
    conjunctions : tuple of Conjunction
        Of features and streams.
    more : mapping of str to Feature
        Features by their names beside those that are always there: clusters.
    """

    features: tuple[Template, ...]
    streams: tuple[Template, ...] = ()
    conjunctions: tuple[Conjunction, ...] = ()
    more: Mapping[str, Feature] = field(default_factory=dict)

    @classmethod
    def parse(
        cls,
        features: Sequence[str],
        window: int,
        streams: Sequence[str] = (),
        conjunctions: Sequence[str] = (),
        more: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Read what is written in a configuration; features are looked at in the whole window."""
        whole = range(-window, window + 1)
        return cls(
            tuple(Template.parse(text, whole) for text in features),
            tuple(Template.parse(text, (0,)) for text in streams),
            tuple(Conjunction.parse(text) for text in conjunctions),
            more or {},
        )

    def has_feature(self, name: str) -> bool:
        """Say whether there is a feature of this name."""
        return name in self.more or is_feature(name)

    def feature(self, name: str) -> Feature:
        """Find a feature by its name; see `taggers.features.feature`."""
        return self.more[name] if name in self.more else feature(name)

    @property
    def window(self) -> int:
        """How many words before or after the token are looked at, at most."""
        places = [abs(offset) for each in self.features for offset in each.offsets]
        return max(places, default=0)

    @property
    def reach(self) -> int:
        """How far from the token words or streams are looked at, at most."""
        beside = [abs(offset) for each in self.streams for offset in each.offsets]
        return max([self.window, *beside])

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of all streams that are looked at, those in conjunctions too."""
        terms = [name for each in self.conjunctions for name, _ in each.terms]
        beside = [name for name in terms if not self.has_feature(name)]
        return tuple(dict.fromkeys([*(each.name for each in self.streams), *beside]))
