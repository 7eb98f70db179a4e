"""The codes of the values that a network reads: of features, of streams, and of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch, Stream
from corpus.kernels.hashing import hash_values, keyed
from corpus.patients import patient_numbers
from taggers.privacy.patient_counts import Counts, patients_of_values, patients_of_words
from taggers.privacy.pruning import Pruning

Codes = npt.NDArray[np.int32]

#: The code of words, characters and values that training did not see.
UNKNOWN = 0

_LEAST = 2  # word types or tokens with a value, below which it is not told from unknown ones


class Vocabulary:
    """The codes of values: from 1 on, and 0 for values without a code.

    Parameters
    ----------
    values : sequence of str
        Distinct values, in the order of their codes; with a key, their hashes in hexadecimal
        digits.
    patients : ndarray of int32, shape (V,)
        The number of patients of each value; see `taggers.privacy.patient_counts`.
    key : int
        The key of the hashes of values; 0 if `values` are their text.
    """

    def __init__(self, values: Sequence[str], patients: Counts, key: int = 0) -> None:
        self.values = tuple(values)
        self.patients = patients
        self.key = key
        self._codes = {value: code for code, value in enumerate(values, start=1)}

    @classmethod
    def frequent(cls, counts: Iterable[tuple[str, int]]) -> Vocabulary:
        """Assign codes to the values that occur at least `_LEAST` times, without patients."""
        # In alphabetical order: the codes do not depend on the order of the vocabulary of a batch.
        values = sorted(value for value, count in counts if count >= _LEAST)
        return cls(values, np.zeros(len(values), np.int32))

    def pruned(self, pruning: Pruning, *, hashed: bool) -> tuple[Vocabulary, npt.NDArray[np.int64]]:
        """Return the codes without the values of few patients.

        Returns
        -------
        Vocabulary
        rows : ndarray of int64
            The former code of each new code, from 0 on.
        """
        kept = np.flatnonzero(pruning.keeps(self.patients))
        values, key = [self.values[row] for row in kept.tolist()], self.key
        if hashed and pruning.key and not key:
            values, key = _hashed(values, pruning.key), pruning.key
        pruned = Vocabulary(values, pruning.known(self.patients[kept]), key)
        return pruned, np.concatenate([np.zeros(1, np.int64), kept + 1])

    @property
    def size(self) -> int:
        """The number of codes, including `UNKNOWN`."""
        return len(self.values) + 1

    def codes(self, values: Sequence[str]) -> Codes:
        """Return the code of each value."""
        get = self._codes.get
        if self.key:
            values = _hashed(values, self.key)
        return np.fromiter((get(value, UNKNOWN) for value in values), np.int32, len(values))


def _hashed(values: Sequence[str], key: int) -> list[str]:
    """Return hashes of values with a key, in hexadecimal digits; no value remains the empty one."""
    if not values:
        return []
    hashes = keyed(hash_values("value", values), key)
    pairs = zip(values, hashes.tolist(), strict=True)
    return [f"{own:016x}" if value else "" for value, own in pairs]


def vocabulary_of_feature(values: Sequence[str], train: Batch) -> Vocabulary:
    """Return the codes of the values of a feature; the empty string is no value."""
    vocabulary = Vocabulary.frequent(Counter(filter(None, values)).items())
    codes = vocabulary.codes(values) - 1
    vocabulary.patients = patients_of_words(train, len(vocabulary.values), lambda _: codes)
    return vocabulary


def vocabulary_of_stream(stream: Stream, train: Batch) -> Vocabulary:
    """Return the codes of the values of a stream, with the patients of each."""
    counts = np.bincount(stream.values[stream.values >= 0], minlength=len(stream.vocabulary))
    vocabulary = Vocabulary.frequent(zip(stream.vocabulary, counts.tolist(), strict=True))
    codes = np.append(vocabulary.codes(stream.vocabulary), np.int32(UNKNOWN)) - np.int32(1)
    vocabulary.patients = patients_of_values(
        stream.values,
        train.document_offsets,
        patient_numbers(train),
        codes[:, None],
        len(vocabulary.values),
    )
    return vocabulary


def vocabulary_of_characters(train: Batch) -> Vocabulary:
    """Return the codes of characters, with the patients in whose documents each occurs."""
    counts = Counter(character for word in train.vocabulary for character in set(word))
    vocabulary = Vocabulary.frequent(counts.items())

    def rows(types: Sequence[str]) -> Codes:
        sets = [sorted(set(word)) for word in types]
        codes = np.full((len(types), max(map(len, sets), default=0)), -1, np.int32)
        for row, own in enumerate(sets):
            codes[row, : len(own)] = vocabulary.codes(own) - 1
        return codes

    vocabulary.patients = patients_of_words(train, len(vocabulary.values), rows)
    return vocabulary
