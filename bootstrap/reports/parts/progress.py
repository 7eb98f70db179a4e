"""The course of a run: agreement of its models, and the time of its stages."""

from __future__ import annotations

from bootstrap.reports.content import Block, Pair, pair
from bootstrap.reports.figures import Axis, Figure, Series, one_panel, score_axis, stacked
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import iteration_axis, iteration_names
from bootstrap.reports.tables import Column, Table, columns


def progress_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the agreement of consecutive models, if there are several, and the seconds."""
    return (*pair(*_agreement(record)), _seconds(record))


def _agreement(record: RunRecord) -> tuple[Figure | None, Table | None]:
    rows = [row for row in record.rows if row.agreement is not None]
    if not rows:
        return None, None
    places = tuple(row.iteration for row in rows)
    series = (
        Series.from_values("agreement", [row.agreement for row in rows], places),
        Series.from_values("Cohen's kappa", [row.kappa for row in rows], places, style=1),
    )
    figure = Figure(
        "agreement",
        "Agreement with the previous iteration",
        "Share of validation tokens with the same tag, and Cohen's kappa, which leaves out what is "
        "expected by chance. Near 1, the predictions hardly change any more.",
        iteration_axis(record),
        score_axis("agreement", series),
        one_panel(*series),
    )
    titles = (Column("iteration", "count"), *columns("score", "agreement", "kappa"))
    cells = tuple((row.iteration, row.agreement, row.kappa) for row in rows)
    return figure, Table("agreement", "Agreement", titles, cells)


def stages_of(record: RunRecord) -> tuple[str, ...]:
    """Return the stages of a run in the order of their first occurrence."""
    return tuple(dict.fromkeys(name for row in record.rows for name in row.seconds))


def _seconds(record: RunRecord) -> Pair:
    stages = stages_of(record)
    seconds = [[row.seconds.get(stage, 0) for row in record.rows] for stage in stages]
    figure = Figure(
        "seconds",
        "Seconds of each stage",
        "Time on the clock, stage upon stage.",
        iteration_names(record),
        Axis("seconds", low=0.0),
        one_panel(*stacked(stages, seconds)),
    )
    table = Table(
        "seconds",
        "Seconds",
        (Column("iteration", "count"), *columns("seconds", *stages, "all")),
        tuple(
            (row.iteration, *map(row.seconds.get, stages), sum(row.seconds.values()))
            for row in record.rows
        ),
    )
    return Pair(figure, table)
