"""The lexical resources of a CRF: clusters of words and frequencies of names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from taggers.features import Feature
from taggers.templates import Templates

if TYPE_CHECKING:
    from corpus.kernels.hashing import Hashes
    from taggers.crf.crf_options import CRFOptions
    from taggers.dictionaries.name_frequencies import NameFrequencies
    from taggers.embeddings.word_clusters import WordClusters


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """Lexical resources from which features of words are computed.

    Parameters
    ----------
    clusters : WordClusters, optional
        Clusterings of words.
    names : NameFrequencies, optional
        Frequencies of words among names.
    """

    clusters: WordClusters | None = None
    names: NameFrequencies | None = None

    @classmethod
    def of_names(cls, options: CRFOptions) -> Self:
        """Read the gazetteers of names in options.

        Raises
        ------
        InputError
            If a gazetteer is missing or has another format.
        """
        if not options.names:
            return cls()
        from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - numba is slow to import
            NameFrequencies,
        )
        from taggers.dictionaries.name_lists import read_names  # noqa: PLC0415 - the same

        return cls(names=NameFrequencies.of(read_names(options.names)))

    def with_clusters(self, clusters: WordClusters) -> Resources:
        """Return the same resources with other clusters."""
        return replace(self, clusters=clusters)

    def templates(self, options: CRFOptions) -> Templates:
        """Build the feature templates of options with these resources."""
        clusters = self.clusters.features() if self.clusters else {}
        names: Mapping[str, Feature] = self.names.features() if self.names else {}
        return options.templates(clusters, names)

    def with_nonzero_weights(self, templates: Templates, hashes: Hashes) -> Resources:
        """Return the resources without words whose clusters have no weight.

        If clusters are part of feature conjunctions, all words are kept.

        Parameters
        ----------
        templates : Templates
            The feature templates of the model.
        hashes : ndarray of uint64
            Hashes of the feature values with a nonzero weight.
        """
        joined = {name for each in templates.conjunctions for name, _ in each.terms}
        if not self.clusters or joined & set(self.clusters.names):
            return self
        return replace(self, clusters=self.clusters.with_nonzero_weights(hashes))

    def description(self) -> dict[str, Any]:
        """Return the description that `of_files` needs in addition to the files, as JSON values."""
        return {
            "clusters": self.clusters.description() if self.clusters else [],
            "names": self.names.classes if self.names else [],
        }

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model, by name."""
        found = self.clusters.files() if self.clusters else {}
        return found | (self.names.files() if self.names else {})

    @classmethod
    def of_files(cls, folder: Path, description: Mapping[str, Any]) -> Self:
        """Read resources from the files of a model and its `description`."""
        clusters = names = None
        if description["clusters"]:
            from taggers.embeddings.word_clusters import (  # noqa: PLC0415 - not always used
                WordClusters,
            )

            clusters = WordClusters.of_files(folder, description["clusters"])
        if description["names"]:
            from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - not always used
                NameFrequencies,
            )

            names = NameFrequencies.of_files(folder, description["names"])
        return cls(clusters, names)
