"""L-BFGS and OWL-QN find the minima of functions whose minima are known."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf.training.lbfgs import Minimum, minimise

TIGHT: dict[str, Any] = {"most": 1000, "epsilon": 1e-9, "delta": 1e-15}
NUMBERS = st.floats(-20, 20, allow_subnormal=False)
POSITIVE = st.floats(0.05, 50)


def quadratic(curvatures: np.ndarray, centre: np.ndarray) -> Callable[[np.ndarray], Any]:
    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(0.5 * curvatures @ (x - centre) ** 2), curvatures * (x - centre)

    return evaluate


def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
    return float(scipy.optimize.rosen(x)), scipy.optimize.rosen_der(x)


@given(pairs=st.lists(st.tuples(POSITIVE, NUMBERS, NUMBERS), min_size=1, max_size=12))
def test_the_minimum_of_a_quadratic_is_found(pairs: list[tuple[float, float, float]]) -> None:
    curvatures, centre, start = np.array(pairs).T
    before = start.copy()
    found = minimise(quadratic(curvatures, centre), start, **TIGHT)
    assert found.converged
    assert found.x == pytest.approx(centre, abs=1e-5)
    assert found.value == pytest.approx(0, abs=1e-9)
    assert np.array_equal(start, before)


@pytest.mark.parametrize("size", [2, 5, 30])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_minimum_of_a_tilted_quadratic_is_found(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix, vector = root @ root.T + 0.1 * np.eye(size), rng.normal(size=size)
    found = minimise(
        lambda x: (float(0.5 * x @ matrix @ x - vector @ x), matrix @ x - vector),
        np.zeros(size),
        **TIGHT,
    )
    assert found.converged
    assert found.x == pytest.approx(np.linalg.solve(matrix, vector), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("start", [[-1.2, 1.0], [0.0, 0.0], [3.0, -2.0], [-1.2, 1.0, -1.2, 1.0, 2]])
def test_rosenbrock_ends_where_scipy_ends(start: list[float]) -> None:
    found = minimise(rosenbrock, np.array(start), **TIGHT)
    reference = scipy.optimize.minimize(
        rosenbrock, start, jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-9}
    )
    assert found.converged
    assert found.x == pytest.approx(reference.x, abs=1e-5)
    assert found.evaluations <= 3 * reference.nfev


def test_logistic_regression_ends_where_scipy_ends() -> None:
    rng = np.random.default_rng(0)
    rows, wanted = rng.normal(size=(200, 10)), rng.choice([-1.0, 1.0], 200)

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        margins = wanted * (rows @ x)
        slope = -wanted / (1 + np.exp(margins))
        return float(np.logaddexp(0, -margins).sum() + 0.1 * x @ x), rows.T @ slope + 0.2 * x

    found = minimise(evaluate, np.zeros(10), **TIGHT)
    reference = scipy.optimize.minimize(evaluate, np.zeros(10), jac=True, options={"gtol": 1e-10})
    assert found.x == pytest.approx(reference.x, abs=1e-7)
    assert found.value == pytest.approx(reference.fun, rel=1e-12)


# With an L1 norm


@given(
    pairs=st.lists(st.tuples(POSITIVE, NUMBERS, NUMBERS), min_size=1, max_size=12),
    l1=st.floats(0.01, 30),
)
def test_with_an_l1_norm_a_separable_quadratic_is_soft_thresholded(
    pairs: list[tuple[float, float, float]], l1: float
) -> None:
    curvatures, centre, start = np.array(pairs).T
    found = minimise(quadratic(curvatures, centre), start, l1=l1, **TIGHT)
    expected = np.sign(centre) * np.maximum(np.abs(centre) - l1 / curvatures, 0)
    assert found.converged
    assert found.x == pytest.approx(expected, abs=1e-5)
    value, _ = quadratic(curvatures, centre)(found.x)
    assert found.value == pytest.approx(value + l1 * np.abs(found.x).sum())


@pytest.mark.parametrize("seed", range(4))
def test_with_an_l1_norm_the_conditions_of_a_minimum_hold(seed: int) -> None:
    """At zero the gradient is at most the weight of the norm; elsewhere it is its opposite."""
    rng = np.random.default_rng(seed)
    rows, wanted = rng.normal(size=(40, 15)), rng.normal(size=40)
    l1 = 8.0

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        rest = rows @ x - wanted
        return float(0.5 * rest @ rest), rows.T @ rest

    found = minimise(evaluate, np.zeros(15), l1=l1, **TIGHT)
    _, gradient = evaluate(found.x)
    zero = found.x == 0
    assert zero.any()
    assert not zero.all()
    assert (np.abs(gradient[zero]) <= l1 + 1e-6).all()
    assert gradient[~zero] == pytest.approx(-l1 * np.sign(found.x[~zero]), abs=1e-5)


def test_a_large_l1_norm_leaves_zero() -> None:
    found = minimise(quadratic(np.ones(3), np.array([1.0, -2.0, 0.5])), np.zeros(3), l1=2.5)
    assert found.x.tolist() == [0, 0, 0]
    assert found.iterations == 0
    assert found.converged


# With an estimate of the curvature


def test_with_the_right_curvature_a_quadratic_takes_a_step() -> None:
    curvatures = np.geomspace(1, 1e6, 20)
    evaluate = quadratic(curvatures, np.ones(20))
    without = minimise(evaluate, np.zeros(20), **TIGHT)
    found = minimise(evaluate, np.zeros(20), curvature=lambda x: curvatures, **TIGHT)
    assert found.x == pytest.approx(np.ones(20), abs=1e-9)
    assert (found.iterations, found.evaluations) == (1, 3)
    assert without.iterations > 10


@pytest.mark.parametrize("l1", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_with_a_wrong_curvature_the_minimum_is_the_same(seed: int, l1: float) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(15, 15))
    matrix, vector = root @ root.T + np.eye(15), 5 * rng.normal(size=15)

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(0.5 * x @ matrix @ x - vector @ x), matrix @ x - vector

    wrong = np.exp(2 * rng.normal(size=15))
    without = minimise(evaluate, np.ones(15), l1=l1, **TIGHT)
    found = minimise(evaluate, np.ones(15), l1=l1, curvature=lambda x: wrong, **TIGHT)
    assert found.value == pytest.approx(without.value, rel=1e-9)
    assert found.x == pytest.approx(without.x, abs=1e-4)


def test_the_curvature_is_asked_for_where_the_search_is_and_counted() -> None:
    asked: list[np.ndarray] = []
    number = 0

    def curvature(x: np.ndarray) -> np.ndarray:
        asked.append(x)
        return np.ones(30)

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal number
        number += 1
        return rosenbrock(x)

    start = np.full(30, -1.0)
    found = minimise(evaluate, start, curvature=curvature, **TIGHT)
    assert found.iterations > 50
    assert [rosenbrock(x)[0] for x in asked] == pytest.approx(
        [minimise(rosenbrock, start, curvature=curvature, most=most).value for most in (0, 10, 20)]
    )
    assert found.evaluations == number + 3


# How it ends


def test_at_the_minimum_already_nothing_is_done() -> None:
    steps: list[tuple[int, int]] = []
    centre = np.array([1.0, 2.0])
    found = minimise(
        quadratic(np.ones(2), centre), centre, progress=lambda *step: steps.append(step)
    )
    assert found.converged
    assert found.x.tolist() == [1, 2]
    assert (found.iterations, found.evaluations, found.value) == (0, 1, 0)
    assert found.outcome == "the gradient vanished"
    assert steps == []


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_maximum_number_of_iterations_is_kept_to(most: int) -> None:
    steps: list[tuple[int, int]] = []
    found = minimise(rosenbrock, np.zeros(2), most=most, progress=lambda *step: steps.append(step))
    assert not found.converged
    assert found.outcome == "the maximum number of iterations was reached"
    assert found.iterations == most
    assert steps == [(number, most) for number in range(1, most + 1)]


def test_the_value_falls_with_every_iteration() -> None:
    values = [minimise(rosenbrock, np.zeros(4), most=most).value for most in range(1, 20)]
    assert all(after < before for before, after in itertools.pairwise(values))


def test_it_ends_where_the_value_no_longer_falls() -> None:
    """A quadratic on a hill: its share of the value is small long before the gradient is."""
    evaluate = quadratic(np.geomspace(1, 1e6, 20), np.ones(20))

    def high(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = evaluate(x)
        return value + 1e9, gradient

    found = minimise(high, np.zeros(20), most=1000, delta=1e-4)
    assert found.converged
    assert found.outcome == "the objective no longer falls"
    assert 10 <= found.iterations < 20  # it looks back over ten


def test_evaluations_are_counted() -> None:
    number = 0

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal number
        number += 1
        return rosenbrock(x)

    found = minimise(evaluate, np.array([-1.2, 1.0]), **TIGHT)
    assert found.evaluations == number > found.iterations


def test_two_runs_are_equal() -> None:
    first, second = (minimise(rosenbrock, np.array([-1.2, 1.0]), l1=l1) for l1 in (0.1, 0.1))
    assert first.x.tolist() == second.x.tolist()
    assert first.value == second.value


# Values that are no numbers


def walled(limit: float, beyond: float) -> Callable[[np.ndarray], Any]:
    """Make a quadratic whose value and gradient are `beyond` where x exceeds a limit."""

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        if np.abs(x).max() > limit:
            return beyond, np.full(len(x), beyond)
        return float(((x - 1) ** 2).sum()), 2 * (x - 1)

    return evaluate


@pytest.mark.parametrize("beyond", [np.inf, np.nan])
@pytest.mark.parametrize("limit", [1.0, 1.001, 1.4])
@pytest.mark.parametrize("l1", [0.0, 1e-9])
def test_a_search_turns_back_where_the_value_is_not_finite(
    beyond: float, limit: float, l1: float
) -> None:
    found = minimise(walled(limit, beyond), np.array([-0.9, 0.5, 0.0]), l1=l1, **TIGHT)
    assert np.isfinite(found.value)
    assert found.x == pytest.approx(np.ones(3), abs=1e-4)


@pytest.mark.parametrize("value", [np.inf, np.nan, -np.inf])
def test_a_beginning_that_is_not_finite_is_reported(value: float) -> None:
    found = minimise(lambda x: (value, np.zeros(2)), np.array([1.0, 2.0]))
    assert found.failed and not found.converged
    assert found.outcome == "the objective is not finite where training begins"
    assert found.x.tolist() == [1, 2]


@pytest.mark.parametrize("noise", [1e-12, 1e-4])
@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_where_every_step_is_not_finite_it_stays(l1: float, noise: float) -> None:
    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        return (1.0 if not x.any() else np.nan), np.array([1.0, -3.0])

    found = minimise(evaluate, np.zeros(2), l1=l1, noise=noise)
    assert found.failed and not found.converged
    assert found.outcome == "no step along the gradient makes the objective smaller"
    assert found.x.tolist() == [0, 0]
    assert found.iterations == 0


def test_a_gradient_that_is_not_a_number_ends_it() -> None:
    found = minimise(lambda x: (1.0, np.full(2, np.nan)), np.zeros(2))
    assert found.failed and not found.converged
    assert found.x.tolist() == [0, 0]


@pytest.mark.parametrize(("l1", "noise"), [(0.0, 1e-12), *((0.1, 10.0**-n) for n in (12, 6, 4))])
def test_a_gradient_that_is_wrong_ends_it(l1: float, noise: float) -> None:
    found: Minimum = minimise(
        lambda x: (float(x @ x), -2 * x), np.array([3.0, 4.0]), l1=l1, noise=noise
    )
    assert found.failed and not found.converged
    assert found.outcome == "no step along the gradient makes the objective smaller"


def test_a_gradient_that_the_value_does_not_follow_ends_it() -> None:
    """Values that never fall are no noise where the gradient promises more."""
    found = minimise(lambda x: (1.0, np.array([1.0, -3.0])), np.zeros(2), l1=1e-9, noise=1e-4)
    assert found.failed


@pytest.mark.parametrize("l1", [0.0, 0.1])
@pytest.mark.parametrize("curvature", [None, lambda x: np.geomspace(1, 1e3, 5)])
def test_where_only_noise_is_left_it_has_converged(
    l1: float, curvature: Callable[[np.ndarray], np.ndarray] | None
) -> None:
    """As single precision leaves values and gradients near the minimum."""
    evaluate = quadratic(np.geomspace(1, 1e3, 5), np.ones(5))
    outcomes = []
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def rough(x: np.ndarray, rng: np.random.Generator = rng) -> tuple[float, np.ndarray]:
            value, gradient = evaluate(x)
            return (value + 1e3) * (1 + 1e-6 * rng.normal()), gradient + 1e-3 * rng.normal(size=5)

        found = minimise(
            rough, np.zeros(5), l1=l1, most=1000, epsilon=1e-9, delta=-1.0, noise=1e-4,
            curvature=curvature,
        )  # fmt: skip
        outcomes.append(found.outcome)
        assert not found.failed
        assert found.x == pytest.approx(np.ones(5), abs=0.5)
    # Without an L1 norm, slopes still tell where values do not.
    assert ("no step makes the objective smaller by more than its noise" in outcomes) == (l1 > 0)


def test_an_error_of_the_function_comes_out() -> None:
    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x.any():
            raise KeyboardInterrupt
        return rosenbrock(x)

    with pytest.raises(KeyboardInterrupt):
        minimise(evaluate, np.zeros(2))
