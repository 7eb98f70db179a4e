"""Metrics of iterations: written as JSON, read back the same, and refused in another shape."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runs.metrics import IterationMetrics, beyond_tolerance
from bootstrap.runs.observer import halves
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.evaluation.measures import ConfusionCounts
from corpus.evaluation.scoring import score
from taggers.base import Training

MakeMetrics = Callable[..., IterationMetrics]
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "iteration": st.integers(0, 99),
            "f1": st.floats(0, 1),
            "deviation": st.none() | NUMBERS | st.just(math.inf),
            "agreement": st.none() | NUMBERS,
            "proportions": st.dictionaries(st.text(), NUMBERS),
            "seconds": st.dictionaries(st.text(), NUMBERS),
            "left_out": st.dictionaries(st.text(), st.integers()),
            "classes": st.just({}),
            "training": st.none() | st.just(Training(False, "failed", 3, 1.5, True, "c")),
            "halves": st.just((ConfusionCounts(1, 2, 3), ConfusionCounts(0, 0, 0))),
        },
    )
)
def test_metrics_are_read_back_as_they_were(make_metrics, values) -> None:
    if values.get("deviation", 0) is None:
        values["worst"] = ""
    metrics = make_metrics(**values)
    text = json.dumps(metrics.to_dict(), allow_nan=False)
    assert IterationMetrics.from_dict(json.loads(text)) == metrics


def test_what_is_not_a_number_is_null_in_json(make_metrics: MakeMetrics) -> None:
    training = Training(False, "failed", 3, math.nan)
    record = make_metrics(deviation=math.inf, training=training).to_dict()
    assert (record["deviation"], record["training"]["loss"]) == (None, None)
    again = IterationMetrics.from_dict(record)
    assert again.deviation == math.inf
    assert again.training and math.isnan(again.training.loss)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record | {"loss": 1}, "keys are missing or unknown"),
        (lambda record: record | {"halves": [[1, 2], [3, 4]]}, r"\$\.halves\[0\]"),
        (lambda record: record | {"classes": {"A": {"f1": 1}}}, r"\$\.classes"),
        (lambda record: record | {"training": {"loss": 1}}, r"\$\.training"),
        (lambda record: record | {"tagged": True}, r"Expected `int`, got `bool` - at `\$\.tagged`"),
    ],
)
def test_the_refusal_says_what_is_wrong(make_metrics, change, message) -> None:
    with pytest.raises(ValueError, match=message):
        IterationMetrics.from_dict(change(make_metrics().to_dict()))


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), max_size=12))
def test_a_patient_is_in_one_half_and_the_halves_are_all(drawn) -> None:
    """A document has an entity or not, and it is found or not."""
    name = (Span(0, 4, "PERSON"),)
    gold = [Document(f"d{i}", "Anna", name * there, g) for i, (g, there, _) in enumerate(drawn)]
    predicted = [Document(f"d{i}", "Anna", name * seen) for i, (_, _, seen) in enumerate(drawn)]
    scores = score(gold, predicted)
    counted = halves(make_batch(gold, labelled=True), scores)
    assert ConfusionCounts(*np.sum(counted, axis=0).tolist()) == scores.counts("ner")
    sides = {
        group: number % 2 for number, group in enumerate(dict.fromkeys(g for g, _, _ in drawn))
    }
    for side in (0, 1):
        here = [place for place, (group, _, _) in enumerate(drawn) if sides[group] == side]
        part = score([gold[place] for place in here], [predicted[place] for place in here])
        assert counted[side] == part.counts("ner")


@pytest.mark.parametrize("number", [1, 2, 7])
def test_documents_without_a_patient_alternate(number: int) -> None:
    gold = [Document(f"d{i}", "Anna", (Span(0, 4, "PERSON"),)) for i in range(number)]
    left, right = halves(make_batch(gold, labelled=True), score(gold, gold))
    assert (left[0], right[0]) == ((number + 1) // 2, number // 2)


def test_selections_beyond_tolerance_are_told_from_those_within(make_metrics: MakeMetrics) -> None:
    deviations = [None, 1.0, 2.3, math.inf, 0.0]
    rows = [make_metrics(iteration=i, deviation=value) for i, value in enumerate(deviations)]
    assert [row.iteration for row in beyond_tolerance(rows)] == [2, 3]
