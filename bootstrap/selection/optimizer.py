"""Optimal selection of documents whose proportions stay within tolerance.

The solution of a linear program with few constraints is fractional in only a few documents. A small
integer program decides these (`bootstrap.selection.linear_programs`).

Documents of equal content (tokens, entities, lengths) are interchangeable for the proportions, and
the more confident ones are preferred. Programs are therefore stated over kinds of documents or,
where confidence matters, over runs of documents of a kind. They have a few thousand columns for
any number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bootstrap.selection.linear_programs import Indices, Program
from bootstrap.selection.proportions import Content, Floats, Reference

_RUNS_PER_KIND = 16  # runs of similar confidence within documents of equal content
_UNDECIDED = 3000  # documents left undecided by the first program
_FREE = 120  # documents decided by the integer program
_SLACK = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)  # shares of the tolerance reserved for rounding
_PRECISION = 0.01  # relative and absolute precision of a deviation
_LEAST_TOLERANCE = 1e-6  # so that a tolerance of 0 can be scaled
_TIE_BREAK = 1e-4  # of scaled confidence, between the first and the last document
_DOCUMENT_GAIN = float(_FREE + 1)  # of each document: above the sum of all free confidences


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of similar documents.

    Parameters
    ----------
    content : Content
        The content of every document of a group.
    sizes : ndarray of float64
        Number of documents of each group.
    confidence : ndarray of float64
        Mean scaled confidence of each group.
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
        The content of each document.
    confidence : ndarray of float64, shape (D,)
        The confidence of each document.
    separated : ndarray of float64, shape (D,)
        The confidence scaled to the range from 0 to 1, less up to `_TIE_BREAK` for later documents:
        dual prices cannot separate documents with ties.
    reference : Reference
        The proportions of a selection.
    kinds, runs : Groups
        Groups of equal content, and groups of equal content and similar confidence.
    """

    content: Content
    confidence: Floats
    separated: Floats
    reference: Reference
    kinds: Groups
    runs: Groups

    @classmethod
    def of(cls, content: Content, confidence: Floats, reference: Reference) -> Candidates:
        """Group similar documents."""
        kind = _kinds(content)
        separated = _scaled(confidence - np.linspace(0, _TIE_BREAK, len(confidence)))
        order = np.lexsort((-separated, kind))
        counts = np.bincount(kind)
        rank = np.arange(len(kind)) - np.repeat(np.cumsum(counts) - counts, counts)
        run = rank * _RUNS_PER_KIND // np.maximum(counts[kind[order]], _RUNS_PER_KIND)
        new_kind = np.diff(kind[order], prepend=-1) != 0
        new_run = new_kind | (np.diff(run, prepend=-1) != 0)

        def groups(begins: Indices) -> Groups:
            sizes = np.diff(begins, append=len(kind)).astype(float)
            means = np.add.reduceat(separated[order], begins) / sizes
            return Groups(content.take(order[begins]), sizes, means)

        kinds, runs = (groups(np.flatnonzero(new)) for new in (new_kind, new_run))
        return cls(content, confidence, separated, reference, kinds, runs)


def _kinds(content: Content) -> Indices:
    """Compute the kind of each document, a number for its content, shape (D,)."""
    kind = content.tokens.copy()
    some = np.flatnonzero(~content.empty)
    if len(some):
        rows = np.column_stack([content.tokens, content.entities, content.lengths])[some]
        _, inverse = np.unique(rows, axis=0, return_inverse=True)
        kind[some] = kind.max() + 1 + inverse.reshape(-1)
    return np.unique(kind, return_inverse=True)[1]


def _scaled(confidence: Floats) -> Floats:
    """Scale confidences to the range from 0 to 1."""
    width = np.ptp(confidence)
    return (confidence - confidence.min()) / width if width else np.ones(len(confidence))


def largest_selection(candidates: Candidates, most: int, floor: int = 1) -> tuple[Indices, int]:
    """Select the largest number of documents within tolerance, and the most confident ones.

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
        Rows of the candidates, in order; empty if fewer than `floor` are found.
    bound : int
        An upper bound on the size of selections within tolerance. A bound below `floor` need not
        be the tightest.

    Notes
    -----
    The tolerance increases as the size of the selection decreases, so that a selection within the
    tolerance of a larger size is within its own.
    """
    tolerance = candidates.reference.tolerance
    best = np.zeros(0, np.int64)
    top = _largest_size(candidates, most, floor)
    size = top
    while size >= max(len(best), floor):
        chosen = _most_confident(candidates, tolerance(size), size)
        if len(chosen) >= max(len(best), floor):
            best = chosen
        # If the integer program covers all documents, every size is tried.
        if len(candidates.confidence) <= _FREE:
            size -= 1
        elif len(best) or size == floor:
            break
        else:
            size = (size + floor) // 2
    return best, top


