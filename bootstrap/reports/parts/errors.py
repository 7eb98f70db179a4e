"""Errors of a run by kind and class, and its confusion matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from bootstrap.reports.figures import Axis, Figure, Matrix, Series, one_panel
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import iteration_names
from bootstrap.reports.tables import Cell, Column, Table
from bootstrap.runs.tagging_errors import TaggingError
from corpus.error_analysis import ERROR_KINDS, EntityError

#: The name of the absent side of a missed or spurious entity.
NONE = "(none)"
#: What the kinds of errors are, in words.
DEFINITIONS = (
    "Missed: no predicted entity overlaps it. Spurious: it overlaps no gold entity. Wrong class: "
    "an overlapping entity has another class. Wrong border: the class is right and the offsets "
    "are not. Each entity is paired with one other at most."
)


def class_of(error: EntityError) -> str:
    """Return the class that an error counts for: that of the gold entity, if there is one."""
    mention = error.gold or error.predicted
    assert mention is not None
    return mention.label


def errors_by_class(errors: Iterable[TaggingError]) -> dict[str, Counter[str]]:
    """Count errors by class and kind, classes with the most errors first."""
    found: dict[str, Counter[str]] = {}
    for _, error in errors:
        found.setdefault(class_of(error), Counter())[error.kind] += 1
    return dict(sorted(found.items(), key=lambda item: (-item[1].total(), item[0])))


def stacked(
    counts: Sequence[Counter[str]], kinds: Sequence[str], *, first_style: int = 0
) -> tuple[Series, ...]:
    """Return a stack of bars for each place, in the order of kinds."""
    places = tuple(range(len(counts)))
    return tuple(
        Series(kind, places, tuple(each[kind] for each in counts), "stack", first_style + style)
        for style, kind in enumerate(kinds)
    )


def errors_figure(record: RunRecord) -> Figure | None:
    """Build the figure of errors by class; None if they were not recorded, or there are none."""
    errors = record.errors
    if not errors:
        return None
    by_class = errors_by_class(errors)
    return Figure(
        "errors",
        f"Errors of each class in iteration {record.best}",
        DEFINITIONS,
        Axis("class", names=tuple(by_class)),
        Axis("errors on validation", low=0.0, whole=True),
        one_panel(*stacked(list(by_class.values()), ERROR_KINDS)),
        rows=True,
    )


def errors_table(record: RunRecord) -> Table | None:
    """Build the table of errors by class; None if they were not recorded."""
    errors = record.errors
    if errors is None:
        return None
    by_class = errors_by_class(errors)
    estimates = record.estimates[record.best]
    names = [*by_class, *sorted({name for name in estimates if name} - set(by_class))]
    rows: list[tuple[Cell, ...]] = []
    totals = np.zeros(2 + len(ERROR_KINDS), np.int64)
    for name in names:
        counts: Counter[str] = by_class.get(name, Counter())
        right = estimates[name].counts.true_positives if name in estimates else 0
        gold = estimates[name].gold if name in estimates else 0
        row = [gold, right, *(counts[kind] for kind in ERROR_KINDS)]
        totals += row
        rows.append((name, *row))
    columns = [Column(title, "count") for title in ("gold entities", "correct", *ERROR_KINDS)]
    return Table(
        "errors",
        "Errors of each class",
        (Column("class"), *columns),
        (("all", *totals.tolist()), *rows),
        caption="A wrong class counts for the class of the gold entity.",
    )


def error_kinds_figure(record: RunRecord) -> Figure | None:
    """Build the figure of errors by iteration; None if they were not recorded."""
    counts = _kinds_by_iteration(record)
    if counts is None or len(counts) < 2:
        return None
    return Figure(
        "error-kinds",
        "Errors of each iteration by kind",
        "All classes together, on validation.",
        Axis("iteration", names=iteration_names(record)),
        Axis("errors on validation", low=0.0, whole=True),
        one_panel(*stacked(counts, ERROR_KINDS)),
    )


def error_kinds_table(record: RunRecord) -> Table | None:
    """Build the table of errors by iteration; None if they were not recorded."""
    counts = _kinds_by_iteration(record)
    if counts is None:
        return None
    rows = [
        (row.iteration, *(each[kind] for kind in ERROR_KINDS), each.total())
        for row, each in zip(record.rows, counts, strict=True)
    ]
    titles = ("iteration", *ERROR_KINDS, "all")
    return Table(
        "error-kinds",
        "Errors of each iteration",
        tuple(Column(title, "count") for title in titles),
        tuple(rows),
        frozenset({(record.best, 0)}),
    )


def _kinds_by_iteration(record: RunRecord) -> list[Counter[str]] | None:
    known = [each for each in record.error_kinds if each is not None]
    return known if len(known) == len(record.rows) else None


def confusion_matrix(record: RunRecord) -> Matrix | None:
    """Build the confusion matrix of the best iteration; None if errors were not recorded."""
    errors = record.errors
    if errors is None:
        return None
    pairs = Counter(
        (
            error.gold.label if error.gold else NONE,
            error.predicted.label if error.predicted else NONE,
        )
        for _, error in errors
    )
    for name, scores in record.estimates[record.best].items():
        if name:
            pairs[name, name] += scores.counts.true_positives
    names = sorted({side for pair in pairs for side in pair} - {NONE})
    rows, columns = (*names, NONE), (*names, NONE)
    return Matrix(
        "confusion",
        f"Gold and predicted classes in iteration {record.best}",
        f"Each gold entity is in the column of the predicted entity that it is paired with; "
        f"{NONE}: missed, or spurious. Entities with a wrong border are on the diagonal. The shade "
        "is the share of the row.",
        rows,
        columns,
        tuple(tuple(pairs[row, column] for column in columns) for row in rows),
        "gold",
        "predicted",
    )
