"""Frequency dictionaries: how often each word occurs in names.

Names of several words are shared out to them: who is called María Carmen writes María and Carmen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.errors import InputError, shown
from corpus.kernels.hash_index import HashIndex, Positions
from corpus.kernels.hashing import Hashes, hash_values
from corpus.tokens import tokenize
from gazetteers.folding import fold
from gazetteers.gazetteer import Gazetteer

Counts = npt.NDArray[np.int64]

#: Under this name words are hashed.
_WORD = "folded"


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequencies of words in the terms of a gazetteer.

    Parameters
    ----------
    words : tuple of str
        Distinct folded words with at least one letter: V of them.
    classes : tuple of str
        The C classes of the terms.
    counts : ndarray of int64, shape (V, C)
        How often bearers write each word: once for each time it stands in a term of a class.
    alone : ndarray of int64, shape (V, C)
        How many of them bear a term that is this one word. Nobody is called just ``de``.
    """

    words: tuple[str, ...]
    classes: tuple[str, ...]
    counts: Counts
    alone: Counts

    @classmethod
    def of(cls, gazetteer: Gazetteer, classes: Sequence[str] = ()) -> Frequencies:
        """Count the words of terms.

        Parameters
        ----------
        gazetteer : Gazetteer
            Words are cut as those of notes are.
        classes : sequence of str
            Which of its classes; all by default.

        Raises
        ------
        InputError
            If it has no such class.
        """
        there = sorted(set(gazetteer.classes.to_pylist()))
        for name in classes:
            if name not in there:
                raise InputError(
                    f"there is no class {shown(name)} in the gazetteer; it has {', '.join(there)}"
                )
        names = tuple(classes) or tuple(there)
        index = {name: number for number, name in enumerate(names)}
        kinds = np.array([index.get(each, -1) for each in gazetteer.classes.to_pylist()], np.int64)
        rows = np.flatnonzero(kinds >= 0)  # a word of other classes is no word of these
        kinds = kinds[rows]
        tokens = tokenize(gazetteer.terms.take(pa.array(rows)).to_pylist())
        # Words are folded once more: the tokens of folded terms are, all but a few.
        types = fold(tokens.vocabulary)
        numbers: dict[str, int] = {}
        of_types = np.array(
            [numbers.setdefault(word, len(numbers)) if _is_word(word) else -1 for word in types],
            np.int64,
        )
        words = of_types[tokens.word_ids]
        owners = np.repeat(np.arange(len(kinds)), np.diff(tokens.document_offsets))
        words, owners = words[words >= 0], owners[words >= 0]
        lengths = np.bincount(owners, minlength=len(kinds))
        cells = words * len(names) + kinds[owners]
        borne = gazetteer.counts[rows][owners]

        def added(weights: Counts) -> Counts:
            table = np.zeros(len(numbers) * len(names), np.int64)
            np.add.at(table, cells, weights)
            return table.reshape(len(numbers), len(names))

        return cls(tuple(numbers), names, added(borne), added(borne * (lengths[owners] == 1)))

    @cached_property
    def hashes(self) -> Hashes:
        """Hashes of the words, shape (V,): they tell words apart without spelling them."""
        return word_hashes(self.words)

    @cached_property
    def _index(self) -> HashIndex:
        return HashIndex(self.hashes)

    def rows(self, words: Sequence[str]) -> Positions:
        """Return the rows of words.

        Parameters
        ----------
        words : sequence of str
            As they are written: they are folded.

        Returns
        -------
        ndarray of int32, shape (len(words),)
            The row of each, or -1 where it is in no term.
        """
        return self._index.positions(word_hashes(fold(words)))

    def having(self, other: Frequencies) -> npt.NDArray[np.bool_]:
        """Return which words another dictionary has too, shape (V,)."""
        return other._index.positions(self.hashes) >= 0


def word_hashes(words: Sequence[str]) -> Hashes:
    """Compute the hashes of folded words, shape (len(words),)."""
    return hash_values(_WORD, words)


def _is_word(text: str) -> bool:
    return any(character.isalpha() for character in text)
