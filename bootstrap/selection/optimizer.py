"""Choosing documents whose proportions stay within tolerance.

With few statistics, a linear program leaves only a few documents undecided between in and out,
and a small integer program decides those (`bootstrap.selection.linear_programs`).

Documents of the same content (tokens, entities, lengths) are alike to the proportions, and of
those the more confident always come first. So programs are stated over kinds of documents, or,
where confidence matters, over runs of documents of a kind: a few thousand columns for any number
of documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bootstrap.selection.linear_programs import Indices, Program
from bootstrap.selection.proportions import Content, Floats, Reference

_RUNS = 16  # runs that documents of the same content are cut into, by confidence
_NEAR = 3000  # documents for which a run is too coarse: the ones the first program is unclear about
_OPEN = 120  # documents that the integer program decides
_SLACK = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)  # of the tolerance, kept free for whole documents
_CLOSE = 0.01  # of a deviation: what is this near, in parts or in units, need not be nearer
_LEAST_TOLERANCE = 1e-6  # so that even a number given as exactly 0 can be stretched
_APART = 1e-4  # of confidence between the first and the last document, so that none tie
_ONE_MORE = float(_OPEN + 1)  # gain of one more document: more than all confidences open


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Documents put together that are alike.

    Parameters
    ----------
    content : Content
        The content that all documents of a group have.
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
    """Documents to choose from, and what they must resemble.

    Parameters
    ----------
    content : Content
        Of each document.
    confidence : ndarray of float64, shape (D,)
        Of each document.
    apart : ndarray of float64, shape (D,)
        The confidence less up to `_APART`, the more the later a document comes, between 0 and 1.
        Prices cannot tell documents apart that tie.
    reference : Reference
        What a choice must resemble.
    kinds, runs : Groups
        Documents of the same content, and those of the same content and much the same confidence.
    """

    content: Content
    confidence: Floats
    apart: Floats
    reference: Reference
    kinds: Groups
    runs: Groups

    @classmethod
    def of(cls, content: Content, confidence: Floats, reference: Reference) -> Candidates:
        """Put documents together that are alike."""
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
    """Give documents of the same content the same number."""
    kind = content.tokens.copy()
    some = np.flatnonzero(~content.empty)
    if len(some):
        rows = np.column_stack([content.tokens, content.entities, content.lengths])[some]
        _, inverse = np.unique(rows, axis=0, return_inverse=True)
        kind[some] = kind.max() + 1 + inverse.reshape(-1)
    return np.unique(kind, return_inverse=True)[1]


def _spread(confidence: Floats) -> Floats:
    """Stretch confidences to the range from 0 to 1."""
    width = np.ptp(confidence)
    return (confidence - confidence.min()) / width if width else np.ones(len(confidence))


def largest_choice(candidates: Candidates, most: int, floor: int = 1) -> tuple[Indices, int]:
    """Choose as many documents as are within tolerance together, the most confident of them.

    Parameters
    ----------
    candidates : Candidates
        What to choose from.
    most : int
        The largest number of documents.
    floor : int
        The smallest number that is of use: at least 1.

    Returns
    -------
    chosen : ndarray of int64
        Rows of the candidates, in order; none where fewer than `floor` are found.
    bound : int
        No choice within tolerance is larger; where it is below `floor`, some smaller number may
        bound them too.

    Notes
    -----
    The tolerance depends on the size of the choice and grows as that falls, so that a choice
    within the tolerance of a larger size is within its own.
    """
    tolerance = candidates.reference.tolerance
    best = np.zeros(0, np.int64)
    top = _largest_size(candidates, most, floor)
    size = top
    while size >= max(len(best), floor):
        chosen = _choice(candidates, tolerance(size), size)
        if len(chosen) >= max(len(best), floor):
            best = chosen
        # Where the integer program sees all documents, it is worth asking for every size.
        if len(candidates.confidence) <= _OPEN:
            size -= 1
        elif len(best) or size == floor:
            break
        else:
            size = (size + floor) // 2
    return best, top


def nearest_choice(candidates: Candidates, number: int) -> Indices:
    """Choose documents with the smallest worst deviation, in units of the tolerance.

    Parameters
    ----------
    candidates : Candidates
        At least `number` of them.
    number : int
        How many to choose.

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

    # Parts of documents can come nearer than whole ones: look further away in growing steps ...
    high, step = low * (1 + _CLOSE), 1 + _CLOSE
    while (nearest := within(high)) is None:
        low, high, step = high, high * step, step**2
    # ... and then between the last two places.
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
    """Find how far the tolerance must be stretched at least for so many documents."""
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
    """Find the largest size that the linear program holds possible within its own tolerance.

    Below `floor`, it need not be the largest: a number is enough that none exceeds.
    """
    low, high, size = 0, most, most
    kinds = candidates.kinds
    while low < high and high >= floor:
        tolerance = candidates.reference.tolerance(size)
        program = _program(candidates, kinds.content, tolerance, most)
        reached = program.largest(kinds.sizes)
        # Sizes above have less tolerance, and so reach no further.
        if reached >= size:
            low, high = size, min(high, reached)
        else:
            low, high = max(low, reached), size - 1
        size = (low + high + 1) // 2
    return high


def _choice(candidates: Candidates, tolerance: Floats, size: int) -> Indices:
    """Choose `size` documents of the highest confidence, or less where that is not possible.

    Where the documents left open cannot fill what the linear programs leave, these are given a
    tighter tolerance, so that there is room.
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
    """Give the documents that linear programs choose, and those that they leave open.

    A first program over runs prices the constraints. Documents that are clearly worth their
    price are in, and those that are clearly not are out. A second program over the others makes
    the prices exact. The documents that are nearly worth their price are left open.
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
    """Give the rows that are clearly among the `number` of most worth, and those that may be."""
    order = rows[np.argsort(-worth, kind="stable")]
    begin = min(max(number - unclear // 2, 0), max(len(rows) - unclear, 0))
    return order[:begin], np.sort(order[begin : begin + unclear])
