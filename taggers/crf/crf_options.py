"""Options of the CRF tagger."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError, shown
from gazetteers.builtin import BUILTIN_LISTS
from taggers.annotators.rules import Rules
from taggers.embeddings.automatic import AUTO, CLUSTERINGS
from taggers.embeddings.listing import cluster_files
from taggers.feature_sources import (
    LAYOUT,
    PHRASES,
    check_clusters,
    check_lists,
    check_streams,
    cluster_paths,
    in_lists,
    name_of,
    without_layout,
)
from taggers.features import Feature, feature, is_feature
from taggers.options import Capability, Coverage, TaggerOptions
from taggers.templates import Template, Templates

_NEIGHBOURS = "[-1..1]"  # the default window of name frequencies and phrases


@dataclass(frozen=True, slots=True)
class CRFOptions(TaggerOptions):
    """Options of the CRF tagger; every field is a key of ``[tagger]``."""

    trainer: Literal["wordtype", "crfsuite"] = field(
        default="wordtype",
        metadata={
            "help": '"wordtype" is fast, and supports weights of documents, unknown tags and a '
            'warm start; "crfsuite" is the reference implementation, python-crfsuite'
        },
    )
    algorithm: Literal["", "lbfgs", "l2sgd", "ap", "pa", "arow"] = field(
        default="",
        metadata={"help": 'algorithm of the trainer "crfsuite"; "lbfgs" if empty'},
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
        metadata={"help": "features of a word, by name (bootstrap help features)"},
    )
    window: int = field(
        default=2,
        metadata={
            "help": "words on each side of a token whose features are used; shape[0] or "
            "shape[-1..1] is the window of one feature",
            "least": 0,
            "most": 20,
        },
    )
    streams: tuple[str, ...] = field(
        default=("header", "colon"),
        metadata={
            "help": "features of the context of a token: header, colon, rules, phrases "
            "(bootstrap help features)"
        },
    )
    conjunctions: tuple[str, ...] = field(
        default=("short_shape[-1] short_shape[0]", "short_shape[0] short_shape[1]"),
        metadata={"help": 'combined features, such as "capitalization[-1] capitalization[0]"'},
    )
    clusters: str = field(
        default="",
        metadata={
            "help": "a folder of embeddings whose clusters become features of words, written by "
            f'bootstrap embed train and bootstrap cluster; "{AUTO}" trains them in the run, on the '
            "text of all its documents (bootstrap help embeddings)",
            "path": True,
            "builtin": (AUTO,),
        },
    )
    clusterings: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": 'the clusterings in it that are used, such as "lower-w5-k128"; all if empty'
        },
    )
    cluster_choice: Literal["all", "best"] = field(
        default="all",
        metadata={
            "help": '"all" of the clusterings at once, or in each training the "best" one on '
            "held-out training documents"
        },
    )
    rules: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "help": 'regular expressions of the stream "rules", which streams must name, by their '
            "names; if empty, rules for dates, telephone numbers and identifiers",
            "example": r"{ RECORD = 'NHC ?\d+' }",
        },
    )
    names: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "gazetteers of names whose frequencies become features of words, one for each "
            "of their classes (bootstrap help gazetteers)",
            "path": True,
            "builtin": BUILTIN_LISTS,
        },
    )
    phrases: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": 'gazetteers whose phrases become the stream "phrases", written by bootstrap '
            "gazetteer import (bootstrap help phrases)",
            "path": True,
            "builtin": BUILTIN_LISTS,
        },
    )
    c1: float = field(default=0.0, metadata={"help": "weight of the L1 regularization", "least": 0})
    c2: float = field(default=0.1, metadata={"help": "weight of the L2 regularization", "least": 0})
    max_iterations: int = field(
        default=100, metadata={"help": "maximum number of L-BFGS iterations", "least": 1}
    )
    tolerance: float = field(
        default=1e-5,
        metadata={
            "help": "training stops when the objective has fallen by less than this share within "
            "ten iterations",
            "least": 0,
        },
    )
    min_frequency: int = field(
        default=0, metadata={"help": "attributes that occur less often are ignored", "least": 0}
    )
    precision: Literal["single", "double"] = field(
        default="single",
        metadata={"help": 'precision of sums; "double" takes twice the time'},
    )

    def __post_init__(self) -> None:
        if not self.features:
            raise InputError("features is empty: expected at least one, such as form")
        # Only names and forms are checked, so that the window does not matter.
        templates = Templates.parse(self.features, 0, self.stream_templates, self.conjunctions)
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
                raise InputError(f'"{name}" is named {count} times; expected once')
        Rules(self.rules)
        if self.rules and "rules" not in templates.needed:
            raise InputError('rules have no effect, because streams does not name "rules"')
        self._check_trainer()

    def _check_trainer(self) -> None:
        if self.algorithm and self.trainer != "crfsuite":
            raise InputError(
                f'algorithm = "{self.algorithm}" has no effect with trainer = "{self.trainer}"; '
                'set trainer = "crfsuite"'
            )
        if self.c1 and self.algorithm not in ("", "lbfgs"):
            raise InputError(f'c1 has no effect with algorithm = "{self.algorithm}"')
        for name in ("c1", "c2"):
            weight = getattr(self, name)
            if not 0 <= weight < math.inf:
                raise InputError(f"{name} = {weight}: expected a finite number of 0 or more")

    def _check_clusters(self) -> None:
        if not self.clusters and (self.clusterings or self.cluster_choice != "all"):
            what = "clusterings" if self.clusterings else "cluster_choice"
            raise InputError(f"{what} has no effect without clusters, a folder of embeddings")
        names = [Template.parse(text, (0,)).name for text in self.clusterings]
        for name in names:
            if is_feature(name):
                raise InputError(f'"{name}" is a feature, not a clustering')
            if names.count(name) > 1:
                raise InputError(f'"{name}" is named {names.count(name)} times; expected once')

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All capabilities; python-crfsuite supports neither partial tags nor document weights."""
        if self.trainer == "crfsuite":
            return frozenset({"entity_probabilities"})
        return frozenset({"entity_probabilities", "document_weights", "partial_tags"})

    def files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files of the clusterings, instead of their folder, and the gazetteers."""
        found: dict[str, Sequence[Path]] = {}
        if self.paths("clusters"):
            found["clusters"] = cluster_paths(self.clusters)
        found |= {name: paths for name in ("names", "phrases") if (paths := self.paths(name))}
        return found

    def check(self) -> Sequence[Coverage]:
        """Read the clusters and gazetteers, and check that every stream exists.

        Returns
        -------
        sequence of Coverage
            The coverage of tokens by the clusters of each embedding. It is empty for clusters that
            the run trains.

        Raises
        ------
        InputError
            If a resource is missing or has another format, or a stream does not exist.
        """
        needed = self.templates().needed
        check_streams(needed, self.phrases, self._known_clusterings())
        check_lists(self.names, self.phrases)
        if not self.paths("clusters"):
            return ()
        return check_clusters(self.clusters, self.clustering_names)

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
        """Return which tokens are in a phrase, or are words of names, shape (N,)."""
        return in_lists(batch, self.names, self.phrases)

    def second_view(self) -> Self:
        """Return options without the streams of the layout: the header and the colon of a line."""
        streams = without_layout(self.streams)
        conjunctions = tuple(
            each
            for each in self.conjunctions
            if not any(name_of(part) in LAYOUT for part in each.split())
        )
        return replace(self, streams=streams, conjunctions=conjunctions)

    def _known_clusterings(self) -> Sequence[str]:
        """Return the clusterings of the folder, or those that a run can train.

        Raises
        ------
        InputError
            If no run trains a clustering in `clusterings`.
        """
        if self.clusters != AUTO:
            return [name for path in self.paths("clusters") for name, _ in cluster_files(path)]
        for name in self.clustering_names:
            if name not in CLUSTERINGS:
                raise InputError(
                    f'clusters = "{AUTO}" has no clustering {shown(name)}; it has '
                    f"{', '.join(CLUSTERINGS)}"
                )
        return CLUSTERINGS

    def with_embeddings(self, train: Callable[[], Path | None]) -> Self:
        """Return options that refer to the embeddings of the run, if clusters are automatic."""
        if self.clusters != AUTO:
            return self
        folder = train()
        if folder is None:
            return replace(self, clusters="", clusterings=(), cluster_choice="all")
        return replace(self, clusters=str(folder))

    @property
    def clustering_names(self) -> tuple[str, ...]:
        """The names in `clusterings`, without their windows."""
        return tuple(Template.parse(text, (0,)).name for text in self.clusterings)

    @property
    def stream_templates(self) -> tuple[str, ...]:
        """The templates of streams, including that of phrases if there are gazetteers for it."""
        named = Templates.parse((), 0, self.streams, self.conjunctions).needed
        return (
            (*self.streams, f"{PHRASES}{_NEIGHBOURS}")
            if self.phrases and PHRASES not in named
            else self.streams
        )

    def templates(
        self,
        clusters: Mapping[str, Feature] | None = None,
        names: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Build the feature templates of the tagger.

        Parameters
        ----------
        clusters : mapping of str to Feature, optional
            The available clusterings, as features.
        names : mapping of str to Feature, optional
            The frequencies of words among names, as features of a token and its neighbours.

        Returns
        -------
        Templates
        """
        clusters, names = clusters or {}, names or {}
        named = self.clusterings or tuple(clusters)
        used = [text for text in named if Template.parse(text, (0,)).name in clusters]
        frequencies = [f"{name}{_NEIGHBOURS}" for name in names]
        return Templates.parse(
            (*self.features, *used, *frequencies),
            self.window,
            self.stream_templates,
            self.conjunctions,
            {**clusters, **names},
        )

    @staticmethod
    def _names(templates: Templates) -> list[str]:
        names = [each.name for each in (*templates.features, *templates.streams)]
        return [*names, *(each.name for each in templates.conjunctions)]
