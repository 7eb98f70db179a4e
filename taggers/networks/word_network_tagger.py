"""What taggers with a network that reads words have in common: the inputs and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from taggers.networks.network_options import WordOptions
from taggers.networks.network_sizes import NetworkSizes
from taggers.networks.word_inputs import WordArrays, WordInputs
from taggers.networks.word_vectors import WordVectors
from taggers.privacy.pruning import Pruning
from taggers.privacy.public_lists import PublicLists
from taggers.trained_tagger import FeatureTagger, Traces, check_kept

WordOptionsT = TypeVar("WordOptionsT", bound=WordOptions)


class WordNetworkTagger(FeatureTagger[WordOptionsT]):
    """A tagger with a network that reads words, and that is trained in a process of its own."""

    trains_in_process = True

    def __init__(self, options: WordOptionsT | None = None) -> None:
        super().__init__(options)
        self._weights: dict[str, npt.NDArray[np.float32]] = {}
        self._inputs: WordInputs | None = None

    def _inputs_of(self, train: Batch) -> tuple[WordInputs, WordArrays]:
        """Assign codes to the words of training documents, and look up their vectors."""
        folder = self.options.embeddings
        vectors = WordVectors.read(Path(folder)) if folder else WordVectors()
        return WordInputs.from_training(train, self._templates(), vectors)

    def _sizes(self, inputs: WordInputs, labels: int, outside: int = 0) -> NetworkSizes:
        dimension = inputs.vectors.dimension
        return NetworkSizes(
            labels=labels,
            outside=outside,
            vectors=dimension,
            words=len(inputs.words) + 1 if self.options.train_embeddings or not dimension else 0,
            alphabet=inputs.characters.size + 1,
            features={name: values.size for name, values in inputs.features.items()},
            streams={name: values.size for name, values in inputs.streams.items()},
        )

    def _is_trained(self) -> bool:
        return self._inputs is not None

    def _learned(self) -> WordInputs:
        if self._inputs is None:
            raise ValueError("the network has not been trained")
        return self._inputs

    def _learned_contents(self) -> dict[str, int]:
        return self._learned().contents()

    def _learned_traces(self, words: Sequence[str], lists: PublicLists) -> Traces:
        return self._learned().traces(words, self._templates())

    def _prune(self, pruning: Pruning, whole: Self) -> None:
        """Make removed words and values unknown, like those that training did not see."""
        # The weights of characters and of layers stay as they are.
        inputs = whole._learned()
        check_kept(inputs.patients, pruning, "word")
        self._inputs, rows = inputs.pruned(pruning)
        self._weights = {
            name: weights[rows[name]] if name in rows else weights
            for name, weights in whole._weights.items()
        }
