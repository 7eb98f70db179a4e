"""The course of a run: agreement of its models, and the time of its stages."""

from __future__ import annotations

from collections import Counter

from bootstrap.reports.figures import Axis, Figure, Series, one_panel, score_axis
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.errors import stacked
from bootstrap.reports.parts.scores import iteration_axis, iteration_names
from bootstrap.reports.tables import Column, Table


def agreement_figure(record: RunRecord) -> Figure | None:
    """Build the figure of the agreement of consecutive models; None if there is one model."""
    rows = [row for row in record.rows if row.agreement is not None]
    if not rows:
        return None
    places = tuple(row.iteration for row in rows)
    agreement = tuple(row.agreement for row in rows)
    kappa = tuple(row.kappa for row in rows)
    return Figure(
        "agreement",
        "Agreement with the previous iteration",
        "Share of validation tokens with the same tag, and Cohen's kappa, which leaves out what is "
        "expected by chance. Near 1, the predictions hardly change any more.",
        iteration_axis(record),
        score_axis("agreement", [*agreement, *kappa]),
        one_panel(
            Series("agreement", places, agreement, style=0),
            Series("Cohen's kappa", places, kappa, style=1),
        ),
    )


def agreement_table(record: RunRecord) -> Table | None:
    """Build the table of the agreement of consecutive models; None if there is one model."""
    rows = [row for row in record.rows if row.agreement is not None]
    if not rows:
        return None
    return Table(
        "agreement",
        "Agreement",
        (Column("iteration", "count"), Column("agreement", "score"), Column("kappa", "score")),
        tuple((row.iteration, row.agreement, row.kappa) for row in rows),
    )


def stages_of(record: RunRecord) -> tuple[str, ...]:
    """Return the stages of a run in the order of their first occurrence."""
    return tuple(dict.fromkeys(name for row in record.rows for name in row.seconds))


def seconds_figure(record: RunRecord) -> Figure:
    """Build the figure of the seconds of each stage."""
    counts = [Counter(dict(row.seconds)) for row in record.rows]
    return Figure(
        "seconds",
        "Seconds of each stage",
        "Time on the clock, stage upon stage.",
        Axis("iteration", names=iteration_names(record)),
        Axis("seconds", low=0.0),
        one_panel(*stacked(counts, stages_of(record))),
    )


def seconds_table(record: RunRecord) -> Table:
    """Build the table of the seconds of each stage."""
    stages = stages_of(record)
    return Table(
        "seconds",
        "Seconds",
        (
            Column("iteration", "count"),
            *(Column(stage, "seconds") for stage in stages),
            Column("all", "seconds"),
        ),
        tuple(
            (
                row.iteration,
                *(row.seconds.get(stage) for stage in stages),
                sum(row.seconds.values()),
            )
            for row in record.rows
        ),
    )
