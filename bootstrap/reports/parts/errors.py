"""Errors of a run by kind and class, its confusion matrix, and errors in their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc

from bootstrap.config.configuration import load_data
from bootstrap.data.preparation import fingerprint
from bootstrap.data.splits import read_labelled
from bootstrap.reports.content import Block, Excerpt, Folded, Paragraph, pair
from bootstrap.reports.figures import Axis, Figure, Matrix, one_panel, stacked
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import iteration_names
from bootstrap.reports.tables import Cell, Column, Kind, Table, columns
from bootstrap.runs.folder import Run
from bootstrap.runs.resume import refuse_other_data
from corpus.errors import quoted
from corpus.evaluation.error_analysis import ERROR_KINDS, EntityError

#: The name of the absent side of a missed or spurious entity.
NONE = "(none)"
#: The kinds of errors, in words.
DEFINITIONS = (
    "Missed: no predicted entity overlaps it. Spurious: it overlaps no gold entity. Wrong class: "
    "an overlapping entity has another class. Wrong border: the class is right and the offsets "
    "are not. Each entity is paired with one other at most; what is left is missed or spurious."
)
#: The number of errors of a kind and class that are shown, and the characters around each.
EXAMPLES, CONTEXT = 5, 60
_SPLIT = "validation"


def error_blocks(record: RunRecord, excerpts: Sequence[Block] = ()) -> tuple[Block, ...]:
    """Return the errors of a run, and excerpts with their text if the user has asked for it."""
    errors = record.errors[record.best]
    kinds = pair(*_by_iteration(record))
    return (
        *pair(_errors_figure(record, errors), errors_table(record, errors)),
        *pair(*confusion(record, errors)),
        *([Folded("Errors of each iteration", kinds)] if kinds else []),
        *([Folded("Errors in their text", tuple(excerpts))] if excerpts else []),
    )


def kinds_of(errors: Sequence[EntityError]) -> Counter[str]:
    """Count errors by kind."""
    return Counter(error.kind for error in errors)


def _class_of(error: EntityError) -> str:
    """Return the class that an error counts for: the gold entity's class, if there is one."""
    mention = error.gold or error.predicted
    assert mention is not None
    return mention.label


def _errors_by_class(errors: Sequence[EntityError]) -> dict[str, Counter[str]]:
    """Count errors by class and kind, classes with the most errors first."""
    by_class: dict[str, Counter[str]] = {}
    for error in errors:
        by_class.setdefault(_class_of(error), Counter())[error.kind] += 1
    return dict(sorted(by_class.items(), key=lambda item: (-item[1].total(), item[0])))


def kinds_figure(
    name: str, title: str, caption: str, places: Axis, counts: Sequence[Counter[str]]
) -> Figure:
    """Build a figure of errors by kind; places with a name are rows, and iterations are not."""
    columns = [[kinds[kind] for kinds in counts] for kind in ERROR_KINDS]
    values, is_rows = Axis("errors on validation", low=0.0, whole=True), places.title != "iteration"
    panels = one_panel(*stacked(ERROR_KINDS, columns))
    return Figure(name, title, caption, places, values, panels, rows=is_rows)


def kinds_table(
    name: str, title: str, what: str, rows: Sequence[Cell], counts: Sequence[Counter[str]]
) -> Table:
    """Build the table of errors by kind in iterations or in groups of runs."""
    cells = tuple(
        (row, *(kinds[kind] for kind in ERROR_KINDS), kinds.total())
        for row, kinds in zip(rows, counts, strict=True)
    )
    kind: Kind = "count" if what == "iteration" else "number"
    first = Column(what, "count" if what == "iteration" else "text")
    return Table(name, title, (first, *columns(kind, *ERROR_KINDS, "all")), cells)


def _errors_figure(record: RunRecord, errors: Sequence[EntityError]) -> Figure | None:
    by_class = _errors_by_class(errors)
    if not by_class:
        return None
    title, axis = (
        f"Errors of each class in iteration {record.best}",
        Axis("class", tuple(map(quoted, by_class))),
    )
    return kinds_figure("errors", title, DEFINITIONS, axis, [*by_class.values()])


