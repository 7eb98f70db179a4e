"""Look-ups in gazetteers, compared with loops over their rows."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazetteers.gazetteer import COLUMNS, Gazetteer
from taggers.augmentation.term_lists import TermLists

Row = tuple[str, str, int]
terms = st.lists(st.sampled_from(["la", "vall", "sant", "mar"]), min_size=1, max_size=3).map(
    " ".join
)
rows = st.lists(st.tuples(terms, st.sampled_from(["town", "street"]), st.integers(0, 9)))


def gazetteer(found: list[Row]) -> Gazetteer:
    columns = [list(column) for column in zip(*found, strict=True)] or [[], [], []]
    return Gazetteer.from_table(pa.table(columns, schema=COLUMNS))


@settings(max_examples=50, deadline=None)
@given(rows, rows, terms)
def test_shares_and_rests_are_those_of_the_rows(
    first: list[Row], second: list[Row], term: str
) -> None:
    lists = TermLists([gazetteer(first), gazetteer(second)])
    merged = [
        (row["term"], row["class"], max(row["count"], 1))
        for part in (first, second)
        for row in gazetteer(part).table().to_pylist()
    ]
    sums = Counter[str]()
    expected = Counter[str]()
    for row, name, count in merged:
        sums[name] += count
        if row == term:
            expected[name] += count
    assert lists.shares([term, term, "other"]).get(term, {}) == pytest.approx(
        {name: count / sums[name] for name, count in expected.items()}
    )
    assert sorted(lists.classes) == sorted(sums)
    for name in ("town", "street", "none"):
        of_class = [row for row, other, _ in merged if other == name]
        assert lists.size(name) == len(of_class)
        for words in ("la", "sant mar"):
            begin = [row[len(words) + 1 :] for row in of_class if row.startswith(words + " ")]
            assert sorted(lists.rests(name, words)) == sorted(begin)
            end = [row[: -len(words) - 1] for row in of_class if row.endswith(" " + words)]
            assert sorted(lists.rests(name, words, at_end=True)) == sorted(end)


def test_terms_are_drawn_in_proportion_to_their_counts() -> None:
    lists = TermLists([gazetteer([("olot", "town", 3), ("vic", "town", 1), ("pi", "street", 9)])])
    draw, rng = lists.drawing("town"), np.random.default_rng(0)
    drawn = Counter(draw(rng) for _ in range(4000))
    assert drawn.keys() == {"olot", "vic"}
    assert drawn["olot"] / 4000 == pytest.approx(0.75, abs=0.03)


def test_words_that_begin_many_terms_are_typical() -> None:
    actual = [(f"calle {n}", "street", 1) for n in range(12)] + [("calle", "street", 1)]
    actual += [(f"plaza {n}", "street", 1) for n in range(9)]
    actual += [(f"{n} bis", "street", 1) for n in range(100, 130)]
    assert TermLists([gazetteer(actual)]).typical_words("street") == ["calle"]
