"""Options of the CRF tagger."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from corpus.errors import InputError
from taggers.annotators.rules import Rules
from taggers.features import Feature, feature, is_feature
from taggers.templates import Template, Templates

#: The stream of the option of the same name, and where it is looked at if nothing else is said.
PHRASES = "phrases"
_BESIDE = "[-1..1]"  # where frequencies and phrases are looked at


@dataclass(frozen=True, slots=True)
class CRFOptions:
    """Options of the CRF tagger; every field is a key of ``[tagger]``."""

    engine: Literal["wordtype", "crfsuite"] = field(
        default="wordtype",
        metadata={"help": '"wordtype" is fast; "crfsuite" is the reference, on python-crfsuite'},
    )
    features: tuple[str, ...] = field(
        default=(
            "form",
            "lower",
            "capitalization",
            "has_digit",
            "is_number",
            "prefix3",
            "prefix4",
            "suffix3",
            "suffix4",
            "shape",
        ),
        metadata={"help": "features of a word, by name (see docs/taggers.md)"},
    )
    window: int = field(
        default=2,
        metadata={
            "help": "words on each side of a token; shape[0] or shape[-1..1] is another window for "
            "a feature",
            "least": 0,
            "most": 20,
        },
    )
    streams: tuple[str, ...] = field(
        default=("header", "colon"),
        metadata={
            "help": "what is looked at beside words: header, colon, rules, phrases (see "
            "docs/taggers.md)"
        },
    )
    conjunctions: tuple[str, ...] = field(
        default=("short_shape[-1] short_shape[0]", "short_shape[0] short_shape[1]"),
        metadata={"help": 'taken together, such as "capitalization[-1] capitalization[0]"'},
    )
    clusters: str = field(
        default="",
        metadata={
            "help": "a folder of embeddings with clusters, which become features of words: "
            "bootstrap embed train and bootstrap cluster make one (see docs/embeddings.md)"
        },
    )
    clusterings: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": 'which of its clusterings are used, such as "lower-w5-k128"; all if none is '
            "named"
        },
    )
    cluster_choice: Literal["all", "best"] = field(
        default="all",
        metadata={
            "help": '"all" of the clusterings at once, or in each training the "best" one on '
            "training documents that are held back"
        },
    )
    rules: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "help": 'regular expressions of the stream "rules", which streams must name, by what '
            "they find; without any, those for dates, telephones, identifiers and the like",
            "example": r"{ RECORD = 'NHC ?\d+' }",
        },
    )
    names: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "gazetteers of names whose frequencies become features of words, for each of "
            "their classes (see docs/gazetteers.md)"
        },
    )
    phrases: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": 'gazetteers whose phrases are looked at as the stream "phrases": bootstrap '
            "gazetteer import makes one (see docs/phrases.md)"
        },
    )
    c1: float = field(default=0.0, metadata={"help": "weight of the L1 norm", "least": 0})
    c2: float = field(default=0.1, metadata={"help": "weight of the L2 norm", "least": 0})
    max_iterations: int = field(default=100, metadata={"help": "L-BFGS steps at most", "least": 1})
    min_frequency: int = field(
        default=0, metadata={"help": "attributes seen less often are left out", "least": 0}
    )
    precision: Literal["single", "double"] = field(
        default="single",
        metadata={"help": 'of the engine "wordtype": "double" takes twice the time'},
    )

    def __post_init__(self) -> None:
        if not self.features:
            raise InputError("features is empty: a CRF needs at least one, such as form")
        # Of names and forms only: the places of a very wide window would take long to write.
        templates = Templates.parse(self.features, 0, self.looked_at, self.conjunctions)
        for each in templates.features:
            feature(each.name)
        for each in templates.streams:
            if is_feature(each.name):
                raise InputError(f'"{each.name}" is a feature of words, not a stream')
        self._check_clusters()
        for name in ("names", "phrases"):
            if "" in getattr(self, name):
                raise InputError(f'{name} names "": expected paths of gazetteers')
        for name, count in Counter(self._names(templates)).items():
            if count > 1:
                raise InputError(f'"{name}" is there {count} times; expected once')
        Rules(self.rules)
        if self.rules and "rules" not in templates.needed:
            raise InputError(
                'there are rules, but "rules" is not in streams: nothing looks at them'
            )
        for name in ("c1", "c2"):
            weight = getattr(self, name)
            if not 0 <= weight < math.inf:
                raise InputError(f"{name} = {weight}: expected a finite number of 0 or more")

    def _check_clusters(self) -> None:
        if not self.clusters and (self.clusterings or self.cluster_choice != "all"):
            what = "clusterings" if self.clusterings else "cluster_choice"
            raise InputError(f"{what} does nothing without clusters: name a folder of them")
        names = [Template.parse(text, (0,)).name for text in self.clusterings]
        for name in names:
            if is_feature(name):
                raise InputError(f'"{name}" is a feature, not a clustering')
            if names.count(name) > 1:
                raise InputError(f'"{name}" is there {names.count(name)} times; expected once')

    @property
    def clustering_names(self) -> tuple[str, ...]:
        """The clusterings that are named, without the places where they are looked at."""
        return tuple(Template.parse(text, (0,)).name for text in self.clusterings)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The streams, with that of phrases where there are files of them and it is not named."""
        named = Templates.parse((), 0, self.streams, self.conjunctions).needed
        return (
            (*self.streams, f"{PHRASES}{_BESIDE}")
            if self.phrases and PHRASES not in named
            else self.streams
        )

    def templates(
        self,
        clusters: Mapping[str, Feature] | None = None,
        names: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Give what the tagger looks at.

        Parameters
        ----------
        clusters : mapping of str to Feature, optional
            Clusterings that are at hand, as features.
        names : mapping of str to Feature, optional
            Frequencies among names, as features: of a token and its neighbours.
        """
        clusters, names = clusters or {}, names or {}
        named = self.clusterings or tuple(clusters)
        used = [text for text in named if Template.parse(text, (0,)).name in clusters]
        frequencies = [f"{name}{_BESIDE}" for name in names]
        return Templates.parse(
            (*self.features, *used, *frequencies),
            self.window,
            self.looked_at,
            self.conjunctions,
            {**clusters, **names},
        )

    @staticmethod
    def _names(templates: Templates) -> list[str]:
        looked_at = [each.name for each in (*templates.features, *templates.streams)]
        return [*looked_at, *(each.name for each in templates.conjunctions)]
