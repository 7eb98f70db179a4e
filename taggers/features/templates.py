"""Feature templates: features and streams with the offsets around a token at which they apply.

``shape`` applies in the whole window, ``shape[0]`` to the token itself, and ``patterns[-1..1]``
to the token and its neighbours. ``capitalization[-1] capitalization[0]`` is a feature conjunction,
whose value combines the values of its terms.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.errors import InputError
from taggers.features.words import Feature, feature, is_feature

_TERM = re.compile(r"([^\[\]\s:=|]+)(?:\[(-?[0-9])(?:\.\.(-?[0-9]))?\])?")


@dataclass(frozen=True, slots=True)
class Template:
    """A feature or a stream, and the offsets at which it applies.

    Parameters
    ----------
    name : str
        Name of the feature or the stream.
    offsets : tuple of int
        Offsets from the token.
    """

    name: str
    offsets: tuple[int, ...]

    @classmethod
    def parse(cls, text: str, offsets: Sequence[int]) -> Template:
        """Parse a template.

        Parameters
        ----------
        text : str
            A name, optionally with an offset or a window: ``shape``, ``shape[0]`` or
            ``shape[-1..1]``.
        offsets : sequence of int
            The offsets of a name without a window.

        Raises
        ------
        InputError
            If the text is not a template, or its window is empty.
        """
        match = _TERM.fullmatch(text)
        if match is None:
            raise InputError(
                f"{text} is not a template: expected NAME, NAME[0] or NAME[-1..1], with "
                "offsets from -9 to 9"
            )
        if match[2]:
            offsets = range(int(match[2]), int(match[3] or match[2]) + 1)
        if not offsets:
            raise InputError(
                f"{text} has an empty window: the first offset is greater than the last"
            )
        return cls(match[1], tuple(offsets))


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A conjunction of features and streams at fixed offsets.

    Parameters
    ----------
    terms : tuple of (str, int)
        Names of features or streams, and their offsets from the token.
    """

    terms: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The conjunction as text, such as ``capitalization[-1] capitalization[0]``."""
        return " ".join(f"{name}[{offset}]" for name, offset in self.terms)

    @classmethod
    def parse(cls, text: str) -> Conjunction:
        """Parse a conjunction, such as ``capitalization[-1] capitalization[0]``.

        Raises
        ------
        InputError
            If the text is not a conjunction of two or more terms with one offset each.
        """
        terms = [Template.parse(term, (0,)) for term in text.split()]
        if len(terms) < 2 or any(len(term.offsets) > 1 for term in terms):
            raise InputError(
                f"{text} is not a conjunction: expected two or more names with one offset "
                "each, such as capitalization[-1] capitalization[0]"
            )
        return cls(tuple((term.name, term.offsets[0]) for term in terms))


@dataclass(frozen=True, slots=True)
class Templates:
    """The feature templates of a tagger.

    Parameters
    ----------
    features : tuple of Template
        Features, which depend on the word alone.
    streams : tuple of Template
        Streams, whose values depend on the context of the token.
    conjunctions : tuple of Conjunction
        Conjunctions of features and streams.
    resource_features : mapping of str to Feature
        Features that are computed from resources, such as word clusters, by name. They take
        precedence over builtin features.
    """

    features: tuple[Template, ...]
    streams: tuple[Template, ...] = ()
    conjunctions: tuple[Conjunction, ...] = ()
    resource_features: Mapping[str, Feature] = field(default_factory=dict)

    @classmethod
    def parse(
        cls,
        features: Sequence[str],
        window: int,
        streams: Sequence[str] = (),
        conjunctions: Sequence[str] = (),
        resource_features: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Parse the templates of a configuration.

        Parameters
        ----------
        features : sequence of str
            Templates of features; without a window of its own, a feature applies in the whole
            window.
        window : int
            Number of words on each side of a token.
        streams : sequence of str
            Templates of streams; without a window of its own, a stream applies to the token.
        conjunctions : sequence of str
            Conjunctions of features and streams.
        resource_features : mapping of str to Feature, optional
            Features that are computed from resources, by name.

        Raises
        ------
        InputError
            If one of the templates or conjunctions cannot be parsed.
        """
        whole = range(-window, window + 1)
        return cls(
            tuple(Template.parse(text, whole) for text in features),
            tuple(Template.parse(text, (0,)) for text in streams),
            tuple(Conjunction.parse(text) for text in conjunctions),
            resource_features or {},
        )

    def has_feature(self, name: str) -> bool:
        """Return whether a feature of this name exists."""
        return name in self.resource_features or is_feature(name)

    def without(self, names: Collection[str]) -> Templates:
        """Return the templates without the features of these names."""
        return replace(self, features=tuple(t for t in self.features if t.name not in names))

    def feature(self, name: str) -> Feature:
        """Return the feature of a name; see `taggers.features.words.feature`."""
        if name in self.resource_features:
            return self.resource_features[name]
        return feature(name)

    @property
    def window(self) -> int:
        """The largest absolute offset of a feature."""
        distances = [abs(offset) for template in self.features for offset in template.offsets]
        return max(distances, default=0)

    @property
    def reach(self) -> int:
        """The largest absolute offset of a feature or a stream."""
        distances = [abs(offset) for template in self.streams for offset in template.offsets]
        return max([self.window, *distances])

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of all required streams, including those in conjunctions."""
        terms = [name for conjunction in self.conjunctions for name, _ in conjunction.terms]
        in_conjunctions = [name for name in terms if not self.has_feature(name)]
        return tuple(
            dict.fromkeys([*(template.name for template in self.streams), *in_conjunctions])
        )
