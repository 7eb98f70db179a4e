"""Frequency dictionaries: the frequency of each word in names.

A name of several words counts for each of them: María Carmen counts for María and for Carmen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.errors import InputError, quoted
from corpus.kernels.hash_index import HashIndex, Positions
from corpus.kernels.hashing import Hashes, hash_values
from corpus.ragged import owners_of
from corpus.tokens import tokenize
from gazetteers.folding import fold
from gazetteers.gazetteer import Gazetteer

Int64Array = npt.NDArray[np.int64]

#: The name of the feature under which words are hashed.
_WORD = "folded"


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequencies of words in the terms of a gazetteer.

    Parameters
    ----------
    words : tuple of str
        The V distinct folded words with at least one letter.
    classes : tuple of str
        The C classes of the terms.
    counts : ndarray of int64, shape (V, C)
        The number of bearers of the terms of each class that contain each word. A word that
        occurs twice in a term counts twice.
    alone : ndarray of int64, shape (V, C)
        The number of bearers of terms that consist of this word only: 0 for ``de``.
    """

    words: tuple[str, ...]
    classes: tuple[str, ...]
    counts: Int64Array
    alone: Int64Array

    @classmethod
    def from_gazetteer(cls, gazetteer: Gazetteer, classes: Sequence[str] = ()) -> Frequencies:
        """Count the words of terms.

        Parameters
        ----------
        gazetteer : Gazetteer
            The gazetteer. Its terms are tokenized as notes are.
        classes : sequence of str
            Classes of the gazetteer to use; all by default.

        Raises
        ------
        InputError
            If the gazetteer has no such class.
        """
        encoded = gazetteer.classes.dictionary_encode()
        available = sorted(encoded.dictionary.to_pylist())
        for name in classes:
            if name not in available:
                raise InputError(
                    f"there is no class {name} in the gazetteer; it has "
                    f"{', '.join(map(quoted, available))}"
                )
        names = tuple(classes) or tuple(available)
        index = {name: number for number, name in enumerate(names)}
        kinds = np.array([index.get(name, -1) for name in encoded.dictionary.to_pylist()], np.int64)
        kinds = kinds[encoded.indices.to_numpy()]
        rows = np.flatnonzero(kinds >= 0)  # terms of other classes are not counted
        kinds = kinds[rows]
        tokens = tokenize(gazetteer.terms.take(pa.array(rows)).to_pylist())
        # Words are folded again: a few tokens of folded terms are not in folded form.
        types = fold(tokens.vocabulary)
        numbers: dict[str, int] = {}
        of_types = np.array(
            [numbers.setdefault(word, len(numbers)) if _is_word(word) else -1 for word in types],
            np.int64,
        )
        words = of_types[tokens.word_ids]
        owners = owners_of(tokens.document_offsets)
        words, owners = words[words >= 0], owners[words >= 0]
        lengths = np.bincount(owners, minlength=len(kinds))
        cells = words * len(names) + kinds[owners]
        bearers = gazetteer.counts[rows][owners]
        alone = lengths[owners] == 1

        def sum_by_word(weights: Int64Array) -> Int64Array:
            table = np.zeros(len(numbers) * len(names), np.int64)
            np.add.at(table, cells, weights)
            return table.reshape(len(numbers), len(names))

        return cls(tuple(numbers), names, sum_by_word(bearers), sum_by_word(bearers * alone))

    @cached_property
    def hashes(self) -> Hashes:
        """The hashes of the words, shape (V,), which identify words without storing them."""
        return word_hashes(self.words)

    @cached_property
    def _index(self) -> HashIndex:
        return HashIndex(self.hashes)

    def rows(self, words: Sequence[str]) -> Positions:
        """Return the rows of words.

        Parameters
        ----------
        words : sequence of str
            Words as written, which are folded.

        Returns
        -------
        ndarray of int32, shape (len(words),)
            The row of each word, or -1 if it is in no term.
        """
        return self._index.positions(word_hashes(fold(words)))

    def having(self, other: Frequencies) -> npt.NDArray[np.bool_]:
        """Return which words are also in another dictionary, shape (V,)."""
        return other._index.positions(self.hashes) >= 0


def word_hashes(words: Sequence[str]) -> Hashes:
    """Compute the hashes of folded words, shape (len(words),)."""
    return hash_values(_WORD, words)


def _is_word(text: str) -> bool:
    return text.isalpha() or any(character.isalpha() for character in text)
