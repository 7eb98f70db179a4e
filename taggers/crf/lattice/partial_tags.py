"""Known tags of packed documents, for training on complete and partial annotation."""

from __future__ import annotations

import numpy as np

from corpus.kernels.compiled import Array, compiled
from taggers.crf.lattice.packing import NEVER


@compiled(
    "int64[::1], int64[::1], int64[::1], real[:, ::1], float64[:, ::1], int16[::1], float64[::1]"
)
def score_paths(
    first: Array,
    lengths: Array,
    steps: Array,
    scores: Array,
    transition: Array,
    tags: Array,
    result: Array,
) -> None:
    """Score the tags of each document; 0 for one that has a negative tag."""
    for row in range(len(first)):
        total = 0.0
        before = 0
        for place in range(lengths[row]):
            tag = tags[first[row] + place]
            if tag < 0:
                total = 0.0
                break
            total += np.float64(scores[steps[place] + row, tag])
            if place > 0:
                total += transition[before, tag]
            before = tag
        result[row] = total


@compiled("int64[::1], int64[::1], int64[::1], int16[::1], int64, real[:, ::1]")
def constrain(
    first: Array, lengths: Array, steps: Array, tags: Array, labels: int, scores: Array
) -> None:
    """Exclude every label but the known one from the paths."""
    for row in range(len(first)):
        for place in range(lengths[row]):
            tag = tags[first[row] + place]
            if tag >= 0:
                for label in range(labels):
                    if label != tag:
                        scores[steps[place] + row, label] = NEVER


@compiled(
    "int64[::1], int64[::1], int64[::1], int16[::1], boolean[::1], real[:, ::1], float64[::1]"
)
def subtract_observed(
    first: Array,
    lengths: Array,
    steps: Array,
    tags: Array,
    known: Array,
    marginals: Array,
    departures: Array,
) -> None:
    """Convert marginals to expected less observed counts, in documents that are `known`.

    The marginal of the observed label less 1 is computed as minus the sum of the others, which is
    accurate for marginals close to 1. The sums over all tokens but the last of each document are
    added to `departures`.
    """
    labels = len(departures)
    for row in range(len(first)):
        for place in range(lengths[row]):
            values = marginals[steps[place] + row]
            if known[row]:
                tag = tags[first[row] + place]
                others = np.float64(0)
                for label in range(labels):
                    if label != tag:
                        others += values[label]
                values[tag] = -others
            if place < lengths[row] - 1:
                for label in range(labels):
                    departures[label] += values[label]
