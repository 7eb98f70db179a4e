"""Minimising a smooth function of many variables, or one with an L1 norm added.

L-BFGS (Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.5), and OWL-QN where there is
an L1 norm (Andrew and Gao, Scalable training of L1-regularized log-linear models, 2007). By default
it stops where CRFsuite does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Evaluate = Callable[[Vector], tuple[float, Vector]]

_PAIRS = 8  # of steps and changes of the gradient that are kept
_PERIOD = 10  # iterations over which the improvement is measured
_ASKED = 3  # times that the curvature is asked for, once a period
_TRIALS = 20  # of a line search
_DECREASE, _CURVATURE = 1e-4, 0.9  # the Wolfe conditions


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The result of a minimisation.

    Parameters
    ----------
    x : ndarray of float64
        The place.
    value : float
        The function there, with the L1 norm.
    iterations, evaluations : int
        How much was done; that the curvature was asked for counts as an evaluation.
    converged : bool
        Whether the gradient vanished, or the value no longer fell or only within its noise.
    outcome : str
        Why it stopped, in words.
    failed : bool
        Whether it could not go on although there is more to gain, as far as the gradient says.
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
        Computes f and its gradient at a place.
    start : ndarray of float64
        Where to begin.
    l1 : float
        Weight of the L1 norm.
    most : int
        Iterations at most.
    epsilon : float
        Stop where the norm of the gradient is below this times that of x (at least 1).
    delta : float
        Stop where the value has fallen by less than this share in ten iterations.
    noise : float
        Values that differ by less than this share cannot be told apart.
    curvature : callable, optional
        Estimates the diagonal of the Hessian at a place, above 0, for about what an evaluation
        takes. What the steps so far say nothing of is then taken to bend like that, not everywhere
        the same.
    progress : callable, optional
        Called with the iterations done and `most`.

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
        if curvature and done % _PERIOD == 0 and done < _ASKED * _PERIOD:
            inverse = 1 / curvature(place.x)
            search.evaluations += 1
        direction = _direction(place.slope, pairs, inverse)
        if l1:
            direction[direction * place.slope >= 0] = 0
        following = search.along(place, direction, first=not pairs and inverse is None)
        settled = search.settled
        if following is None and pairs:  # the curvature seen so far misleads: begin anew
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
    """Multiply the gradient by the approximate inverse Hessian, and turn it downhill.

    Beside what the pairs say, that is a multiple of the diagonal `inverse`, or of 1.
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
class _Place:
    x: Vector
    value: float  # with the L1 norm
    gradient: Vector  # without it
    slope: Vector  # with it: the pseudo-gradient


def _pair(place: _Place, following: _Place) -> _Pair | None:
    """Return the curvature pair of a step; None where the curvature is not positive.

    Single precision is enough of steps, of which only a few are kept, but the product must be that
    of what is kept: otherwise the approximate Hessian is not positive definite at the end.
    """
    step = (following.x - place.x).astype(np.float32)
    change = (following.gradient - place.gradient).astype(np.float32)
    exact = change.astype(np.float64)
    product = float(step @ exact)
    return (step, change, product) if product > 1e-12 * float(exact @ exact) else None


class _Search:
    """Evaluates the function and searches along lines.

    Attributes
    ----------
    evaluations : int
        So far.
    settled : bool
        Whether there is nothing to gain along the latest line but noise.
    """

    def __init__(self, evaluate: Evaluate, l1: float, noise: float) -> None:
        self.evaluations = 0
        self.settled = False
        self._evaluate = evaluate
        self._l1 = l1
        self._noise = noise

    def at(self, x: Vector) -> _Place:
        """Evaluate the function at a place."""
        self.evaluations += 1
        value, gradient = self._evaluate(x)
        if not self._l1:
            return _Place(x, value, gradient, gradient)
        value += self._l1 * float(np.abs(x).sum())
        right, left = gradient + self._l1, gradient - self._l1
        at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
        slope = np.where(x > 0, right, np.where(x < 0, left, at_zero))
        return _Place(x, value, gradient, slope)

    def along(self, place: _Place, direction: Vector, *, first: bool) -> _Place | None:
        """Find a place along a direction that satisfies the weak Wolfe conditions."""
        descent = float(place.slope @ direction)
        self.settled = False
        if not descent < 0:
            return None
        trials = []
        step = 1 / float(np.linalg.norm(direction)) if first else 1.0
        low, high = 0.0, np.inf
        found = None
        for _ in range(_TRIALS):
            trial = self.at(self._stay(place, place.x + step * direction))
            with np.errstate(over="ignore", invalid="ignore"):
                # Of the L1 norm nothing is known in between.
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

    def _is_noise(self, place: _Place, trials: list[_Place]) -> bool:
        """Return whether the decrease that the slope predicts is within the noise.

        The minimum of a convex function lies before the first place that is higher. Where none of
        the trials is higher, by more than noise, the slope may not promise more up to the last.
        """
        noise = self._noise * abs(place.value)
        finite = [trial for trial in trials if np.isfinite(trial.value)]
        higher = [trial for trial in finite if trial.value - place.value > noise]
        promises = [float(place.slope @ (place.x - each.x)) for each in higher or finite]
        if not promises:
            return False
        return (min(promises) if higher else max(promises)) <= noise

    def _low_enough(
        self, place: _Place, trial: _Place, gain: float, descent: float, slope: float
    ) -> bool:
        """Return whether the value has decreased enough; one that is not finite has not.

        Where values differ by no more than their noise, slopes tell (the approximate Wolfe
        conditions of Hager and Zhang, 2005).
        """
        if self._l1:
            gain = float(place.slope @ (trial.x - place.x))
        if trial.value <= place.value + _DECREASE * gain:
            return True
        near = trial.value <= place.value + self._noise * abs(place.value)
        return near and slope <= (2 * _DECREASE - 1) * descent

    def _stay(self, place: _Place, x: Vector) -> Vector:
        """Set to 0 what would cross it: there the L1 norm has its edge."""
        if not self._l1:
            return x
        orthant = np.where(place.x != 0, np.sign(place.x), -np.sign(place.slope))
        return np.where(x * orthant > 0, x, 0.0)


def _between(low: float, high: float, descent: float, rise: float | None, slope: float) -> float:
    """Interpolate to where the slope vanishes, if that is well between.

    By the slopes at both ends or, where there is a `rise`, by the parabola that has it.
    """
    middle = (low + high) / 2
    bend = slope - descent if rise is None else 2 * (rise - high * descent) / high
    if low > 0 or not np.isfinite(bend) or bend <= 0:
        return middle
    return min(max(-high * descent / bend, 0.1 * high), middle)