def errors_table(record: RunRecord, errors: Sequence[EntityError]) -> Table:
    """Build the table of errors by class."""
    by_class, estimates = _errors_by_class(errors), record.estimates(record.best)
    rows: list[tuple[Cell, ...]] = []
    totals = np.zeros(2 + len(ERROR_KINDS), np.int64)
    for name in [*by_class, *sorted({name for name in estimates if name} - set(by_class))]:
        counts, scores = by_class.get(name, Counter[str]()), estimates.get(name)
        known = (scores.gold, scores.counts.true_positives) if scores else (0, 0)
        numbers = [*known, *(counts[kind] for kind in ERROR_KINDS)]
        totals += numbers
        rows.append((quoted(name), *numbers))
    return Table(
        "errors",
        "Errors of each class",
        (Column("class"), *columns("count", "gold entities", "correct", *ERROR_KINDS)),
        (("all", *totals.tolist()), *rows),
        caption="A wrong class counts for the class of the gold entity.",
    )


def _by_iteration(record: RunRecord) -> tuple[Figure | None, Table | None]:
    """Return the errors of each iteration; nothing if there is only one."""
    if len(record.rows) < 2:
        return None, None
    counts = [*map(kinds_of, record.errors)]
    figure = kinds_figure(
        "error-kinds",
        "Errors of each iteration by kind",
        "All classes together, on validation.",
        iteration_names(record),
        counts,
    )
    iterations = [row.iteration for row in record.rows]
    table = kinds_table("error-kinds", "Errors of each iteration", "iteration", iterations, counts)
    return figure, replace(table, marked=frozenset({(record.best, 0)}))


def _sides_of(error: EntityError) -> tuple[str, str]:
    """Return the gold and the predicted class of an error."""
    gold, predicted = (
        quoted(side.label) if side else NONE for side in (error.gold, error.predicted)
    )
    return gold, predicted


def confusion(record: RunRecord, errors: Sequence[EntityError]) -> tuple[Matrix, Table]:
    """Build the confusion matrix of the best iteration, and the table of what is confused."""
    pairs = Counter(map(_sides_of, errors))
    for name, scores in record.estimates(record.best).items():
        if name:
            pairs[quoted(name), quoted(name)] += scores.counts.true_positives
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


# Errors in their text


def excerpt_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return the first errors of each kind and class in the best iteration, with their text.

    Raises
    ------
    RunError
        If a file of the validation documents has changed.
    InputError
        If the files cannot be read.
    """
    texts, ids = _validation_texts(record.run), record.counts[record.best].ids
    excerpts: dict[str, list[Block]] = {}
    number: Counter[tuple[str, str]] = Counter()
    for error in record.errors[record.best]:
        key = (error.kind, _class_of(error))
        number[key] += 1
        if number[key] <= EXAMPLES:
            name = ids[error.row]
            excerpts.setdefault(error.kind, []).append(excerpt_of(name, error, texts[name]))
    note = (
        "This page contains text of notes and is as private as they are. Underlined: gold; shaded: "
        f"predicted. At most {EXAMPLES} errors of a kind and class are shown."
    )
    folded = (
        Folded(kind.capitalize(), tuple(excerpts[kind])) for kind in ERROR_KINDS if kind in excerpts
    )
    return (Paragraph(note, is_note=True), *folded)


def _validation_texts(run: Run) -> Mapping[str, str]:
    """Read the texts of the validation documents, whose files must not have changed, by id."""
    data, labels = load_data(run.config_file)
    files = run.data()
    recorded = files.filter(pc.equal(files["split"], _SPLIT))
    now = fingerprint(data, splits=(_SPLIT,))
    remedy = "the errors are of another text; restore it, or leave out --show-text"
    refuse_other_data(run.folder, recorded, now, remedy=remedy)
    notes = read_labelled(data, _SPLIT, labels)
    return {document.id: document.text for document in notes.documents}


def excerpt_of(name: str, error: EntityError, text: str) -> Excerpt:
    """Return an error of a document, given by its id, with the text around it."""
    sides = {"gold": error.gold, "predicted": error.predicted}
    known = {name: mention for name, mention in sides.items() if mention}
    first = min(mention.start for mention in known.values())
    last = max(mention.end for mention in known.values())
    start, end = max(first - CONTEXT, 0), min(last + CONTEXT, len(text))
    cuts = {start, end, *(cut for span in known.values() for cut in (span.start, span.end))}
    parts = []
    for left, right in pairwise(sorted(cuts)):
        inside = [name for name, m in known.items() if m.start <= left and right <= m.end]
        parts.append((text[left:right], "both" if len(inside) == 2 else "".join(inside)))
    before = [("…", "")] if start else []
    after = [("…", "")] if end < len(text) else []
    classes = " → ".join(_sides_of(error))
    return Excerpt(f"{name}: {first}-{last}", classes, (*before, *parts, *after))
