"""Minimisation of the objective of a CRF by the L-BFGS-B of scipy.

For L1 regularization, each weight is the difference of two variables that are not negative, so that
the norm is linear (Andrew and Gao, Scalable training of L1-regularized log-linear models, 2007).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, OptimizeResult, minimize

from taggers.base import Training

Vector = npt.NDArray[np.float64]
Evaluate = Callable[[Vector], tuple[float, Vector]]

_PERIOD = 10  # iterations over which the improvement is measured
_FLAT = 1e-5  # where no element of the (projected) gradient is larger, it ends
_PAIRS = 8  # stored steps and changes of the gradient
_ENDED, _LIMIT, _STOPPED = 0, 1, 99  # how scipy says that it ended: by itself, or by the callback


class StoppingCriteria(NamedTuple):
    """When a minimisation ends.

    Parameters
    ----------
    most : int
        After this number of iterations.
    delta : float
        When the value has decreased by less than this share within ten iterations.
    noise : float
        Relative rounding error of the values.
    """

    most: int = 100
    delta: float = 1e-5
    noise: float = 1e-12


def minimise(
    evaluate: Evaluate,
    start: Vector,
    *,
    curvature: Callable[[Vector], Vector],
    scaled: bool = False,
    l1: float = 0.0,
    criteria: StoppingCriteria,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Vector, Training]:
    """Minimise ``f(x) + l1 * |x|``.

    Parameters
    ----------
    evaluate : callable
        Computes f and its gradient at a point.
    start : ndarray of float64
        The initial point.
    curvature : callable
        Estimates the diagonal of the Hessian at a point; all elements are positive.
    scaled : bool
        Whether to scale variables so that the estimated curvature at `start` is 1 in each. This
        helps near the minimum.
    l1 : float
        Weight of the L1 norm.
    criteria : StoppingCriteria
        When it ends.
    progress : callable, optional
        Called with the number of completed iterations and their maximum.

    Returns
    -------
    x : ndarray of float64
        The point.
    training : Training
        Its loss includes the L1 norm. It has converged if the gradient vanished, or the objective
        stopped decreasing by more than its noise, and failed if the line search failed although the
        gradient predicts a further decrease.
    """
    most, delta, noise = criteria
    scale = 1 / np.sqrt(curvature(start)) if scaled else np.ones(1)
    values: list[float] = []

    def point(z: Vector) -> Vector:
        weights = z[: len(start)] - z[len(start) :] if l1 else z
        return weights * scale

    def objective(z: Vector) -> tuple[float, Vector]:
        value, gradient = evaluate(point(z))
        gradient = gradient * scale
        if l1:
            value += l1 * float((z.reshape(2, -1) * scale).sum())
            gradient = np.concatenate([l1 * scale + gradient, l1 * scale - gradient])
        if not values:
            values.append(value)
        return value, gradient

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        values.append(intermediate_result.fun)
        if progress:
            progress(len(values) - 1, most)
        if len(values) > _PERIOD and values[-1 - _PERIOD] - values[-1] < delta * abs(values[-1]):
            raise StopIteration

    def descend(begin: Vector) -> OptimizeResult:
        return minimize(
            objective,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0, np.inf) if l1 else None,
            callback=after_iteration,
            options={
                "maxiter": most - max(len(values) - 1, 0),
                "maxfun": 100 * most,
                "maxcor": _PAIRS,
                "gtol": _FLAT,
                "ftol": noise * 1e-3,
            },
        )

    end = descend(_halves(start / scale) if l1 else start / scale)
    while l1 and end.status == _ENDED and end.x.reshape(2, -1).min(axis=0).any():
        # A step may leave the value as it was while both halves of a weight are positive.
        end = descend(_halves(np.subtract(*end.x.reshape(2, -1))))
    x, value, done = point(end.x), float(end.fun), len(values) - 1
    converged = failed = False
    if not np.isfinite(values[0]):
        failed, outcome = True, "the objective is not finite where training begins"
    elif end.status in (_ENDED, _STOPPED):
        converged, outcome = True, "the objective no longer falls"
    elif end.status == _LIMIT:
        outcome = "the maximum number of iterations was reached"
    else:
        slope = evaluate(x)[1]
        slope = np.sign(slope) * np.maximum(np.abs(slope) - l1, 0)
        converged = float(slope @ (slope / curvature(x))) / 2 <= noise * abs(value)
        failed = not converged
        outcome = (
            "no step makes the objective smaller by more than its noise"
            if converged
            else "no step along the gradient makes the objective smaller"
        )
    return x, Training(converged, outcome, done, value, failed)


def _halves(x: Vector) -> Vector:
    """Return the positive and the negative part of a point, one after the other."""
    return np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)])
