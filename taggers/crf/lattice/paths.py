"""Paths through packed documents: the best ones (Viterbi algorithm), and paths of known tags."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from taggers.crf.lattice.packing import LANES, NEVER, WHERE, Reals, Where


def padded_transition(transition: npt.NDArray[np.float64], real: np.dtype[np.floating]) -> Reals:
    """Pad transitions with 0; padding labels are excluded from all paths by their scores."""
    labels = len(transition)
    size = -(-labels // LANES) * LANES
    padded = np.zeros((size, size), real)
    padded[:labels, :labels] = transition
    return padded


@compiled("int64[::1], real[:, ::1], real[:, ::1], real[:, ::1]")
def viterbi(steps: Array, scores: Array, transition: Array, delta: Array) -> None:
    """Compute the score of the best path to each label of each token, into `delta`."""
    labels = scores.shape[1]
    for step in range(len(steps) - 1):
        now, after = steps[step], steps[step + 1]
        if step == 0:
            for token in range(now, after):  # an assignment of slices takes long to compile
                for label in range(labels):
                    delta[token, label] = scores[token, label]
            continue
        before = steps[step - 1]
        number = after - now
        row = 0
        while row < number:
            # Two documents at a time (the last one twice) halve the reading of transitions.
            other = min(row + 1, number - 1)
            old, old_other = delta[before + row], delta[before + other]
            new, new_other = delta[now + row], delta[now + other]
            for label in range(labels):
                new[label] = -np.inf
                new_other[label] = -np.inf
            for origin in range(0, labels, 4):
                t0, t1 = transition[origin], transition[origin + 1]
                t2, t3 = transition[origin + 2], transition[origin + 3]
                a0, a1, a2, a3 = old[origin], old[origin + 1], old[origin + 2], old[origin + 3]
                b0, b1 = old_other[origin], old_other[origin + 1]
                b2, b3 = old_other[origin + 2], old_other[origin + 3]
                for label in range(labels):
                    s0, s1, s2, s3 = t0[label], t1[label], t2[label], t3[label]
                    best = max(max(a0 + s0, a1 + s1), max(a2 + s2, a3 + s3))
                    new[label] = max(new[label], best)
                    best = max(max(b0 + s0, b1 + s1), max(b2 + s2, b3 + s3))
                    new_other[label] = max(new_other[label], best)
            row += 2
        for row in range(number):
            # Relative to the best score, so that long documents lose no precision.
            current = delta[now + row]
            best = current[0] + scores[now + row, 0]
            for label in range(labels):
                current[label] += scores[now + row, label]
                best = max(best, current[label])
            for label in range(labels):
                current[label] -= best


@compiled(
    f"{WHERE}, real[:, ::1], real[:, ::1], real[:, ::1], float64[:, ::1], int16[::1], float64[::1]"
)
def backtrack(
    where: Where,
    scores: Array,
    delta: Array,
    transition: Array,
    exact: Array,
    tags: Array,
    best: Array,
) -> None:
    """Follow the best paths back from their ends, ties to the lowest label, and score them.

    `transition` is the argument of `viterbi`; `exact` holds the same values in double precision and
    without padding. Rounding errors of single precision would accumulate along a path that repeats
    the same transition.
    """
    labels = len(exact)
    first, lengths, steps = where
    for row in range(len(first)):
        after = 0
        best[row] = 0.0
        for place in range(lengths[row] - 1, -1, -1):
            token = steps[place] + row
            last = place == lengths[row] - 1
            label = 0
            most = delta[token, 0] if last else delta[token, 0] + transition[0, after]
            for other in range(1, labels):
                value = delta[token, other]
                if not last:
                    value += transition[other, after]
                if value > most:
                    most, label = value, other
            best[row] += np.float64(scores[token, label])
            if not last:
                best[row] += exact[label, after]
            tags[first[row] + place] = label
            after = label


@compiled(f"{WHERE}, real[:, ::1], float64[:, ::1], int16[::1], float64[::1]")
def score_paths(where: Where, scores: Array, transition: Array, tags: Array, result: Array) -> None:
    """Score the tags of each document, which are all known."""
    first, lengths, steps = where
    for row in range(len(first)):
        total = 0.0
        before = 0
        for place in range(lengths[row]):
            tag = tags[first[row] + place]
            total += np.float64(scores[steps[place] + row, tag])
            if place > 0:
                total += transition[before, tag]
            before = tag
        result[row] = total


@compiled(f"{WHERE}, int16[::1], int64, real[:, ::1]")
def constrain(where: Where, tags: Array, labels: int, scores: Array) -> None:
    """Exclude every label but the known one from the paths."""
    first, lengths, steps = where
    for row in range(len(first)):
        for place in range(lengths[row]):
            tag = tags[first[row] + place]
            if tag >= 0:
                for label in range(labels):
                    if label != tag:
                        scores[steps[place] + row, label] = NEVER


@compiled(f"{WHERE}, int16[::1], boolean, real[:, ::1], float64[::1]")
def subtract_observed(
    where: Where, tags: Array, known: bool, marginals: Array, departures: Array
) -> None:
    """Convert marginals to expected less observed counts, if all tags are `known`.

    The marginal of the observed label less 1 is computed as minus the sum of the others, which is
    accurate for marginals close to 1. The sums over all tokens but the last of each document are
    added to `departures`.
    """
    labels = len(departures)
    first, lengths, steps = where
    for row in range(len(first)):
        for place in range(lengths[row]):
            values = marginals[steps[place] + row]
            if known:
                tag = tags[first[row] + place]
                others = np.float64(0)
                for label in range(labels):
                    if label != tag:
                        others += values[label]
                values[tag] = -others
            if place < lengths[row] - 1:
                for label in range(labels):
                    departures[label] += values[label]