def nearest_selection(candidates: Candidates, number: int) -> Indices:
    """Select documents with the smallest maximal deviation, in units of the tolerance.

    Parameters
    ----------
    candidates : Candidates
        At least `number` documents.
    number : int
        The number of documents to select.

    Returns
    -------
    ndarray of int64
        Rows of the candidates, in order.
    """
    tolerance = np.maximum(candidates.reference.tolerance(number), _LEAST_TOLERANCE)
    low = _smallest_factor(candidates, tolerance, number)
    chosen, free = _relaxed_selection(candidates, low * (1 + _PRECISION) * tolerance, number)

    def selection_within(factor: float) -> Indices | None:
        program = _program(candidates, candidates.content, factor * tolerance, number)
        selected = program.fix(chosen, free).solve(np.zeros(len(free)), exact=True)
        return None if selected is None else np.concatenate([chosen, free[selected]])

    # Whole documents may deviate more than fractions: search outwards in growing steps ...
    high, step = low * (1 + _PRECISION), 1 + _PRECISION
    while (nearest := selection_within(high)) is None:
        low, high, step = high, high * step, step**2
    # ... and then bisect the last step.
    while high > max(low, _PRECISION) * (1 + _PRECISION):
        middle = (max(low, _PRECISION) * high) ** 0.5
        nearer = selection_within(middle)
        if nearer is None:
            low = middle
        else:
            high, nearest = middle, nearer
    return np.sort(nearest)


def _program(candidates: Candidates, content: Content, tolerance: Floats, number: int) -> Program:
    return Program.of(content, candidates.reference.proportions, tolerance, number)


def _smallest_factor(candidates: Candidates, tolerance: Floats, number: int) -> float:
    """Find the smallest factor of the tolerance that admits `number` documents."""
    kinds = candidates.kinds

    def is_feasible(factor: float) -> bool:
        program = _program(candidates, kinds.content, factor * tolerance, number)
        return program.max_number(kinds.sizes) >= number

    low, high = _PRECISION, 1.0
    while not is_feasible(high):
        low, high = high, 4 * high
    while high > low * (1 + _PRECISION):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if is_feasible(middle) else (middle, high)
    return high


def _largest_size(candidates: Candidates, most: int, floor: int) -> int:
    """Find the largest size for which the linear program is feasible within its own tolerance.

    If it is below `floor`, any upper bound is returned.
    """
    low, high, size = 0, most, most
    kinds = candidates.kinds
    while low < high and high >= floor:
        tolerance = candidates.reference.tolerance(size)
        program = _program(candidates, kinds.content, tolerance, most)
        reached = program.max_number(kinds.sizes)
        # Larger sizes have less tolerance, so their maximum is not larger.
        if reached >= size:
            low, high = size, min(high, reached)
        else:
            low, high = max(low, reached), size - 1
        size = (low + high + 1) // 2
    return high


def _most_confident(candidates: Candidates, tolerance: Floats, size: int) -> Indices:
    """Select `size` documents with the highest confidence, or fewer if that is infeasible.

    If no integer solution completes that of the linear programs, they are solved again with a
    tighter tolerance, which leaves a margin for rounding.
    """
    gain = _DOCUMENT_GAIN + candidates.confidence
    program = _program(candidates, candidates.content, tolerance, size)
    kinds = candidates.kinds
    best = np.zeros(0, np.int64)
    for slack in _SLACK:
        tightened = (1 - slack) * tolerance
        number = _program(candidates, kinds.content, tightened, size).max_number(kinds.sizes)
        if number <= len(best):
            break
        chosen, free = _relaxed_selection(candidates, tightened, number)
        decided = program.fix(chosen, free).solve(gain[free])
        if decided is not None and len(chosen) + decided.sum() > len(best):
            best = np.concatenate([chosen, free[decided]])
    return np.sort(best)


def _relaxed_selection(
    candidates: Candidates, tolerance: Floats, number: int
) -> tuple[Indices, Indices]:
    """Return the documents that linear programs select, and those that they leave undecided.

    The dual prices of a first program over runs determine reduced gains. Documents with a clearly
    positive one are selected, and those with a clearly negative one are rejected. A second program
    over the others refines the prices. Documents with a reduced gain near 0 are left undecided.
    """
    rows = np.arange(len(candidates.separated))
    runs = candidates.runs
    prices = _program(candidates, runs.content, tolerance, number).prices(
        runs.confidence, runs.sizes
    )
    program = _program(candidates, candidates.content, tolerance, number)
    reduced_gain = (
        candidates.separated
        if prices is None
        else program.reduced_gain(candidates.separated, prices)
    )
    chosen, near = _split_by_gain(reduced_gain, rows, number, _UNDECIDED)
    part = program.fix(chosen, near)
    gain = candidates.separated[near]
    prices = part.prices(gain, np.ones(len(near)))
    reduced_gain = reduced_gain[near] if prices is None else part.reduced_gain(gain, prices)
    more, free = _split_by_gain(reduced_gain, near, number - len(chosen), _FREE)
    return np.concatenate([chosen, more]), free


def _split_by_gain(
    reduced_gain: Floats, rows: Indices, number: int, undecided: int
) -> tuple[Indices, Indices]:
    """Return the rows with clearly the highest reduced gains, and the undecided rows after them."""
    order = rows[np.argsort(-reduced_gain, kind="stable")]
    begin = min(max(number - undecided // 2, 0), max(len(rows) - undecided, 0))
    return order[:begin], np.sort(order[begin : begin + undecided])
