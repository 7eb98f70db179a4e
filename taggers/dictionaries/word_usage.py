"""Counts of the words of a dictionary in the notes, and the share of tokens that are names."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from corpus.batch import Batch
from corpus.counts import WordCounts
from corpus.patients import MOST_PATIENTS
from gazetteers.frequencies import Frequencies
from taggers.base import TrainingError
from taggers.features.words import Words, feature
from taggers.privacy.patient_counts import Counts, patients_of_words

Floats = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]

#: Grid of the logarithm of the share: from one token in ten million to all tokens.
_LOG_SHARES = np.arange(-16.0, 0.05, 0.1)
#: Grid of the shape parameter of the negative binomial distribution. The smaller it is, the more
#: names do not occur at all, and the more often the others occur.
_SHAPES = (0.1, 0.3, 1.0)
#: Grid of the share of words with other meanings.
_OUTLIER_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
#: Bin width of the logarithm of expected counts.
_BIN_WIDTH = 0.05

#: The capitalizations of a word with letters: values of the feature ``capitalization``.
CASES = ("lower", "first", "upper", "initial", "mixed")


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
        The least number of patients in whose notes each word occurs in each of the `CASES`: the
        number of one of its spellings.
    """

    counts: Int64Array
    totals: Int64Array
    tokens: int
    patients: Counts

    @classmethod
    def from_notes(cls, names: Frequencies, notes: NoteWords) -> Self:
        """Count the words of a dictionary of V words in the notes."""
        rows, cases = names.rows(notes.types), case_numbers(notes.types)
        cased = cases >= 0
        known = cased & (rows >= 0)
        table = np.zeros((len(names.words), len(CASES)), np.int64)
        np.add.at(table, (rows[known], cases[known]), notes.counts[known])
        totals = np.zeros(len(CASES), np.int64)
        np.add.at(totals, cases[cased], notes.counts[cased])
        patients = np.zeros(table.shape, np.int32)
        np.maximum.at(patients, (rows[known], cases[known]), notes.patients[known])
        return cls(table, totals, int(notes.counts.sum()), patients)

    def take(self, kept: npt.NDArray[np.bool_]) -> Uses:
        """Return the uses of the words that a mask of shape (V,) selects."""
        return replace(self, counts=self.counts[kept], patients=self.patients[kept])

    def name_shares(self, shares: Floats) -> Floats:
        """Estimate the share of tokens that are names in each of the `CASES`; see `name_share`."""
        return np.array([name_share(shares, column, self.tokens) for column in self.counts.T])

    def case_penalties(self, scales: Floats) -> Floats:
        """Compute the penalty of each of the `CASES` relative to the case of most names.

        Parameters
        ----------
        scales : ndarray of float64, shape (K,)
            The share of all tokens that are names, for each of the `CASES`.

        Returns
        -------
        ndarray of float64, shape (K,)
            Logarithms of ratios, at least 0 and finite, so that JSON can represent them.
        """
        parts = scales * self.tokens / np.maximum(self.totals, 1)
        parts = np.maximum(parts, np.finfo(np.float64).tiny)
        penalties: Floats = np.log(parts[scales.argmax()]) - np.log(parts)
        return np.maximum(penalties, 0.0)


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

    Raises
    ------
    InputError
        If the file of the counts is missing or damaged.
    TrainingError
        If there are no words.
    """
    if counts:
        counted = WordCounts.load(Path(counts))
        types, numbers, patients = counted.words.to_pylist(), counted.counts, counted.patients
        if patients is None:
            patients = np.zeros(len(counted), np.int32)
    else:
        numbers = np.bincount(train.word_ids, minlength=len(train.vocabulary)).astype(np.int64)
        types = train.vocabulary
        patients = patients_of_words(train, len(types), lambda words: np.arange(len(words)))
        patients = np.minimum(patients, np.int32(MOST_PATIENTS))  # as in files of counts
    if not numbers.any():
        raise TrainingError("the notes contain no words to compare the dictionary with")
    return NoteWords(types, numbers, patients)


def name_share(shares: Floats, counts: npt.NDArray[np.int64], tokens: int) -> float:
    """Estimate the share of tokens that are names, by maximum likelihood.

    It scales census counts to the notes: the expected frequency in the notes of a word that is only
    a name is its share of the census times this share. Most words of a census are only names, and
    other meanings mostly make a word more frequent. The share is therefore estimated from the
    majority of the words, with the others modelled as outliers.

    The count in the notes of a word that is only a name follows a negative binomial distribution
    around its expected count. Its shape is estimated too: counts are overdispersed, since a note
    repeats the name of its patient, and many names of a census are rare in the region. With some
    probability, also estimated, a word has another meaning. Its count n then has the probability
    1 / ((n + 1) (n + 2)). The likelihood is maximised over a grid.

    Parameters
    ----------
    shares : ndarray of float64, shape (V,)
        The share of each word in the census. Words with share 0 are ignored.
    counts : ndarray of int64, shape (V,)
        The count of each word in the notes.
    tokens : int
        The number of tokens of the notes.

    Returns
    -------
    float
        The estimated share. It is 0 if no word occurs, or if the lowest share of the grid is the
        most likely, that is, the words occur no differently from other words.
    """
    borne = shares > 0
    shares, counts = shares[borne], counts[borne]
    if not counts.any():
        return 0.0
    bins = np.round(np.log(shares * tokens) / _BIN_WIDTH)
    cells, words = np.unique(np.stack([bins, counts]), axis=1, return_counts=True)
    expected, observed = np.exp(cells[0] * _BIN_WIDTH), cells[1]
    outlier = -np.log((observed + 1) * (observed + 2))
    best, best_likelihood = _LOG_SHARES[0], -np.inf
    for shape, log_share in itertools.product(_SHAPES, _LOG_SHARES):
        name = _log_negative_binomial(observed, np.exp(log_share) * expected, shape)
        for share in _OUTLIER_SHARES:
            mixture = np.logaddexp(np.log1p(-share) + name, np.log(share) + outlier)
            if (likelihood := float(words @ mixture)) > best_likelihood:
                best, best_likelihood = log_share, likelihood
    return float(np.exp(best)) if best > _LOG_SHARES[0] else 0.0


def _log_negative_binomial(counts: Floats, mean: Floats, shape: float) -> Floats:
    """Compute the logarithm of the negative binomial probability of counts."""
    logs: Floats = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1)
    return logs - shape * np.log1p(mean / shape) - counts * np.log1p(shape / mean)
