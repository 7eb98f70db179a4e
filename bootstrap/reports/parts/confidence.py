"""Confidence of a run: of the documents that it tagged, and against errors on validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bootstrap.reports.content import Block, Paragraph, pair
from bootstrap.reports.estimates import share_interval
from bootstrap.reports.figures import Axis, Figure, Panel, Series, one_panel
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.tables import Column, Estimate, Table, columns
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.records import DocumentCounts

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
    """Group documents by confidence, in intervals of equal width; None if it was not recorded."""
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


def calibration_error(groups: Sequence[Calibration]) -> float:
    """Compute the expected calibration error.

    It is the mean over documents of the difference between the confidence of a group and its share
    without an error (Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", 2015).
    """
    total = sum(group.documents for group in groups)
    return sum(group.documents * abs(group.share - group.confidence) for group in groups) / total


def confidence_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the calibration curve of the best iteration, and the histograms of all iterations."""
    groups = calibration_of(record.counts[record.best])
    rows = [row for row in record.rows if row.histogram and row.tagged]
    histograms = pair(histograms_figure(rows), _histograms_table(rows)) if rows else ()
    if not groups:
        text = "The confidence of the validation documents was not recorded."
        return (Paragraph(text, is_note=True), *histograms)
    line = (
        "The confidence of a validation document and the share of documents without an error "
        f"differ by {calibration_error(groups):.3f} on average (expected calibration error)."
    )
    return (Paragraph(line), *pair(*_calibration(groups, record.best)), *histograms)


def _calibration(groups: Sequence[Calibration], iteration: int) -> tuple[Figure, Table]:
    shares = [
        Estimate(group.share, share_interval(group.right, group.documents)) for group in groups
    ]
    confidence = tuple(group.confidence for group in groups)
    figure = Figure(
        "calibration",
        f"Calibration on validation in iteration {iteration}",
        "Documents of similar confidence. On the dashed line, confidence is the share of documents "
        "without an error; above it, the model is too modest. Lines: 95 % interval of the share.",
        Axis("mean confidence", low=0.0, high=1.0),
        Axis("documents without an error", low=0.0, high=1.0, percent=True),
        one_panel(
            Series.from_values("validation documents", shares, confidence, mark="points"),
            Series("confidence = share", (0.0, 1.0), (0.0, 1.0), "guide", 6),
        ),
    )
    table = Table.from_items(
        "calibration",
        "Calibration",
        list(zip(groups, shares, strict=True)),
        [
            ("confidence", "text", lambda row: f"{row[0].low:.1f} to {row[0].high:.1f}"),
            ("documents", "count", lambda row: row[0].documents),
            ("mean confidence", "score", lambda row: row[0].confidence),
            ("without an error", "count", lambda row: row[0].right),
            ("share", "estimate", lambda row: row[1]),
        ],
    )
    return figure, table


def histograms_figure(rows: Sequence[IterationMetrics]) -> Figure:
    """Build the histograms of the confidence of the documents that iterations tagged."""
    panels = []
    for row in spread_out(rows):
        shares = [count / row.tagged for count in row.histogram.values()]
        title = f"iteration {row.iteration}: {row.tagged:,} documents" if len(rows) > 1 else ""
        panels.append(Panel(title, (Series.from_values("tagged documents", shares, mark="bars"),)))
    return Figure(
        "confidence",
        "Confidence of the tagged documents",
        "Share of the documents that an iteration tagged, by the confidence of the model that "
        "tagged them. Each bar begins at its number and is 0.05 wide."
        + (f" Of {len(rows)} iterations, {HISTOGRAMS} are shown." * (len(rows) > HISTOGRAMS)),
        Axis("confidence", names=tuple(rows[0].histogram)),
        Axis("documents", low=0.0, percent=True),
        tuple(panels),
    )


def spread_out(rows: Sequence[IterationMetrics]) -> list[IterationMetrics]:
    """Return at most `HISTOGRAMS` of some iterations: the first, the last and some between."""
    places = np.linspace(0, len(rows) - 1, min(len(rows), HISTOGRAMS)).round().astype(np.int64)
    return [rows[place] for place in places.tolist()]


def _histograms_table(rows: Sequence[IterationMetrics]) -> Table:
    iterations = columns("count", *(f"iteration {row.iteration}" for row in rows))
    return Table(
        "confidence",
        "Tagged documents by confidence",
        (Column("confidence from"), *iterations),
        tuple((name, *(row.histogram.get(name, 0) for row in rows)) for name in rows[0].histogram),
    )
