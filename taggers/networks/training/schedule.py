"""The schedule of training a network: minibatches, learning rates, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from taggers.base import Training
from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.networks.network_sizes import NetworkSizes
from taggers.networks.training.minibatches import Arrays, Minibatches

#: The prefix of the names of initial weights in a request.
INITIAL = "initial:"

#: The least and the most documents of a minibatch whose size depends on their number. Learning
#: rates are given for the least.
_MINIBATCH = (16, 64)

#: Called with the number of completed steps and of all steps.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The part of the options that depends on the number of documents.

    Parameters
    ----------
    minibatch : int
        The documents of a minibatch.
    steps : int
        The expected number of minibatches of an epoch.
    epochs : int
        The maximum number of epochs.
    learning_rate, decay_start : float
        The learning rate, and the share of the epochs after which it falls.
    """

    minibatch: int
    steps: int
    epochs: int
    learning_rate: float
    decay_start: float

    @classmethod
    def from_options(cls, options: BiLSTMCRFOptions, documents: int) -> Self:
        """Return the schedule for a number of documents of an epoch."""
        least, most = _MINIBATCH
        size = options.minibatch or min(max(documents // most, least), most)
        steps = max(1, math.ceil(documents / size))
        epochs = max(options.epochs, math.ceil(options.min_steps / steps))
        rate = options.learning_rate * math.sqrt(size / least)
        return cls(size, steps, epochs, rate, options.decay_start)

    def learning_rate_of(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 1."""
        left = 1 - (epoch - 1) / self.epochs
        if left >= 1 - self.decay_start:
            return self.learning_rate
        return left / (1 - self.decay_start) * self.learning_rate


def train_network(
    request: Mapping[str, Any], arrays: Arrays, progress: Progress
) -> tuple[Arrays, Training]:
    """Train a BiLSTM-CRF in its process; see `taggers.networks.training.process`."""
    import keras  # noqa: PLC0415 - it takes seconds, and is not needed to import this module

    from taggers.networks.training.keras_network import Network  # noqa: PLC0415 - the same

    state = request["random_state"]
    keras.utils.set_random_seed(state)
    network = Network(BiLSTMCRFOptions(**request["options"]), NetworkSizes(**request["sizes"]))
    network.assign(_initial(network.weights(), arrays))
    documents, held_out = Minibatches.from_arrays(arrays), arrays["held_out"]
    judges = documents.part(held_out) if held_out.any() else None
    return train(network, documents.part(~held_out), judges, state, progress)


def _initial(weights: Arrays, arrays: Arrays) -> Arrays:
    """Replace rows of the weights by rows of a warm start of the same shape."""
    for name, array in weights.items():
        rows, values = (arrays.get(f"{INITIAL}{name}{part}") for part in (":rows", ""))
        if rows is None or values is None:
            continue
        if values.shape[1:] == array.shape[1:] and rows.max(initial=-1) < len(array):
            array[rows] = values
    return weights


def train(
    network: Any,
    documents: Minibatches,
    held_out: Minibatches | None,
    random_state: int,
    progress: Progress,
) -> tuple[Arrays, Training]:
    """Train a network until its loss stagnates.

    Parameters
    ----------
    network : Network
        The network, with its initial weights.
    documents : Minibatches
        Training documents.
    held_out : Minibatches or None
        Documents whose loss determines when to stop and which epoch is the best; without them, the
        loss in training determines when to stop, and the last epoch is the result.
    random_state : int
        The seed of the order of documents and of the dropout of words.
    progress : callable
        Receives the completed steps.

    Returns
    -------
    weights : dict of str to ndarray
        Empty if no epoch had a loss.
    training : Training
        The loss belongs to the epoch of these weights, for each document.
    """
    options, rng = network.options, np.random.default_rng(random_state)
    schedule = Schedule.from_options(options, documents.expected)
    least, best_epoch = np.inf, 0
    weights: Arrays = {}
    kept_epoch, kept_loss = 0, np.inf
    for epoch in range(1, schedule.epochs + 1):

        def report(step: int, begun: int = epoch - 1) -> None:
            progress(begun * schedule.steps + step, schedule.epochs * schedule.steps)

        network.set_learning_rate(schedule.learning_rate_of(epoch))
        loss = _run_epoch(network, documents, schedule, rng, report)
        latest, selection_loss = _evaluate(network, held_out, schedule.minibatch, loss)
        finite = all(np.isfinite(values).all() for values in latest.values())
        if not (np.isfinite(loss) and finite):
            outcome = f"the loss was not a number in epoch {epoch}"
            if weights:
                outcome += f"; the weights are those after epoch {kept_epoch}"
            return weights, Training(False, outcome, kept_epoch, kept_loss, failed=True)
        if held_out is None or selection_loss < least:
            weights, kept_epoch, kept_loss = latest, epoch, selection_loss
        if selection_loss < least:
            least, best_epoch = selection_loss, epoch
        elif epoch - best_epoch >= options.patience:
            outcome = f"the loss has not fallen for {options.patience} epochs"
            return weights, Training(True, outcome, epoch, kept_loss)
    return weights, Training(False, "the maximum number of epochs", schedule.epochs, kept_loss)


def _run_epoch(
    network: Any,
    documents: Minibatches,
    schedule: Schedule,
    rng: np.random.Generator,
    report: Callable[[int], None],
) -> float:
    """Train for an epoch, and return the loss for each document; NaN if a step has none."""
    losses, number = 0.0, 0.0
    word_dropout = network.options.word_dropout
    minibatches = documents.epoch(schedule.minibatch, rng, word_dropout=word_dropout)
    for step, (inputs, tags, weights) in enumerate(minibatches, start=1):
        loss = float(network.train(_read_by(network, inputs), tags, weights))
        if not np.isfinite(loss):
            return float("nan")
        losses, number = losses + loss * len(weights), number + len(weights)
        report(min(step, schedule.steps))
    return losses / max(number, 1)


def _evaluate(
    network: Any, held_out: Minibatches | None, size: int, loss: float
) -> tuple[Arrays, float]:
    """Return the (optionally averaged) weights, and the loss used for model selection."""
    raw = network.weights() if network.options.averaging else {}
    network.use_average()
    weights = network.weights()
    if held_out is not None:
        losses, numbers = [], []
        for inputs, tags, own in held_out.in_order(size):
            losses.append(float(network.test(_read_by(network, inputs), tags, own)) * len(own))
            numbers.append(len(own))
        loss = sum(losses) / max(sum(numbers), 1)
    network.assign(raw)
    return weights, loss


def _read_by(network: Any, inputs: Arrays) -> Arrays:
    """Return the inputs that a network has."""
    return {tensor.name: inputs[tensor.name] for tensor in network.model.inputs}
