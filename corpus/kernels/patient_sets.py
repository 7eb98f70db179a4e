"""The first few patients in whose documents each word occurs."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled

#: The patients of a word that are told apart: of more, it is only known that they are as many.
MOST_PATIENTS = 16


class PatientSets:
    """The numbers of patients of words, up to `MOST_PATIENTS`.

    Patients are told apart by 32-bit hashes. Two patients with the same hash count as one, so that
    a number may be too small, but not too large.
    """

    def __init__(self) -> None:
        self._sets = np.zeros((1024, MOST_PATIENTS), np.uint32)
        self._sizes = np.zeros(1024, np.int32)

    def add(
        self,
        words: npt.NDArray[np.int32],
        documents: npt.NDArray[np.int64],
        patients: Iterable[str],
        size: int,
    ) -> None:
        """Add documents.

        Parameters
        ----------
        words : ndarray of int32, shape (N,)
            The number of the word of each token.
        documents : ndarray of int64, shape (D + 1,)
            Offsets of each document's tokens.
        patients : iterable of str
            The key of the patient of each document.
        size : int
            The number of different words so far.
        """
        if size > len(self._sizes):
            more = size + size // 4 - len(self._sizes)
            self._sets = np.concatenate([self._sets, np.zeros((more, MOST_PATIENTS), np.uint32)])
            self._sizes = np.concatenate([self._sizes, np.zeros(more, np.int32)])
        digests = b"".join(blake2b(key.encode(), digest_size=4).digest() for key in patients)
        keys = np.frombuffer(digests, np.uint32).copy()
        _add(words, documents, keys, self._sets, self._sizes)

    def numbers(self, size: int) -> npt.NDArray[np.int32]:
        """Return the number of patients of each word, shape (size,)."""
        return self._sizes[:size]


@compiled("int32[::1], int64[::1], uint32[::1], uint32[:, ::1], int32[::1]")
def _add(words: Array, documents: Array, patients: Array, sets: Array, sizes: Array) -> None:
    for document in range(len(patients)):
        for token in range(documents[document], documents[document + 1]):
            word = words[token]
            size = sizes[word]
            if size == sets.shape[1]:
                continue
            known = False
            for place in range(size):
                known = known or sets[word, place] == patients[document]
            if not known:
                sets[word, size] = patients[document]
                sizes[word] = size + 1
