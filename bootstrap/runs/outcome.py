"""What a run gained, measured on documents that chose nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootstrap.self_training import best_iteration
from corpus.document import Document
from corpus.evaluation import ConfusionCounts, Scores


@dataclass(frozen=True, slots=True)
class Outcome:
    """What self-training gained.

    Parameters
    ----------
    first : ConfusionCounts
        Strict entities of iteration 0: the model of the seed alone, or the one started from.
    best : ConfusionCounts
        The same of the best iteration: one half of the validation documents chooses it and the
        other half is counted, then the halves change places.
    iteration : int
        The best iteration by all validation documents.
    stopped : str or None
        Why the run stopped; None while it has not.
    """

    first: ConfusionCounts
    best: ConfusionCounts
    iteration: int
    stopped: str | None


def halves(documents: Sequence[Document], scores: Scores) -> list[list[int]]:
    """Count strict entities in two halves of the documents; a group is in one of them.

    Returns
    -------
    list of two lists
        True positives, false positives and false negatives of each half.
    """
    groups: dict[str, int] = {}
    sides = np.array(
        [groups.setdefault(document.group or document.id, len(groups)) for document in documents]
    )
    return [list(scores.take(np.flatnonzero(sides % 2 == side)).counts("ner")) for side in (0, 1)]


def outcome_of(metrics: Sequence[Mapping[str, Any]]) -> Outcome:
    """Say what the iterations with these metrics gained."""
    counts = [[ConfusionCounts(*half) for half in row["halves"]] for row in metrics]
    choices = [best_iteration([row[side].f1 for row in counts]) for side in (0, 1)]
    return Outcome(
        first=_sum(counts[0]),
        best=_sum([counts[choices[0]][1], counts[choices[1]][0]]),
        iteration=best_iteration([row["f1"] for row in metrics]),
        stopped=metrics[-1]["stopped"],
    )


def deviation_of(row: Mapping[str, Any]) -> float:
    """Give the deviation of an iteration's selection from its metrics, in tolerances."""
    if row["deviation"] is None:  # nothing was selected, or it is infinite, which JSON has not
        return np.inf if row.get("worst") else 0.0
    return float(row["deviation"])


def beyond_tolerance(metrics: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Give the metrics of the iterations whose selections did not keep the proportions."""
    return [row for row in metrics if deviation_of(row) > 1]


def _sum(counts: Sequence[ConfusionCounts]) -> ConfusionCounts:
    return ConfusionCounts(*(sum(column) for column in zip(*counts, strict=True)))
