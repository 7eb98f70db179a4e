"""The schedule of training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.networks.training.minibatches import Minibatches
from taggers.networks.training.schedule import Schedule, train


@given(
    documents=st.integers(1, 10**6), minibatch=st.integers(0, 500), min_steps=st.integers(0, 5000)
)
def test_no_schedule_has_fewer_steps_or_epochs_than_named(documents, minibatch, min_steps) -> None:
    options = BiLSTMCRFOptions(minibatch=minibatch, epochs=3, min_steps=min_steps)
    actual = Schedule.from_options(options, documents)
    assert actual.minibatch == minibatch or minibatch == 0
    assert actual.epochs >= 3
    assert actual.epochs * math.ceil(documents / actual.minibatch) >= min_steps


def test_the_learning_rate_falls_by_the_same_amount_to_nearly_0() -> None:
    def rates(decay_start: float) -> list[float]:
        schedule = Schedule(16, 1, 10, 0.01, decay_start)
        return [schedule.learning_rate_of(epoch) for epoch in range(1, 11)]

    assert rates(0.0) == pytest.approx(np.linspace(0.01, 0.001, 10))
    assert rates(0.5) == pytest.approx([0.01] * 5 + np.linspace(0.01, 0.002, 5).tolist())
    assert rates(0.95) == [0.01] * 10
    assert rates(1.0) == [0.01] * 10


OPTIONS = {
    "learning_rate": 0.01,
    "decay_start": 1.0,
    "minibatch": 4,
    "epochs": 20,
    "min_steps": 0,
    "averaging": 0.0,
    "word_dropout": 0.0,
}


class Recorded:
    """A network without weights, whose loss falls; it records its learning rates."""

    class model:  # noqa: N801
        inputs = ()

    def __init__(self, **options: Any) -> None:
        self.options = BiLSTMCRFOptions(**{**OPTIONS, **options})
        self.rates: list[float] = []
        self.steps = 0

    def set_learning_rate(self, rate: float) -> None:
        self.rates.append(rate)

    def train(self, inputs, tags, weights) -> float:
        self.steps += 1
        return 1 / self.steps

    def weights(self):
        return {"w": np.ones(1, np.float32)}

    def assign(self, weights) -> None:
        pass

    def use_average(self) -> None:
        pass


def documents(number: int, weight: float = 1.0) -> Minibatches:
    """Return documents of one token, which is the same word."""
    words = {
        name: np.zeros((1, 1), np.int32)
        for name in ("vectors", "numbers", "characters", "features")
    }
    return Minibatches(
        words=words,
        unknown=np.zeros(1, np.float32),
        word_ids=np.zeros(number, np.int32),
        streams=np.zeros((number, 0), np.int32),
        offsets=np.arange(number + 1),
        tags=np.zeros(number, np.int32),
        weights=np.full(number, weight, np.float32),
    )


def test_training_follows_the_schedule() -> None:
    network, steps = Recorded(decay_start=0.0, epochs=2, min_steps=12), []
    _, actual = train(network, documents(10), None, 0, lambda *done: steps.append(done))
    assert (actual.iterations, actual.outcome) == (4, "the maximum number of epochs")
    assert network.rates == pytest.approx([0.5 * 0.01 * share for share in (1, 0.75, 0.5, 0.25)])
    assert steps == [(number, 12) for number in range(1, 13)]


def test_every_epoch_has_a_step_even_if_all_weights_are_small() -> None:
    network = Recorded(patience=30)
    train(network, documents(3, weight=1e-6), None, 0, lambda *done: None)
    assert network.steps == 20


class Failing(Recorded):
    """A network whose loss is not a number from its fourth epoch on."""

    def __init__(self, held_out: Sequence[float]) -> None:
        super().__init__()
        self.held_out = held_out

    @property
    def epoch(self) -> int:
        return len(self.rates)

    def train(self, inputs, tags, weights) -> float:
        super().train(inputs, tags, weights)
        return math.nan if self.epoch >= 4 else 1 / self.steps

    def test(self, inputs, tags, weights) -> float:
        return self.held_out[self.epoch - 1]

    def weights(self):
        return {"w": np.full(1, self.epoch, np.float32)}


@pytest.mark.parametrize(
    ("held_out", "best"),
    [
        ((0.3, 0.2, 0.1, math.nan), 3),
        ((0.3, 0.1, 0.2, 0.05), 2),
        ((0.3, 0.1, math.nan, math.nan), 2),
        (None, 3),
    ],
)
def test_a_loss_that_is_not_a_number_keeps_the_best_epoch_before(held_out, best) -> None:
    network = Failing(held_out or ())
    judges = documents(2) if held_out else None
    weights, actual = train(network, documents(10), judges, 0, lambda *done: None)
    assert actual.failed
    assert not actual.converged
    assert actual.outcome.startswith("the loss was not a number in epoch 4; the weights are")
    assert actual.iterations == best
    np.testing.assert_array_equal(weights["w"], [best])
