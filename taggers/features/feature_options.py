"""The options of taggers that learn from features of words and of their context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from gazetteers.builtin import BUILTIN_LISTS, CENSUS, PLACES
from taggers.annotators import ANNOTATORS, OF_LANGUAGES
from taggers.annotators.phrases import Phrases
from taggers.embeddings.automatic import AUTO
from taggers.embeddings.embedding_files import cluster_files
from taggers.features.templates import Template, Templates
from taggers.features.words import feature
from taggers.morphology.analysers import check_analysers, check_names
from taggers.morphology.languages import check_languages
from taggers.options import (
    ALL_CAPABILITIES,
    INSIDE_MODEL,
    Capability,
    Coverage,
    TaggerOptions,
    option,
)
from taggers.patterns import KERNELS as PATTERN_KERNELS
from taggers.patterns.tables import BUILTIN_TABLES, IDENTIFIERS, read_patterns

if TYPE_CHECKING:
    from taggers.embeddings.word_clusters import WordClusters
    from taggers.features.words import Feature

#: The streams of the options of the same names.
PHRASES, PATTERNS = "phrases", "patterns"
LANGUAGE, POS, LEMMAS = OF_LANGUAGES

#: The streams that describe the layout of a document.
LAYOUT = ("header", "colon")

_OTHER_NOTES = "were the embeddings trained on other notes, or on words normalised differently?"


@dataclass(frozen=True, slots=True)
class FeatureOptions(TaggerOptions, ABC):
    """Options shared by the taggers that learn from features; every field is a key."""

    features: tuple[str, ...] = option((), "features of a word, by name (bootstrap help features)")
    streams: tuple[str, ...] = option(
        LAYOUT,
        "features of the context of a token: header, colon, patterns, phrases, language, pos, "
        "lemmas (bootstrap help features)",
    )
    clusters: str = option(
        AUTO,
        "a folder of embeddings whose clusters become features of words, written by bootstrap "
        f'embed train and bootstrap cluster; "{AUTO}" trains them in the run, on the text of all '
        "its documents (bootstrap help embeddings)",
        path=(AUTO,),
    )
    patterns: tuple[str, ...] = option(
        (IDENTIFIERS,),
        'tables of patterns of the stream "patterns", which streams must name (bootstrap help '
        f'patterns); "{IDENTIFIERS}" is the builtin table',
        path=BUILTIN_TABLES,
    )
    names: tuple[str, ...] = option(
        (CENSUS,),
        "gazetteers of names whose frequencies become features of words, one for each of their "
        "classes (bootstrap help gazetteers)",
        path=BUILTIN_LISTS,
    )
    phrases: tuple[str, ...] = option(
        (PLACES,),
        'gazetteers whose phrases become the stream "phrases", written by bootstrap gazetteer '
        "import (bootstrap help phrases)",
        path=BUILTIN_LISTS,
    )

    analysers: Mapping[str, str] = option(
        {"es": "apertium", "ca": "apertium"},
        'the languages of the notes, of which the stream "language" chooses, and what finds the '
        'streams "pos" and "lemmas" in each: "apertium", "simplemma" (lemmas alone) or '
        '"spacy:PIPELINE" (bootstrap help features)',
    )

    def __post_init__(self) -> None:
        templates = self.templates()
        for template in templates.features:
            feature(template.name)
        self.refuse_unnamed("names", "phrases", "patterns")
        check_names(self.analysers)
        own = {*self.patterns} - {IDENTIFIERS, INSIDE_MODEL}
        if own and PATTERNS not in templates.needed:
            raise InputError('patterns have no effect, because streams does not name "patterns"')

    @property
    def capabilities(self) -> frozenset[Capability]:
        return ALL_CAPABILITIES

    @property
    def clustering_names(self) -> tuple[str, ...]:
        """The names of the clusterings that are used; all of the folder if empty."""
        return ()

    @abstractmethod
    def templates(
        self,
        clusters: Mapping[str, Feature] | None = None,
        names: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Build the templates of the tagger, with clusterings and name frequencies as features."""

    @property
    def stream_kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions make the streams; see `taggers.base.kernels_of`."""
        uses_patterns = PATTERNS in self.templates().needed
        return (
            "corpus.tokens.scanner",
            *(("gazetteers.phrases.matching",) if self.phrases else ()),
            *(PATTERN_KERNELS if uses_patterns else ()),
        )

    def training_files(self) -> Mapping[str, Sequence[Path]]:
        paths = dict(TaggerOptions.training_files(self))
        if "clusters" in paths:
            clusters = [path for folder in paths["clusters"] for _, path in cluster_files(folder)]
            hashes = sorted({path.with_name("hashes.npy") for path in clusters})
            paths["clusters"] = [*(path.with_suffix(".npy") for path in clusters), *hashes]
        return paths

    def check(self) -> Sequence[Coverage]:
        features: Sequence[str] = ()
        if self.names:
            from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - numba is slow to import
                NameFrequencies,
                read_names,
            )

            features = tuple(NameFrequencies.from_frequencies(read_names(self.names)).features())
        self._check_streams(features)
        if PATTERNS in self.templates().needed:
            read_patterns(self.patterns)
        if self.phrases:
            Phrases.from_files(self.phrases)
        if not self.paths("clusters"):
            return []
        from taggers.embeddings.word_clusters import WordClusters  # noqa: PLC0415 - the same

        clusters = WordClusters.read(Path(self.clusters), self.clustering_names)
        return [_coverage(WordClusters([table])) for table in clusters.tables]

    def _check_streams(self, features: Sequence[str], own: Sequence[str] = ()) -> None:
        """Check that the tagger itself, annotators or resources add all streams of documents.

        The features of resources may occur in conjunctions.
        """
        templates = self.templates()
        needed, as_streams = templates.needed, {template.name for template in templates.streams}
        if {POS, LEMMAS} & set(needed):
            check_analysers(self.analysers, pos=POS in needed)
        elif LANGUAGE in needed:
            check_languages(tuple(self.analysers))
        for name in needed:
            if name == PHRASES and not self.phrases:
                raise InputError(
                    'the stream "phrases" has no phrases: name gazetteers in phrases, or remove it'
                )
            if name in own:
                continue
            if name not in ANNOTATORS and (name in as_streams or name not in features):
                also = f"; conjunctions may also name {', '.join(features)}" if features else ""
                raise InputError(
                    f'there is no stream or feature "{name}"; the streams are '
                    f"{', '.join(ANNOTATORS)}{also}"
                )

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
        if not (self.names or self.phrases):
            return None
        listed = np.zeros(batch.n_tokens, bool)
        if self.phrases:
            from gazetteers.phrases.matcher import blocked  # noqa: PLC0415 - numba is slow to import

            stream = Phrases.from_files(self.phrases).annotate(batch)
            listed |= (stream.values >= 0) & ~blocked(stream)
        if self.names:
            from taggers.dictionaries.name_frequencies import read_names  # noqa: PLC0415 - the same

            names = read_names(self.names)
            rows = names.rows(batch.vocabulary)
            listed |= ((rows >= 0) & (names.alone[rows] > 0).any(axis=1))[batch.word_ids]
        return listed

    def second_view(self) -> Self:
        """Return options without the streams of the layout: the header and the colon of a line."""
        return replace(self, streams=without_streams(self.streams, LAYOUT))

    def with_embeddings(self, train: Callable[[], Path | None]) -> Self:
        automatic = [name for name in ("embeddings", "clusters") if getattr(self, name, "") == AUTO]
        if not automatic:
            return self
        values: dict[str, Any] = dict.fromkeys(automatic, str(train() or ""))
        return replace(self, **values)


def name_of(template: str) -> str:
    """Return the name of the feature or stream of a template, without its window."""
    return Template.parse(template, (0,)).name


def without_streams(templates: Iterable[str], streams: Collection[str]) -> tuple[str, ...]:
    """Return the templates, or conjunctions of them, without those of some streams."""
    return tuple(
        template
        for template in templates
        if not any(name_of(term) in streams for term in template.split())
    )


def _coverage(clusters: WordClusters) -> Coverage:
    embedding = clusters.names[0].rpartition("-k")[0]

    def count(batch: Batch) -> int:
        return int(clusters.having(batch.vocabulary)[batch.word_ids].sum())

    return vector_coverage(f"a cluster in {embedding}", count)


def vector_coverage(of: str, count: Callable[[Batch], int]) -> Coverage:
    """Return the coverage of tokens by embeddings; a run warns below one half."""
    return Coverage(of=of, count=count, expected=0.5, advice=_OTHER_NOTES)
