"""Errors of a run by kind and class, and its confusion matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from bootstrap.reports.content import Block, Folded, Paragraph, pair
from bootstrap.reports.figures import Axis, Figure, Matrix, one_panel, stacked
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import iteration_names
from bootstrap.reports.tables import Cell, Column, Table, columns
from bootstrap.runs.records import TaggingError
from corpus.error_analysis import ERROR_KINDS, EntityError

#: The name of the absent side of a missed or spurious entity.
NONE = "(none)"
#: What the kinds of errors are, in words.
DEFINITIONS = (
    "Missed: no predicted entity overlaps it. Spurious: it overlaps no gold entity. Wrong class: "
    "an overlapping entity has another class. Wrong border: the class is right and the offsets "
    "are not. Each entity is paired with one other at most."
)


def error_blocks(record: RunRecord, excerpts: Sequence[Block] = ()) -> tuple[Block, ...]:
    """Return the errors of a run, and those with their text if the user has asked for it."""
    errors = record.errors
    if errors is None:
        return (Paragraph("The errors of this run were not recorded.", is_note=True),)
    kinds = pair(*_by_iteration(record))
    return (
        *pair(_errors_figure(record, errors), errors_table(record, errors)),
        *pair(*confusion(record, errors)),
        *([Folded("Errors of each iteration", kinds)] if kinds else []),
        *([Folded("Errors in their text", tuple(excerpts))] if excerpts else []),
    )


def class_of(error: EntityError) -> str:
    """Return the class that an error counts for: that of the gold entity, if there is one."""
    mention = error.gold or error.predicted
    assert mention is not None
    return mention.label


def _errors_by_class(errors: Iterable[TaggingError]) -> dict[str, Counter[str]]:
    """Count errors by class and kind, classes with the most errors first."""
    by_class: dict[str, Counter[str]] = {}
    for _, error in errors:
        by_class.setdefault(class_of(error), Counter())[error.kind] += 1
    return dict(sorted(by_class.items(), key=lambda item: (-item[1].total(), item[0])))


def kinds_figure(
    name: str, title: str, caption: str, places: Axis, counts: Sequence[Counter[str]]
) -> Figure:
    """Build a figure of errors by kind; places with a name are rows, and iterations are not."""
    return Figure(
        name,
        title,
        caption,
        places,
        Axis("errors on validation", low=0.0, whole=True),
        one_panel(*stacked(ERROR_KINDS, [[each[kind] for each in counts] for kind in ERROR_KINDS])),
        rows=places.title != "iteration",
    )


def _errors_figure(record: RunRecord, errors: Sequence[TaggingError]) -> Figure | None:
    by_class = _errors_by_class(errors)
    title, classes = f"Errors of each class in iteration {record.best}", tuple(by_class)
    axis = Axis("class", names=classes)
    if not errors:
        return None
    return kinds_figure("errors", title, DEFINITIONS, axis, [*by_class.values()])


def errors_table(record: RunRecord, errors: Sequence[TaggingError]) -> Table:
    """Build the table of errors by class."""
    by_class, estimates = _errors_by_class(errors), record.estimates[record.best]
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
    return Table(
        "errors",
        "Errors of each class",
        (Column("class"), *columns("count", "gold entities", "correct", *ERROR_KINDS)),
        (("all", *totals.tolist()), *rows),
        caption="A wrong class counts for the class of the gold entity.",
    )


def _by_iteration(record: RunRecord) -> tuple[Figure | None, Table | None]:
    """Return the errors of each iteration; nothing if they were not recorded."""
    counts = [each for each in record.error_kinds if each is not None]
    if len(counts) < max(len(record.rows), 2):
        return None, None
    figure = kinds_figure(
        "error-kinds",
        "Errors of each iteration by kind",
        "All classes together, on validation.",
        iteration_names(record),
        counts,
    )
    table = Table(
        "error-kinds",
        "Errors of each iteration",
        columns("count", "iteration", *ERROR_KINDS, "all"),
        tuple(
            (row.iteration, *(each[kind] for kind in ERROR_KINDS), each.total())
            for row, each in zip(record.rows, counts, strict=True)
        ),
        frozenset({(record.best, 0)}),
    )
    return figure, table


def confusion(record: RunRecord, errors: Sequence[TaggingError]) -> tuple[Matrix, Table]:
    """Build the confusion matrix of the best iteration, and the table of what is confused."""
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
    names = (*sorted({side for sides in pairs for side in sides} - {NONE}), NONE)
    matrix = Matrix(
        "confusion",
        f"Gold and predicted classes in iteration {record.best}",
        f"Each gold entity is in the column of the predicted entity that it is paired with; "
        f"{NONE}: missed, or spurious. Entities with a wrong border are on the diagonal. The shade "
        "is the share of the row.",
        Axis("gold", names=names),
        Axis("predicted", names=names),
        tuple(tuple(pairs[row, column] for column in names) for row in names),
    )
    confused = [(*sides, number) for sides, number in pairs.most_common() if sides[0] != sides[1]]
    titles = (Column("gold"), Column("predicted"), Column("entities", "count"))
    return matrix, Table("confusion", "Confused classes", titles, tuple(confused))
