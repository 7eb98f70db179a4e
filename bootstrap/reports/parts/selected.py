"""What a run learned from: documents selected and annotated, and the proportions of classes."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from bootstrap.reports.content import Block, Paragraph, pair
from bootstrap.reports.figures import Axis, Figure, Series, one_panel
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.scores import iteration_names
from bootstrap.reports.tables import Cell, Column, Estimate, Table, columns
from bootstrap.runs.metrics import beyond_tolerance

_RATE = " per token"
_EMPTY = "documents without entities"


def selected_blocks(record: RunRecord) -> tuple[Block, ...]:
    """Return what joined the training set, and in which proportions."""
    blocks: tuple[Block, ...] = (
        *pair(_selected_figure(record), _selected_table(record)),
        *pair(proportions_figure(record), _proportions_table(record)),
    )
    beyond = ", ".join(str(row.iteration) for row in beyond_tolerance(record.rows))
    if not beyond:
        return blocks
    note = f"The selections of these iterations did not keep the reference proportions: {beyond}."
    return (Paragraph(note, is_note=True), *blocks)


def _selected_figure(record: RunRecord) -> Figure | None:
    """Build the figure of the documents of each iteration; None if there are none."""
    numbers = {
        "selected": [row.selected for row in record.rows],
        "annotated": [row.queried for row in record.rows],
    }
    series = [
        Series.from_values(name, values, mark="bars", style=style)
        for style, (name, values) in enumerate(numbers.items())
        if any(values)
    ]
    if not series:
        return None
    return Figure(
        "selected",
        "Documents that joined the training set",
        "Selected: pseudo-labeled by the model. Annotated: by people, in active learning.",
        iteration_names(record),
        Axis("documents", low=0.0, whole=True),
        one_panel(*series),
    )


def _selected_table(record: RunRecord) -> Table | None:
    """Build the table of the selections; None if nothing was tagged or annotated."""
    table = Table.from_items(
        "selected",
        "Selections",
        [row for row in record.rows if row.tagged or row.queried],
        [
            ("iteration", "count", lambda row: row.iteration),
            ("annotated", "count", lambda row: row.queried),
            ("tagged", "count", lambda row: row.tagged),
            ("confident", "count", lambda row: row.confident),
            ("selected", "count", lambda row: row.selected),
            ("deviation", "number", lambda row: row.deviation),
            (
                "right entities",
                "percent",
                lambda row: row.quality.precision if row.quality else None,
            ),
            ("entities found", "percent", lambda row: row.quality.recall if row.quality else None),
            ("new entities", "count", lambda row: row.new_entities),
            ("unlabeled tokens", "percent", lambda row: row.unknown),
            ("strategy", "text", lambda row: row.strategy),
        ],
        "Right entities and entities found: precision and recall of what the same rule selects "
        "from the validation documents. Deviation: from the reference proportions, in units of the "
        "tolerance.",
    )
    return table if table.rows else None


def _rates(proportions: Mapping[str, float]) -> dict[str, float]:
    """Return the entities per 1,000 tokens of each class, frequent ones first."""
    rates = {
        name.removesuffix(_RATE): 1000 * value
        for name, value in proportions.items()
        if name.endswith(_RATE)
    }
    return dict(sorted(rates.items(), key=lambda item: (-item[1], item[0])))


def proportions_figure(record: RunRecord) -> Figure | None:
    """Build the figure of the proportions of classes; None if nothing was selected."""
    reference = {name: rate for name, rate in _rates(record.rows[0].reference).items() if rate > 0}
    selections = [_rates(row.selected_proportions) for row in record.rows if row.selected]
    if not selections or not reference:
        return None
    ratios = [[rates[name] / rate for rates in selections] for name, rate in reference.items()]
    selected = [Estimate(fmean(of_class), (min(of_class), max(of_class))) for of_class in ratios]
    return Figure(
        "proportions",
        "Classes of the selected documents, relative to the reference",
        "Entities per token, as a multiple of the reference: 1 is the same, below 1 there are too "
        "few. Point: mean over the iterations that selected documents; line: their range. Frequent "
        "classes at the top.",
        Axis("class", names=tuple(reference)),
        Axis("selected / reference", low=0.0, high=max(1.2, 1.05 * max(map(max, ratios)))),
        one_panel(
            Series.from_values("selected", selected, mark="points"),
            Series("reference", (-0.5, len(reference) - 0.5), (1.0, 1.0), "guide", 6),
        ),
        rows=True,
    )


def _proportions_table(record: RunRecord) -> Table | None:
    """Build the table of the proportions of each selection; None if nothing was selected."""
    reference = record.rows[0].reference
    chosen = [row for row in record.rows if row.selected and row.selected_proportions]
    if not chosen or not reference:
        return None
    proportions = [reference, *(row.selected_proportions for row in chosen)]
    rates = list(map(_rates, proportions))
    rows: list[tuple[Cell, ...]] = [
        (f"{name}, per 1,000 tokens", *(of_part[name] for of_part in rates)) for name in rates[0]
    ]
    named = {f"{name}, tokens of an entity": f"{name} length" for name in rates[0]}
    rows += [
        (title, *(part.get(key) for part in proportions))
        for title, key in {**named, _EMPTY: _EMPTY}.items()
    ]
    return Table(
        "proportions",
        "Proportions",
        (
            Column("statistic"),
            Column("reference", "number"),
            *columns("number", *(f"iteration {row.iteration}" for row in chosen)),
        ),
        tuple(rows),
        caption="The reference is the validation documents, unless [select.reference] sets it.",
    )
