"""The report of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from bootstrap.reports.content import (
    Block,
    Folded,
    Pair,
    Paragraph,
    Report,
    Section,
    Tile,
    present,
)
from bootstrap.reports.figures import Axis, Figure, one_panel
from bootstrap.reports.groups import GroupRecord, RunRecord, comparable_parts
from bootstrap.reports.parts import group_scores
from bootstrap.reports.parts.errors import DEFINITIONS, stacked
from bootstrap.reports.parts.group_scores import (
    Difference,
    difference_of,
    held_out_f1,
    spread_estimate,
)
from bootstrap.reports.parts.progress import stages_of
from bootstrap.reports.run_report import details, environment_of, settings_of
from bootstrap.reports.tables import Cell, Column, Table, best_cells
from corpus.error_analysis import ERROR_KINDS


def comparison_report(groups: Sequence[GroupRecord]) -> Report:
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
        prefix = f"Part {place}: " if len(parts) > 1 else ""
        sections += _part_sections(part, prefix, "" if place == 1 else f"-{place}")
    sections.append(Section("Details", _details(groups)))
    return Report(
        title=f"{number} runs" if len(groups) == number else f"{len(groups)} groups of runs",
        subtitle=", ".join(map(_subtitle, groups)),
        outcome=_outcome(parts),
        tiles=_tiles(parts[0]) if len(parts) == 1 else (),
        sections=tuple(sections),
    )


def _subtitle(group: GroupRecord) -> str:
    number = len(group.records)
    return group.name if number == 1 else f"{group.name} ({number} runs)"


# What comes first


def _outcome(parts: Sequence[Sequence[GroupRecord]]) -> tuple[str, ...]:
    lines = [line for part in parts for line in _part_outcome(part)]
    if len(parts) > 1:
        lines.insert(
            0,
            f"The runs are scored on {len(parts)} different sets of validation documents or "
            "classes: each has a part of this page, and scores of different parts cannot be "
            "compared.",
        )
    unfinished = [
        record.name
        for part in parts
        for group in part
        for record in group.records
        if not record.is_finished
    ]
    if unfinished:
        lines.append(f"Not finished, and shown as far as they are: {', '.join(unfinished)}.")
    return tuple(lines)


def _part_outcome(groups: Sequence[GroupRecord]) -> list[str]:
    first = groups[0]
    if len(groups) == 1:
        f1 = held_out_f1(first)
        spread = f", from {f1.low:.3f} to {f1.high:.3f}" if f1.number > 1 else ""
        return [f"{first.name} has F1 {f1.mean:.3f}{spread}."]
    best = max(groups, key=lambda group: held_out_f1(group).mean)
    highest = held_out_f1(best).mean
    if best is first:
        other = max(groups[1:], key=lambda group: held_out_f1(group).mean)
        difference = difference_of(first, other)
        ahead = f"{first.name} has the highest F1, {highest:.3f}; {other.name} follows"
        return [f"{ahead} at {held_out_f1(other).mean:.3f} ({_words(difference)})."]
    difference = difference_of(first, best)
    return [
        f"{best.name} has the highest F1, {highest:.3f}, compared with "
        f"{held_out_f1(first).mean:.3f} of {first.name} ({_words(difference)})."
    ]


def _words(difference: Difference) -> str:
    value = f"{round(difference.value, 3) + 0.0:+.3f}"
    if difference.interval is None:
        return f"{value}; the validation documents are too few for an interval"
    low, high = difference.interval
    certain = "" if difference.is_certain else ", within the noise of the validation documents"
    return f"{value}; 95 % interval {low:+.3f} to {high:+.3f}{certain}"


def _tiles(groups: Sequence[GroupRecord]) -> tuple[Tile, ...]:
    """Return the F1 of the best groups."""
    ranked = sorted(groups, key=lambda group: -held_out_f1(group).mean)[:4]
    tiles = []
    for group in ranked:
        f1 = held_out_f1(group)
        detail = f"{f1.low:.3f}–{f1.high:.3f} in {f1.number} runs" if f1.number > 1 else ""
        tiles.append(Tile(f"F1 of {group.name}", f"{f1.mean:.3f}", detail))
    return tuple(tiles)


# Parts


def _part_sections(groups: Sequence[GroupRecord], prefix: str, suffix: str) -> list[Section]:
    """Return the sections of comparable groups; a suffix tells their figures from others."""
    record = groups[0].records[0]
    scored = (
        f"Scored on {len(record.counts[0].ids):,} validation documents with "
        f"{len(record.rows[0].classes)} classes."
    )
    sections = {
        "Runs": (Paragraph(scored), *_runs(groups)),
        "Scores": _scores(groups),
        "Classes": present(
            _pair(group_scores.classes_figure(groups), group_scores.classes_table(groups))
        ),
        "Test": _test(groups),
        "Errors": present(_pair(_errors_figure(groups), _errors_table(groups))),
        "Time": (Pair(_seconds_figure(groups), _seconds_table(groups)),),
    }
    return [
        Section(f"{prefix}{title}", tuple(_renamed(block, suffix) for block in blocks))
        for title, blocks in sections.items()
        if blocks
    ]


def _pair(figure: Figure | None, table: Table | None) -> Block | None:
    return Pair(figure, table) if figure and table else figure or table


def _renamed(block: Block, suffix: str) -> Block:
    """Return a block whose figures and tables have other names, which are unique in a report."""
    match block:
        case Pair():
            return Pair(
                replace(block.figure, name=block.figure.name + suffix),
                replace(block.table, name=block.table.name + suffix),
            )
        case Figure() | Table():
            return replace(block, name=block.name + suffix)
        case Folded():
            return Folded(block.title, tuple(_renamed(each, suffix) for each in block.blocks))
        case _:
            return block


def _runs(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    figure = group_scores.differences_figure(groups)
    table = _groups_table(groups)
    several = any(len(group.records) > 1 for group in groups)
    single = Folded("Each run", (_runs_table(groups),)) if several else None
    return present(_pair(figure, table), single)


def _groups_table(groups: Sequence[GroupRecord]) -> Table:
    """Build the table of groups; the best of each score is marked."""
    rows: list[tuple[Cell, ...]] = []
    for number, group in enumerate(groups):
        difference = difference_of(groups[0], group) if number else None
        rows.append(
            (
                group.name,
                len(group.records),
                spread_estimate(group, lambda record: record.outcome.best.f1),
                difference.value if difference else None,
                difference.interval if difference else None,
                spread_estimate(group, lambda record: record.outcome.best.precision),
                spread_estimate(group, lambda record: record.outcome.best.recall),
                _mean(group, lambda record: record.rows[-1].human_documents),
                _mean(group, lambda record: record.rows[-1].human_tokens),
                _mean(group, lambda record: sum(sum(row.seconds.values()) for row in record.rows)),
            )
        )
    table = Table(
        "runs",
        "Runs and groups",
        (
            Column("name"),
            Column("runs", "count"),
            Column("F1", "estimate"),
            Column("difference", "signed"),
            Column("difference interval", "signed interval"),
            Column("precision", "estimate"),
            Column("recall", "estimate"),
            Column("annotated documents", "count"),
            Column("annotated tokens", "count"),
            Column("seconds", "seconds"),
        ),
        tuple(rows),
        caption="★ marks the best of each column. Each half of the validation documents is scored "
        "with the iteration that the other half selected. Small: the range of the runs of a name. "
        "The difference is that to the first; its 95 % interval is over documents, and takes the "
        "models as they are. Annotated: in all, also after the best iteration.",
    )
    lowest = ["annotated documents", "annotated tokens", "seconds"]
    marked = best_cells(table, ["F1", "precision", "recall"])
    marked |= best_cells(table, lowest, lowest=True)
    return Table(
        table.name, table.title, table.columns, table.rows, frozenset(marked), table.caption
    )


def _mean(group: GroupRecord, value_of: Any) -> float:
    return fmean(value_of(record) for record in group.records)


def _runs_table(groups: Sequence[GroupRecord]) -> Table:
    """Build the table of all runs of groups."""
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for record in group.records:
            outcome = record.outcome
            rows.append(
                (
                    record.name,
                    record.run.folder.resolve().name,
                    len(record.rows),
                    record.best,
                    outcome.best.f1,
                    outcome.gain,
                    outcome.interval,
                    outcome.stopped or "not finished",
                )
            )
    return Table(
        "each-run",
        "Each run",
        (
            Column("run"),
            Column("folder"),
            Column("iterations", "count"),
            Column("best iteration", "count"),
            Column("F1", "score"),
            Column("gain in F1", "signed"),
            Column("gain interval", "signed interval"),
            Column("stopped"),
        ),
        tuple(rows),
        caption="The gain is that since the first model of the same run.",
    )


def _scores(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    figures: list[Block] = []
    annotated = {row.human_documents for group in groups for r in group.records for row in r.rows}
    if len(annotated) > 1:
        figures = [group_scores.scores_figure(groups, axis) for axis in ("documents", "tokens")]
    pair = Pair(group_scores.scores_figure(groups), group_scores.scores_table(groups))
    return (*figures, pair)


def _test(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    if not groups[0].records[0].test:
        return ()
    text = "The test documents chose nothing: neither iterations nor settings may depend on them."
    return (
        Paragraph(text),
        Pair(group_scores.test_figure(groups), group_scores.test_table(groups)),
    )


def _error_counts(groups: Sequence[GroupRecord]) -> list[Counter[str]] | None:
    """Count errors by kind, per run of each group; None if some were not recorded."""
    found = []
    for group in groups:
        counts: Counter[str] = Counter()
        for record in group.records:
            kinds = record.error_kinds[record.best]
            if kinds is None:
                return None
            counts.update(kinds)
        found.append(
            Counter({kind: number / len(group.records) for kind, number in counts.items()})
        )
    return found


def _errors_figure(groups: Sequence[GroupRecord]) -> Figure | None:
    counts = _error_counts(groups)
    if counts is None:
        return None
    return Figure(
        "errors",
        "Errors by kind",
        f"In the best iteration; the mean of several runs. {DEFINITIONS}",
        Axis("name", names=tuple(group.name for group in groups)),
        Axis("errors on validation", low=0.0),
        one_panel(*stacked(counts, ERROR_KINDS)),
        rows=True,
    )


def _errors_table(groups: Sequence[GroupRecord]) -> Table | None:
    counts = _error_counts(groups)
    if counts is None:
        return None
    return Table(
        "errors",
        "Errors by kind",
        (
            Column("name"),
            *(Column(kind, "number") for kind in ERROR_KINDS),
            Column("all", "number"),
        ),
        tuple(
            (group.name, *(each[kind] for kind in ERROR_KINDS), sum(each.values()))
            for group, each in zip(groups, counts, strict=True)
        ),
    )


def _seconds_by_stage(group: GroupRecord) -> Counter[str]:
    """Return the seconds of each stage, per run."""
    total: Counter[str] = Counter()
    for record in group.records:
        for row in record.rows:
            for stage, seconds in row.seconds.items():
                total[stage] += seconds / len(group.records)  # type: ignore[assignment]
    return total


def _stages(groups: Sequence[GroupRecord]) -> tuple[str, ...]:
    found = (stage for group in groups for record in group.records for stage in stages_of(record))
    return tuple(dict.fromkeys(found))


def _seconds_figure(groups: Sequence[GroupRecord]) -> Figure:
    return Figure(
        "seconds",
        "Seconds of each stage",
        "Of all iterations; the mean of several runs.",
        Axis("name", names=tuple(group.name for group in groups)),
        Axis("seconds", low=0.0),
        one_panel(*stacked([_seconds_by_stage(group) for group in groups], _stages(groups))),
        rows=True,
    )


def _seconds_table(groups: Sequence[GroupRecord]) -> Table:
    stages = _stages(groups)
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        seconds = _seconds_by_stage(group)
        rows.append((group.name, *(seconds[stage] for stage in stages), sum(seconds.values())))
    columns = (Column(stage, "seconds") for stage in (*stages, "all"))
    return Table("seconds", "Seconds", (Column("name"), *columns), tuple(rows))


# Details


def _details(groups: Sequence[GroupRecord]) -> tuple[Block, ...]:
    records = [record for group in groups for record in group.records]
    blocks: list[Block] = [
        _differing(
            "settings", "Settings that differ", records, [settings_of(each) for each in records]
        ),
        _differing(
            "versions", "Versions that differ", records, [environment_of(each) for each in records]
        ),
    ]
    for record in records:
        blocks.append(Folded(record.name, (details(record)[0],)))
    return tuple(blocks)


def _differing(
    name: str, title: str, records: Sequence[RunRecord], values: Sequence[Mapping[str, str]]
) -> Table:
    """Build the table of the names whose values are not those of all runs."""
    names = dict.fromkeys(key for each in values for key in each)
    rows = tuple(
        (key, *found)
        for key in names
        if len(set(found := [each.get(key, "") for each in values])) > 1
    )
    columns = (Column(name), *(Column(record.name) for record in records))
    caption = "" if rows else "There are none."
    return Table(name, title, columns, rows, caption=caption)
