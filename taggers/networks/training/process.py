"""The process that trains a network, and ends: Keras and TensorFlow keep memory of every model.

It is run as ``python -m taggers.networks.training.process``. It reads the documents from standard
input, and writes its progress and the weights to standard output (see
`taggers.networks.training.in_process`). It ends with the process that started it.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np

from taggers.networks.training.in_process import Arrays, read_frame, write_frame
from taggers.networks.training.minibatches import Minibatches

#: The prefixes of the names of arrays in a request.
TRAIN, HELD_OUT, INITIAL = "train:", "held_out:", "initial:"

#: Parts of the names of the errors that TensorFlow and PyTorch raise without memory.
_OUT_OF_MEMORY = ("ResourceExhausted", "OutOfMemory")

#: The least and the most documents of a minibatch whose size depends on their number. Learning
#: rates are those of the least.
_MINIBATCH = (16, 64)

_WORDS = ("vectors", "numbers", "characters", "features")

#: Called with the number of steps that are done and of all steps.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long a network is trained; the options are those of `BiLSTMCRFOptions`."""

    learning_rate: float
    decay_start: float
    minibatch: int
    epochs: int
    min_steps: int
    patience: int
    word_dropout: float
    random_state: int

    def completed(self, documents: int) -> Schedule:
        """Return the schedule for a number of documents of an epoch.

        Its minibatch, epochs and learning rate are those that result from the number.
        """
        least, most = _MINIBATCH
        size = self.minibatch or min(max(documents // most, least), most)
        return replace(
            self,
            minibatch=size,
            epochs=max(self.epochs, math.ceil(self.min_steps / _steps(documents, size))),
            learning_rate=self.learning_rate * math.sqrt(size / least),
        )

    def learning_rate_of(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 1."""
        left = 1 - (epoch - 1) / self.epochs
        if left >= 1 - self.decay_start:
            return self.learning_rate
        return left / (1 - self.decay_start) * self.learning_rate


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The result of training.

    Parameters
    ----------
    weights : dict of str to ndarray
        The weights, by name.
    epochs : int
        The number of completed epochs.
    loss : float
        The loss of the epoch of these weights, for each document.
    outcome : str
        Why training stopped.
    converged, failed : bool
        As in `taggers.base.Training`.
    """

    weights: Arrays
    epochs: int
    loss: float
    outcome: str
    converged: bool
    failed: bool = False


def train(
    network: Any,
    documents: Minibatches,
    held_out: Minibatches | None,
    schedule: Schedule,
    progress: Progress,
) -> Result:
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
    schedule : Schedule
        The options of training; see `Schedule.completed`.
    progress : callable
        Receives the completed steps.

    Returns
    -------
    Result
    """
    rng = np.random.default_rng(schedule.random_state)
    schedule = schedule.completed(documents.expected)
    least, best_epoch = np.inf, 0
    kept = Result({}, 0, np.inf, "", converged=False)
    for epoch in range(1, schedule.epochs + 1):

        def report(step: int, steps: int, begun: int = epoch - 1) -> None:
            progress(begun * steps + step, schedule.epochs * steps)

        network.set_learning_rate(schedule.learning_rate_of(epoch))
        loss = _run_epoch(network, documents, schedule, rng, report)
        weights, judged = _judged(network, held_out, schedule.minibatch, loss)
        if not (np.isfinite(loss) and all(np.isfinite(each).all() for each in weights.values())):
            outcome = f"the loss was not a number in epoch {epoch}"
            return Result(
                kept.weights, kept.epochs, kept.loss, outcome, converged=False, failed=True
            )
        if held_out is None or judged < least:
            kept = Result(weights, epoch, judged, "", converged=False)
        if judged < least:
            least, best_epoch = judged, epoch
        elif epoch - best_epoch >= schedule.patience:
            outcome = f"the loss has not fallen for {schedule.patience} epochs"
            return _ended(kept, epoch, outcome, converged=True)
    return _ended(kept, schedule.epochs, "the maximum number of epochs", converged=False)


def _ended(kept: Result, epochs: int, outcome: str, *, converged: bool) -> Result:
    return Result(kept.weights, epochs, kept.loss, outcome, converged)


def _run_epoch(
    network: Any,
    documents: Minibatches,
    schedule: Schedule,
    rng: np.random.Generator,
    progress: Progress,
) -> float:
    """Train for an epoch, and return the loss for each document; NaN if a step has none."""
    expected = _steps(documents.expected, schedule.minibatch)
    losses, number = 0.0, 0.0
    steps = documents.epoch(schedule.minibatch, rng, word_dropout=schedule.word_dropout)
    for step, (inputs, tags, weights) in enumerate(steps, start=1):
        loss = float(network.train(_read_by(network, inputs), tags, weights))
        if not np.isfinite(loss):
            return float("nan")
        losses, number = losses + loss * len(weights), number + len(weights)
        progress(min(step, expected), expected)
    return losses / max(number, 1)


def _steps(documents: int, minibatch: int) -> int:
    """Return the number of minibatches of documents."""
    return max(1, math.ceil(documents / minibatch))


def _judged(
    network: Any, held_out: Minibatches | None, size: int, loss: float
) -> tuple[Arrays, float]:
    """Return the weights after an epoch, averaged if so wished, and the loss that judges them."""
    raw = network.weights() if network.plan.averaging else {}
    network.use_average()
    weights = network.weights()
    if held_out is not None:
        losses = [
            (float(network.test(_read_by(network, inputs), tags, weights)), len(weights))
            for inputs, tags, weights in held_out.in_order(size)
        ]
        loss = sum(each * number for each, number in losses) / max(
            sum(number for _, number in losses), 1
        )
    network.assign(raw)
    return weights, loss


def _read_by(network: Any, inputs: Arrays) -> Arrays:
    """Return the inputs that a network has."""
    return {tensor.name: inputs[tensor.name] for tensor in network.model.inputs}


def main() -> None:
    """Train the network that standard input describes, and write it to standard output."""
    source = sys.stdin.buffer
    # Libraries that print must not write into the frames.
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    request = read_frame(source)
    if request is None:
        return
    threading.Thread(target=_end_with, args=(source,), daemon=True).start()
    message, arrays = request
    try:
        found = _trained(message, arrays, sink)
    except MemoryError:
        write_frame(sink, {"error": "memory"})
        return
    except Exception as error:
        if not any(name in type(error).__name__ for name in _OUT_OF_MEMORY):
            raise
        write_frame(sink, {"error": "memory"})
        return
    description = {
        "epochs": found.epochs,
        "loss": float(found.loss),
        "outcome": found.outcome,
        "converged": found.converged,
        "failed": found.failed,
    }
    write_frame(sink, {"result": description}, found.weights)


def _trained(message: dict[str, Any], arrays: Arrays, sink: BinaryIO) -> Result:
    import keras  # noqa: PLC0415 - it takes seconds, and is not needed to import this module

    from taggers.networks.training.keras_network import Network, Plan  # noqa: PLC0415 - the same

    schedule = Schedule(**message["schedule"])
    keras.utils.set_random_seed(schedule.random_state)
    network = Network(Plan(**message["plan"]))
    _initialise(network, arrays)

    def progress(done: int, steps: int) -> None:
        write_frame(sink, {"progress": [done, steps]})

    held_out = _documents(HELD_OUT, arrays) if f"{HELD_OUT}tags" in arrays else None
    return train(network, _documents(TRAIN, arrays), held_out, schedule, progress)


def _initialise(network: Any, arrays: Arrays) -> None:
    """Replace rows of the initial weights by those of a warm start, where they have its shape."""
    weights = network.weights()
    for name, array in weights.items():
        rows = arrays.get(f"{INITIAL}{name}:rows")
        if rows is None:
            continue
        values = arrays[f"{INITIAL}{name}"]
        if values.shape[1:] == array.shape[1:] and rows.max(initial=-1) < len(array):
            array[rows] = values
    network.assign(weights)


def _documents(prefix: str, arrays: Arrays) -> Minibatches:
    own = {name: arrays[f"{prefix}{name}"] for name in ("word_ids", "streams", "offsets", "tags")}
    words = {name: arrays[f"{TRAIN}{name}"] for name in _WORDS}
    unknown = arrays[f"{TRAIN}unknown"]
    return Minibatches(words=words, unknown=unknown, weights=arrays[f"{prefix}weights"], **own)


def _end_with(source: BinaryIO) -> None:
    """End this process when its standard input ends, because the one that started it has ended."""
    os.read(source.fileno(), 1)  # unbuffered, so that no lock is held when this process ends
    os._exit(1)


if __name__ == "__main__":
    main()
