"""The CRF layer against brute force over all paths, and against the lattices of the CRF tagger."""

import importlib.util
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

keras = pytest.importorskip("keras")
from keras import ops  # noqa: E402

from taggers.networks.crf_layer import CRF, PADDING, UNKNOWN  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
#: Steps between scores, of up to 8 steps, and between transitions. Sums of them are exact.
STEPS, TRANSITION_STEPS = [0.0, 0.125, 1.25, 125.0, 1250.0], [0.0, 0.125, 1.25, 6.25]
LONGEST = {1: 4, 3: 5}
LOSSES = ["negative_log_likelihood", "marginal_cross_entropy"]


@dataclass(frozen=True)
class Case:
    """Sequences of scores, and the weights of a layer."""

    lengths: list[int]
    scores: np.ndarray  # (B, T, L)
    transitions: np.ndarray
    start: np.ndarray
    end: np.ndarray
    tags: np.ndarray

    @property
    def mask(self) -> np.ndarray:
        return np.arange(self.scores.shape[1]) < np.array(self.lengths)[:, None]

    @property
    def weights(self) -> list[np.ndarray]:
        return [self.transitions, self.start, self.end]


@st.composite
def cases(draw: st.DrawFn, labels: Sequence[int] = (1, 3)) -> Case:
    labels = draw(st.sampled_from(labels))
    lengths = draw(st.lists(st.integers(0, LONGEST[labels]), min_size=1, max_size=4))
    padding = draw(st.integers(0, 2))
    shape = len(lengths), max(*lengths, 1) + padding

    def values(shape: tuple[int, ...], steps: list[float]) -> np.ndarray:
        numbers = draw(hnp.arrays(np.int64, shape, elements=st.integers(-8, 8)))
        return numbers * draw(st.sampled_from(steps))

    tags = draw(hnp.arrays(np.int64, shape, elements=st.integers(UNKNOWN, labels - 1)))
    tags[np.arange(shape[1]) >= np.array(lengths)[:, None]] = PADDING
    boundaries = values((2, labels), STEPS)
    transitions = values((labels, labels), TRANSITION_STEPS)
    return Case(lengths, values((*shape, labels), STEPS), transitions, *boundaries, tags)


@dataclass(frozen=True)
class Results:
    """What a layer computes, with the names of its methods."""

    call: np.ndarray
    log_partition: np.ndarray
    marginals: np.ndarray
    decode: np.ndarray
    negative_log_likelihood: np.ndarray
    marginal_cross_entropy: np.ndarray


@lru_cache
def compiled(labels: int, dtype: str) -> tuple[CRF, Callable[..., list[Any]]]:
    """Return a layer, and a function of all its results that is compiled for any shape."""
    layer = CRF(dtype=dtype)
    layer.build((None, None, labels))

    def compute(scores: Any, tags: Any, mask: Any) -> list[Any]:
        scores = layer(scores, mask=mask)
        return [
            scores,
            layer.log_partition(scores, mask),
            layer.marginals(scores, mask),
            layer.decode(scores, mask),
            layer.negative_log_likelihood(tags, scores),
            layer.marginal_cross_entropy(tags, scores),
        ]

    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        shapes = ((None, None, labels), dtype), ((None, None), "int32"), ((None, None), "bool")
        compute = tf.function(compute, [tf.TensorSpec(*shape) for shape in shapes])
    return layer, compute


def results_of(case: Case, dtype: str = "float32") -> Results:
    layer, compute = compiled(len(case.start), dtype)
    layer.set_weights(case.weights)
    if keras.backend.backend() == "jax":
        import jax

        compute = jax.jit(partial(compute))  # anew, as it holds the weights
    arguments = case.scores.astype(dtype), case.tags.astype(np.int32), case.mask
    return Results(*map(ops.convert_to_numpy, compute(*arguments)))


