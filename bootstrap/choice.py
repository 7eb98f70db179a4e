"""Choosing documents whose proportions stay within tolerance, by linear programming.

Every statistic is a ratio of sums over the documents chosen, so that "within tolerance" is linear
in which documents those are. With few statistics, a linear program leaves only a few documents
undecided between in and out, and a small integer program decides those.

Documents of the same content (tokens, entities, lengths) are alike to the proportions, and of
those the more confident always come first. So programs are stated over runs of alike documents,
a few thousand columns for any number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from bootstrap.proportions import Content, Floats, Reference

Indices = npt.NDArray[np.int64]

_RUNS = 16  # runs that documents of the same content are cut into, by confidence
_NEAR = 3000  # documents for which a run is too coarse: the ones the first program is unclear about
_OPEN = 120  # documents that the integer program decides
_SLACK = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)  # of the tolerance, kept free for whole documents
_NODES = 100  # of its branch and bound: a limit that does not depend on the machine's speed
_CLOSE_ENOUGH = 1.01  # factor within which the smallest worst deviation is looked for
_CLOSE = 0.01  # a worst deviation, in units of the tolerance, that need not be made smaller
_LEAST_TOLERANCE = 1e-9  # so that even a number given as exactly 0 can be stretched
_APART = 1e-4  # of confidence between the first and the last document, so that none tie
_ONE_MORE = float(_OPEN + 1)  # gain of one more document: more than all confidences open


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Documents to choose from, and their runs.

    Parameters
    ----------
    content : Content
        Of each document.
    confidence : ndarray of float64, shape (D,)
        Of each document.
    apart : ndarray of float64, shape (D,)
        The confidence less up to `_APART`, the more the later a document comes. Prices cannot
        tell documents apart that tie.
    reference : Reference
        What a choice must resemble.
    runs : Content
        The content that the documents of a run share.
    sizes : ndarray of int64
        Documents of each run.
    run_confidence : ndarray of float64
        The mean of their `apart`.
    """

    content: Content
    confidence: Floats
    apart: Floats
    reference: Reference
    runs: Content
    sizes: Indices
    run_confidence: Floats

    @classmethod
    def of(cls, content: Content, confidence: Floats, reference: Reference) -> Candidates:
        """Cut the documents into runs."""
        kind = _kinds(content)
        apart = confidence - np.linspace(0, _APART, len(confidence))
        order = np.lexsort((-apart, kind))
        counts = np.bincount(kind)
        rank = np.arange(len(kind)) - np.repeat(np.cumsum(counts) - counts, counts)
        size = counts[kind[order]]
        run = rank * _RUNS // np.maximum(size, _RUNS)
        begins = np.flatnonzero(
            np.diff(kind[order], prepend=-1).astype(bool) | np.diff(run, prepend=-1).astype(bool)
        )
        sizes = np.diff(begins, append=len(kind))
        means = np.add.reduceat(apart[order], begins) / sizes
        runs = content.take(order[begins])
        return cls(content, confidence, apart, reference, runs, sizes, means)


