"""Copies among texts: the same text again, or nearly the same words.

Notes are copied and pasted. Texts are compared by hashes alone, so that millions of them can be
compared in one pass.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.kernels.compiled import Array, compiled, kernel_array
from corpus.kernels.hashing import Hashes, hash_values
from corpus.tokens import tokenize
from corpus.tokens.normalisation import normalised_texts

#: What counts as a copy.
Kind = Literal["exact", "near"]

#: The bands of a signature, and the minima in each. Two texts that share a proportion s of their
#: words agree in all minima of a band with a probability of s ** 8, and in a band of 10 with a
#: probability of 0.84 for s = 0.8, of 0.996 for 0.9, and of 0.16 for 0.6.
_BANDS, _ROWS = 10, 8

#: Texts with fewer tokens are compared as a whole: one word, such as a name, is much of them.
_SHORT = 20

Flags = npt.NDArray[np.bool_]


class Copies:
    """Finds the texts that are copies of earlier ones.

    Parameters
    ----------
    kind : {"exact", "near"}
        Texts that differ only in case and white space; or also texts with nearly the same word
        types, by MinHash (Broder, 1997) with banding: a copy is found with a probability that
        grows with the Jaccard index of the two sets of words.

    Notes
    -----
    Memory grows by 8 bytes for each text, or by 80 for near copies.
    """

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._seen: list[Hashes] = []  # sorted, each at least twice as long as the next

    def find(self, texts: pa.LargeStringArray) -> Flags:
        """Return which texts are copies of earlier ones, in this call or in one before.

        Parameters
        ----------
        texts : pyarrow.LargeStringArray, length D

        Returns
        -------
        ndarray of bool, shape (D,)
        """
        if not len(texts):
            return np.zeros(0, bool)
        keys = self._keys(texts)
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        was_seen = np.zeros(len(distinct), bool)
        for known in self._seen:
            place = np.minimum(np.searchsorted(known, distinct), len(known) - 1)
            was_seen |= known[place] == distinct
        rows = np.arange(len(keys))[:, None]
        is_later = first[inverse].reshape(keys.shape) // keys.shape[1] < rows
        self._add(distinct[~was_seen])
        copies: Flags = (is_later | was_seen[inverse].reshape(keys.shape)).any(axis=1)
        return copies

    def _add(self, keys: Hashes) -> None:
        while self._seen and len(self._seen[-1]) < 2 * len(keys):
            keys = np.sort(np.concatenate([self._seen.pop(), keys]))
        if len(keys):
            self._seen.append(keys)

    def _keys(self, texts: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
        """Return hashes of texts, shape (D, K): copies share one of them."""
        if self._kind == "exact":
            return _hashed(texts)[:, None]
        tokens = tokenize(texts)
        words = hash_values("word", [*map(str.lower, tokens.vocabulary), ""]) >> np.uint64(32)
        bands = np.empty((len(texts), _BANDS), np.uint64)
        hashes = kernel_array(words.astype(np.uint32)[tokens.word_ids])
        _find_bands(hashes, tokens.document_offsets, _multipliers(), bands)
        if len(short := np.flatnonzero(np.diff(tokens.document_offsets) < _SHORT)):
            bands[short] = _hashed(texts.take(pa.array(short)))[:, None]
        return bands


def _hashed(texts: pa.LargeStringArray) -> Hashes:
    folded = [" ".join(text.lower().split()) for text in normalised_texts(texts).to_pylist()]
    return hash_values("text", folded)


def _multipliers() -> npt.NDArray[np.uint32]:
    """Return odd numbers, each of which stands for a permutation of hashes."""
    numbers = np.random.default_rng(0).integers(2**31, size=_BANDS * _ROWS, dtype=np.uint32)
    return 2 * numbers + np.uint32(1)


@compiled("uint32[::1], int64[::1], uint32[::1], uint64[:, ::1]", vectorised=True)
def _find_bands(hashes: Array, offsets: Array, multipliers: Array, bands: Array) -> None:
    """Hash the bands of the signatures of documents: the smallest hash of each permutation."""
    minima = np.empty(len(multipliers), np.uint32)
    rows = len(multipliers) // bands.shape[1]
    for document in range(len(bands)):
        minima[:] = np.uint32(0xFFFFFFFF)
        for token in range(offsets[document], offsets[document + 1]):
            for place in range(len(multipliers)):
                value = np.uint32(hashes[token] * multipliers[place])
                value ^= value >> np.uint32(15)  # low bits matter as well
                minima[place] = min(minima[place], np.uint32(value * np.uint32(0x2C1B3C6D)))
        for band in range(bands.shape[1]):
            joined = np.uint64(band)
            for place in range(band * rows, (band + 1) * rows):
                joined = (joined ^ minima[place]) * np.uint64(0x9E3779B97F4A7C15)
                joined ^= joined >> np.uint64(29)
            bands[document, band] = joined