@dataclass(frozen=True)
class Brute:
    """All paths of a sequence."""

    best: list[int]
    log_partition: float
    negative_log_likelihood: float
    marginals: np.ndarray
    marginal_cross_entropy: float

    @classmethod
    def of(cls, case: Case, row: int) -> "Brute":
        number, labels = case.lengths[row], len(case.start)
        if not number:
            return cls([], 0.0, 0.0, np.zeros((0, labels)), 0.0)
        paths = np.array(list(itertools.product(range(labels), repeat=number)))
        values = case.scores[row][np.arange(number), paths].sum(axis=1)
        values += case.transitions[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        values += case.start[paths[:, 0]] + case.end[paths[:, -1]]
        log_partition = np.logaddexp.reduce(values)
        marginals = np.array(
            [
                [np.logaddexp.reduce(values[paths[:, place] == label]) for label in range(labels)]
                for place in range(number)
            ]
        )
        marginals -= log_partition
        tags = case.tags[row, :number]
        known = np.flatnonzero(tags != UNKNOWN)
        agree = ((paths == tags) | (tags == UNKNOWN)).all(axis=1)
        # Of equally good paths, the one with the lowest label at its end, then before that.
        best = min(paths[values == values.max()].tolist(), key=lambda path: path[::-1])
        likelihood = np.logaddexp.reduce(values[agree]) - log_partition
        entropy = -marginals[known, tags[known]].sum()
        return cls(best, log_partition, -likelihood, np.exp(marginals), entropy)


def assert_as_brute_force(case: Case, dtype: str, close: float) -> None:
    result = results_of(case, dtype)
    assert {str(array.dtype) for array in (result.log_partition, result.marginals)} == {dtype}
    assert result.decode.dtype == np.int32
    assert not result.call[~case.mask].any()
    assert not result.marginals[~case.mask].any()
    assert (result.decode[~case.mask] == PADDING).all()
    for row, length in enumerate(case.lengths):
        brute = Brute.of(case, row)
        assert result.decode[row, :length].tolist() == brute.best
        assert result.marginals[row, :length] == pytest.approx(brute.marginals, abs=close)
        for name in LOSSES:
            expected = pytest.approx(getattr(brute, name), rel=close, abs=close)
            assert getattr(result, name)[row] == expected, name
        summed = float(np.abs(result.call[row]).max(axis=-1).sum())  # may cancel
        expected = pytest.approx(brute.log_partition, abs=close * (1 + summed))
        assert result.log_partition[row] == expected


@given(case=cases())
@example(case=Case([0], np.zeros((1, 1, 3)), np.zeros((3, 3)), *np.zeros((2, 3)), np.array([[-2]])))
def test_all_results_are_those_of_brute_force(case: Case) -> None:
    assert_as_brute_force(case, "float32", 2e-5)
    if case.scores.shape[-1] == 3:
        assert_as_brute_force(case, "float64", 1e-9)


def random_case(shape: tuple[int, int, int], *, scale: float = 1.0, spread: float = 1.0) -> Case:
    rng = np.random.default_rng(0)
    number, positions, labels = shape
    lengths = [positions, 0, *rng.integers(0, positions + 1, number).tolist()][:number]
    tags = rng.integers(UNKNOWN, labels, shape[:2])
    tags[np.arange(positions) >= np.array(lengths)[:, None]] = PADDING
    weights = rng.uniform(-spread, spread, (labels, labels)), *rng.normal(size=(2, labels))
    return Case(lengths, rng.normal(size=shape, scale=scale), *weights, tags)


def test_a_batch_is_that_of_brute_force() -> None:
    """Also on other backends, see `test_other_backends`."""
    assert_as_brute_force(random_case((4, 5, 3)), "float32", 2e-5)


@pytest.mark.parametrize("positions", [1, 2000])
def test_any_length_and_any_scores_have_finite_gradients(positions: int) -> None:
    """Known tags are excluded by the scores, which differ by 1e4."""
    case = random_case((3, positions, 3), spread=50.0)
    tags = np.maximum(case.tags, 0)
    scores = np.where(tags[..., None] == np.arange(3), -1e4, case.scores)
    case = replace(case, scores=scores, tags=np.where(case.mask, tags, PADDING))
    actual = results_of(case)
    assert actual.marginals[case.mask].sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert actual.negative_log_likelihood[0] > 0.9e4 * positions
    assert actual.negative_log_likelihood[1] == 0
    exact = results_of(case, "float64")
    for name in LOSSES:
        assert getattr(actual, name) == pytest.approx(getattr(exact, name), rel=1e-5)
    assert actual.marginals == pytest.approx(exact.marginals, abs=1e-4)
    for name in LOSSES:
        gradients = gradients_of(case, name, "float32")
        assert all(np.isfinite(gradient).all() for gradient in gradients)
        assert gradients[0].any()


@lru_cache
def compiled_gradients(labels: int, name: str, dtype: str) -> Callable[..., list[Any]]:
    """Return a function of the gradients of the sum of a loss, by scores and by weights."""
    tf = pytest.importorskip("tensorflow")
    layer, _ = compiled(labels, dtype)

    def gradients(scores: Any, tags: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(scores)
            losses = getattr(layer, name)(tags, layer(scores, mask=tags != PADDING))
        return tape.gradient(losses, [scores, *(weight.value for weight in layer.weights)])

    shapes = ((None, None, labels), dtype), ((None, None), "int32")
    return tf.function(gradients, [tf.TensorSpec(*shape) for shape in shapes])


def gradients_of(case: Case, name: str, dtype: str) -> list[np.ndarray]:
    layer, _ = compiled(len(case.start), dtype)
    layer.set_weights(case.weights)
    compute = compiled_gradients(len(case.start), name, dtype)
    return [
        gradient.numpy()
        for gradient in compute(case.scores.astype(dtype), case.tags.astype(np.int32))
    ]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("spread", [1.0, 50.0])
def test_gradients_are_finite_differences(name: str, spread: float) -> None:
    case = random_case((4, 5, 3), spread=spread)
    rng = np.random.default_rng(1)
    inputs = [case.scores, *case.weights]
    gradients = gradients_of(case, name, "float64")

    def loss(inputs: list[np.ndarray]) -> float:
        scores, transitions, start, end = inputs
        moved = Case(case.lengths, scores, transitions, start, end, case.tags)
        return float(getattr(results_of(moved, "float64"), name).sum())

    step = 1e-6
    for _ in range(5):
        direction = [rng.normal(size=array.shape) for array in inputs]
        ahead, behind = (
            loss([a + sign * step * d for a, d in zip(inputs, direction, strict=True)])
            for sign in (1, -1)
        )
        expected = sum((g * d).sum() for g, d in zip(gradients, direction, strict=True))
        assert (ahead - behind) / (2 * step) == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert not gradients[0][~case.mask].any()


def test_padding_and_other_sequences_change_nothing() -> None:
    case = random_case((4, 7, 3))
    actual = results_of(case)
    scores = np.where(case.mask[..., None], case.scores, np.nan)
    other = results_of(replace(case, scores=scores))
    for name in ("decode", "marginals", *LOSSES):
        assert getattr(actual, name).tolist() == getattr(other, name).tolist()
    first = case.lengths[2]
    alone = Case([first], case.scores[2:3, :first], *case.weights, case.tags[2:3, :first])
    assert results_of(alone).marginals[0] == pytest.approx(actual.marginals[2, :first], abs=1e-6)


def test_without_a_mask_every_position_is_a_token() -> None:
    case = replace(random_case((2, 4, 3)), lengths=[4, 4])
    layer, _ = compiled(3, "float32")
    layer.set_weights(case.weights)
    scores = layer(case.scores)
    actual = results_of(case)
    assert ops.convert_to_numpy(layer.decode(scores)).tolist() == actual.decode.tolist()
    partition = ops.convert_to_numpy(layer.log_partition(scores))
    assert partition == pytest.approx(actual.log_partition, rel=1e-6)


def toy(boundaries: bool = True) -> tuple[Any, CRF, np.ndarray, np.ndarray]:
    """Make a model of words that are all alike, whose tags alternate; the first one is 1."""
    lengths = np.array([6, 5, 4, 3, 2, 1, 0, 6])[:, None]
    words = (np.arange(6) < lengths).astype(np.int32)
    tags = np.where(words, (np.arange(6) + 1) % 2, PADDING)
    crf = CRF(boundaries, name="crf")
    inputs = keras.Input((None,), dtype="int32")
    hidden = keras.layers.Embedding(2, 3, mask_zero=True)(inputs)
    model = keras.Model(inputs, crf(keras.layers.Dense(2)(hidden)))
    return model, crf, words, tags


def fit(model: Any, loss: Any, words: np.ndarray, tags: np.ndarray) -> None:
    jit = "auto" if keras.backend.backend() == "jax" else False
    model.compile(keras.optimizers.SGD(0.5), loss, jit_compile=jit)
    again = [np.tile(array, (30, 1)) for array in (words, tags)]  # cheaper than epochs
    model.fit(*again, batch_size=len(words), shuffle=False, verbose=0)


@pytest.mark.parametrize("name", LOSSES)
def test_training_learns_what_only_transitions_can_tell(name: str) -> None:
    """Also where some tags are unknown."""
    model, crf, words, tags = toy()
    known = np.random.default_rng(0).random(tags.shape) < 0.7
    fit(model, getattr(crf, name), words, np.where(known | (tags < 0), tags, UNKNOWN))
    actual = crf.decode(model.predict(words, verbose=0), words > 0)
    assert ops.convert_to_numpy(actual).tolist() == tags.tolist()


def test_a_loss_of_keras_is_the_mean_over_sequences() -> None:
    """Whatever the mask of the layers before, which Keras would multiply with the losses."""
    for boundaries in (True, False):
        model, crf, words, tags = toy(boundaries)
        model.compile(loss=crf.negative_log_likelihood, jit_compile=False)
        actual = model.evaluate(words, tags, verbose=0)
        expected = crf.negative_log_likelihood(tags, model.predict(words, verbose=0))
        mean = ops.convert_to_numpy(expected).mean()
        assert actual == pytest.approx(mean, rel=1e-6)
        assert mean > 0.1


def test_half_precision_before_the_layer_does_not_reach_it() -> None:
    crf = CRF(dtype="mixed_float16")
    scores = crf(np.ones((2, 3, 4), np.float16))
    assert keras.backend.standardize_dtype(scores.dtype) == "float32"
    partition = ops.convert_to_numpy(crf.log_partition(scores))
    assert partition == pytest.approx(np.full(2, 3 + 3 * np.log(4)), rel=1e-6)


@pytest.mark.parametrize("boundaries", [True, False])
def test_a_saved_model_computes_alike(boundaries: bool, tmp_path: Path) -> None:
    model, crf, words, _ = toy(boundaries)
    crf.set_weights([np.random.default_rng(0).normal(size=weight.shape) for weight in crf.weights])
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert [weight.shape for weight in loaded.get_layer("crf").weights] == [
        weight.shape for weight in crf.weights
    ]
    scores, again = (network.predict(words, verbose=0) for network in (model, loaded))
    assert again.tolist() == scores.tolist()
    actual, expected = (
        ops.convert_to_numpy(layer.decode(scores, words > 0))
        for layer in (loaded.get_layer("crf"), crf)
    )
    assert actual.tolist() == expected.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_other_backends(backend: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    tests = [
        test_a_batch_is_that_of_brute_force.__name__,
        f"{test_training_learns_what_only_transitions_can_tell.__name__}[{LOSSES[0]}]",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", *(f"{__file__}::{test}" for test in tests)],
        env={**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
