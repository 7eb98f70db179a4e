"""Confusion counts per document, and the precision, recall and F1 computed from them.

Counts are kept per document so that a subset of the documents can be scored alone and a confidence
interval can be estimated by resampling documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: The measures, in the order in which they are reported.
MEASURES = {
    "ner": "strict entities",
    "span": "strict spans",
    "span_merged": "merged spans",
    "covered": "tokens covered",
}


class ConfusionCounts(NamedTuple):
    """True positives, false positives and false negatives."""

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float:
        """The fraction of predictions that are correct; 0 without predictions."""
        return _ratio(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """The fraction of gold annotations that are predicted; 0 without gold annotations."""
        return _ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        doubled = 2 * self.true_positives
        return _ratio(doubled, doubled + self.false_positives + self.false_negatives)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Confusion counts of each measure and class in each document.

    Parameters
    ----------
    ids : tuple of str, length D
        The documents.
    measures : mapping of str to ndarray of int64, shape (D, 3)
        True positives, false positives and false negatives by measure; keys are in `MEASURES`.
    classes : mapping of str to ndarray of int64, shape (D, 3)
        The same counts for the strict entities of each class.
    lines : ndarray of int64, shape (D,)
        The number of non-blank lines of each gold document; 0 for a document that is only
        predicted.
    """

    ids: tuple[str, ...]
    measures: Mapping[str, npt.NDArray[np.int64]]
    classes: Mapping[str, npt.NDArray[np.int64]]
    lines: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        """Return a summary of the strict entities."""
        counts = self.counts()
        return (
            f"<Scores of {len(self.ids):,} documents: precision {counts.precision:.3f}, "
            f"recall {counts.recall:.3f}, F1 {counts.f1:.3f}>"
        )

    def counts(self, measure: str = "ner") -> ConfusionCounts:
        """Sum a measure over the documents."""
        return ConfusionCounts(*self.measures[measure].sum(axis=0).tolist())

    def class_counts(self, name: str) -> ConfusionCounts:
        """Sum the strict entities of a class over the documents."""
        return ConfusionCounts(*self.classes[name].sum(axis=0).tolist())

    @property
    def leak(self) -> float:
        """The leak score of MEDDOCAN: missed entities per non-blank line of the gold documents."""
        return _ratio(self.counts("ner").false_negatives, int(self.lines.sum()))

    def take(self, indices: npt.NDArray[np.int64]) -> Scores:
        """Return the scores of a subset of the documents."""
        return Scores(
            ids=tuple(self.ids[index] for index in indices.tolist()),
            measures={name: counts[indices] for name, counts in self.measures.items()},
            classes={name: counts[indices] for name, counts in self.classes.items()},
            lines=self.lines[indices],
        )

    def interval(
        self, measure: str, rng: np.random.Generator, *, resamples: int = 1000, level: float = 0.95
    ) -> tuple[float, float]:
        """Estimate a confidence interval of F1 by resampling documents.

        Parameters
        ----------
        measure : str
            One of `MEASURES`.
        rng : numpy.random.Generator
            The source of random numbers.
        resamples : int
            The number of samples of D documents, drawn with replacement.
        level : float
            The confidence level.

        Returns
        -------
        (float, float)
            The percentile interval of F1 (Efron and Tibshirani, An Introduction to the
            Bootstrap, chapter 13).
        """
        counts = self.measures[measure]
        number = len(counts)
        if number == 0:
            return 0.0, 0.0
        # Documents with equal counts are drawn together: short notes have few distinct counts.
        distinct, frequencies = np.unique(counts, axis=0, return_counts=True)
        draws = rng.multinomial(number, frequencies / number, size=resamples)
        true_positives, false_positives, false_negatives = (draws @ distinct).T
        total = 2 * true_positives + false_positives + false_negatives
        f1 = np.divide(2 * true_positives, total, out=np.zeros(resamples), where=total > 0)
        low, high = np.quantile(f1, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def report(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return all scores as plain numbers, as `bootstrap evaluate --json` writes them."""
        report: dict[str, Any] = {"documents": len(self.ids)}
        for measure in self.measures:
            report[measure] = _figures(self.counts(measure))
            report[measure]["f1_interval"] = list(self.interval(measure, rng))
        report["leak"] = self.leak
        report["per_label"] = {name: _figures(self.class_counts(name)) for name in self.classes}
        return report


def _figures(counts: ConfusionCounts) -> dict[str, Any]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        **counts._asdict(),
    }
