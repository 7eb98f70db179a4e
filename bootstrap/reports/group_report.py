"""The report of one run, or of several runs on one axis, and its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from bootstrap.reports.comparison import RunResult, compare
from bootstrap.reports.content import Block, Folded, Paragraph, Report, Section, pair
from bootstrap.reports.figures import Axis, Figure, Matrix
from bootstrap.reports.groups import GroupRecord, RunRecord, comparable_parts
from bootstrap.reports.parts.comparison import (
    comparison_pair,
    comparison_sections,
    curves_figure,
    outcome_lines,
    tiles_of,
)
from bootstrap.reports.parts.errors import (
    DEFINITIONS,
    excerpt_blocks,
    kinds_figure,
    kinds_of,
    kinds_table,
)
from bootstrap.reports.parts.scores import scores_figure, seconds_pair
from bootstrap.reports.run_report import details, environment_of, run_report, settings_of
from bootstrap.reports.tables import Table, columns
from corpus.errors import InputError, number_of

_SCORED = "validation documents"


def report_of(groups: Sequence[GroupRecord], *, show_text: bool = False) -> Report:
    """Build the report of one run, or of several runs on one axis.

    Groups that are scored on other documents or classes are in separate parts.

    Parameters
    ----------
    groups : sequence of GroupRecord
        At least one group; each is compared with the first of its part.
    show_text : bool
        Whether errors are shown in the text of notes; for one run only.

    Raises
    ------
    InputError
        If the text of several runs is requested, or if it cannot be read.
    """
    if record := _only_record(groups):
        return run_report(record, excerpt_blocks(record) if show_text else ())
    if show_text:
        raise InputError("--show-text shows the errors of one run; name one run")
    parts, number = comparable_parts(groups), sum(len(group.records) for group in groups)
    sections = [
        Section(title if len(parts) == 1 else f"Part {place}: {title}", blocks)
        for place, part in enumerate(parts, 1)
        for title, blocks in _sections(part).items()
    ]
    return Report(
        title=f"{number} runs" if len(groups) == number else f"{len(groups)} groups of runs",
        subtitle=", ".join(
            group.name if len(group.records) == 1 else f"{group.name} ({len(group.records)} runs)"
            for group in groups
        ),
        outcome=_outcome(parts),
        tiles=tiles_of(compare(_results(groups))) if len(parts) == 1 else (),
        sections=(*sections, Section("Details", _details(groups))),
    )


def _only_record(groups: Sequence[GroupRecord]) -> RunRecord | None:
    return groups[0].records[0] if len(groups) == len(groups[0].records) == 1 else None


def figure_of(groups: Sequence[GroupRecord], name: str, axis: str = "iteration") -> Figure | Matrix:
    """Return a figure of the report of groups of runs; ``"scores"`` on one of `AXES`.

    Raises
    ------
    InputError
        If the report has no such figure.
    """
    record = _only_record(groups)
    if name == "scores":  # the page has other axes only where they differ
        if record:
            return scores_figure(record, axis)
        return curves_figure(_results(groups), _SCORED, axis)
    what = f"{record.run.folder} has" if record else "several runs have"
    return named_figure(report_of(groups), name, axis, what)


def named_figure(report: Report, name: str, axis: str, what: str) -> Figure | Matrix:
    """Return a figure of a report; see `figure_of`. `what` begins the line of an error."""
    if axis != "iteration" and name != "scores":
        raise InputError(f"--axis {axis} is for --what scores only; the axis of {name} is fixed")
    wanted = name if axis == "iteration" else f"{name}-{axis}"
    if wanted not in report.figures:
        raise InputError(f"{what} no figure {wanted}; there are {', '.join(report.figures)}")
    return report.figures[wanted]


def _results(groups: Sequence[GroupRecord]) -> list[RunResult]:
    """Return the runs of groups as they are compared on validation."""
    return [record.result(group.name) for group in groups for record in group.records]


def _records(groups: Sequence[GroupRecord]) -> list[RunRecord]:
    return [record for group in groups for record in group.records]


def _outcome(parts: Sequence[Sequence[GroupRecord]]) -> tuple[str, ...]:
    lines = [line for part in parts for line in outcome_lines(compare(_results(part)), _SCORED)]
    if len(parts) > 1:
        first = (
            f"The runs are scored on {len(parts)} different sets of validation documents or "
            "classes: each has a part of this page, and scores of different parts cannot be "
            "compared."
        )
        lines = [first, *lines]
    records = [record for part in parts for record in _records(part)]
    if unfinished := [record.name for record in records if not record.is_finished]:
        lines.append(f"Unfinished, shown up to the last iteration: {', '.join(unfinished)}.")
    return tuple(lines)


def _sections(groups: Sequence[GroupRecord]) -> dict[str, tuple[Block, ...]]:
    """Return the sections of comparable groups."""
    record, results = groups[0].records[0], _results(groups)
    scored = (
        f"Scored on {number_of(len(record.counts[0].ids), 'validation document')} with "
        f"{number_of(len(record.rows[0].classes), 'class', 'classes')}; each half is scored with "
        "the iteration that the other half selected."
    )
    comparison, *others = comparison_sections(results, compare(results), _SCORED)
    sections: dict[str, tuple[Block, ...]] = {
        comparison.title: (Paragraph(scored), *comparison.blocks),
        **{section.title: section.blocks for section in others},
    }
    if record.test:
        tested = [run.result_on_test(group.name) for group in groups for run in group.records]
        text = "The test documents chose nothing: no iteration and no setting may depend on them."
        blocks = comparison_pair(tested, compare(tested), "test documents", name="test")
        sections["Test"] = (Paragraph(text), *blocks)
    return {**sections, "Errors": _errors(groups), "Time": _seconds(groups)}


def _errors(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    """Return the errors by kind, per run of each group."""
    means = []
    for group in groups:
        errors = [error for record in group.records for error in record.errors[record.best]]
        number = len(group.records)
        means.append(Counter({kind: n / number for kind, n in kinds_of(errors).items()}))
    names = tuple(group.name for group in groups)
    figure = kinds_figure(
        "errors",
        "Errors by kind",
        f"In the best iteration; the mean of several runs. {DEFINITIONS}",
        Axis("name", names=names),
        means,
    )
    return pair(figure, kinds_table("errors", "Errors by kind", "name", names, means))


def _seconds(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    rows = [row for record in _records(groups) for row in record.rows]
    stages = dict.fromkeys(stage for row in rows for stage in row.seconds)
    means = [
        {
            stage: sum(row.seconds.get(stage, 0) for of_run in group.records for row in of_run.rows)
            / len(group.records)
            for stage in stages
        }
        for group in groups
    ]
    names = tuple(group.name for group in groups)
    caption = "Of all iterations; the mean of several runs."
    return (seconds_pair(caption, Axis("name", names=names), [*zip(names, means, strict=True)]),)


def _details(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    records = _records(groups)
    return (
        _differing("settings", "Settings that differ", records, [*map(settings_of, records)]),
        _differing("versions", "Versions that differ", records, [*map(environment_of, records)]),
        *(Folded(record.name, (details(record)[0],)) for record in records),
    )


def _differing(
    name: str, title: str, records: Sequence[RunRecord], values: Sequence[Mapping[str, str]]
) -> Table:
    """Build the table of the names whose values differ between runs."""
    keys = dict.fromkeys(key for of_run in values for key in of_run)
    rows = [(key, *(of_run.get(key, "") for of_run in values)) for key in keys]
    differing = tuple(row for row in rows if len(set(row[1:])) > 1)
    titles = columns("text", name, *(record.name for record in records))
    return Table(name, title, titles, differing, caption="" if differing else "There are none.")
