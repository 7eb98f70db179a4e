"""Selection of documents whose proportions stay within tolerance, by linear programming.

Every statistic is a ratio of sums over the documents selected: ``numerator / denominator``. It is
within `tolerance` of a value v if

    sign * (numerator - v * denominator) <= tolerance * denominator

for both signs, which is linear in the selection. A slack variable on the right side measures how
far the worst statistic exceeds its tolerance.

The solution of a linear program with few constraints is fractional in only a few documents. The
same program in whole numbers decides these and the ones whose selection matters least.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from bootstrap.selection.proportions import Content, Floats, Reference

Indices = npt.NDArray[np.int64]
Range = tuple[int, int]  # the smallest and the largest number of documents

_FREE = 120  # documents that are decided in whole numbers
_NODES = 100  # of branch and bound: a limit that does not depend on the machine's speed
_MARGINS = (0.02, 0.1, 0.3)  # shares of the tolerance reserved for rounding
_PRECISION = 0.01  # relative and absolute precision of a deviation
_LEAST_TOLERANCE = 1e-6  # so that a tolerance of 0 can be scaled
_INFEASIBLE = 2  # a status of scipy


class _Program:
    """Selections from G groups of documents of equal content.

    The variables are the number of documents selected from each group, the number of their tokens,
    the number of all documents, and the slack.
    """

    def __init__(self, content: Content, sizes: Floats, reference: Reference) -> None:
        groups, classes = content.entities.shape
        values = reference.proportions.values
        self._rows = np.isfinite(values) & np.isfinite(reference.tolerance(1))
        self._values = values[self._rows, None]
        numerators, denominators = np.zeros((2, 2 * classes + 1, groups + 2))
        numerators[:, :groups] = np.vstack([content.entities.T, content.lengths.T, content.empty])
        denominators[:classes, -2] = 1.0
        denominators[classes:-1, :groups] = content.entities.T
        denominators[-1, -1] = 1.0
        self._numerators, self._denominators = numerators[self._rows], denominators[self._rows]
        self._sums = np.vstack([content.tokens, np.ones(groups)])
        self._totals = csr_array(np.hstack([self._sums, -np.eye(2, 3)]))
        self._average = np.append(sizes, self._sums @ sizes) / sizes.sum()
        self.sizes = sizes

    def _constraints(self, tolerance: Floats, number: Range) -> csr_array:
        """Return the rows of statistics, which must all be at most 0."""
        tolerated = np.maximum(tolerance[self._rows, None], _LEAST_TOLERANCE)
        over, under = (
            sign * self._numerators - (sign * self._values + tolerated) * self._denominators
            for sign in (1, -1)
        )
        # The slack is in units of the tolerance of as many documents like all of them.
        unit = tolerated * (self._denominators @ self._average)[:, None] * number[1]
        slack = -np.maximum(unit, _LEAST_TOLERANCE)
        return csr_array(np.vstack([np.hstack([over, slack]), np.hstack([under, slack])]))

    def relaxed(
        self, gain: Floats | None, tolerance: Floats, number: Range
    ) -> tuple[Floats, Floats] | None:
        """Maximise the gain within tolerance over fractions of documents."""
        # Without a gain, the slack is minimised. Returns the number selected from each group and
        # the reduced costs, or None if nothing is feasible.
        objective, low, high = self._bounds(gain, number)
        within = self._constraints(tolerance, number)
        for method in ("highs-ds", "highs-ipm"):
            result = linprog(
                objective,
                A_ub=within,
                b_ub=np.zeros(within.shape[0]),
                A_eq=self._totals,
                b_eq=np.zeros(2),
                bounds=np.column_stack([low, high]),
                method=method,
            )
            if result.status == _INFEASIBLE:
                return None
            if result.x is not None:
                reduced = result.lower.marginals + result.upper.marginals
                return result.x[:-3], reduced[:-3]
        raise RuntimeError(f"the selection could not be optimised: {result.message}")

    def deviation(self, number: Floats, tolerance: Floats) -> float:
        """Compute the largest deviation in units of the tolerance, which must contain no 0."""
        variables = np.append(number, self._sums @ number)
        numerators, denominators = self._numerators @ variables, self._denominators @ variables
        difference = np.abs(numerators - self._values[:, 0] * denominators)
        scale = tolerance[self._rows] * denominators
        ratio = np.divide(difference, scale, out=np.zeros_like(scale), where=scale > 0)
        return float(ratio.max(initial=0.0))

    def whole(
        self, gain: Floats | None, tolerance: Floats, number: Range, chosen: Indices, free: Indices
    ) -> Indices | None:
        """Decide the free documents, up to the limit of nodes, beside the chosen ones."""
        objective, low, high = self._bounds(gain, number)
        within = self._constraints(tolerance, number)
        columns = np.append(free, len(self.sizes) + np.arange(3))
        totals = -self._totals[:, chosen].sum(axis=1)
        result = milp(
            objective[columns],
            integrality=np.append(np.ones(len(free)), np.zeros(3)),
            bounds=Bounds(low[columns], high[columns]),
            constraints=[
                LinearConstraint(within[:, columns], -np.inf, -within[:, chosen].sum(axis=1)),
                LinearConstraint(self._totals[:, columns], totals, totals),
            ],
            options={"node_limit": _NODES, "mip_rel_gap": 0.0},
        )
        if result.x is None:
            return None
        return np.sort(np.concatenate([chosen, free[result.x[:-3] > 0.5]]))

    def _bounds(self, gain: Floats | None, number: Range) -> tuple[Floats, Floats, Floats]:
        """Return what is minimised, and the lower and upper bounds of the variables."""
        low, high = np.zeros(len(self.sizes) + 3), np.append(self.sizes, [np.inf, 0.0, np.inf])
        low[-2], high[-2] = number
        if gain is None:
            low[-1] = -np.inf
            return np.append(np.zeros(len(low) - 1), 1.0), low, high
        high[-1] = 0.0
        return np.append(-gain, np.zeros(3)), low, high


class Selector:
    """Selects documents in the proportions of a reference.

    Parameters
    ----------
    content, confidence : Content and ndarray of float64, shape (D,)
        The content and the confidence of each document.
    reference : Reference
        The proportions of a selection.
    """

    def __init__(self, content: Content, confidence: Floats, reference: Reference) -> None:
        self._content, self._confidence, self._reference = content, confidence, reference
        rows = np.column_stack([content.tokens, content.entities, content.lengths])
        _, first, sizes = np.unique(rows, axis=0, return_index=True, return_counts=True)
        # Documents of equal content are interchangeable where confidence does not matter.
        self._kinds = _Program(content.take(first), sizes.astype(float), reference)
        self._all = np.arange(len(confidence))
        self._documents = _Program(content, np.ones(len(confidence)), reference)

    def largest(self, most: int, floor: int) -> tuple[Indices, int]:
        """Select the largest number of documents within tolerance, and the most confident ones.

        Parameters
        ----------
        most : int
            The largest number of documents.
        floor : int
            The smallest acceptable number, at least 1.

        Returns
        -------
        chosen : ndarray of int64
            Rows of the content, in order; empty if fewer than `floor` are found.
        bound : int
            An upper bound on the size of selections within tolerance. A bound below `floor` need
            not be the tightest.

        Notes
        -----
        The tolerance increases as the size of the selection decreases, so that a selection within
        the tolerance of a larger size is within its own.
        """
        best = np.zeros(0, np.int64)
        top = self._largest_size(most, floor)
        # If the integer program covers all documents, every size is tried.
        every = len(self._confidence) <= _FREE
        sizes = range(top, floor - 1, -1) if every else (top, (top + floor) // 2, floor)
        for size in sizes:
            if size < max(len(best), floor) or (len(best) and not every):
                break
            chosen = self._most_confident(size)
            if len(chosen) >= max(len(best), floor):
                best = chosen
        return best, top

    def _largest_size(self, most: int, floor: int) -> int:
        """Find the largest size that fractions reach within its own tolerance."""
        # If it is below `floor`, any upper bound is returned.
        gain = np.ones(len(self._kinds.sizes))
        low, high, size = 0, most, most
        while low < high and high >= floor:
            solved = self._kinds.relaxed(gain, self._reference.tolerance(size), (0, most))
            reached = int(np.floor(solved[0].sum() + 1e-6)) if solved else 0
            # Larger sizes have less tolerance, so their maximum is not larger.
            if reached >= size:
                low, high = size, min(high, reached)
            else:
                low, high = max(low, reached), size - 1
            size = (low + high + 1) // 2
        return high

    def _most_confident(self, size: int) -> Indices:
        """Select `size` documents with the highest confidence, or fewer if that is infeasible."""
        tolerance = self._reference.tolerance(size)
        gain = 1.0 + _FREE + self._confidence  # one more document outweighs the confidence of all
        best = np.zeros(0, np.int64)
        for margin in _MARGINS:
            relaxed = self._documents.relaxed(gain, (1 - margin) * tolerance, (0, size))
            if relaxed is None or relaxed[0].sum() < len(best) + 1:
                break
            selected = self._documents.whole(gain, tolerance, (0, size), *self._decided(*relaxed))
            if selected is not None and len(selected) > len(best):
                best = selected
            if len(best) >= (1 - _PRECISION) * size:
                break
        return best

    def _decided(self, number: Floats, reduced_cost: Floats) -> tuple[Indices, Indices]:
        """Return the documents that a linear program selects, and those to decide."""
        # Most of the latter have entities: the others can balance only the number of documents.
        is_fractional = np.abs(number - np.round(number)) > _LEAST_TOLERANCE
        order = np.lexsort((-number, np.abs(reduced_cost), ~is_fractional))
        if len(order) > _FREE:
            empty = self._content.empty[order]
            order = np.concatenate([order[~empty][: 3 * _FREE // 4], order[empty]])
        free = np.sort(order[:_FREE])
        chosen = number > 0.5
        chosen[free] = False
        return np.flatnonzero(chosen), free

    def nearest(self, number: int) -> Indices:
        """Select documents with the smallest maximal deviation, in units of the tolerance.

        The deviation of a selection is the factor of the tolerance from which the slack is
        minimised next, until it stays (Dinkelbach, "On nonlinear fractional programming",
        Management Science, 1967).

        Parameters
        ----------
        number : int
            The number of documents to select.

        Returns
        -------
        ndarray of int64
            Rows of the content, in order.
        """
        tolerance = np.maximum(self._reference.tolerance(number), _LEAST_TOLERANCE)
        factor, deviation = np.inf, 1.0
        while abs(deviation - factor) > _PRECISION * max(deviation, 1.0):
            factor = deviation
            relaxed = self._kinds.relaxed(None, factor * tolerance, (number, number))
            assert relaxed is not None  # the slack admits any selection
            deviation = self._kinds.deviation(relaxed[0], tolerance)
        factor = (1 + _PRECISION) * deviation + _PRECISION
        relaxed = self._documents.relaxed(self._confidence, factor * tolerance, (number, number))
        assert relaxed is not None
        chosen, free = self._decided(*relaxed)
        nearest, best = np.concatenate([chosen, free[: number - len(chosen)]]), np.inf
        while True:
            rows = self._documents.whole(None, factor * tolerance, (number, number), chosen, free)
            if rows is None:
                return np.sort(nearest)
            factor = self._documents.deviation(np.isin(self._all, rows).astype(float), tolerance)
            if factor >= best:
                return np.sort(nearest)
            nearest, best = rows, factor