def _kinds(content: Content) -> Indices:
    """Give documents of the same content the same number."""
    kind = content.tokens.copy()
    some = np.flatnonzero(~content.empty)
    if len(some):
        rows = np.column_stack([content.tokens, content.entities, content.lengths])[some]
        _, inverse = np.unique(rows, axis=0, return_inverse=True)
        kind[some] = kind.max() + 1 + inverse.reshape(-1)
    return np.unique(kind, return_inverse=True)[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The choices allowed: ``lower <= A @ x <= upper``.

    Here x says how many of each row of a content are chosen; its last entry is the number of
    their tokens, which keeps the matrix sparse.
    """

    matrix: sp.csr_array
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, content: Content, reference: Reference, tolerance: Floats, most: int) -> _Program:
        """Allow choices of at most `most` documents with every statistic within `tolerance`."""
        within = _within(content, reference, tolerance)
        tokens = np.append(content.tokens.astype(float), -1.0)
        number = np.append(np.ones(len(content.tokens)), 0.0)
        matrix = sp.vstack([within, sp.csr_array(np.array([tokens, number]))], format="csr")
        lower = np.append(np.full(within.shape[0], -np.inf), [0.0, 0.0])
        upper = np.append(np.zeros(within.shape[0]), [0.0, float(most)])
        return cls(matrix, lower, upper)

    def fix(self, chosen: Indices, free: Indices) -> _Program:
        """Take documents as chosen and leave only the `free` ones open."""
        fixed = np.asarray(self.matrix[:, chosen].sum(axis=1)).reshape(-1)
        columns = np.append(free, self.matrix.shape[1] - 1)
        return _Program(self.matrix[:, columns], self.lower - fixed, self.upper - fixed)

    def prices(self, gain: Floats, most: Floats) -> Floats | None:
        """Give what each constraint adds to the worth of x where ``gain @ x`` is largest."""
        solved = self._relaxed(gain, most)
        return None if solved is None else solved[1]

    def size(self, most: Floats) -> float:
        """Give the largest sum of x for ``0 <= x <= most``, fractions allowed."""
        solved = self._relaxed(np.ones(len(most)), most)
        return 0.0 if solved is None else float(solved[0].sum())

    def _relaxed(self, gain: Floats, most: Floats) -> tuple[Floats, Floats] | None:
        equal = self.lower == self.upper
        # Only the number of documents has two different finite bounds, of which 0 never binds.
        result = linprog(
            -np.append(gain, 0.0),
            A_ub=self.matrix[~equal],
            b_ub=self.upper[~equal],
            A_eq=self.matrix[equal],
            b_eq=self.upper[equal],
            bounds=np.column_stack([np.zeros(len(gain) + 1), np.append(most, np.inf)]),
            method="highs-ds",
        )
        if result.x is None:
            return None
        price = np.zeros(len(self.upper))
        price[~equal], price[equal] = result.ineqlin.marginals, result.eqlin.marginals
        return result.x[:-1], price

    def whole(self, gain: Floats) -> npt.NDArray[np.bool_] | None:
        """Maximise ``gain @ x`` for x of zeros and ones, as far as `_NODES` go."""
        # The number of tokens is put in place of its entry: with few columns nothing need be
        # sparse, and without the large number the program is better conditioned.
        dense = self.matrix.toarray()
        tokens, shift = dense[-2, :-1], self.upper[-2]
        weight = dense[:, -1:]
        rows = np.delete(dense[:, :-1] + weight * tokens, -2, axis=0)
        lower, upper = (
            np.delete(bound + weight[:, 0] * shift, -2) for bound in (self.lower, self.upper)
        )
        result = milp(
            -gain,
            integrality=np.ones(len(gain)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(rows, lower, upper),
            options={"node_limit": _NODES, "mip_rel_gap": 0.0},
        )
        if result.x is None:
            return None
        chosen: npt.NDArray[np.bool_] = result.x > 0.5
        return chosen


def _within(content: Content, reference: Reference, tolerance: Floats) -> sp.csr_array:
    """Write "every statistic is within tolerance" as ``A @ x <= 0``."""
    values = reference.proportions.values
    number = len(reference.proportions.classes)
    rows = []
    for sign in (1.0, -1.0):
        rate, length, (empty,) = np.split(values + sign * tolerance, [number, 2 * number])
        for column in range(number):
            if np.isfinite(rate[column]):
                rows.append(np.append(sign * content.entities[:, column], -sign * rate[column]))
            if np.isfinite(length[column]):
                excess = content.lengths[:, column] - length[column] * content.entities[:, column]
                rows.append(np.append(sign * excess, 0.0))
        rows.append(np.append(sign * (content.empty - empty), 0.0))
    return sp.csr_array(np.array(rows))


def largest_choice(candidates: Candidates, most: int) -> tuple[Indices, int]:
    """Choose as many documents as are within tolerance together, the most confident of them.

    Parameters
    ----------
    candidates : Candidates
        What to choose from.
    most : int
        The largest number of documents.

    Returns
    -------
    chosen : ndarray of int64
        Rows of the candidates, in order.
    bound : int
        No choice within tolerance is larger.

    Notes
    -----
    The tolerance depends on the size of the choice and grows as that falls, so that a choice
    within the tolerance of a larger size is within its own.
    """
    tolerance = candidates.reference.tolerance
    best = np.zeros(0, np.int64)
    size = top = _largest_size(candidates, most)
    while size >= max(len(best), 1):
        chosen = _choice(candidates, tolerance(size), size)
        if len(chosen) >= len(best):
            best = chosen
        # Where the integer program sees all documents, it is worth asking for every size.
        size = size - 1 if len(candidates.confidence) <= _OPEN else 0
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
    low, high = 0.0, 1.0
    while _bound(candidates, high * tolerance, number) < number:
        low, high = high, 2 * high
    while high > _CLOSE and high > low * _CLOSE_ENOUGH:
        middle = (low + high) / 2
        possible = _bound(candidates, middle * tolerance, number) >= number
        low, high = (low, middle) if possible else (middle, high)
    # Parts of documents can come nearer than whole ones: look further away in growing steps ...
    low, step = high, _CLOSE_ENOUGH
    while len(chosen := _choice(candidates, high * tolerance, number)) < number:
        low, high, step = high, high * step, step**2
    # ... and then between the last two places.
    while high > low * _CLOSE_ENOUGH:
        middle = (low * high) ** 0.5
        nearer = _choice(candidates, middle * tolerance, number)
        if len(nearer) < number:
            low = middle
        else:
            high, chosen = middle, nearer
    return chosen


def _bound(candidates: Candidates, tolerance: Floats, most: int) -> int:
    """Give the size that no choice within `tolerance` exceeds."""
    program = _Program.of(candidates.runs, candidates.reference, tolerance, most)
    return int(np.floor(program.size(candidates.sizes.astype(float)) + 1e-6))


def _largest_size(candidates: Candidates, most: int) -> int:
    """Find the largest size that the linear program holds possible within its own tolerance."""
    tolerance = candidates.reference.tolerance
    low, high, size = 0, most, most
    while low < high:
        reached = _bound(candidates, tolerance(size), size)
        low, high = (size, high) if reached == size else (max(low, reached), size - 1)
        size = (low + high + 1) // 2
    return low


def _choice(candidates: Candidates, tolerance: Floats, size: int) -> Indices:
    """Choose `size` documents of the highest confidence, or less where that is not possible.

    Where the documents left open cannot fill what the linear programs leave, these are given a
    tighter tolerance, so that there is room.
    """
    for slack in _SLACK:
        chosen, free = _relaxed_choice(candidates, (1 - slack) * tolerance, size)
        program = _Program.of(candidates.content, candidates.reference, tolerance, size)
        gain = _ONE_MORE + candidates.confidence
        decided = program.fix(chosen, free).whole(gain[free])
        if decided is not None:
            return np.sort(np.concatenate([chosen, free[decided]]))
    return np.zeros(0, np.int64)


def _relaxed_choice(
    candidates: Candidates, tolerance: Floats, size: int
) -> tuple[Indices, Indices]:
    """Give the documents that linear programs choose, and those that they leave open.

    A first program over runs prices the constraints. Documents that are clearly worth their
    price are in, and those that are clearly not are out. A second program over the others makes
    the prices exact. The documents that are nearly worth their price are left open.
    """
    gain = _ONE_MORE + candidates.apart
    rows = np.arange(len(gain))
    runs = _Program.of(candidates.runs, candidates.reference, tolerance, size)
    prices = runs.prices(_ONE_MORE + candidates.run_confidence, candidates.sizes.astype(float))
    if prices is None:
        return rows[:0], rows[:_OPEN]
    program = _Program.of(candidates.content, candidates.reference, tolerance, size)
    worth = gain + program.matrix.T[:-1] @ prices
    chosen, near = _clear(worth, rows, _NEAR)
    part = program.fix(chosen, near)
    prices = part.prices(gain[near], np.ones(len(near)))
    if prices is not None:
        worth[near] = gain[near] + part.matrix.T[:-1] @ prices
    more, free = _clear(worth, near, _OPEN)
    return np.concatenate([chosen, more]), free


def _clear(worth: Floats, rows: Indices, number: int) -> tuple[Indices, Indices]:
    """Give the rows that are clearly in, and the `number` of rows whose case is least clear."""
    order = rows[np.lexsort((rows, np.abs(worth[rows])))]
    clear = order[number:]
    return clear[worth[clear] > 0], np.sort(order[:number])
