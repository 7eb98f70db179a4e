"""Linear and integer programs for selections whose proportions stay within tolerance.

Every statistic is a ratio of sums over the documents selected: ``numerator / denominator``. It is
within `stretch` times its tolerance of a value v if

    sign * (numerator - v * denominator) <= stretch * tolerance * denominator

for both signs, which is linear in the selection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp

from bootstrap.selection.proportions import Content, Floats, Proportions

Indices = npt.NDArray[np.int64]

_NODES = 100  # of branch and bound: a limit that does not depend on the machine's speed
_SOLVED, _INFEASIBLE = 0, 2  # statuses of scipy


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Selections of exactly, or at most, `number` documents within a tolerance.

    The variable x is the share of each row of a content that is selected. Its last entry is the
    number of their tokens, which keeps the matrices sparse.

    Parameters
    ----------
    excess : csr_array of float64, shape (R, D + 1)
        ``sign * (numerator - v * denominator)`` of each statistic and sign.
    unit : csr_array of float64, shape (R, D + 1)
        ``tolerance * denominator`` of each statistic and sign.
    tokens : ndarray of float64, shape (D + 1,)
        The tokens of each row, and -1 for the tokens of the selection.
    number : float
        The number of documents to select.
    fixed_excess, fixed_unit : ndarray of float64, shape (R,)
        Contributions of the rows that are selected already.
    fixed_tokens : float
        Tokens of the rows that are selected already.
    """

    excess: sp.csr_array
    unit: sp.csr_array
    tokens: Floats
    number: float
    fixed_excess: Floats
    fixed_unit: Floats
    fixed_tokens: float = 0.0

    @classmethod
    def of(
        cls, content: Content, proportions: Proportions, tolerance: Floats, number: float
    ) -> Program:
        """Build the program for a selection of `number` rows of a content."""
        excess, unit = _statistics(content, proportions, tolerance)
        zeros = np.zeros(excess.shape[0])
        tokens = np.append(content.tokens.astype(float), -1.0)
        return cls(excess, unit, tokens, number, zeros, zeros)

    def fix(self, chosen: Indices, free: Indices) -> Program:
        """Return the program with some rows selected, over the `free` rows alone."""
        columns = np.append(free, len(self.tokens) - 1)
        return Program(
            self.excess[:, columns],
            self.unit[:, columns],
            self.tokens[columns],
            self.number - len(chosen),
            self.fixed_excess + self.excess[:, chosen].sum(axis=1),
            self.fixed_unit + self.unit[:, chosen].sum(axis=1),
            self.fixed_tokens + float(self.tokens[chosen].sum()),
        )

    def max_number(self, upper: Floats) -> int:
        """Compute the largest number of rows within tolerance, for fractional x up to `upper`."""
        solved = self._solve_relaxed(np.ones(len(upper)), upper, exact=False)
        return 0 if solved is None else int(np.floor(solved.x[:-1].sum() + 1e-6))

    def prices(self, gain: Floats, upper: Floats) -> Floats | None:
        """Compute the dual prices of the constraints for the largest gain of `number` rows.

        Parameters
        ----------
        gain : ndarray of float64, shape (D,)
            The gain of each row.
        upper : ndarray of float64, shape (D,)
            The upper bound of each row.

        Returns
        -------
        ndarray of float64, shape (R + 1,), or None
            The price for each statistic and sign, and for the tokens; None if the program is
        infeasible.
        """
        solved = self._solve_relaxed(gain, upper, exact=True)
        return (
            None
            if solved is None
            else np.append(solved.ineqlin.marginals, solved.eqlin.marginals[0])
        )

    def reduced_gain(self, gain: Floats, prices: Floats) -> Floats:
        """Compute the reduced gain of each row: its gain less the prices of its constraints."""
        reduced_gain: Floats = (
            gain + ((self.excess - self.unit).T @ prices[:-1] + prices[-1] * self.tokens)[:-1]
        )
        return reduced_gain

    def _solve_relaxed(self, gain: Floats, upper: Floats, *, exact: bool) -> OptimizeResult | None:
        """Maximise ``gain @ x`` within tolerance over fractional x."""
        within, limits = self.excess - self.unit, self.fixed_unit - self.fixed_excess
        equality, totals = self.tokens[None], np.array([-self.fixed_tokens])
        number = np.append(np.ones(len(gain)), 0.0)[None]
        if exact:
            equality, totals = np.vstack([equality, number]), np.append(totals, self.number)
        else:
            within, limits = sp.vstack([within, number]), np.append(limits, self.number)
        for method in ("highs-ds", "highs-ipm"):
            result = linprog(
                -np.append(gain, 0.0),
                A_ub=within,
                b_ub=limits,
                A_eq=equality,
                b_eq=totals,
                bounds=np.column_stack([np.zeros(len(gain) + 1), np.append(upper, np.inf)]),
                method=method,
            )
            if result.status == _SOLVED:
                return result
            if result.status == _INFEASIBLE:
                return None
        raise RuntimeError(f"the selection could not be optimised: {result.message}")

    def solve(self, gain: Floats, *, exact: bool = False) -> npt.NDArray[np.bool_] | None:
        """Select whole rows with the largest gain within tolerance, up to the node limit.

        Parameters
        ----------
        gain : ndarray of float64, shape (D,)
            The gain of each row.
        exact : bool
            Whether exactly `number` rows are selected, or at most `number`.

        Returns
        -------
        ndarray of bool, shape (D,), or None
            Whether each row is selected; None if no selection was found.
        """
        # With few rows, dense matrices are small. Substituting the number of tokens improves the
        # condition of the program.
        within = (self.excess - self.unit).toarray()
        limits = self.fixed_unit - self.fixed_excess - within[:, -1] * self.fixed_tokens
        within = within[:, :-1] + within[:, -1:] * self.tokens[:-1]
        least = np.append(np.full(len(limits), -np.inf), self.number if exact else 0.0)
        result = milp(
            -gain,
            integrality=np.ones(len(gain)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(
                np.vstack([within, np.ones(len(gain))]), least, np.append(limits, self.number)
            ),
            options={"node_limit": _NODES, "mip_rel_gap": 0.0},
        )
        if result.x is None:
            return None
        chosen: npt.NDArray[np.bool_] = result.x > 0.5
        return chosen


def _statistics(
    content: Content, proportions: Proportions, tolerance: Floats
) -> tuple[sp.csr_array, sp.csr_array]:
    """Compute the excess and the unit of every statistic with a finite value and tolerance."""
    number = len(proportions.classes)
    values = np.split(proportions.values, [number, 2 * number])
    tolerances = np.split(tolerance, [number, 2 * number])
    zeros = np.zeros(len(content.tokens))
    tokens = np.append(zeros, 1.0)
    excess, unit = [], []
    for column in range(number):
        entities = np.append(content.entities[:, column], 0.0)
        lengths = np.append(content.lengths[:, column], 0.0)
        for numerator, denominator, value, tolerated in (
            (entities, tokens, values[0][column], tolerances[0][column]),
            (lengths, entities, values[1][column], tolerances[1][column]),
        ):
            if np.isfinite(value) and np.isfinite(tolerated):
                excess.append(numerator - value * denominator)
                unit.append(tolerated * denominator)
    ones = np.append(zeros + 1.0, 0.0)
    excess.append(np.append(content.empty, 0.0) - values[2][0] * ones)
    unit.append(tolerances[2][0] * ones)
    rows = sp.csr_array(np.array(excess))
    units = sp.csr_array(np.array(unit))
    return sp.vstack([rows, -rows], format="csr"), sp.vstack([units, units], format="csr")
