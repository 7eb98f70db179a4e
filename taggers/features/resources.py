"""The lexical resources of a tagger: clusters of words and frequencies of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.features.feature_options import FeatureOptions
from taggers.features.templates import Templates
from taggers.features.words import Feature

if TYPE_CHECKING:
    from corpus.kernels.hashing import Hashes
    from taggers.dictionaries.name_frequencies import NameFrequencies
    from taggers.embeddings.word_clusters import WordClusters
    from taggers.model_folder import ModelFiles
    from taggers.privacy.pruning import Pruning
    from taggers.privacy.public_lists import PublicLists


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """Lexical resources from which features of words are computed."""

    clusters: WordClusters | None = None
    names: NameFrequencies | None = None

    @classmethod
    def from_names(cls, names: Sequence[str]) -> Self:
        """Read gazetteers of names.

        Raises
        ------
        InputError
            If a gazetteer is missing or has another format.
        """
        if not names:
            return cls()
        from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - numba is slow to import
            NameFrequencies,
            read_names,
        )

        return cls(names=NameFrequencies.from_frequencies(read_names(names)))

    def with_clusters(self, clusters: WordClusters) -> Resources:
        """Return the same resources with other clusters."""
        return replace(self, clusters=clusters)

    def templates(self, options: FeatureOptions) -> Templates:
        """Build the feature templates of options with these resources."""
        clusters = self.clusters.features() if self.clusters is not None else {}
        names: Mapping[str, Feature] = self.names.features() if self.names is not None else {}
        return options.templates(clusters, names)

    def pruned(self, pruning: Pruning) -> Resources:
        """Return the resources without the words of few patients and of lists of notes."""
        return Resources(
            self.clusters.pruned(pruning) if self.clusters is not None else None,
            self.names.pruned(pruning) if self.names is not None else None,
        )

    def contents(self) -> dict[str, int]:
        """Return the number of words of each resource."""
        sizes = {}
        if self.clusters is not None:
            sizes["words with a cluster"] = self.clusters.size
        if self.names is not None:
            sizes["words of lists of names"] = len(self.names.table)
        return sizes

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words are in each resource; see `taggers.privacy.pruning.PrunableTagger`."""
        traces = {}
        if self.clusters is not None:
            traces["clusters"] = self.clusters.having(words)
        if self.names is not None:
            traces["lists of names"] = self.names.having(words, lists)
        return traces

    def with_nonzero_weights(self, templates: Templates, hashes: Hashes, key: int = 0) -> Resources:
        """Return the resources without words whose clusters have no weight.

        If clusters are part of feature conjunctions, all words are kept.
        """
        joined = {name for conjunction in templates.conjunctions for name, _ in conjunction.terms}
        if self.clusters is None or joined & set(self.clusters.names):
            return self
        return replace(self, clusters=self.clusters.with_nonzero_weights(hashes, key))

    def description(self) -> dict[str, Any]:
        """Return what `from_model` needs in addition to the files, as JSON values."""
        return {
            "clusters": self.clusters.description() if self.clusters is not None else [],
            "names": self.names.classes if self.names is not None else [],
        }

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model, by name."""
        files = self.clusters.files() if self.clusters is not None else {}
        return files | (self.names.files() if self.names is not None else {})

    @classmethod
    def from_model(cls, model: ModelFiles) -> Self:
        """Read resources from the files of a model and its `description`."""
        clusters = names = None
        if model.fields.value("clusters"):
            from taggers.embeddings.word_clusters import (  # noqa: PLC0415 - not always used
                WordClusters,
            )

            clusters = WordClusters.from_model(model)
        if model.fields.value("names"):
            from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - not always used
                NameFrequencies,
            )

            names = NameFrequencies.from_model(model)
        return cls(clusters, names)


def clusters_for(train: Batch, folder: str, names: Sequence[str] = ()) -> WordClusters:
    """Read the clusterings of a folder of embeddings.

    Raises
    ------
    InputError
        If there are no clusterings, or no token of the training documents has a cluster.
    """
    from taggers.embeddings.word_clusters import (  # noqa: PLC0415 - numba is slow to import
        WordClusters,
    )

    clusters = WordClusters.read(Path(folder), names)
    if not clusters.having(train.vocabulary)[train.word_ids].any():
        raise InputError(
            f"{folder}: none of the {train.n_tokens:,} tokens of the training documents has "
            "a cluster; were the embeddings trained on other notes, or on words normalised "
            "differently?"
        )
    return clusters.counted(train)
