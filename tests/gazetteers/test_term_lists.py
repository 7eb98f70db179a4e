"""Look-ups in gazetteers, compared with loops over their rows."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazetteers.gazetteer import COLUMNS, Gazetteer
from gazetteers.term_lists import TermLists

Row = tuple[str, str, int]
terms = st.lists(st.sampled_from(["la", "vall", "sant", "mar"]), min_size=1, max_size=3).map(
    " ".join
)
rows = st.lists(st.tuples(terms, st.sampled_from(["town", "street"]), st.integers(0, 9)))


def gazetteer(rows: list[Row]) -> Gazetteer:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    return Gazetteer.from_table(pa.table(columns, schema=COLUMNS))


@settings(max_examples=50, deadline=None)
@given(rows, rows, terms)
def test_shares_and_rests_are_those_of_the_rows(first, second, term) -> None:
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
            assert not of_class or sorted(lists.rests(name, words)) == sorted(begin)


def test_terms_are_drawn_in_proportion_to_their_counts() -> None:
    lists = TermLists([gazetteer([("olot", "town", 3), ("vic", "town", 1), ("pi", "street", 9)])])
    rng = np.random.default_rng(0)
    drawn = Counter(lists.draw("town", rng.random()) for _ in range(4000))
    assert drawn.keys() == {"olot", "vic"}
    assert drawn["olot"] / 4000 == pytest.approx(0.75, abs=0.03)
