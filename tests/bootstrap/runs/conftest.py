"""Metrics of iterations that no model was trained for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bootstrap.runs.metrics import EntityScores, IterationMetrics, TrialMetrics
from corpus.batch import Batch
from corpus.evaluation.measures import ConfusionCounts
from taggers.base import Training

METRICS = IterationMetrics(
    iteration=1,
    selected=20,
    precision=0.9,
    recall=0.5,
    f1=0.6,
    classes={"PERSON": EntityScores(0.9, 0.5, 0.6)},
    tagged=100,
    deviation=0.5,
    worst="PERSON per token",
    proportions={"PERSON per token": 0.1, "PERSON length": 1.5},
    confidence={"q05": 0.1, "q50": 0.5, "q95": 0.9},
    tagger="crf",
    training=Training(True, "converged", 12, 34.5),
    left_out={"damaged notes": 2},
    halves=(ConfusionCounts(4, 1, 1), ConfusionCounts(3, 2, 2)),
    seconds={"tag": 1.0, "train": 2.5},
    strategy="confident_documents",
    trials=[
        TrialMetrics(
            name="confident_documents",
            selected=20,
            precision=0.9,
            recall=0.5,
            f1=0.6,
            halves=(ConfusionCounts(4, 1, 1), ConfusionCounts(3, 2, 2)),
            chosen=True,
        )
    ],
)


@pytest.fixture(scope="session")
def make_metrics() -> Callable[..., IterationMetrics]:
    """Make metrics: `make_metrics(f1=0.7)`."""

    def make(**values: Any) -> IterationMetrics:
        return replace(METRICS, **values)

    return make


def same(left: Batch, right: Batch) -> bool:
    """Return whether two batches have the same documents, words and tags."""
    words = [
        [batch.vocabulary[word] for word in batch.word_ids.tolist()] for batch in (left, right)
    ]
    arrays = ("starts", "ends", "document_offsets", "tags")
    return (
        left.to_documents() == right.to_documents()
        and left.labels == right.labels
        and words[0] == words[1]
        and all((getattr(left, name) == getattr(right, name)).all() for name in arrays)
    )
