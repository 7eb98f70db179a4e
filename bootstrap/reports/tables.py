"""Tables as plain data, and their text as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bootstrap.reports.estimates import Estimate

#: What the cells of a column are: text, whole numbers, scores, signed scores, seconds, numbers of a
#: few digits, shares, estimates with their intervals, or intervals alone (signed or not).
Kind = Literal[
    "text", "count", "score", "signed", "seconds", "number", "percent", "estimate",
    "interval", "signed interval",
]  # fmt: skip
Cell = str | float | int | tuple[float, float] | Estimate | None

# A spreadsheet would take a text that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    title : str
        Its title.
    kind : str
        What its cells are.
    """

    title: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Parameters
    ----------
    name : str
        Its name in a report, and that of its CSV file.
    title : str
        What it holds.
    columns : tuple of Column
        The columns.
    rows : tuple of tuple
        The cells of each row.
    marked : frozenset of (int, int)
        Cells that are marked as the best of their column, as row and column.
    caption : str
        How to read it.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    caption: str = ""

    def __post_init__(self) -> None:
        """Refuse rows of other lengths."""
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.name}: rows of different lengths")


def shown_cell(value: Cell, kind: Kind) -> str:
    """Return a cell as it is shown; nothing for what is unknown."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, Estimate):
        return f"{value.value:.3f}"
    if isinstance(value, tuple):
        low, high = value
        return (
            f"{low:+.3f} to {high:+.3f}" if kind == "signed interval" else f"{low:.3f}–{high:.3f}"
        )
    if isinstance(value, str):
        return value
    if isinstance(value, float) and math.isinf(value):
        return "unlimited"
    return _shown_number(value, kind)


def _shown_number(value: float, kind: Kind) -> str:
    forms = {"count": ",.0f", "score": ".3f", "signed": "+.3f", "seconds": ",.1f", "percent": ".1%"}
    return format(value + 0.0, forms.get(kind, ".3g"))


def table_csv(table: Table) -> str:
    """Return a table as CSV: all digits, intervals as two columns, unknown cells empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    titles: list[str] = []
    for column in table.columns:
        ends = [f"{column.title} (low)", f"{column.title} (high)"]
        is_interval = column.kind.endswith("interval")
        titles += [] if is_interval else [column.title]
        titles += ends if is_interval or column.kind == "estimate" else []
    writer.writerow(map(_harmless, titles))
    for row in table.rows:
        cells: list[str | float] = []
        for column, value in zip(table.columns, row, strict=True):
            cells += _csv_cells(value, column.kind)
        writer.writerow(cells)
    return file.getvalue()


def _csv_cells(value: Cell, kind: Kind) -> Sequence[str | float]:
    if isinstance(value, Estimate):
        return [value.value, *(value.interval or ("", ""))]
    if isinstance(value, tuple):
        return value
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return [""] * (3 if kind == "estimate" else 2 if kind.endswith("interval") else 1)
    return [_harmless(value) if isinstance(value, str) else value]


def _harmless(text: str) -> str:
    """Quote a text that a spreadsheet would execute."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def best_cells(
    table: Table, columns: Sequence[str], *, lowest: bool = False
) -> set[tuple[int, int]]:
    """Return the cells with the best value of each of some columns, ties included."""
    found = set()
    for number, column in enumerate(table.columns):
        if column.title not in columns:
            continue
        values = [row[number] for row in table.rows]
        values = [value.value if isinstance(value, Estimate) else value for value in values]
        known = [value for value in values if isinstance(value, int | float)]
        if len(known) > 1:
            best = min(known) if lowest else max(known)
            found |= {(row, number) for row, value in enumerate(values) if value == best}
    return found
