"""Duration of a training step of the CRF layer, by the way in which its sums are computed.

A step computes a loss and its gradients of a batch of random scores and tags, compiled by the
backend for any length. "Logarithms" are the layer with sums of exponentials for each pair of
labels in place of matrix products. The rounds of all alternate.

    python benchmarks/crf_layer.py
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from keras import ops

from taggers.networks.crf_layer import CRF, PADDING

SHAPES = ((24, 5), (100, 5), (24, 42), (100, 42))


class LogarithmicCRF(CRF):
    """The layer with sums in logarithms."""

    def _log_sums(self) -> tuple[Callable[[Any, Any], Any], Any, Any]:
        def message(sums: Any, transitions: Any) -> Any:
            sums = sums - ops.stop_gradient(ops.max(sums, axis=-1, keepdims=True))
            return ops.logsumexp(sums[..., None] + transitions, axis=-2)

        return message, ops.convert_to_tensor(self.transitions), 0.0


def step_of(kind: type[CRF], loss: str, labels: int) -> Callable[[Any, Any], Any]:
    """Make the training step of a layer with random transitions."""
    layer = kind(boundaries=False)
    layer.build((None, None, labels))
    layer.transitions.assign(np.random.default_rng(0).normal(size=(labels, labels)))
    shapes = ((None, None, labels), "float32"), ((None, None), "int32")

    @tf.function(input_signature=[tf.TensorSpec(*each) for each in shapes])
    def step(scores: Any, tags: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(scores)
            total = tf.reduce_sum(getattr(layer, loss)(tags, layer(scores, mask=tags != PADDING)))
        return tape.gradient(total, [scores, layer.transitions.value])

    return step


def durations(documents: int, length: int, labels: int, rounds: int) -> dict[str, float]:
    """Measure the median milliseconds of each loss of each layer."""
    rng = np.random.default_rng(0)
    scores = tf.constant(rng.normal(size=(documents, length, labels)), "float32")
    lengths = np.array([length, *rng.integers(1, length + 1, documents - 1)])
    tags = rng.integers(0, labels, (documents, length))
    tags = tf.constant(np.where(np.arange(length) < lengths[:, None], tags, PADDING), "int32")
    steps = {
        f"{loss}, {name}": step_of(kind, loss, labels)
        for loss in ("negative_log_likelihood", "marginal_cross_entropy")
        for name, kind in (("logarithms", LogarithmicCRF), ("products", CRF))
    }
    measured: dict[str, list[float]] = {name: [] for name in steps}
    for row in range(rounds + 3):
        for name, step in steps.items():
            begin = time.perf_counter()
            step(scores, tags)
            if row >= 3:  # the first ones compile, and allocate
                measured[name].append(1e3 * (time.perf_counter() - begin))
    return {name: float(np.median(values)) for name, values in measured.items()}


def main() -> None:
    """Print a table of the milliseconds of a step."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=32, help="of a batch")
    parser.add_argument("--rounds", type=int, default=50, help="their median is printed")
    arguments = parser.parse_args()
    columns = [durations(arguments.documents, *each, arguments.rounds) for each in SHAPES]
    print("| |", " | ".join(f"{length} tokens, {labels} labels" for length, labels in SHAPES), "|")
    print("|---|" + "---|" * len(SHAPES))
    for name in columns[0]:
        print(f"| {name} |", " | ".join(f"{column[name]:.1f}" for column in columns), "|")


if __name__ == "__main__":
    main()
