"""A confidence interval of the gain of a run: the paired bootstrap over validation documents."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

#: The number of frequencies that are drawn at a time, to bound the memory.
_MOST_DRAWS = 10**7

#: With fewer patients, or documents without one, no interval is estimated.
LEAST_UNITS = 10

Counts = npt.NDArray[np.int64]


def f1_gain_interval(
    before: Counts,
    after: Counts,
    units: npt.NDArray[np.int64],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    random_state: int = 0,
) -> tuple[float, float] | None:
    """Estimate a confidence interval of the difference of the F1 of two models.

    Both models are scored on the same resampled documents, so that documents that are difficult
    for both do not widen the interval. Documents of a patient are drawn together, because their
    errors are alike.

    Parameters
    ----------
    before, after : ndarray of int64, shape (D, 3)
        True positives, false positives and false negatives in each document.
    units : ndarray of int64, shape (D,)
        The number of the patient of each document.
    resamples : int
        The number of samples of all units, drawn with replacement.
    level : float
        The confidence level.
    random_state : int
        The seed of the resampling: the same counts have the same interval.

    Returns
    -------
    (float, float) or None
        The percentile interval of F1 of `after` less F1 of `before` (Efron and Tibshirani, An
        Introduction to the Bootstrap, chapter 13; Koehn, "Statistical Significance Tests for
        Machine Translation Evaluation", 2004, section 4). None if there are fewer than
        `LEAST_UNITS` units.
    """
    counts = resampled_totals(np.hstack([before, after]), units, resamples, random_state)
    if counts is None:
        return None
    gains = _f1(counts[:, 3:]) - _f1(counts[:, :3])
    low, high = np.quantile(gains, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def mean_f1_difference_interval(
    before: Sequence[Counts],
    after: Sequence[Counts],
    units: npt.NDArray[np.int64],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    random_state: int = 0,
) -> tuple[float, float] | None:
    """Estimate a confidence interval of the difference of the mean F1 of two groups of models.

    Parameters
    ----------
    before, after : sequence of ndarray of int64, shape (D, 3)
        The counts of each model of a group in the same D documents.
    units : ndarray of int64, shape (D,)
        The number of the patient of each document.
    resamples, level, random_state
        See `f1_gain_interval`, of which this is the same with several models in a group.

    Returns
    -------
    (float, float) or None
        The interval of the mean F1 of `after` less that of `before`, over documents. The models are
        taken as they are. None if there are fewer than `LEAST_UNITS` units.
    """
    counts = resampled_totals(np.hstack([*before, *after]), units, resamples, random_state)
    if counts is None:
        return None
    scores = _f1(counts.reshape(-1, 3)).reshape(resamples, -1)
    number = len(before)
    gains = scores[:, number:].mean(axis=1) - scores[:, :number].mean(axis=1)
    low, high = np.quantile(gains, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_totals(
    counts: Counts, units: npt.NDArray[np.int64], resamples: int, random_state: int = 0
) -> Counts | None:
    """Sum counts over samples of patients, drawn with replacement.

    Parameters
    ----------
    counts : ndarray of int64, shape (D, K)
        Counts in each document.
    units : ndarray of int64, shape (D,)
        The number of the patient of each document.
    resamples : int
        The number of samples R of all units.
    random_state : int
        The seed of the resampling.

    Returns
    -------
    ndarray of int64, shape (R, K), or None
        None if there are fewer than `LEAST_UNITS` units.
    """
    number = int(units.max(initial=-1)) + 1
    if number < LEAST_UNITS:
        return None
    totals = np.zeros((number, counts.shape[1]), np.int64)
    np.add.at(totals, units, counts)
    # Units with equal counts are drawn together: short notes have few distinct counts.
    distinct, frequencies = distinct_rows(totals)
    rng = np.random.default_rng(random_state)
    at_once = max(1, _MOST_DRAWS // len(distinct))
    sizes = [min(at_once, resamples - first) for first in range(0, resamples, at_once)]
    shares = frequencies / number
    return np.concatenate([rng.multinomial(number, shares, size) @ distinct for size in sizes])


def distinct_rows(rows: Counts) -> tuple[Counts, Counts]:
    """Return the distinct rows of natural numbers, in order, and how often each occurs.

    The same as `numpy.unique`, and much faster where a row fits into one integer.
    """
    sizes = [int(size) + 1 for size in rows.max(axis=0, initial=0)]
    if math.prod(sizes) >= 2**62:
        found, numbers = np.unique(rows, axis=0, return_counts=True)
        return found, numbers.astype(np.int64)
    # The first column counts most.
    weights = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
    keys, numbers = np.unique(rows @ np.array(weights, np.int64), return_counts=True)
    columns = [keys // weight % size for weight, size in zip(weights, sizes, strict=True)]
    return np.stack(columns, axis=1), numbers.astype(np.int64)


def _f1(counts: Counts) -> npt.NDArray[np.float64]:
    """Compute the F1 of rows of counts; 0 without entities."""
    doubled = 2 * counts[:, 0]
    total = doubled + counts[:, 1] + counts[:, 2]
    found: npt.NDArray[np.float64] = np.divide(
        doubled, total, out=np.zeros(len(counts)), where=total > 0
    )
    return found
