"""Precision, recall and F1 with their confidence intervals, by resampling documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootstrap.reports.tables import Estimate
from bootstrap.runs.outcome import LEVEL, resampled_totals
from bootstrap.runs.records import DocumentCounts
from corpus.evaluation.measures import ConfusionCounts

#: The name of the scores of all classes together.
ALL = ""
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class ScoreEstimates:
    """The scores of some entities with their intervals, and the counts behind them."""

    counts: ConfusionCounts
    precision: Estimate
    recall: Estimate
    f1: Estimate

    @property
    def gold(self) -> int:
        """The number of gold entities."""
        return self.counts.true_positives + self.counts.false_negatives


def estimate_scores(counts: DocumentCounts) -> dict[str, ScoreEstimates]:
    """Estimate the scores of all classes together and of each class.

    Documents of a patient are drawn together. The interval of a score leaves out samples in which
    it is undefined, such as recall without gold entities.

    Returns
    -------
    dict of str to ScoreEstimates
        By class; `ALL` is the key of all classes together.
    """
    columns: Mapping[str, npt.NDArray[np.int64]] = {ALL: counts.all_classes, **counts.classes}
    estimates = {}
    for name, column in columns.items():
        total = ConfusionCounts(*column.sum(axis=0).tolist())
        scores = (total.precision, total.recall, total.f1)
        # Each class separately: few documents differ in their three counts.
        totals = resampled_totals(column, counts.units, _RESAMPLES)
        ends = [None] * 3 if totals is None else _intervals(totals)
        estimates[name] = ScoreEstimates(total, *map(Estimate, scores, ends))
    return estimates


def _intervals(totals: npt.NDArray[np.int64]) -> list[tuple[float, float] | None]:
    """Compute the intervals of precision, recall and F1 from the counts of each sample."""
    true, false, missed = totals.T
    parts = ((true, true + false), (true, true + missed), (2 * true, 2 * true + false + missed))
    return [_interval(part, whole) for part, whole in parts]


def _interval(
    part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]
) -> tuple[float, float] | None:
    defined = whole > 0
    if not defined.any():
        return None
    low, high = np.quantile(part[defined] / whole[defined], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def share_interval(number: int, total: int) -> tuple[float, float]:
    """Compute the 95 % interval of a share of independent documents.

    Parameters
    ----------
    number, total : int
        How many of how many documents, at least one.

    Returns
    -------
    (float, float)
        The interval of Wilson ("Probable Inference, the Law of Succession, and Statistical
        Inference", 1927).
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - slow to load

    interval = binomtest(number, total).proportion_ci(LEVEL, method="wilson")
    return float(interval.low), float(interval.high)
