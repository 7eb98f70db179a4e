"""The page of an experiment: its variants on one axis, on test documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bootstrap.experiments.folder import ExperimentFolder
from bootstrap.experiments.results.comparison import Row, Spread, compare
from bootstrap.experiments.results.curves import score_blocks
from bootstrap.experiments.results.run_results import RunResult, by_variant, read_results
from bootstrap.reports.content import Block, Code, Folded, Pair, Paragraph, Report, Section, Tile
from bootstrap.reports.estimates import Estimate
from bootstrap.reports.figures import (
    Axis,
    Figure,
    Matrix,
    Series,
    difference_axis,
    one_panel,
    score_axis,
)
from bootstrap.reports.tables import Cell, Column, Table, best_cells
from bootstrap.runs.errors import RunError
from corpus.errors import InputError, shown


def experiment_report(experiment: ExperimentFolder) -> Report:
    """Build the report of an experiment.

    Raises
    ------
    RunError
        If no run is finished, or a file is damaged.
    """
    results = read_results(experiment)
    if not results:
        raise RunError(f"{experiment.folder} has no finished run yet")
    return report_of_results(experiment, results)


def experiment_figure(experiment: ExperimentFolder, name: str, axis: str) -> Figure | Matrix:
    """Return a figure of the report of an experiment.

    Parameters
    ----------
    experiment : ExperimentFolder
        The experiment.
    name : str
        A name of `bootstrap.reports.figure_names.FIGURES`.
    axis : {"iteration", "documents", "tokens"}
        The horizontal axis, if the figure is ``"scores"``.

    Raises
    ------
    InputError
        If the report has no such figure.
    """
    if axis != "iteration" and name != "scores":
        raise InputError(f"--axis {axis} is for --what scores only; the axis of {name} is fixed")
    wanted = name if axis == "iteration" else f"{name}-{axis}"
    figures = experiment_report(experiment).figures
    if wanted not in figures:
        raise InputError(
            f"{shown(experiment.folder)} has no figure {wanted}; there are {', '.join(figures)}"
        )
    return figures[wanted]


def report_of_results(experiment: ExperimentFolder, results: Sequence[RunResult]) -> Report:
    """Build the report of the finished runs of an experiment, of which there is at least one."""
    variants = experiment.plan()["variants"]
    rows = compare(results, next(iter(variants)))
    bounds = {name for name, variant in variants.items() if variant["method"] == "full-supervision"}
    planned = sum(1 for _ in experiment.runs())
    state = "" if len(results) == planned else f", not finished: {planned:,} are planned"
    sections = {
        "Variants": _variants(rows, results),
        "Scores": score_blocks(by_variant(results), _numbers(experiment)),
        "Classes": _classes(rows),
        "Details": _details(experiment),
    }
    return Report(
        title=experiment.folder.resolve().name,
        subtitle=f"An experiment of {len(rows)} variants and {len(results):,} runs{state}.",
        outcome=(*_outcome(rows, bounds), *([_UNFINISHED] if state else [])),
        tiles=_tiles(rows),
        sections=tuple(Section(title, blocks) for title, blocks in sections.items() if blocks),
    )


#: What the page of an experiment that is not finished says.
_UNFINISHED = "Not all runs are finished: compare only the means of variants with the same runs."


def _numbers(experiment: ExperimentFolder) -> Sequence[int]:
    numbers: Sequence[int] = experiment.plan()["experiment"].get("at_documents", [])
    return numbers


def _outcome(rows: Sequence[Row], bounds: Collection[str]) -> tuple[str, ...]:
    """Return sentences about the best variant, and whether its difference is certain.

    `bounds` names the variants of all annotations, which the others are measured by.
    """
    others = [row for row in rows if row.variant not in bounds] or rows
    best = max(others, key=lambda row: row.f1.mean)
    lines = [f"The highest mean F1 on the test documents is {best.f1.mean:.3f}: {best.variant}."]
    if best.difference:
        lines.append(
            f"That is {best.difference.spread.mean:+.3f} to {rows[0].variant}"
            f"{_certainty(best.difference.interval)}."
        )
    lines += [
        f"The upper bound, {row.variant}, has {row.f1.mean:.3f}."
        for row in rows
        if row.variant in bounds and row is not best
    ]
    return tuple(lines)


def _certainty(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return "; the test documents are too few for an interval"
    low, high = interval
    words = f" (95 % interval {low:+.3f} to {high:+.3f})"
    return words if low > 0 or high < 0 else f"{words}, which is within the noise"


def _tiles(rows: Sequence[Row]) -> tuple[Tile, ...]:
    """Return the first variant and the best ones."""
    best = sorted(rows[1:], key=lambda row: -row.f1.mean)[:_TILES]
    return tuple(
        Tile(row.variant, f"{row.f1.mean:.3f}", _range(row.f1)) for row in (rows[0], *best)
    )


#: The number of variants among the key figures, beside the first.
_TILES = 4


def _range(spread: Spread) -> str:
    return f"{spread.lowest:.3f}–{spread.highest:.3f}" if spread.number > 1 else ""


# Variants


def _variants(rows: Sequence[Row], results: Sequence[RunResult]) -> tuple[Block, ...]:
    text = (
        "Each run is scored with its best iteration on validation, on test documents that chose "
        "nothing. Differences are those of pairs of runs with the same seed on the same documents."
    )
    table = _summary_table(rows)
    blocks: list[Block] = [Paragraph(text)]
    blocks.append(Pair(_f1_figure(rows), table))
    if len(rows) > 1 and any(row.difference for row in rows):
        blocks.append(_differences_figure(rows))
    blocks.append(Folded("Each run", (_runs_table(results),)))
    return tuple(blocks)


def _f1_figure(rows: Sequence[Row]) -> Figure:
    """Build the figure of the mean F1 of each variant, and its range."""
    ends = [end for row in rows for end in (row.f1.lowest, row.f1.highest)]
    return Figure(
        "variants",
        "F1 of each variant",
        "Point: the mean of the runs. Line: from the lowest to the highest.",
        Axis("variant", names=tuple(row.variant for row in rows)),
        score_axis("F1 on the test documents", ends),
        one_panel(
            Series(
                "mean and range",
                tuple(range(len(rows))),
                tuple(row.f1.mean for row in rows),
                "points",
                0,
                tuple(row.f1.lowest for row in rows),
                tuple(row.f1.highest for row in rows),
            )
        ),
        rows=True,
    )


def _differences_figure(rows: Sequence[Row]) -> Figure:
    """Build the figure of the mean differences to the first variant, and their intervals."""
    found = [(row.variant, row.difference) for row in rows if row.difference]
    values = [difference.spread.mean for _, difference in found]
    ends = [
        difference.interval or (difference.spread.mean, difference.spread.mean)
        for _, difference in found
    ]
    places = tuple(range(len(found)))
    return Figure(
        "differences",
        f"Difference of F1 to {rows[0].variant}",
        "Line: 95 % interval of the mean difference, by resampling the test documents for all runs "
        "alike. Where it crosses 0, the difference is within the noise of these documents.",
        Axis("variant", names=tuple(variant for variant, _ in found)),
        difference_axis(f"F1 less that of {rows[0].variant}", ends),
        one_panel(
            Series(
                "mean difference",
                places,
                tuple(values),
                "points",
                0,
                tuple(low for low, _ in ends),
                tuple(high for _, high in ends),
            ),
            Series("no difference", (-0.5, len(found) - 0.5), (0.0, 0.0), "guide", 6),
        ),
        rows=True,
    )


def _summary_table(rows: Sequence[Row]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (
            row.variant,
            row.f1.number,
            Estimate(row.f1.mean, (row.f1.lowest, row.f1.highest) if row.f1.number > 1 else None),
            row.f1.deviation if row.f1.number > 1 else None,
            row.difference.spread.mean if row.difference else None,
            row.difference.spread.deviation if row.difference else None,
            row.difference.interval if row.difference else None,
            row.counts.precision,
            row.counts.recall,
            row.documents,
            row.tokens,
        )
        for row in rows
    ]
    table = Table(
        "variants",
        "Variants",
        (
            Column("variant"),
            Column("runs", "count"),
            Column("F1", "estimate"),
            Column("F1 sd", "score"),
            Column("difference", "signed"),
            Column("difference sd", "score"),
            Column("difference interval", "signed interval"),
            Column("precision", "score"),
            Column("recall", "score"),
            Column("annotated documents", "count"),
            Column("annotated tokens", "count"),
        ),
        tuple(cells),
        caption="★ marks the best of each column. Small: the range of the runs. sd: standard "
        "deviation. The difference is that to the first variant, in pairs of runs; its 95 % "
        "interval is over test documents, and takes the models as they are. F1 is that of the best "
        "iteration on validation; annotated: in all, also after it.",
    )
    marked = best_cells(table, ["F1", "precision", "recall"])
    return Table(
        table.name, table.title, table.columns, table.rows, frozenset(marked), table.caption
    )


def _runs_table(results: Sequence[RunResult]) -> Table:
    cells: list[tuple[Cell, ...]] = [
        (
            result.variant,
            result.random_state,
            result.split,
            result.points[-1].iteration,
            result.best,
            result.f1,
            result.counts.precision,
            result.counts.recall,
            result.seconds,
        )
        for result in results
    ]
    columns = (
        Column("variant"),
        Column("random state", "count"),
        Column("split"),
        Column("iterations", "count"),
        Column("best iteration", "count"),
        Column("F1", "score"),
        Column("precision", "score"),
        Column("recall", "score"),
        Column("seconds", "seconds"),
    )
    return Table("runs", "Each run", columns, tuple(cells))


# Classes and details


def _classes(rows: Sequence[Row]) -> tuple[Block, ...]:
    """Return F1 by class; the classes in the order of the F1 of the first variant."""
    names = sorted(rows[0].classes, key=lambda name: (-rows[0].classes[name], name))
    series = [
        Series(
            row.variant,
            tuple(range(len(names))),
            tuple(row.classes[name] for name in names),
            "points",
            style,
        )
        for style, row in enumerate(rows)
    ]
    figure = Figure(
        "classes",
        "F1 of each class",
        f"The mean of the runs of a variant. Classes by the F1 of {rows[0].variant}.",
        Axis("class", names=tuple(names)),
        Axis("F1 on the test documents", low=0.0, high=1.0),
        one_panel(*series),
        rows=True,
    )
    cells: list[tuple[Cell, ...]] = [(name, *(row.classes[name] for row in rows)) for name in names]
    marked = {
        (number, 1 + place)
        for number, name in enumerate(names)
        for place, row in enumerate(rows)
        if len(rows) > 1 and row.classes[name] == max(each.classes[name] for each in rows) > 0
    }
    columns = (Column("class"), *(Column(row.variant, "score") for row in rows))
    caption = "★ marks the highest of each class."
    table = Table("classes", "F1 of each class", columns, tuple(cells), frozenset(marked), caption)
    return (Pair(figure, table),) if names else ()


def _details(experiment: ExperimentFolder) -> tuple[Block, ...]:
    text = experiment.plan_file.read_text(encoding="utf-8")
    return (Folded("The experiment", (Code("experiment.toml", text),)),)
