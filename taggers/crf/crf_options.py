"""Options of the CRF tagger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from corpus.errors import InputError
from taggers.embeddings.automatic import AUTO, CLUSTERINGS
from taggers.embeddings.embedding_files import cluster_files
from taggers.features.feature_options import (
    LAYOUT,
    PHRASES,
    FeatureOptions,
    name_of,
    without_streams,
)
from taggers.features.templates import Templates
from taggers.features.words import Feature, is_feature
from taggers.model_folder import DESCRIPTION
from taggers.options import ALL_CAPABILITIES, Capability, Coverage, option

#: The stream of the tags of a model of lists.
LIST_TAGS = "list_tags"

_NEIGHBOURS = "[-1..1]"  # the default window of name frequencies, phrases and tags of lists

#: The features of a single CRF, and of two CRFs that are trained apart, if none are named.
FEATURES = (
    *("form", "lower", "capitalization", "has_digit", "is_number"),
    *("prefix3", "prefix4", "suffix3", "suffix4", "shape"),
)
FEATURES_APART = ("lower[-1..1]", "shape[-1..1]", "suffix3[-1..1]", "capitalization")


@dataclass(frozen=True, slots=True)
class TemplateOptions(FeatureOptions):
    """Options of the feature templates of the CRF tagger."""

    features: tuple[str, ...] = option(
        (),
        "features of a word, by name; if empty, the defaults, which depend on cluster_features "
        "(bootstrap help features)",
    )
    window: int = option(
        2,
        "words on each side of a token whose features are used; shape[0] or shape[-1..1] is the "
        "window of one feature",
        least=0,
        most=20,
    )
    conjunctions: tuple[str, ...] = option(
        ("short_shape[-1] short_shape[0]", "short_shape[0] short_shape[1]"),
        'combined features, such as "capitalization[-1] capitalization[0]"',
    )
    list_model: str = option(
        AUTO,
        'the folder of a model of the kind "lists", whose tags become the stream "list_tags"; '
        f'"{AUTO}" fits one in the run, to the built-in lists and the words of the unlabeled notes '
        "(bootstrap help features)",
        path=(AUTO,),
    )
    clusterings: tuple[str, ...] = option(
        (), 'the clusterings in clusters that are used, such as "lower-w5-k128"; all if empty'
    )
    cluster_features: tuple[str, ...] = option(
        (),
        "those of the features that are trained with the clusters, apart from the others, such as "
        '"capitalization": the weights of two CRFs are averaged; if empty, one CRF is trained',
    )
    cluster_choice: Literal["all", "best"] = option(
        "all",
        '"all" of the clusterings at once, or in each training the "best" one on held-out '
        "training documents",
    )

    def __post_init__(self) -> None:
        FeatureOptions.__post_init__(self)
        templates = self.templates()
        for stream in templates.streams:
            if is_feature(stream.name):
                raise InputError(f'"{stream.name}" is a feature of words, not a stream')
        own = {*map(name_of, self.used_features)}
        for name in self.cluster_features:
            if name not in own:
                raise InputError(f'cluster_features names "{name}", which is not among features')
        for name in ("clusterings", "cluster_features", "cluster_choice"):
            if not self.clusters and getattr(self, name) not in ((), "all"):
                raise InputError(f"{name} has no effect without clusters, a folder of embeddings")
        for name in self.clustering_names:
            if is_feature(name):
                raise InputError(f'"{name}" is a feature, not a clustering')
        counts = Counter(part.name for part in (*templates.features, *templates.streams))
        counts.update(conjunction.name for conjunction in templates.conjunctions)
        counts.update(self.clustering_names)
        for name, count in counts.items():
            if count > 1:
                raise InputError(f'"{name}" is named {count} times; expected once')

    def check(self) -> Sequence[Coverage]:
        for path in self.paths("list_model"):
            from taggers.dictionaries.list_tagger import ListTagger  # noqa: PLC0415 - numba is slow to import

            ListTagger.load(path)
        if self.clusters == AUTO:
            for name in self.clustering_names:
                if name not in CLUSTERINGS:
                    raise InputError(
                        f'clusters = "{AUTO}" has no clustering {name}; it has '
                        f"{', '.join(CLUSTERINGS)}"
                    )
        return FeatureOptions.check(self)

    def _check_streams(self, features: Sequence[str], own: Sequence[str] = ()) -> None:
        clusterings: Sequence[str] = CLUSTERINGS
        if self.clusters != AUTO:
            folders = self.paths("clusters")
            clusterings = [name for folder in folders for name, _ in cluster_files(folder)]
        own = (*own, LIST_TAGS) if self.list_model else own
        FeatureOptions._check_streams(self, [*clusterings, *features], own)

    def training_files(self) -> Mapping[str, Sequence[Path]]:
        paths = dict(FeatureOptions.training_files(self))
        if "list_model" in paths:
            paths["list_model"] = [path / DESCRIPTION for path in paths["list_model"]]
        return paths

    def second_view(self) -> Self:
        templates = (self.streams, self.conjunctions)
        streams, conjunctions = (without_streams(part, LAYOUT) for part in templates)
        return replace(self, streams=streams, conjunctions=conjunctions)

    def with_embeddings(self, train: Callable[[], Path | None]) -> Self:
        if self.clusters != AUTO:
            return self
        folder = train()
        if folder is None:
            return replace(
                self, clusters="", clusterings=(), cluster_features=(), cluster_choice="all"
            )
        return replace(self, clusters=str(folder))

    def with_list_model(self, fit: Callable[[], Path | None]) -> Self:
        if self.list_model != AUTO:
            return self
        if folder := fit():
            return replace(self, list_model=str(folder))
        templates = (self.streams, self.conjunctions)
        streams, conjunctions = (without_streams(part, (LIST_TAGS,)) for part in templates)
        return replace(self, list_model="", streams=streams, conjunctions=conjunctions)

    @property
    def used_features(self) -> tuple[str, ...]:
        """The features of words: those that are named, or the defaults."""
        if self.features:
            return self.features
        return FEATURES_APART if self.cluster_features else FEATURES

    @property
    def clustering_names(self) -> tuple[str, ...]:
        return tuple(map(name_of, self.clusterings))

    def templates(
        self,
        clusters: Mapping[str, Feature] | None = None,
        names: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Build the feature templates; frequencies of names and phrases apply to neighbours too."""
        clusters, names = clusters or {}, names or {}
        named = Templates.parse((), 0, self.streams, self.conjunctions).needed
        used = {PHRASES: self.phrases, LIST_TAGS: self.list_model}
        streams = (
            *self.streams,
            *(f"{name}{_NEIGHBOURS}" for name in used if used[name] and name not in named),
        )
        chosen = [text for text in self.clusterings or clusters if name_of(text) in clusters]
        frequencies = [f"{name}{_NEIGHBOURS}" for name in names]
        return Templates.parse(
            (*self.used_features, *chosen, *frequencies),
            self.window,
            streams,
            self.conjunctions,
            {**clusters, **names},
        )


