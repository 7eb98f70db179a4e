"""What a run learned from: documents selected and annotated, and the proportions of classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from bootstrap.reports.figures import Axis, Figure, Series, one_panel
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import iteration_names
from bootstrap.reports.tables import Cell, Column, Table

_RATE = " per token"
_EMPTY = "documents without entities"


def selected_figure(record: RunRecord) -> Figure | None:
    """Build the figure of the documents of each iteration; None if there are none."""
    rows = record.rows
    places = tuple(range(len(rows)))
    series = []
    for style, (name, values) in enumerate(
        {
            "selected": tuple(row.selected for row in rows),
            "annotated": tuple(row.queried for row in rows),
        }.items()
    ):
        if any(values):
            series.append(Series(name, places, values, "bars", style))
    if not series:
        return None
    return Figure(
        "selected",
        "Documents that joined the training set",
        "Selected: pseudo-labeled by the model. Annotated: by people, in active learning.",
        Axis("iteration", names=iteration_names(record)),
        Axis("documents", low=0.0, whole=True),
        one_panel(*series),
    )


def selected_table(record: RunRecord) -> Table | None:
    """Build the table of the selections; None if nothing was tagged or annotated."""
    rows = [row for row in record.rows if row.tagged or row.queried]
    if not rows:
        return None
    columns = (
        Column("iteration", "count"),
        Column("annotated", "count"),
        Column("tagged", "count"),
        Column("confident", "count"),
        Column("selected", "count"),
        Column("deviation", "number"),
        Column("right entities", "percent"),
        Column("entities found", "percent"),
        Column("new entities", "count"),
        Column("unlabeled tokens", "percent"),
        Column("strategy"),
    )
    return Table(
        "selected",
        "Selections",
        columns,
        tuple(
            (
                row.iteration,
                row.queried,
                row.tagged,
                row.confident,
                row.selected,
                row.deviation,
                row.quality.precision if row.quality else None,
                row.quality.recall if row.quality else None,
                row.new_entities,
                row.unknown,
                row.strategy,
            )
            for row in rows
        ),
        caption="Right entities and entities found: precision and recall of what the same rule "
        "selects from the validation documents. Deviation: from the reference proportions, in "
        "units of the tolerance.",
    )


def _rates(proportions: Mapping[str, float]) -> dict[str, float]:
    """Return the entities per 1,000 tokens of each class."""
    return {
        name.removesuffix(_RATE): 1000 * value
        for name, value in proportions.items()
        if name.endswith(_RATE)
    }


def proportions_figure(record: RunRecord) -> Figure | None:
    """Build the figure of the proportions of classes; None if nothing was selected."""
    reference = _rates(record.rows[0].reference)
    selections = [_rates(row.selected_proportions) for row in record.rows if row.selected]
    names = sorted((name for name in reference if reference[name] > 0), key=_by_size(reference))
    if not selections or not names:
        return None
    ratios = [[each[name] / reference[name] for each in selections] for name in names]
    places = tuple(range(len(names)))
    highest = max(max(each) for each in ratios)
    return Figure(
        "proportions",
        "Classes of the selected documents, relative to the reference",
        "Entities per token, as a multiple of the reference: 1 is the same, below 1 there are too "
        "few. Point: mean over the iterations that selected documents; line: their range. Frequent "
        "classes at the top.",
        Axis("class", names=tuple(names)),
        Axis("selected / reference", low=0.0, high=max(1.2, 1.05 * highest)),
        one_panel(
            Series(
                "selected",
                places,
                tuple(sum(each) / len(each) for each in ratios),
                "points",
                0,
                low=tuple(map(min, ratios)),
                high=tuple(map(max, ratios)),
            ),
            Series("reference", (-0.5, len(names) - 0.5), (1.0, 1.0), "guide", 6),
        ),
        rows=True,
    )


def _by_size(sizes: Mapping[str, float]) -> Callable[[str], tuple[float, str]]:
    return lambda name: (-sizes[name], name)


def proportions_table(record: RunRecord) -> Table | None:
    """Build the table of the proportions of each selection; None if nothing was selected."""
    reference = record.rows[0].reference
    chosen = [row for row in record.rows if row.selected and row.selected_proportions]
    if not chosen or not reference:
        return None
    rates = _rates(reference)
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(rates, key=_by_size(rates)):
        found = [_rates(row.selected_proportions)[name] for row in chosen]
        rows.append((f"{name}, per 1,000 tokens", rates[name], *found))
    for name in sorted(rates, key=_by_size(rates)):
        key = f"{name} length"
        lengths = [row.selected_proportions.get(key) for row in chosen]
        rows.append((f"{name}, tokens of an entity", _known(reference.get(key)), *lengths))
    empty = [row.selected_proportions.get(_EMPTY) for row in chosen]
    rows.append((_EMPTY, reference.get(_EMPTY), *empty))
    return Table(
        "proportions",
        "Proportions",
        (
            Column("statistic"),
            Column("reference", "number"),
            *(Column(f"iteration {row.iteration}", "number") for row in chosen),
        ),
        tuple(rows),
        caption="The reference is that of the validation documents, unless [reference] sets it.",
    )


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
