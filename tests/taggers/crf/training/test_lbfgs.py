"""The minimisation of the objective, with L1 norms, scaling, and values that are no numbers."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf.training import lbfgs
from taggers.crf.training.lbfgs import StoppingCriteria, minimise

PLAIN: dict[str, Any] = {"curvature": np.ones_like, "criteria": StoppingCriteria()}
TIGHT: dict[str, Any] = {**PLAIN, "criteria": StoppingCriteria(1000, 1e-15)}
NUMBERS = st.floats(-20, 20, allow_subnormal=False)
POSITIVE = st.floats(0.05, 50)


@pytest.fixture(autouse=True, scope="module")
def flat() -> Iterator[None]:
    """Go on until gradients are smaller than training needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lbfgs, "_FLAT", 1e-9)
        yield


def quadratic(curvatures: np.ndarray, centre: np.ndarray) -> Callable[[np.ndarray], Any]:
    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(0.5 * curvatures @ (x - centre) ** 2), curvatures * (x - centre)

    return evaluate


def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
    return float(scipy.optimize.rosen(x)), scipy.optimize.rosen_der(x)


@given(
    pairs=st.lists(st.tuples(POSITIVE, NUMBERS, NUMBERS), min_size=1, max_size=12),
    l1=st.just(0.0) | st.floats(0.01, 30),
    scaled=st.booleans(),
)
def test_a_separable_quadratic_is_soft_thresholded(pairs, l1, scaled) -> None:
    curvatures, centre, start = np.array(pairs).T
    before = start.copy()
    options = {**TIGHT, "curvature": lambda x: curvatures}
    x, actual = minimise(quadratic(curvatures, centre), start, l1=l1, scaled=scaled, **options)
    expected = np.sign(centre) * np.maximum(np.abs(centre) - l1 / curvatures, 0)
    assert actual.converged
    assert x == pytest.approx(expected, abs=1e-5)
    value, _ = quadratic(curvatures, centre)(x)
    assert actual.loss == pytest.approx(value + l1 * np.abs(x).sum(), abs=1e-9)
    assert np.array_equal(start, before)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_with_an_l1_norm_the_conditions_of_a_minimum_hold(seed: int, scaled: bool) -> None:
    """At zero the gradient is at most the weight of the norm; elsewhere it is its opposite."""
    rng = np.random.default_rng(seed)
    rows, wanted = rng.normal(size=(40, 15)), rng.normal(size=40)
    l1 = 8.0

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        rest = rows @ x - wanted
        return float(0.5 * rest @ rest), rows.T @ rest

    wrong = np.exp(rng.normal(size=15))
    options = {**TIGHT, "curvature": lambda x: wrong}
    x, _ = minimise(evaluate, np.zeros(15), l1=l1, scaled=scaled, **options)
    _, gradient = evaluate(x)
    zero = x == 0
    assert zero.any()
    assert not zero.all()
    assert (np.abs(gradient[zero]) <= l1 + 1e-5).all()
    assert gradient[~zero] == pytest.approx(-l1 * np.sign(x[~zero]), abs=1e-4)


def test_with_the_right_curvature_a_quadratic_takes_few_steps() -> None:
    curvatures = np.geomspace(1, 1e6, 20)
    evaluate = quadratic(curvatures, np.ones(20))
    options = {**TIGHT, "curvature": lambda x: curvatures}
    _, without = minimise(evaluate, np.zeros(20), **options)
    x, actual = minimise(evaluate, np.zeros(20), scaled=True, **options)
    assert x == pytest.approx(np.ones(20), abs=1e-9)
    assert actual.iterations <= 2
    assert without.iterations > 10


# How it ends


def test_at_the_minimum_already_nothing_is_done() -> None:
    steps: list[tuple[int, int]] = []
    centre = np.array([1.0, 2.0])
    x, actual = minimise(
        quadratic(np.ones(2), centre), centre, progress=lambda *step: steps.append(step), **PLAIN
    )
    assert actual.converged
    assert x.tolist() == [1, 2]
    assert (actual.iterations, actual.loss, steps) == (0, 0, [])


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_maximum_number_of_iterations_is_kept_to(most: int) -> None:
    steps: list[tuple[int, int]] = []
    options = {**PLAIN, "criteria": StoppingCriteria(most, 1e-15)}
    options["progress"] = lambda *step: steps.append(step)
    _, actual = minimise(rosenbrock, np.zeros(2), **options)
    assert not actual.converged
    assert actual.outcome == "the maximum number of iterations was reached"
    assert actual.iterations == most
    assert steps == [(number, most) for number in range(1, most + 1)]


def test_it_ends_where_the_value_no_longer_falls() -> None:
    """A quadratic on a hill: its share of the value is small long before the gradient is."""
    evaluate = quadratic(np.geomspace(1, 1e6, 20), np.ones(20))

    def high(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = evaluate(x)
        return value + 1e9, gradient

    _, actual = minimise(high, np.zeros(20), **{**PLAIN, "criteria": StoppingCriteria(1000, 1e-4)})
    assert actual.converged
    assert actual.outcome == "the objective no longer falls"
    assert 10 <= actual.iterations < 20  # it looks back over ten


@pytest.mark.parametrize("value", [np.inf, np.nan, -np.inf])
def test_a_beginning_that_is_not_finite_is_reported(value: float) -> None:
    x, actual = minimise(lambda x: (value, np.zeros(2)), np.array([1.0, 2.0]), **PLAIN)
    assert actual.failed and not actual.converged
    assert actual.outcome == "the objective is not finite where training begins"
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_a_gradient_that_is_wrong_ends_it(l1: float) -> None:
    _, actual = minimise(lambda x: (float(x @ x), -2 * x), np.array([3.0, 4.0]), l1=l1, **PLAIN)
    assert actual.failed and not actual.converged
    assert actual.outcome == "no step along the gradient makes the objective smaller"


@pytest.mark.parametrize("l1", [0.0, 0.1])
@pytest.mark.parametrize("scaled", [False, True])
def test_where_only_noise_is_left_it_has_converged(l1: float, scaled: bool) -> None:
    """As single precision leaves values and gradients near the minimum."""
    curvatures = np.geomspace(1, 1e3, 5)
    evaluate = quadratic(curvatures, np.ones(5))
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def rough(x: np.ndarray, rng: np.random.Generator = rng) -> tuple[float, np.ndarray]:
            value, gradient = evaluate(x)
            return (value + 1e3) * (1 + 1e-6 * rng.normal()), gradient + 1e-3 * rng.normal(size=5)

        x, actual = minimise(
            rough, np.zeros(5), l1=l1, scaled=scaled, criteria=StoppingCriteria(1000, -1.0, 1e-4),
            curvature=lambda x: curvatures,
        )  # fmt: skip
        assert actual.converged and not actual.failed
        assert x == pytest.approx(np.ones(5), abs=1)
