"""Minibatches of training documents, as the inputs of a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.ragged import offsets_of

Codes = npt.NDArray[np.int32]
Arrays = dict[str, npt.NDArray[Any]]

#: The tag of a position after the end of a document (see `taggers.networks.crf_layer`).
PADDING = -2

#: The rows before the words' rows: for positions after a document, and for its borders.
_AFTER, _BORDER, _FIRST = 0, 1, 2

#: The inputs of words; see `taggers.networks.word_inputs.WordArrays`.
WORDS = ("vectors", "numbers", "characters", "features")

_JITTER = 3.0  # tokens by which the lengths of documents are blurred before they are sorted


@dataclass(frozen=True, slots=True, eq=False)
class Minibatches:
    """Training documents with everything that a network reads of them.

    Parameters
    ----------
    words : mapping of str to ndarray
        ``vectors``, ``numbers``, ``characters`` and ``features`` of V words (see
        `taggers.networks.word_inputs.WordArrays`).
    unknown : ndarray of float32, shape (E,)
        The vector of unknown words.
    word_ids : ndarray of int32, shape (N,)
        The word of each token; -1 for a border.
    streams : ndarray of int32, shape (N, S)
        The codes of the streams of tokens.
    offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    tags : ndarray of int32, shape (N,)
        Labels; -1 for unknown tags.
    weights : ndarray of float32, shape (D,)
        The weights of documents.
    """

    words: Mapping[str, npt.NDArray[Any]]
    unknown: npt.NDArray[np.float32]
    word_ids: Codes
    streams: Codes
    offsets: npt.NDArray[np.int64]
    tags: Codes
    weights: npt.NDArray[np.float32]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the documents of a request."""
        own = {field.name: arrays[field.name] for field in fields(cls) if field.name != "words"}
        return cls(words={name: arrays[name] for name in WORDS}, **own)

    def part(self, chosen: npt.NDArray[np.bool_]) -> Minibatches:
        """Return some of the documents, by a mask of shape (D,)."""
        own = np.repeat(chosen, self.lengths)
        return replace(
            self,
            word_ids=self.word_ids[own],
            streams=self.streams[own],
            offsets=offsets_of(self.lengths[chosen]),
            tags=self.tags[own],
            weights=self.weights[chosen],
        )

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each document, shape (D,)."""
        return np.diff(self.offsets)

    @property
    def expected(self) -> int:
        """The expected number of documents of an epoch, at least 1."""
        return max(1, round(float(np.minimum(self.weights[self.lengths > 0], 1).sum())))

    def epoch(
        self, size: int, rng: np.random.Generator, *, word_dropout: float
    ) -> Iterator[tuple[Arrays, Codes, npt.NDArray[np.float32]]]:
        """Yield the minibatches of an epoch, of documents of similar length, in random order.

        A document whose weight is below 1 is part of an epoch with this probability, which costs
        less than to compute its loss and to scale it down. At least one document is drawn. The loss
        of a document with a weight above 1 is multiplied by it.

        Parameters
        ----------
        size : int
            Documents of a minibatch.
        rng : numpy.random.Generator
            Draws documents, their order and unknown words.
        word_dropout : float
            The probability of replacing a word by the unknown one.

        Yields
        ------
        inputs : dict of str to ndarray
        tags : ndarray of int32, shape (B, T)
        weights : ndarray of float32, shape (B,)
        """
        lengths = self.lengths
        weights = np.where(lengths > 0, self.weights, 0.0)
        drawn = np.flatnonzero(rng.random(len(lengths)) < weights)
        if not len(drawn) and weights.any():
            drawn = rng.choice(len(weights), 1, p=weights / weights.sum())
        blurred = lengths[drawn] + _JITTER * rng.random(len(drawn))
        for documents in self._batched(drawn[np.argsort(blurred, kind="stable")], size, rng):
            inputs, tags = self._inputs(documents, rng, word_dropout)
            yield inputs, tags, np.maximum(self.weights[documents], 1)

    def in_order(self, size: int) -> Iterator[tuple[Arrays, Codes, npt.NDArray[np.float32]]]:
        """Yield minibatches of all documents, the shortest ones first, without dropout of words."""
        lengths = self.lengths
        order = np.argsort(lengths, kind="stable")
        for documents in self._batched(order[lengths[order] > 0], size, None):
            inputs, tags = self._inputs(documents, None, 0.0)
            yield inputs, tags, self.weights[documents]

    @staticmethod
    def _batched(
        documents: npt.NDArray[np.int64], size: int, rng: np.random.Generator | None
    ) -> list[npt.NDArray[np.int64]]:
        batches = [documents[first : first + size] for first in range(0, len(documents), size)]
        order = range(len(batches)) if rng is None else rng.permutation(len(batches)).tolist()
        return [batches[number] for number in order]

    def _inputs(
        self,
        documents: npt.NDArray[np.int64],
        rng: np.random.Generator | None,
        word_dropout: float,
    ) -> tuple[Arrays, Codes]:
        """Return the inputs of documents and their tags."""
        lengths = self.lengths[documents]
        places = np.arange(lengths.max())
        there = places < lengths[:, None]
        tokens = np.where(there, self.offsets[documents][:, None] + places, 0)
        # The first row is that of borders, whether there are any or not.
        ids = np.append(np.int32(-1), self.word_ids[tokens[there]])
        used, rows = np.unique(ids, return_inverse=True)
        used = used[1:]
        index = np.full(there.shape, _AFTER, np.int32)
        index[there] = rows[1:] + _BORDER
        words = {name: with_border(array[used], _FIRST) for name, array in self.words.items()}
        if rng is not None and word_dropout:
            dropped = _FIRST + np.flatnonzero(rng.random(len(used)) < word_dropout)
            words["vectors"][dropped] = self.unknown
            words["numbers"][dropped] = 0
        longest = int((words["characters"] > 0).sum(axis=1).max(initial=1))
        words["characters"] = np.ascontiguousarray(words["characters"][:, :longest])
        streams = np.where(there[..., None], self.streams[tokens], 0)
        tags = np.where(there, self.tags[tokens], PADDING).astype(np.int32)
        return {"index": index, "streams": streams, **words}, tags


def with_border(array: npt.NDArray[Any], rows: int = 1) -> npt.NDArray[Any]:
    """Prepend rows that do not belong to words: all zeros."""
    return np.concatenate([np.zeros((rows, *array.shape[1:]), array.dtype), array])
