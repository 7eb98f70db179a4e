"""What a CRF looks words up in beside the words themselves: clusters and dictionaries of names."""

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
    """What words are looked up in.

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
        """Read the dictionaries that options name.

        Raises
        ------
        InputError
            If one is not there.
        """
        if not options.names:
            return cls()
        from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - numba is slow to import
            NameFrequencies,
        )
        from taggers.dictionaries.name_lists import read_names  # noqa: PLC0415 - the same

        return cls(names=NameFrequencies.of(read_names(options.names)))

    def having(self, clusters: WordClusters) -> Resources:
        """Give the same with clusters."""
        return replace(self, clusters=clusters)

    def templates(self, options: CRFOptions) -> Templates:
        """Give what is looked at with options."""
        clusters = self.clusters.features() if self.clusters else {}
        names: Mapping[str, Feature] = self.names.features() if self.names else {}
        return options.templates(clusters, names)

    def with_nonzero_weights(self, templates: Templates, hashes: Hashes) -> Resources:
        """Leave out words no cluster of which has a weight, where a cluster alone decides that.

        Parameters
        ----------
        templates : Templates
            What is looked at.
        hashes : ndarray of uint64
            Of the values of features that have a weight.
        """
        joined = {name for each in templates.conjunctions for name, _ in each.terms}
        if not self.clusters or joined & set(self.clusters.names):
            return self
        return replace(self, clusters=self.clusters.with_nonzero_weights(hashes))

    def description(self) -> dict[str, Any]:
        """Give what `of_files` needs beside the files, as JSON can hold it."""
        return {
            "clusters": self.clusters.description() if self.clusters else [],
            "names": self.names.classes if self.names else [],
        }

    def files(self) -> dict[str, bytes]:
        """Give the content of a model's files."""
        found = self.clusters.files() if self.clusters else {}
        return found | (self.names.files() if self.names else {})

    @classmethod
    def of_files(cls, folder: Path, description: Mapping[str, Any]) -> Self:
        """Read what `description` and `files` gave."""
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
