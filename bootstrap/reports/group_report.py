"""The report of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bootstrap.reports.comparison import RunResult, compare
from bootstrap.reports.comparison_sections import (
    comparison_pair,
    comparison_sections,
    curves_figure,
    outcome_lines,
    tiles_of,
)
from bootstrap.reports.content import Block, Folded, Pair, Paragraph, Report, Section, pair
from bootstrap.reports.figures import Axis, Figure, one_panel, stacked
from bootstrap.reports.groups import GroupRecord, RunRecord, comparable_parts
from bootstrap.reports.parts.errors import DEFINITIONS, kinds_figure
from bootstrap.reports.parts.progress import stages_of
from bootstrap.reports.run_report import details, environment_of, settings_of
from bootstrap.reports.tables import Column, Table, columns
from corpus.error_analysis import ERROR_KINDS

_SCORED = "validation documents"


def group_report(groups: Sequence[GroupRecord]) -> Report:
    """Build the report of groups of runs.

    Groups that are scored on other documents or classes are in parts of their own.

    Parameters
    ----------
    groups : sequence of GroupRecord
        The groups; each is compared with the first of its part.
    """
    parts = comparable_parts(groups)
    number = sum(len(group.records) for group in groups)
    sections: list[Section] = []
    for place, part in enumerate(parts, 1):
        alone = len(parts) == 1
        sections += [
            section
            if alone
            else Section(
                f"Part {place}: {section.title}",
                tuple(
                    _renamed(block, f"-{place}") if place > 1 else block for block in section.blocks
                ),
            )
            for section in _sections(part)
        ]
    sections.append(Section("Details", _details(groups)))
    return Report(
        title=f"{number} runs" if len(groups) == number else f"{len(groups)} groups of runs",
        subtitle=", ".join(
            group.name if len(group.records) == 1 else f"{group.name} ({len(group.records)} runs)"
            for group in groups
        ),
        outcome=_outcome(parts),
        tiles=tiles_of(compare(results_of(groups))) if len(parts) == 1 else (),
        sections=tuple(sections),
    )


def results_of(groups: Sequence[GroupRecord], *, test: bool = False) -> list[RunResult]:
    """Return the runs of groups as they are compared: on validation, or on test documents."""
    return [
        record.result_on_test(group.name) if test else record.result(group.name)
        for group in groups
        for record in group.records
    ]


def scores_of_groups(groups: Sequence[GroupRecord], axis: str) -> Figure:
    """Build the figure of the scores of groups on an axis of `bootstrap.reports.figures.AXES`."""
    return curves_figure(results_of(groups), _SCORED, axis)


def _outcome(parts: Sequence[Sequence[GroupRecord]]) -> tuple[str, ...]:
    lines = [line for part in parts for line in outcome_lines(compare(results_of(part)), _SCORED)]
    if len(parts) > 1:
        first = (
            f"The runs are scored on {len(parts)} different sets of validation documents or "
            "classes: each has a part of this page, and scores of different parts cannot be "
            "compared."
        )
        lines = [first, *lines]
    records = [record for part in parts for group in part for record in group.records]
    if unfinished := [record.name for record in records if not record.is_finished]:
        lines.append(f"Not finished, and shown as far as they are: {', '.join(unfinished)}.")
    return tuple(lines)


def _sections(groups: Sequence[GroupRecord]) -> list[Section]:
    """Return the sections of comparable groups."""
    record, results = groups[0].records[0], results_of(groups)
    scored = (
        f"Scored on {len(record.counts[0].ids):,} validation documents with "
        f"{len(record.rows[0].classes)} classes; each half is scored with the iteration that the "
        "other half selected."
    )
    comparison, *others = comparison_sections(results, compare(results), _SCORED)
    sections = [Section(comparison.title, (Paragraph(scored), *comparison.blocks)), *others]
    if record.test:
        tested = results_of(groups, test=True)
        text = "The test documents chose nothing: no iteration and no setting may depend on them."
        blocks = comparison_pair(tested, compare(tested), "test documents", name="test")
        sections.append(Section("Test", (Paragraph(text), *blocks)))
    if errors := _errors(groups):
        sections.append(Section("Errors", errors))
    return [*sections, Section("Time", _seconds(groups))]


def _renamed(block: Block, suffix: str) -> Block:
    """Return a block whose figures and tables have other names, which are unique in a report."""
    match block:
        case Table():
            return replace(block, name=block.name + suffix)
        case Pair():
            table = block.table and replace(block.table, name=block.table.name + suffix)
            return Pair(replace(block.figure, name=block.figure.name + suffix), table)
        case Folded():
            return Folded(block.title, tuple(_renamed(inner, suffix) for inner in block.blocks))
        case _:
            return block


def _errors(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    """Return the errors by kind, per run of each group; nothing if some were not recorded."""
    means = []
    for group in groups:
        total: Counter[str] = Counter()
        for record in group.records:
            kinds = record.error_kinds[record.best]
            if kinds is None:
                return ()
            total.update(kinds)
        means.append(Counter({kind: total[kind] / len(group.records) for kind in total}))
    figure = kinds_figure(
        "errors",
        "Errors by kind",
        f"In the best iteration; the mean of several runs. {DEFINITIONS}",
        Axis("name", names=tuple(group.name for group in groups)),
        means,
    )
    table = Table(
        "errors",
        "Errors by kind",
        (Column("name"), *columns("number", *ERROR_KINDS, "all")),
        tuple(
            (group.name, *(mean[kind] for kind in ERROR_KINDS), sum(mean.values()))
            for group, mean in zip(groups, means, strict=True)
        ),
    )
    return pair(figure, table)


def _seconds(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    records = [record for group in groups for record in group.records]
    stages = tuple(dict.fromkeys(stage for record in records for stage in stages_of(record)))
    means = [
        [
            sum(row.seconds.get(stage, 0) for record in group.records for row in record.rows)
            / len(group.records)
            for stage in stages
        ]
        for group in groups
    ]
    figure = Figure(
        "seconds",
        "Seconds of each stage",
        "Of all iterations; the mean of several runs.",
        Axis("name", names=tuple(group.name for group in groups)),
        Axis("seconds", low=0.0),
        one_panel(*stacked(stages, list(zip(*means, strict=True)))),
        rows=True,
    )
    table = Table(
        "seconds",
        "Seconds",
        (Column("name"), *columns("seconds", *stages, "all")),
        tuple((group.name, *row, sum(row)) for group, row in zip(groups, means, strict=True)),
    )
    return pair(figure, table)


def _details(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    records = [record for group in groups for record in group.records]
    return (
        _differing("settings", "Settings that differ", records, [*map(settings_of, records)]),
        _differing("versions", "Versions that differ", records, [*map(environment_of, records)]),
        *(Folded(record.name, (details(record)[0],)) for record in records),
    )


def _differing(
    name: str, title: str, records: Sequence[RunRecord], values: Sequence[Mapping[str, str]]
) -> Table:
    """Build the table of the names whose values are not those of all runs."""
    keys = dict.fromkeys(key for each in values for key in each)
    rows = [(key, *(each.get(key, "") for each in values)) for key in keys]
    differing = tuple(row for row in rows if len(set(row[1:])) > 1)
    titles = columns("text", name, *(record.name for record in records))
    return Table(name, title, titles, differing, caption="" if differing else "There are none.")
