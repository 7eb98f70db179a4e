"""Confidence of a run: of the documents that it tagged, and against errors on validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bootstrap.reports.estimates import Estimate, share_interval
from bootstrap.reports.figures import Axis, Figure, Panel, Series, one_panel
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.tables import Column, Table
from bootstrap.runs.document_counts import DocumentCounts
from bootstrap.runs.metrics import IterationMetrics

#: The number of intervals of a calibration curve, and the largest number of histograms.
BINS, HISTOGRAMS = 10, 8


@dataclass(frozen=True, slots=True)
class Calibration:
    """Validation documents of similar confidence.

    Parameters
    ----------
    low, high : float
        The interval of confidence.
    documents : int
        Number of documents.
    confidence : float
        Their mean confidence.
    right : int
        Number of documents without an error.
    """

    low: float
    high: float
    documents: int
    confidence: float
    right: int

    @property
    def share(self) -> float:
        """The share of documents without an error."""
        return self.right / self.documents


def calibration_of(counts: DocumentCounts) -> list[Calibration] | None:
    """Group validation documents by confidence; None if it was not recorded.

    Parameters
    ----------
    counts : DocumentCounts
        The counts of an iteration.

    Returns
    -------
    list of Calibration or None
        The intervals of equal width that have documents, in order.
    """
    if counts.confidence is None:
        return None
    right = counts.all_classes[:, 1:].sum(axis=1) == 0
    bins = np.minimum((counts.confidence * BINS).astype(np.int64), BINS - 1)
    return [
        Calibration(
            low=number / BINS,
            high=(number + 1) / BINS,
            documents=int(inside.sum()),
            confidence=float(counts.confidence[inside].mean()),
            right=int(right[inside].sum()),
        )
        for number in range(BINS)
        if (inside := bins == number).any()
    ]


def calibration_error(groups: list[Calibration]) -> float:
    """Compute the expected calibration error.

    It is the mean over documents of the difference between the confidence of a group and its share
    without an error (Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", 2015).
    """
    total = sum(each.documents for each in groups)
    return sum(each.documents * abs(each.share - each.confidence) for each in groups) / total


def calibration_figure(record: RunRecord) -> Figure | None:
    """Build the calibration curve of the best iteration; None if confidence was not recorded."""
    groups = calibration_of(record.counts[record.best])
    if not groups:
        return None
    intervals = [share_interval(each.right, each.documents) or (0.0, 1.0) for each in groups]
    return Figure(
        "calibration",
        f"Calibration on validation in iteration {record.best}",
        "Documents of similar confidence. On the dashed line, confidence is the share of documents "
        "without an error; above it, the model is too modest. Lines: 95 % interval of the share.",
        Axis("mean confidence", low=0.0, high=1.0),
        Axis("documents without an error", low=0.0, high=1.0, percent=True),
        one_panel(
            Series(
                "validation documents",
                tuple(each.confidence for each in groups),
                tuple(each.share for each in groups),
                "points",
                0,
                low=tuple(low for low, _ in intervals),
                high=tuple(high for _, high in intervals),
            ),
            Series("confidence = share", (0.0, 1.0), (0.0, 1.0), "guide", 6),
        ),
    )


def calibration_table(record: RunRecord) -> Table | None:
    """Build the table of the calibration curve; None if confidence was not recorded."""
    groups = calibration_of(record.counts[record.best])
    if not groups:
        return None
    return Table(
        "calibration",
        "Calibration",
        (
            Column("confidence"),
            Column("documents", "count"),
            Column("mean confidence", "score"),
            Column("without an error", "count"),
            Column("share", "estimate"),
        ),
        tuple(
            (
                f"{each.low:.1f} to {each.high:.1f}",
                each.documents,
                each.confidence,
                each.right,
                Estimate(each.share, share_interval(each.right, each.documents)),
            )
            for each in groups
        ),
    )


def confidence_figure(record: RunRecord) -> Figure | None:
    """Build the histograms of the confidence of tagged documents; None if none were tagged."""
    rows = [row for row in record.rows if row.histogram and row.tagged]
    if not rows:
        return None
    names = tuple(rows[0].histogram)
    places = tuple(range(len(names)))
    panels = []
    for row in spread_out(rows):
        shares = tuple(count / row.tagged for count in row.histogram.values())
        title = f"iteration {row.iteration}: {row.tagged:,} documents" if len(rows) > 1 else ""
        panels.append(Panel(title, (Series("tagged documents", places, shares, "bars", 0),)))
    return Figure(
        "confidence",
        "Confidence of the tagged documents",
        "Share of the documents that an iteration tagged, by the confidence of the model that "
        "tagged them. Each bar begins at its number and is 0.05 wide."
        + (f" Of {len(rows)} iterations, {HISTOGRAMS} are shown." * (len(rows) > HISTOGRAMS)),
        Axis("confidence", names=names),
        Axis("documents", low=0.0, percent=True),
        tuple(panels),
    )


def spread_out(rows: Sequence[IterationMetrics]) -> list[IterationMetrics]:
    """Return at most `HISTOGRAMS` of some iterations: the first, the last and some between."""
    number = min(len(rows), HISTOGRAMS)
    places = np.linspace(0, len(rows) - 1, number).round().astype(np.int64)
    return [rows[place] for place in places.tolist()]


def confidence_table(record: RunRecord) -> Table | None:
    """Build the table of the histograms; None if no documents were tagged."""
    rows = [row for row in record.rows if row.histogram and row.tagged]
    if not rows:
        return None
    names = list(rows[0].histogram)
    return Table(
        "confidence",
        "Tagged documents by confidence",
        (
            Column("confidence from"),
            *(Column(f"iteration {row.iteration}", "count") for row in rows),
        ),
        tuple((name, *(row.histogram.get(name, 0) for row in rows)) for name in names),
    )
