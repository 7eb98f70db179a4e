"""Optimal selection of documents whose proportions stay within tolerance.

With few statistics, the solution of a linear program is fractional in a few documents only, and a
small integer program decides those (`bootstrap.selection.linear_programs`).

Documents of equal content (tokens, entities, lengths) are interchangeable for the proportions, and
the more confident of them always come first. Programs are therefore stated over kinds of documents
or, where confidence matters, over runs of documents of a kind: a few thousand columns for any
number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bootstrap.selection.linear_programs import Indices, Program
from bootstrap.selection.proportions import Content, Floats, Reference

_RUNS = 16  # runs of documents of equal content, by confidence
_NEAR = 3000  # documents that the first program leaves undecided
_OPEN = 120  # documents that the integer program decides
_SLACK = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)  # of the tolerance, kept free for whole documents
_CLOSE = 0.01  # relative and absolute precision of a deviation
_LEAST_TOLERANCE = 1e-6  # so that a tolerance of 0 can be stretched
_APART = 1e-4  # of confidence, between the first and the last document, to break ties
_ONE_MORE = float(_OPEN + 1)  # gain of one more document: above the sum of free confidences


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of similar documents.

    Parameters
    ----------
    content : Content
        The content of every document of a group.
    sizes : ndarray of float64
        Documents of each group.
    confidence : ndarray of float64
        Their mean confidence.
    """

    content: Content
    sizes: Floats
    confidence: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Documents to select from, and the reference of their proportions.

    Parameters
    ----------
    content : Content
        Of each document.
    confidence : ndarray of float64, shape (D,)
        Of each document.
    apart : ndarray of float64, shape (D,)
        The confidence between 0 and 1, less up to `_APART` for later documents: prices cannot
        separate documents that tie.
    reference : Reference
        The proportions of a selection.
    kinds, runs : Groups
        Documents of equal content, and those of equal content and similar confidence.
    """

    content: Content
    confidence: Floats
    apart: Floats
    reference: Reference
    kinds: Groups
    runs: Groups

    @classmethod
    def of(cls, content: Content, confidence: Floats, reference: Reference) -> Candidates:
        """Group similar documents."""
        kind = _kinds(content)
        apart = _spread(confidence - np.linspace(0, _APART, len(confidence)))
        order = np.lexsort((-apart, kind))
        counts = np.bincount(kind)
        rank = np.arange(len(kind)) - np.repeat(np.cumsum(counts) - counts, counts)
        run = rank * _RUNS // np.maximum(counts[kind[order]], _RUNS)
        new_kind = np.diff(kind[order], prepend=-1) != 0
        new_run = new_kind | (np.diff(run, prepend=-1) != 0)

        def groups(begins: Indices) -> Groups:
            sizes = np.diff(begins, append=len(kind)).astype(float)
            means = np.add.reduceat(apart[order], begins) / sizes
            return Groups(content.take(order[begins]), sizes, means)

        kinds, runs = (groups(np.flatnonzero(new)) for new in (new_kind, new_run))
        return cls(content, confidence, apart, reference, kinds, runs)


def _kinds(content: Content) -> Indices:
    """Compute the kind of each document by its content, shape (D,)."""
    kind = content.tokens.copy()
    some = np.flatnonzero(~content.empty)
    if len(some):
        rows = np.column_stack([content.tokens, content.entities, content.lengths])[some]
        _, inverse = np.unique(rows, axis=0, return_inverse=True)
        kind[some] = kind.max() + 1 + inverse.reshape(-1)
    return np.unique(kind, return_inverse=True)[1]


def _spread(confidence: Floats) -> Floats:
    """Scale confidences to the range from 0 to 1."""
    width = np.ptp(confidence)
    return (confidence - confidence.min()) / width if width else np.ones(len(confidence))


def largest_choice(candidates: Candidates, most: int, floor: int = 1) -> tuple[Indices, int]:
    """Select as many documents as stay within tolerance, the most confident of them.

    Parameters
    ----------
    candidates : Candidates
        The documents to select from.
    most : int
        The largest number of documents.
    floor : int
        The smallest acceptable number, at least 1.

    Returns
    -------
    chosen : ndarray of int64
        Rows of the candidates, in order; none where fewer than `floor` are found.
    bound : int
        An upper bound on the size of selections within tolerance; not the tightest where it is
        below `floor`.

    Notes
    -----
    The tolerance grows as the size of the selection falls, so that a selection within the
    tolerance of a larger size is within its own.
    """
    tolerance = candidates.reference.tolerance
    best = np.zeros(0, np.int64)
    top = _largest_size(candidates, most, floor)
    size = top
    while size >= max(len(best), floor):
        chosen = _choice(candidates, tolerance(size), size)
        if len(chosen) >= max(len(best), floor):
            best = chosen
        # Where the integer program covers all documents, every size is tried.
        if len(candidates.confidence) <= _OPEN:
            size -= 1
        elif len(best) or size == floor:
            break
        else:
            size = (size + floor) // 2
    return best, top


def nearest_choice(candidates: Candidates, number: int) -> Indices:
    """Select documents with the smallest maximal deviation, in units of the tolerance.

    Parameters
    ----------
    candidates : Candidates
        At least `number` of them.
    number : int
        How many to select.

    Returns
    -------
    ndarray of int64
        Rows of the candidates, in order.
    """
    tolerance = np.maximum(candidates.reference.tolerance(number), _LEAST_TOLERANCE)
    low = _smallest_stretch(candidates, tolerance, number)
    chosen, free = _relaxed_choice(candidates, low * (1 + _CLOSE) * tolerance, number)

    def within(stretch: float) -> Indices | None:
        program = _program(candidates, candidates.content, stretch * tolerance, number)
        inside = program.fix(chosen, free).whole(np.zeros(len(free)), exact=True)
        return None if inside is None else np.concatenate([chosen, free[inside]])

    # Whole documents may deviate more than fractions: search outwards in growing steps ...
    high, step = low * (1 + _CLOSE), 1 + _CLOSE
    while (nearest := within(high)) is None:
        low, high, step = high, high * step, step**2
    # ... and then bisect the last step.
    while high > max(low, _CLOSE) * (1 + _CLOSE):
        middle = (max(low, _CLOSE) * high) ** 0.5
        nearer = within(middle)
        if nearer is None:
            low = middle
        else:
            high, nearest = middle, nearer
    return np.sort(nearest)


def _program(candidates: Candidates, content: Content, tolerance: Floats, number: int) -> Program:
    return Program.of(content, candidates.reference.proportions, tolerance, number)


def _smallest_stretch(candidates: Candidates, tolerance: Floats, number: int) -> float:
    """Find the smallest factor of the tolerance that admits `number` documents."""
    kinds = candidates.kinds

    def possible(stretch: float) -> bool:
        program = _program(candidates, kinds.content, stretch * tolerance, number)
        return program.largest(kinds.sizes) >= number

    low, high = _CLOSE, 1.0
    while not possible(high):
        low, high = high, 4 * high
    while high > low * (1 + _CLOSE):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if possible(middle) else (middle, high)
    return high


def _largest_size(candidates: Candidates, most: int, floor: int) -> int:
    """Find the largest size for which the linear program is feasible within its own tolerance.

    Below `floor`, any upper bound is returned.
    """
    low, high, size = 0, most, most
    kinds = candidates.kinds
    while low < high and high >= floor:
        tolerance = candidates.reference.tolerance(size)
        program = _program(candidates, kinds.content, tolerance, most)
        reached = program.largest(kinds.sizes)
        # Larger sizes have less tolerance, and so reach no further.
        if reached >= size:
            low, high = size, min(high, reached)
        else:
            low, high = max(low, reached), size - 1
        size = (low + high + 1) // 2
    return high


def _choice(candidates: Candidates, tolerance: Floats, size: int) -> Indices:
    """Select `size` documents with the highest confidence, or fewer where that is infeasible.

    Where no integer solution completes that of the linear programs, these get a tighter
    tolerance, which leaves room for whole documents.
    """
    gain = _ONE_MORE + candidates.confidence
    program = _program(candidates, candidates.content, tolerance, size)
    kinds = candidates.kinds
    best = np.zeros(0, np.int64)
    for slack in _SLACK:
        tight = (1 - slack) * tolerance
        number = _program(candidates, kinds.content, tight, size).largest(kinds.sizes)
        if number <= len(best):
            break
        chosen, free = _relaxed_choice(candidates, tight, number)
        decided = program.fix(chosen, free).whole(gain[free])
        if decided is not None and len(chosen) + decided.sum() > len(best):
            best = np.concatenate([chosen, free[decided]])
    return np.sort(best)


def _relaxed_choice(
    candidates: Candidates, tolerance: Floats, number: int
) -> tuple[Indices, Indices]:
    """Return the documents that linear programs select, and those that they leave undecided.

    A first program over runs prices the constraints. Documents with a clearly positive reduced
    gain are in, and those with a clearly negative one are out. A second program over the others
    refines the prices. Documents with a reduced gain near 0 are left undecided.
    """
    rows = np.arange(len(candidates.apart))
    runs = candidates.runs
    prices = _program(candidates, runs.content, tolerance, number).prices(
        runs.confidence, runs.sizes
    )
    program = _program(candidates, candidates.content, tolerance, number)
    worth = candidates.apart if prices is None else program.worth(candidates.apart, prices)
    chosen, near = _clear(worth, rows, number, _NEAR)
    part = program.fix(chosen, near)
    gain = candidates.apart[near]
    prices = part.prices(gain, np.ones(len(near)))
    worth = worth[near] if prices is None else part.worth(gain, prices)
    more, free = _clear(worth, near, number - len(chosen), _OPEN)
    return np.concatenate([chosen, more]), free


def _clear(worth: Floats, rows: Indices, number: int, unclear: int) -> tuple[Indices, Indices]:
    """Return the rows certainly among the `number` with the highest worth, and possible ones."""
    order = rows[np.argsort(-worth, kind="stable")]
    begin = min(max(number - unclear // 2, 0), max(len(rows) - unclear, 0))
    return order[:begin], np.sort(order[begin : begin + unclear])
