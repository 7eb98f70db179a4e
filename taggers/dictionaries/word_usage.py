"""How the words of a dictionary are used in the notes: how often, and with which capitals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.counts import WordCounts
from gazetteers.frequencies import Frequencies
from taggers.base import TrainingError
from taggers.features import Words, feature

Counts = npt.NDArray[np.int64]

#: Ways of writing a word, by the values of the feature "capitalization".
CASES = ("lower", "first", "upper", "initial", "mixed")


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """How often the words of a dictionary occur in the notes.

    Parameters
    ----------
    counts : ndarray of int64, shape (V, K)
        How often each word of the dictionary is written in each of the K `CASES`.
    totals : ndarray of int64, shape (K,)
        How many tokens of the notes are written so, whichever their words.
    tokens : int
        Of the notes.
    """

    counts: Counts
    totals: Counts
    tokens: int

    @classmethod
    def of(cls, names: Frequencies, types: Sequence[str], counts: Counts) -> Uses:
        """Look the words of notes up in a dictionary.

        Parameters
        ----------
        names : Frequencies
            V words.
        types : sequence of str
            Words as the notes write them.
        counts : ndarray of int64
            How many tokens are each.
        """
        rows, cases = names.rows(types), case_numbers(types)
        cased = cases >= 0
        known = cased & (rows >= 0)
        table = np.zeros((len(names.words), len(CASES)), np.int64)
        np.add.at(table, (rows[known], cases[known]), counts[known])
        totals = np.zeros(len(CASES), np.int64)
        np.add.at(totals, cases[cased], counts[cased])
        return cls(table, totals, int(counts.sum()))


def case_numbers(types: Sequence[str]) -> npt.NDArray[np.int64]:
    """Give the place in `CASES` of each word, or -1 where it has no letter."""
    numbers = {name: number for number, name in enumerate(CASES)}
    values = feature("capitalization")(Words(types))
    return np.fromiter((numbers.get(value, -1) for value in values), np.int64, len(values))


def words_of_notes(train: Batch, counts: str) -> tuple[Sequence[str], Counts]:
    """Give the words of all notes and their counts.

    Parameters
    ----------
    train : Batch
        Whose words are counted if no counts are named.
    counts : str
        A file of ``bootstrap count``, or nothing.

    Raises
    ------
    InputError
        If there is no such file.
    TrainingError
        If there is not one word.
    """
    if counts:
        found = WordCounts.load(Path(counts))
        types, numbers = found.words.to_pylist(), found.counts
    else:
        numbers = np.bincount(train.word_ids, minlength=len(train.vocabulary)).astype(np.int64)
        types = train.vocabulary
    if not numbers.any():
        raise TrainingError("there is not one word of the notes to compare the dictionary with")
    return types, numbers
