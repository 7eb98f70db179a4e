"""Minimisation of a smooth convex function, optionally with L1 regularization.

L-BFGS (Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.5), and OWL-QN for L1
regularization (Andrew and Gao, Scalable training of L1-regularized log-linear models, 2007). The
default stopping criteria are those of CRFsuite.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Evaluate = Callable[[Vector], tuple[float, Vector]]

_PAIRS = 8  # stored curvature pairs: a step, and the change of the gradient along it
_PERIOD = 10  # iterations over which the improvement is measured
_CURVATURE_ESTIMATES = 3  # number of evaluations of the curvature, one per period
_TRIALS = 20  # maximum number of evaluations of a line search
_DECREASE, _CURVATURE = 1e-4, 0.9  # constants of the Wolfe conditions


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The result of a minimisation.

    Parameters
    ----------
    x : ndarray of float64
        The point.
    value : float
        The value of the objective at `x`, including the L1 norm.
    iterations, evaluations : int
        Number of iterations, and of evaluations of the function or the curvature.
    converged : bool
        Whether the gradient vanished, or the objective stopped decreasing by more than its noise.
    outcome : str
        The reason for stopping, in words.
    failed : bool
        Whether the line search failed although the gradient predicts a further decrease.
    """

    x: Vector
    value: float
    iterations: int
    evaluations: int
    converged: bool
    outcome: str
    failed: bool = False


def minimise(
    evaluate: Evaluate,
    start: Vector,
    *,
    l1: float = 0.0,
    most: int = 100,
    epsilon: float = 1e-5,
    delta: float = 1e-5,
    noise: float = 1e-12,
    curvature: Callable[[Vector], Vector] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Minimum:
    """Minimise ``f(x) + l1 * |x|``.

    Parameters
    ----------
    evaluate : callable
        Computes f and its gradient at a point.
    start : ndarray of float64
        The initial point.
    l1 : float
        Weight of the L1 norm.
    most : int
        Maximum number of iterations.
    epsilon : float
        Stop if the norm of the gradient is at most this factor times the norm of x (at least 1).
    delta : float
        Stop if the value has decreased by less than this share within ten iterations.
    noise : float
        Relative rounding error of the values.
    curvature : callable, optional
        Estimates the diagonal of the Hessian at a point; all elements are positive. Its inverse
        replaces a multiple of the identity as the initial approximation of the inverse Hessian.
    progress : callable, optional
        Called with the number of completed iterations and `most`.

    Returns
    -------
    Minimum
    """
    search = _Search(evaluate, l1, noise)
    place = search.at(start)
    pairs: deque[_Pair] = deque(maxlen=_PAIRS)
    values = [place.value]
    inverse: Vector | None = None

    def ended(converged: bool, outcome: str, *, failed: bool = False) -> Minimum:
        done = len(values) - 1
        return Minimum(place.x, place.value, done, search.evaluations, converged, outcome, failed)

    if not np.isfinite(place.value):
        return ended(False, "the objective is not finite where training begins", failed=True)
    while True:
        if np.linalg.norm(place.slope) <= epsilon * max(1.0, float(np.linalg.norm(place.x))):
            return ended(True, "the gradient vanished")
        if len(values) > _PERIOD and values[-1 - _PERIOD] - values[-1] < delta * abs(values[-1]):
            return ended(True, "the objective no longer falls")
        if len(values) > most:
            return ended(False, "the maximum number of iterations was reached")
        done = len(values) - 1
        if curvature and done % _PERIOD == 0 and done < _CURVATURE_ESTIMATES * _PERIOD:
            inverse = 1 / curvature(place.x)
            search.evaluations += 1
        direction = _direction(place.slope, pairs, inverse)
        if l1:
            direction[direction * place.slope >= 0] = 0
        following = search.along(place, direction, first=not pairs and inverse is None)
        settled = search.settled
        if following is None and pairs:  # restart with the steepest descent
            pairs.clear()
            following = search.along(place, -place.slope, first=True)
            settled = settled and search.settled
        if following is None and settled:
            return ended(True, "no step makes the objective smaller by more than its noise")
        if following is None:
            outcome = "no step along the gradient makes the objective smaller"
            return ended(False, outcome, failed=True)
        pair = _pair(place, following)
        if pair is not None:
            pairs.append(pair)
        place = following
        values.append(place.value)
        if progress:
            progress(len(values) - 1, most)


#: A step, the change of the gradient along it, and their product.
_Pair = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], float]


def _direction(slope: Vector, pairs: deque[_Pair], inverse: Vector | None) -> Vector:
    """Compute the descent direction: minus the approximate inverse Hessian times the gradient.

    The initial approximation of the inverse Hessian is a multiple of the diagonal `inverse`, or of
    the identity.
    """
    direction = -slope
    shares = []
    for step, change, product in reversed(pairs):
        share = float(step @ direction) / product
        direction -= share * change
        shares.append(share)
    if inverse is not None:
        direction *= inverse
    if pairs:
        _, change, product = pairs[-1]
        scaled = change if inverse is None else inverse * change
        direction *= product / float(change @ scaled)
    for (step, change, product), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - float(change @ direction) / product) * step
    return direction


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    x: Vector
    value: float  # with the L1 norm
    gradient: Vector  # without it
    slope: Vector  # with it: the pseudo-gradient


