"""Tables as plain data, for the page, the terminal and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeVar

#: What the cells of a column are: text, whole numbers, scores, signed scores, seconds, numbers of a
#: few digits, shares, estimates with their intervals, or signed intervals alone.
Kind = Literal[
    "text", "count", "score", "signed", "seconds", "number", "percent", "estimate", "interval"
]
_FORMATS = {
    "count": ",.0f",
    "score": ".3f",
    "estimate": ".3f",
    "signed": "+.3f",
    "seconds": ",.1f",
    "percent": ".1%",
}

# A spreadsheet would take a text that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score, and an interval around it.

    Parameters
    ----------
    value : float
        The score.
    interval : (float, float) or None
        Its 95 % confidence interval, or the range of several runs; None where it is unknown.
    """

    value: float
    interval: tuple[float, float] | None = None


Cell = str | float | int | tuple[float, float] | Estimate | None
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its title, and what its cells are."""

    title: str
    kind: Kind = "text"


def columns(kind: Kind, *titles: str) -> tuple[Column, ...]:
    """Return columns of one kind."""
    return tuple(Column(title, kind) for title in titles)


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Parameters
    ----------
    name : str
        Its name in a report, and the name of its CSV file.
    title : str
        What it holds.
    columns : tuple of Column
        The columns.
    rows : tuple of tuple
        The cells of each row.
    marked : frozenset of (int, int)
        Cells that are marked as the best of their column, as row and column. Where the first cell
        of a row is marked, the whole row is.
    caption : str
        How to read it.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    caption: str = ""

    @classmethod
    def from_items(
        cls,
        name: str,
        title: str,
        items: Iterable[_Row],
        columns: Sequence[tuple[str, Kind, Callable[[_Row], Cell]]],
        caption: str = "",
    ) -> Self:
        """Build a table with a row for each item: columns have a title, a kind and a cell of it."""
        titles = tuple(Column(title, kind) for title, kind, _ in columns)
        rows = tuple(tuple(cell(item) for _, _, cell in columns) for item in items)
        return cls(name, title, titles, rows, caption=caption)

    def with_best(self, *titles: str) -> Self:
        """Mark the highest values of some columns, ties included."""
        marked = set(self.marked)
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            values = [cell.value if isinstance(cell, Estimate) else cell for cell in cells]
            known = [value for value in values if isinstance(value, int | float)]
            if column.title in titles and len(known) > 1:
                marked |= {(row, place) for row, value in enumerate(values) if value == max(known)}
        return replace(self, marked=frozenset(marked))

    def only(self, *titles: str) -> Self:
        """Return the table with some of its columns, in this order; others are ignored."""
        present = [column.title for column in self.columns]
        return self._with_columns([present.index(title) for title in titles if title in present])

    def without_empty(self) -> Self:
        """Return the table without columns that have no known cell."""
        places = range(len(self.columns))
        kept = [place for place in places if any(row[place] is not None for row in self.rows)]
        return self._with_columns(kept if self.rows else places)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    def _with_columns(self, places: Sequence[int]) -> Self:
        return replace(
            self,
            columns=tuple(self.columns[place] for place in places),
            rows=tuple(tuple(row[place] for place in places) for row in self.rows),
            marked=frozenset(
                (row, places.index(place)) for row, place in self.marked if place in places
            ),
        )


def shown_cell(value: Cell, kind: Kind) -> str:
    """Return a cell as it is shown, without the interval of an estimate; "" if it is unknown."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Estimate):
        return f"{value.value:.3f}"
    if isinstance(value, tuple):
        low, high = value
        return f"{low:+.3f} to {high:+.3f}"
    if math.isinf(value):
        return "unlimited"
    rounded = round(value, 6) + 0.0 if kind == "signed" else value
    return format(rounded, _FORMATS.get(kind, ".3g"))


def shown_range(value: Cell) -> str:
    """Return the interval of an estimate as it is shown; "" if there is none."""
    if not isinstance(value, Estimate) or value.interval is None:
        return ""
    low, high = value.interval
    return f"{low:.3f}–{high:.3f}"


def table_csv(table: Table) -> str:
    """Return a table as CSV: all digits, intervals as two columns, unknown cells empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    titles: list[str] = []
    for column in table.columns:
        titles += [] if column.kind == "interval" else [column.title]
        if column.kind in ("interval", "estimate"):
            titles += [f"{column.title} (low)", f"{column.title} (high)"]
    writer.writerow(map(_harmless, titles))
    kinds = [column.kind for column in table.columns]
    for row in table.rows:
        writer.writerow([part for cell in map(_csv_cells, row, kinds) for part in cell])
    return file.getvalue()


def _csv_cells(value: Cell, kind: Kind) -> Sequence[str | float]:
    if isinstance(value, Estimate):
        return [value.value, *(value.interval or ("", ""))]
    if isinstance(value, tuple):
        return value
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return [""] * {"estimate": 3, "interval": 2}.get(kind, 1)
    return [_harmless(value) if isinstance(value, str) else value]


def _harmless(text: str) -> str:
    """Quote a text that a spreadsheet would execute."""
    return f"'{text}" if text.startswith(_FORMULA) else text
