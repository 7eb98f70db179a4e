"""Gazetteers add up, are written and read, and say what they have."""

from __future__ import annotations

import re
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.tables import table_bytes
from gazetteers.gazetteer import ClassSize, Gazetteer, merge

Row = tuple[str, str, int]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["ana", "ana maria", "", "garcia", "ñ", "b"]),
        st.sampled_from(["given", "surname", "x"]),
        st.integers(0, 2**53 + 1),
    ),
    max_size=30,
)


def gazetteer_of(rows: list[Row]) -> Gazetteer:
    columns = list(zip(*rows, strict=True)) or [[], [], []]
    schema = pa.schema([("term", pa.string()), ("class", pa.string()), ("count", pa.int64())])
    return Gazetteer.from_table(pa.table([pa.array(column) for column in columns], schema=schema))


def rows_of(gazetteer: Gazetteer) -> list[Row]:
    assert gazetteer.terms.type == gazetteer.classes.type == pa.large_string()
    assert gazetteer.counts.dtype == np.int64
    columns = gazetteer.terms, gazetteer.classes, gazetteer.counts
    return list(zip(*(column.tolist() for column in columns), strict=True))


def straightforward(rows: list[Row]) -> list[Row]:
    sums: Counter[tuple[str, str]] = Counter()
    for term, name, count in rows:
        sums[term, name] += count
    actual = [(term, name, count) for (term, name), count in sums.items()]
    return sorted(actual, key=lambda row: (-row[2], row[1], row[0]))


@settings(max_examples=30)
@given(rows=ROWS)
@example(rows=[])
@example(rows=[("a", "x", 0)])
@example(rows=[("a", f"class {number}", 2**60 + number) for number in range(20)])
def test_counts_of_a_term_and_class_are_added_up(rows: list[Row]) -> None:
    assert rows_of(gazetteer_of(rows)) == straightforward(rows)


@settings(max_examples=30)
@given(parts=st.lists(ROWS, min_size=1, max_size=4))
def test_what_is_merged_is_what_is_read_at_once(parts: list[list[Row]]) -> None:
    whole = merge([gazetteer_of(rows) for rows in parts])
    assert rows_of(whole) == straightforward([row for rows in parts for row in rows])


@settings(max_examples=30)
@given(rows=ROWS)
def test_classes_are_summed(rows: list[Row]) -> None:
    expected = []
    for name in {name for _, name, _ in rows}:
        of_class = [row for row in straightforward(rows) if row[1] == name]
        expected.append(ClassSize(name, len(of_class), sum(row[2] for row in of_class)))
    expected.sort(key=lambda size: (-size.count, size.name))
    assert gazetteer_of(rows).sizes() == expected


def test_a_gazetteer_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [("maria carmen", "given", 5), ("muñoz", "surname", 3), ("maria", "given", 9)]
    written = gazetteer_of(rows)
    written.save(tmp_path / "new" / "names.parquet")
    loaded = Gazetteer.load(tmp_path / "new" / "names.parquet")
    assert rows_of(loaded) == rows_of(written) == straightforward(rows)
    assert len(loaded) == 3
    assert stat.S_IMODE((tmp_path / "new" / "names.parquet").stat().st_mode) == 0o600


def _damaged(path: Path) -> None:
    gazetteer_of([("a", "x", 1)]).save(path)
    path.write_bytes(path.read_bytes()[:-9])


def _other_columns(path: Path) -> None:
    pq.write_table(pa.table({"word": ["a"], "count": [1]}), path)


def _other_types(path: Path) -> None:
    pq.write_table(pa.table({"term": ["a"], "class": ["x"], "count": [1.5]}), path)


def _nulls(path: Path) -> None:
    table = gazetteer_of([("a", "x", 1)]).table()
    missing = table.set_column(2, table.schema.field(2), pa.array([None], pa.int64()))
    path.write_bytes(table_bytes(missing))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_damaged, "is not a gazetteer; bootstrap gazetteer import creates one"),
        (_other_columns, "is not a gazetteer; bootstrap gazetteer import creates one"),
        (_other_types, "is not a gazetteer"),
        (_nulls, "is not a gazetteer"),
        (Path.mkdir, "is not a gazetteer"),
        (lambda path: path.write_text("term,class,count\na,x,1\n"), "is not a gazetteer"),
        (lambda path: None, "does not exist; expected a gazetteer"),
    ],
)
def test_what_is_no_gazetteer_is_refused(make: object, message: str, tmp_path: Path) -> None:
    make(tmp_path / "x.parquet")  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        Gazetteer.load(tmp_path / "x.parquet")


def test_a_term_is_found_in_all_its_classes() -> None:
    actual = gazetteer_of([("a", "x", 1), ("a b", "x", 7), ("a", "y", 2)]).rows_of_term("a")
    assert actual.to_pylist() == [
        {"term": "a", "class": "y", "count": 2},
        {"term": "a", "class": "x", "count": 1},
    ]


@pytest.mark.parametrize("word", ["maria", "el", "gasteiz", "o", "a.b", "ñ", "x"])
def test_terms_with_a_word_are_those_in_which_it_stands_alone(word: str) -> None:
    terms = ["maria", "maria carmen", "mariana luz", "ana maria", "ballestero; el", "elvira"]
    terms += ["vitoria-gasteiz", "o'donnell", "o", "a.b c", "aab c", "a b", "ñ n", "n ñ o"]
    gazetteer = gazetteer_of([(term, "x", 1) for term in terms])
    apart = {term: " ".join(re.split("[-;' ]+", term)) for term in terms}
    expected = {term for term in terms if term != word and f" {word} " in f" {apart[term]} "}
    actual = gazetteer.rows_with_word(word)["term"].to_pylist()
    assert len(actual) == len(expected)
    assert set(actual) == expected