def _pair(place: _Point, following: _Point) -> _Pair | None:
    """Return the curvature pair of a step; None where the curvature is not positive.

    Pairs are stored in single precision. The product is computed from the stored values, since the
    approximate Hessian might otherwise not be positive definite near the minimum.
    """
    step = (following.x - place.x).astype(np.float32)
    change = (following.gradient - place.gradient).astype(np.float32)
    exact = change.astype(np.float64)
    product = float(step @ exact)
    return (step, change, product) if product > 1e-12 * float(exact @ exact) else None


class _Search:
    """The objective, with a line search.

    Attributes
    ----------
    evaluations : int
        Number of evaluations.
    settled : bool
        Whether the decrease that is possible along the latest line is within the noise.
    """

    def __init__(self, evaluate: Evaluate, l1: float, noise: float) -> None:
        self.evaluations = 0
        self.settled = False
        self._evaluate = evaluate
        self._l1 = l1
        self._noise = noise

    def at(self, x: Vector) -> _Point:
        """Evaluate the objective at a point."""
        self.evaluations += 1
        value, gradient = self._evaluate(x)
        if not self._l1:
            return _Point(x, value, gradient, gradient)
        value += self._l1 * float(np.abs(x).sum())
        right, left = gradient + self._l1, gradient - self._l1
        at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
        slope = np.where(x > 0, right, np.where(x < 0, left, at_zero))
        return _Point(x, value, gradient, slope)

    def along(self, place: _Point, direction: Vector, *, first: bool) -> _Point | None:
        """Return a point along a direction that satisfies the weak Wolfe conditions, if any."""
        descent = float(place.slope @ direction)
        self.settled = False
        if not descent < 0:
            return None
        trials = []
        step = 1 / float(np.linalg.norm(direction)) if first else 1.0
        low, high = 0.0, np.inf
        found = None
        for _ in range(_TRIALS):
            trial = self.at(self._projected(place, place.x + step * direction))
            with np.errstate(over="ignore", invalid="ignore"):
                # With an L1 norm, the objective is not smooth along the line.
                slope = np.nan if self._l1 else float(trial.gradient @ direction)
            if not self._low_enough(place, trial, step * descent, descent, slope):
                trials.append(trial)
                high = step
                rise = trial.value - place.value
                step = _between(low, high, descent, rise if self._l1 else None, slope)
                continue
            found = trial
            if self._l1 or slope >= _CURVATURE * descent:
                return trial
            low = step
            step = 2 * step if high == np.inf else (low + high) / 2
        self.settled = found is None and self._is_noise(place, trials)
        return found

    def _is_noise(self, place: _Point, trials: list[_Point]) -> bool:
        """Return whether the decrease that the slope predicts is within the noise.

        The minimum of a convex function along the line lies before the first trial with a higher
        value. If no trial is higher by more than the noise, the decrease predicted for the last
        trial is compared.
        """
        noise = self._noise * abs(place.value)
        finite = [trial for trial in trials if np.isfinite(trial.value)]
        higher = [trial for trial in finite if trial.value - place.value > noise]
        predicted = [float(place.slope @ (place.x - each.x)) for each in higher or finite]
        if not predicted:
            return False
        return (min(predicted) if higher else max(predicted)) <= noise

    def _low_enough(
        self, place: _Point, trial: _Point, gain: float, descent: float, slope: float
    ) -> bool:
        """Return whether the value satisfies the sufficient decrease condition.

        A value that is not finite does not. Where values differ by no more than their noise, the
        approximate Wolfe condition on slopes is used (Hager and Zhang, 2005).
        """
        if self._l1:
            gain = float(place.slope @ (trial.x - place.x))
        if trial.value <= place.value + _DECREASE * gain:
            return True
        near = trial.value <= place.value + self._noise * abs(place.value)
        return near and slope <= (2 * _DECREASE - 1) * descent

    def _projected(self, place: _Point, x: Vector) -> Vector:
        """Project a point onto the orthant of the current point, where the L1 norm is smooth."""
        if not self._l1:
            return x
        orthant = np.where(place.x != 0, np.sign(place.x), -np.sign(place.slope))
        return np.where(x * orthant > 0, x, 0.0)


def _between(low: float, high: float, descent: float, rise: float | None, slope: float) -> float:
    """Return the next step size, interpolated to where the slope vanishes, or else the middle.

    The interpolation is quadratic: from the slopes at both ends, or from the slope at 0 and the
    increase of the value, `rise`, if there is one.
    """
    middle = (low + high) / 2
    bend = slope - descent if rise is None else 2 * (rise - high * descent) / high
    if low > 0 or not np.isfinite(bend) or bend <= 0:
        return middle
    return min(max(-high * descent / bend, 0.1 * high), middle)
