"""Tables, as they are shown and as CSV."""

from __future__ import annotations

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.reports.tables import (
    Cell,
    Column,
    Estimate,
    Kind,
    Table,
    shown_cell,
    shown_range,
    table_csv,
)


def table(*rows: tuple[Cell, ...], kinds: tuple[Kind, ...]) -> Table:
    columns = tuple(Column(f"c{number}", kind) for number, kind in enumerate(kinds))
    return Table("t", "A table", columns, rows)


def test_csv_has_all_digits_and_a_column_for_each_end() -> None:
    kinds: tuple[Kind, ...] = ("text", "score", "interval", "estimate")
    full = ("a", 1 / 3, (0.1, 0.25), Estimate(0.5, (0.4, 0.6)))
    text = table_csv(table(full, ("b", None, None, None), kinds=kinds))
    head, first, second = csv.reader(io.StringIO(text))
    assert head == ["c0", "c1", "c2 (low)", "c2 (high)", "c3", "c3 (low)", "c3 (high)"]
    assert first == ["a", str(1 / 3), "0.1", "0.25", "0.5", "0.4", "0.6"]
    assert second == ["b", *[""] * 6]
    odd = (Estimate(0.5), math.nan, math.inf)
    alone = table_csv(table(odd, kinds=("estimate", "score", "score")))
    assert alone.splitlines()[1] == "0.5,,,,"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=1))
def test_text_is_read_back_and_no_formula(names: list[str]) -> None:
    text = table_csv(table(*((name, 1) for name in names), kinds=("text", "count")))
    rows = list(csv.reader(io.StringIO(text)))[1:]
    for name, (shown, one) in zip(names, rows, strict=True):
        assert one == "1"
        assert shown in (name, f"'{name}")
        assert shown[:1] not in ("=", "+", "-", "@", "\t")


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (None, "score", ""), (math.nan, "number", ""), (math.inf, "number", "unlimited"),
        ("x", "text", "x"), (1234, "count", "1,234"), (0.12345, "score", "0.123"),
        (-0.0, "signed", "+0.000"), (1234.56, "seconds", "1,234.6"), (0.0123, "number", "0.0123"),
        (0.5, "percent", "50.0%"), ((-0.1, 0.2), "interval", "-0.100 to +0.200"),
        (Estimate(0.5), "estimate", "0.500"), (0.74, "estimate", "0.740"),
    ],
)  # fmt: skip
def test_cells_are_shown_by_their_kind(value: Cell, kind: Kind, shown: str) -> None:
    assert shown_cell(value, kind) == shown
    assert shown_range(value) == ""
    assert shown_range(Estimate(0.15, (0.1, 0.2))) == "0.100–0.200"


def test_the_best_cells_are_marked_with_ties_and_keep_their_marks() -> None:
    rows = (("a", Estimate(0.5), 3, None), ("b", Estimate(0.7), 3, None), ("c", None, 9, None))
    whole = table(*rows, kinds=("text", "estimate", "count", "score"))
    marked = whole.with_best("c1", "c3").with_best("c2")
    assert marked.marked == {(1, 1), (2, 2)}
    assert marked.only("c2", "absent", "c1").marked == {(1, 1), (2, 0)}
    assert [column.title for column in marked.without_empty().columns] == ["c0", "c1", "c2"]
    assert not table(rows[0], kinds=("text", "estimate", "count", "score")).with_best("c1").marked
