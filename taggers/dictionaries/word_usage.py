"""Counts of the words of a dictionary in the notes, by capitalization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.counts import WordCounts
from corpus.patients import MOST_PATIENTS
from gazetteers.frequencies import Frequencies
from taggers.base import TrainingError
from taggers.features import Words, feature
from taggers.privacy.patient_counts import Counts, patients_of_words

Int64Array = npt.NDArray[np.int64]

#: The capitalizations of a word with letters: values of the feature ``capitalization``.
CASES = ("lower", "first", "upper", "initial", "mixed")


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """Counts of the words of a dictionary in the notes.

    Parameters
    ----------
    counts : ndarray of int64, shape (V, K)
        The count of each word of the dictionary in each of the K `CASES`.
    totals : ndarray of int64, shape (K,)
        The number of tokens of the notes in each of the `CASES`, over all words.
    tokens : int
        The number of tokens of the notes.
    patients : ndarray of int32, shape (V, K)
        The least number of patients in whose notes each word occurs in each of the `CASES`: that
        of one of its spellings.
    """

    counts: Int64Array
    totals: Int64Array
    tokens: int
    patients: Counts

    @classmethod
    def of(
        cls,
        names: Frequencies,
        types: Sequence[str],
        counts: Int64Array,
        patients: Counts | None = None,
    ) -> Uses:
        """Count the words of a dictionary.

        Parameters
        ----------
        names : Frequencies
            The dictionary, of V words.
        types : sequence of str
            The word types of the notes.
        counts : ndarray of int64
            The number of tokens of each word type.
        patients : ndarray of int32, optional
            The number of patients of each; 0 by default.
        """
        rows, cases = names.rows(types), case_numbers(types)
        cased = cases >= 0
        known = cased & (rows >= 0)
        table = np.zeros((len(names.words), len(CASES)), np.int64)
        np.add.at(table, (rows[known], cases[known]), counts[known])
        totals = np.zeros(len(CASES), np.int64)
        np.add.at(totals, cases[cased], counts[cased])
        owners = np.zeros(table.shape, np.int32)
        if patients is not None:
            np.maximum.at(owners, (rows[known], cases[known]), patients[known])
        return cls(table, totals, int(counts.sum()), owners)


@dataclass(frozen=True, slots=True, eq=False)
class NoteWords:
    """The words of the notes.

    Parameters
    ----------
    types : sequence of str
        The word types.
    counts : ndarray of int64
        The number of tokens of each.
    patients : ndarray of int32
        The number of patients in whose notes each occurs; 0 where it is not known.
    """

    types: Sequence[str]
    counts: Int64Array
    patients: Counts


def case_numbers(types: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the index in `CASES` of each word, or -1 for a word without letters."""
    numbers = {name: number for number, name in enumerate(CASES)}
    values = feature("capitalization")(Words(types))
    return np.fromiter((numbers.get(value, -1) for value in values), np.int64, len(values))


def words_of_notes(train: Batch, counts: str) -> NoteWords:
    """Return the word types of the notes, their counts and their patients.

    Parameters
    ----------
    train : Batch
        Documents whose words are counted if `counts` is empty.
    counts : str
        The path of a file that ``bootstrap count`` wrote; may be empty.

    Returns
    -------
    NoteWords

    Raises
    ------
    InputError
        If the file of the counts is missing or damaged.
    TrainingError
        If there are no words.
    """
    if counts:
        found = WordCounts.load(Path(counts))
        types, numbers, patients = found.words.to_pylist(), found.counts, found.patients
        if patients is None:
            patients = np.zeros(len(found), np.int32)
    else:
        numbers = np.bincount(train.word_ids, minlength=len(train.vocabulary)).astype(np.int64)
        types = train.vocabulary
        patients = patients_of_words(train, len(types), lambda words: np.arange(len(words)))
        patients = np.minimum(patients, np.int32(MOST_PATIENTS))  # as in files of counts
    if not numbers.any():
        raise TrainingError("the notes contain no words to compare the dictionary with")
    return NoteWords(types, numbers, patients)