@dataclass(frozen=True, slots=True)
class CRFOptions(TemplateOptions):
    """Options of the CRF tagger; every field is a key of ``[tagger]``."""

    trainer: Literal["wordtype", "crfsuite"] = option(
        "wordtype",
        '"wordtype" is fast, and supports weights of documents, unknown tags and a warm start; '
        '"crfsuite" is the reference implementation, python-crfsuite',
    )
    algorithm: Literal["", "lbfgs", "l2sgd", "ap", "pa", "arow"] = option(
        "", 'algorithm of the trainer "crfsuite"; "lbfgs" if empty'
    )
    c1: float = option(0.0, "weight of the L1 regularization", least=0)
    c2: float = option(0.1, "weight of the L2 regularization", least=0)
    max_iterations: int = option(100, "maximum number of L-BFGS iterations of a training", least=1)
    tolerance: float = option(
        3e-3,
        "training stops when the objective has fallen by less than this share within ten "
        "iterations",
        least=0,
    )
    min_frequency: int = option(0, "attributes that occur less often are ignored", least=0)
    precision: Literal["single", "double"] = option(
        "single", 'precision of sums; "double" takes twice the time'
    )

    def __post_init__(self) -> None:
        TemplateOptions.__post_init__(self)
        if self.algorithm and self.trainer != "crfsuite":
            raise InputError(
                f'algorithm = "{self.algorithm}" has no effect with trainer = "{self.trainer}"; '
                'set trainer = "crfsuite"'
            )
        if self.c1 and self.algorithm not in ("", "lbfgs"):
            raise InputError(f'c1 has no effect with algorithm = "{self.algorithm}"')

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All capabilities; python-crfsuite supports neither partial tags nor document weights."""
        if self.trainer == "crfsuite":
            return frozenset({"entity_probabilities"})
        return ALL_CAPABILITIES
