"""Terms are shared out to their words, as a slow count of every word of every term does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.tokens import tokenize
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer

MakeGazetteer = Callable[..., Gazetteer]
Table = dict[str, dict[str, tuple[int, int]]]


def words_of(term: str) -> list[str]:
    """Cut a term into words, one term at a time."""
    words = fold(list(tokenize([term]).vocabulary))
    order = tokenize([term]).word_ids.tolist()
    return [words[number] for number in order if any(map(str.isalpha, words[number]))]


def by_hand(gazetteer: Gazetteer, classes: Sequence[str]) -> Table:
    """Count the bearers of each word, and those of the word alone, by class."""
    counts: Counter[tuple[str, str]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    table: Table = {}
    rows = gazetteer.terms.to_pylist(), gazetteer.classes.to_pylist(), gazetteer.counts.tolist()
    for term, name, count in zip(*rows, strict=True):
        if name not in classes:
            continue
        words = words_of(term)
        for word in words:
            counts[word, name] += count
            alone[word, name] += count * (len(words) == 1)
            table[word] = {}
    for word in table:
        table[word] = {name: (counts[word, name], alone[word, name]) for name in classes}
    return table


def table_of(counted: Frequencies) -> Table:
    assert len(set(counted.words)) == len(counted.words)
    assert counted.counts.shape == counted.alone.shape == (len(counted.words), len(counted.classes))
    rows = zip(counted.words, counted.counts.tolist(), counted.alone.tolist(), strict=True)
    return {
        word: {
            name: (count, alone)
            for name, count, alone in zip(counted.classes, counts, alones, strict=True)
        }
        for word, counts, alones in rows
    }


_WORDS = st.sampled_from(
    ["maria", "de", "puig-vila", "o'neill", "12", "mª", "-", "ñu", "josé", "3r"]
)
_TERMS = st.lists(_WORDS, min_size=1, max_size=4).map(" ".join)
_ROWS = st.lists(
    st.tuples(_TERMS, st.sampled_from(["a", "b", "c"]), st.integers(0, 10**12)), max_size=30
)


@settings(max_examples=30)
@given(_ROWS, st.sets(st.sampled_from(["a", "b", "c"])))
def test_words_are_borne_as_often_as_a_slow_count_says(make_gazetteer, rows, wanted) -> None:
    made = make_gazetteer(*rows)
    there = {name for _, name, _ in rows}
    classes = sorted(wanted & there)
    actual = Frequencies.from_gazetteer(made, classes)
    assert actual.classes == tuple(classes or sorted(there))
    assert table_of(actual) == by_hand(made, actual.classes)


def test_a_class_that_is_not_there_is_named(make_gazetteer: MakeGazetteer) -> None:
    with pytest.raises(InputError, match="no class town in the gazetteer; it has given, surname"):
        Frequencies.from_gazetteer(
            make_gazetteer(("a", "given", 1), ("b", "surname", 1)), ["given", "town"]
        )


def test_nothing_has_no_words(make_gazetteer: MakeGazetteer) -> None:
    actual = Frequencies.from_gazetteer(make_gazetteer())
    assert (actual.words, actual.classes) == ((), ())
    assert actual.rows(["Anna", ""]).tolist() == [-1, -1]
    assert actual.rows([]).tolist() == []
    assert Frequencies.from_gazetteer(make_gazetteer(("12 - 3", "a", 4))).words == ()


def test_words_are_looked_up_however_they_are_written(make_gazetteer: MakeGazetteer) -> None:
    actual = Frequencies.from_gazetteer(
        make_gazetteer(("jose", "a", 1), ("peña", "a", 2), ("vila", "a", 3))
    )
    written = ["José", "JOSE", "Jose\u0301", "Peña", "Pen\u0303a", "PEÑA", "pena", "vil", "VILA"]
    assert [actual.words[row] if row >= 0 else "" for row in actual.rows(written)] == [
        *("jose", "jose", "jose", "peña", "peña", "peña", "", "", "vila")
    ]


@settings(max_examples=30)
@given(st.sets(_WORDS), st.sets(_WORDS))
def test_words_that_another_dictionary_has_too_are_told(make_gazetteer, left, right) -> None:
    one, other = (
        Frequencies.from_gazetteer(make_gazetteer(*((word, "a", 1) for word in sorted(words))))
        for words in (left, right)
    )
    assert one.having(other).tolist() == [word in other.words for word in one.words]
