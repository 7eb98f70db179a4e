"""What a run gained, counted on documents that chose nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runs.outcome import beyond_tolerance, halves, outcome_of
from corpus.document import Document, Span
from corpus.evaluation import ConfusionCounts, score


def row(left: tuple[int, int, int], right: tuple[int, int, int], **others: Any) -> dict[str, Any]:
    both = ConfusionCounts(*map(sum, zip(left, right, strict=True)))
    return {"halves": [list(left), list(right)], "f1": both.f1, "stopped": None, **others}


def test_each_half_chooses_for_the_other() -> None:
    rows = [
        row((5, 0, 5), (5, 0, 5)),
        row((9, 0, 1), (6, 0, 4)),  # the left half's choice
        row((8, 0, 2), (7, 0, 3), stopped="maximum"),  # the right half's choice
    ]
    outcome = outcome_of(rows)
    assert outcome.first == (10, 0, 10)
    assert outcome.best == (8 + 6, 0, 2 + 4)
    assert outcome.iteration == 1
    assert outcome.stopped == "maximum"


def test_what_is_best_by_chance_is_not_counted_where_it_was_chosen() -> None:
    """Two iterations that are each lucky in one half: together they gained nothing."""
    rows = [row((5, 0, 5), (5, 0, 5)), row((9, 0, 1), (1, 0, 9)), row((1, 0, 9), (9, 0, 1))]
    outcome = outcome_of(rows)
    assert outcome.best == (2, 0, 18)
    assert outcome.best.f1 < outcome.first.f1


def test_without_iterations_nothing_is_gained() -> None:
    outcome = outcome_of([row((5, 1, 2), (3, 1, 2), stopped="exhausted")])
    assert outcome.first == outcome.best == (8, 2, 4)
    assert (outcome.iteration, outcome.stopped) == (0, "exhausted")


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), max_size=12))
def test_a_patient_is_in_one_half_and_the_halves_are_all(
    drawn: list[tuple[str, bool, bool]],
) -> None:
    """A document has an entity or not, and it is found or not."""
    name = (Span(0, 4, "PERSON"),)
    gold = [Document(f"d{i}", "Anna", name * there, g) for i, (g, there, _) in enumerate(drawn)]
    found = [Document(f"d{i}", "Anna", name * seen) for i, (_, _, seen) in enumerate(drawn)]
    scores = score(gold, found)
    counted = halves(gold, scores)
    assert ConfusionCounts(*map(sum, zip(*counted, strict=True))) == scores.counts("ner")
    sides = {
        group: number % 2 for number, group in enumerate(dict.fromkeys(g for g, _, _ in drawn))
    }
    for side in (0, 1):
        here = [place for place, (group, _, _) in enumerate(drawn) if sides[group] == side]
        part = score([gold[place] for place in here], [found[place] for place in here])
        assert counted[side] == list(part.counts("ner"))


@pytest.mark.parametrize("number", [1, 2, 7])
def test_documents_without_a_patient_alternate(number: int) -> None:
    gold = [Document(f"d{i}", "Anna", (Span(0, 4, "PERSON"),)) for i in range(number)]
    left, right = halves(gold, score(gold, gold))
    assert (left[0], right[0]) == ((number + 1) // 2, number // 2)


def test_selections_beyond_tolerance_are_told_from_those_within() -> None:
    """JSON knows no infinity: there, a deviation without a number is one of some statistic."""
    rows = [
        {"iteration": 0, "deviation": None, "worst": ""},  # nothing was to be selected
        {"iteration": 1, "deviation": 1.0, "worst": "PERSON per token"},
        {"iteration": 2, "deviation": 2.3, "worst": "PERSON per token"},
        {"iteration": 3, "deviation": None, "worst": "PERSON length"},
        {"iteration": 4, "deviation": None},  # of a run from before statistics were named
    ]
    assert [row["iteration"] for row in beyond_tolerance(rows)] == [2, 3]
