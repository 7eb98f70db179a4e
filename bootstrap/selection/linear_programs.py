"""Linear and integer programs that choose documents whose proportions stay within tolerance.

Every statistic is a ratio of sums over the documents chosen: ``numerator / denominator``. That it
is within `stretch` times its tolerance of a value v says

    sign * (numerator - v * denominator) <= stretch * tolerance * denominator

for both signs, which is linear in which documents are chosen.
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
_SOLVED, _INFEASIBLE = 0, 2  # what scipy calls them


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The choices that hold `number` documents, or at most as many, within a tolerance.

    Here x says how much of each row of a content is chosen. Its last entry is the number of
    their tokens, which keeps the matrices sparse.

    Parameters
    ----------
    excess : csr_array of float64, shape (R, D + 1)
        ``sign * (numerator - v * denominator)`` of each statistic and sign.
    unit : csr_array of float64, shape (R, D + 1)
        ``tolerance * denominator`` of each.
    tokens : ndarray of float64, shape (D + 1,)
        The tokens of each row, and -1 for those of the choice.
    number : float
        The documents to choose.
    fixed_excess, fixed_unit : ndarray of float64, shape (R,)
        What documents contribute that are chosen already.
    fixed_tokens : float
        Their tokens.
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
        """State what a choice of `number` rows of a content must satisfy."""
        excess, unit = _statistics(content, proportions, tolerance)
        none = np.zeros(excess.shape[0])
        tokens = np.append(content.tokens.astype(float), -1.0)
        return cls(excess, unit, tokens, number, none, none)

    def fix(self, chosen: Indices, free: Indices) -> Program:
        """Take rows as chosen and leave only the `free` ones open."""
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

    def largest(self, most: Floats) -> int:
        """Give the most rows within tolerance for ``0 <= x <= most``, fractions allowed."""
        solved = self._best(np.ones(len(most)), most, exact=False)
        return 0 if solved is None else int(np.floor(solved.x[:-1].sum() + 1e-6))

    def prices(self, gain: Floats, most: Floats) -> Floats | None:
        """Give what each constraint costs where the gain of exactly `number` rows is largest.

        Parameters
        ----------
        gain : ndarray of float64, shape (D,)
            Of each row.
        most : ndarray of float64, shape (D,)
            How much of each row there is.

        Returns
        -------
        ndarray of float64, shape (R + 1,), or None
            For each statistic and sign, and for the tokens; None where no choice satisfies them.
        """
        solved = self._best(gain, most, exact=True)
        return (
            None
            if solved is None
            else np.append(solved.ineqlin.marginals, solved.eqlin.marginals[0])
        )

    def worth(self, gain: Floats, prices: Floats) -> Floats:
        """Give the gain of each row, less what it costs: the rows to choose are worth the most."""
        worth: Floats = (
            gain + ((self.excess - self.unit).T @ prices[:-1] + prices[-1] * self.tokens)[:-1]
        )
        return worth

    def _best(self, gain: Floats, most: Floats, *, exact: bool) -> OptimizeResult | None:
        """Maximise ``gain @ x`` within tolerance, fractions allowed."""
        within, room = self.excess - self.unit, self.fixed_unit - self.fixed_excess
        equal, total = self.tokens[None], np.array([-self.fixed_tokens])
        number = np.append(np.ones(len(gain)), 0.0)[None]
        if exact:
            equal, total = np.vstack([equal, number]), np.append(total, self.number)
        else:
            within, room = sp.vstack([within, number]), np.append(room, self.number)
        for method in ("highs-ds", "highs-ipm"):
            result = linprog(
                -np.append(gain, 0.0),
                A_ub=within,
                b_ub=room,
                A_eq=equal,
                b_eq=total,
                bounds=np.column_stack([np.zeros(len(gain) + 1), np.append(most, np.inf)]),
                method=method,
            )
            if result.status == _SOLVED:
                return result
            if result.status == _INFEASIBLE:
                return None
        raise RuntimeError(f"a selection's proportions could not be optimised: {result.message}")

    def whole(self, gain: Floats, *, exact: bool = False) -> npt.NDArray[np.bool_] | None:
        """Choose whole rows of the largest gain within tolerance, as far as the nodes go.

        Parameters
        ----------
        gain : ndarray of float64, shape (D,)
            Of each row.
        exact : bool
            Whether `number` rows are to be chosen, or at most as many.

        Returns
        -------
        ndarray of bool, shape (D,), or None
            Whether each row is chosen; None where no choice was found.
        """
        # With few rows nothing need be sparse, and with the number of tokens put in place of its
        # entry the program is better conditioned.
        within = (self.excess - self.unit).toarray()
        room = self.fixed_unit - self.fixed_excess - within[:, -1] * self.fixed_tokens
        within = within[:, :-1] + within[:, -1:] * self.tokens[:-1]
        least = np.append(np.full(len(room), -np.inf), self.number if exact else 0.0)
        result = milp(
            -gain,
            integrality=np.ones(len(gain)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(
                np.vstack([within, np.ones(len(gain))]), least, np.append(room, self.number)
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
    """Write the excess and the unit of every statistic that can be judged."""
    number = len(proportions.classes)
    values = np.split(proportions.values, [number, 2 * number])
    tolerances = np.split(tolerance, [number, 2 * number])
    none = np.zeros(len(content.tokens))
    tokens = np.append(none, 1.0)
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
    each = np.append(none + 1.0, 0.0)
    excess.append(np.append(content.empty, 0.0) - values[2][0] * each)
    unit.append(tolerances[2][0] * each)
    both = sp.csr_array(np.array(excess))
    units = sp.csr_array(np.array(unit))
    return sp.vstack([both, -both], format="csr"), sp.vstack([units, units], format="csr")
