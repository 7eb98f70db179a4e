"""Training of a network in a separate process: Keras and TensorFlow keep memory of every model.

The process is run as ``python -m taggers.networks.training.process``. It reads the documents from
standard input, and writes its progress and the weights to standard output. It ends with the process
that started it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import IO, Any, BinaryIO

import numpy as np

from taggers.base import Progress, Training, TrainingError
from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.networks.network_sizes import NetworkSizes
from taggers.networks.training.minibatches import Arrays, Minibatches
from taggers.networks.training.schedule import train

#: The prefix of the names of initial weights in a request.
INITIAL = "initial:"

#: The settings of the libraries in the process: one thread, so that the result does not depend on
#: the number of processors, and no messages but errors.
ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}

#: Parts of the names of the errors that Python, TensorFlow and PyTorch raise without memory.
_OUT_OF_MEMORY = ("MemoryError", "ResourceExhausted", "OutOfMemory")
_LOWER = "; lower minibatch, units or character_units, or set subsequence"

_WORDS = ("vectors", "numbers", "characters", "features")


def train_in_process(
    options: BiLSTMCRFOptions,
    sizes: NetworkSizes,
    arrays: Arrays,
    random_state: int,
    progress: Progress | None = None,
) -> tuple[Arrays, Training]:
    """Train a network in another process.

    Parameters
    ----------
    options : BiLSTMCRFOptions
        The layers of the network, and the schedule and the backend of training.
    sizes : NetworkSizes
        The sizes of its inputs and outputs.
    arrays : dict of str to ndarray
        The documents, and the initial weights of a warm start.
    random_state : int
        The seed of the initial weights, of dropout and of the order of documents.
    progress : callable, optional
        Called with the number of completed steps of Adam, and their maximum.

    Returns
    -------
    weights : dict of str to ndarray
    training : Training

    Raises
    ------
    TrainingError
        If training fails, or its process is ended.
    """
    paths = os.pathsep.join(path for path in sys.path if path)
    libraries = {**ENVIRONMENT, "KERAS_BACKEND": options.backend, "PYTHONPATH": paths}
    request = {"options": asdict(options), "sizes": asdict(sizes), "random_state": random_state}
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            # With -P, nothing is imported from the current folder.
            [sys.executable, "-P", "-m", "taggers.networks.training.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **libraries},
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # what happened is in the exit status
                _write(process.stdin, request, arrays)
            while received := _read(process.stdout):
                message, weights = received
                if "training" in message:
                    training = Training(**message["training"])
                    if weights:
                        return weights, training
                    raise TrainingError(
                        f"the network was not trained: {training.outcome}; lower learning_rate"
                    )
                if progress:
                    progress(*message["progress"])
            process.wait()
            errors.seek(0)
            raise TrainingError(_cause(process.returncode, errors.read().decode(errors="replace")))
        finally:
            process.kill()


def _cause(status: int, errors: str) -> str:
    """Return why the process ended without a result."""
    process = "the process that trained the network"
    if status == -getattr(signal, "SIGKILL", 9):
        return f"{process} was killed, probably because memory ran out{_LOWER}"
    if status < 0:
        return f"{process} was ended by signal {-status}"
    if any(name in errors for name in _OUT_OF_MEMORY):
        return f"the network was not trained: memory ran out{_LOWER}"
    lines = [line for line in errors.splitlines() if line.strip()]
    return f"{process} ended: {lines[-1] if lines else f'exit status {status}'}"


def _write(stream: IO[bytes], message: Mapping[str, Any], arrays: Arrays | None = None) -> None:
    """Write a message as a line of JSON, and arrays."""
    content = io.BytesIO()
    if arrays:
        np.savez(content, allow_pickle=False, **arrays)
    stream.write(json.dumps({**message, "size": content.tell()}).encode() + b"\n")
    with content.getbuffer() as view:
        stream.write(view)
    stream.flush()


def _read(stream: IO[bytes]) -> tuple[dict[str, Any], Arrays] | None:
    """Read a message and its arrays; None if the stream ends before."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    content = stream.read(message["size"])
    if len(content) < message["size"]:
        return None
    if not content:
        return message, {}
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return message, dict(arrays)


def main() -> None:
    """Train the network that standard input describes, and write it to standard output."""
    source = sys.stdin.buffer
    # Libraries that print must not write between the messages.
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if request := _read(source):
        threading.Thread(target=_end_with, args=(source,), daemon=True).start()
        weights, training = _trained(*request, sink)
        _write(sink, {"training": asdict(training)}, weights)


def _trained(message: Mapping[str, Any], arrays: Arrays, sink: BinaryIO) -> tuple[Arrays, Training]:
    import keras  # noqa: PLC0415 - it takes seconds, and is not needed to import this module

    from taggers.networks.training.keras_network import Network  # noqa: PLC0415 - the same

    keras.utils.set_random_seed(message["random_state"])
    network = Network(BiLSTMCRFOptions(**message["options"]), NetworkSizes(**message["sizes"]))
    network.assign(_initial(network.weights(), arrays))

    def progress(done: int, steps: int) -> None:
        _write(sink, {"progress": [done, steps]})

    documents, held_out = documents_of(arrays), arrays["held_out"]
    judges = documents.part(held_out) if held_out.any() else None
    return train(network, documents.part(~held_out), judges, message["random_state"], progress)


def _initial(weights: Arrays, arrays: Arrays) -> Arrays:
    """Replace rows of the weights by rows of a warm start of the same shape."""
    for name, array in weights.items():
        rows, values = (arrays.get(f"{INITIAL}{name}{part}") for part in (":rows", ""))
        if rows is None or values is None:
            continue
        if values.shape[1:] == array.shape[1:] and rows.max(initial=-1) < len(array):
            array[rows] = values
    return weights


def documents_of(arrays: Arrays) -> Minibatches:
    """Return the documents of a request."""
    own = {field.name: arrays[field.name] for field in fields(Minibatches) if field.name != "words"}
    return Minibatches(words={name: arrays[name] for name in _WORDS}, **own)


def _end_with(source: BinaryIO) -> None:
    """End this process when its standard input ends, because the one that started it has ended."""
    os.read(source.fileno(), 1)  # unbuffered, so that no lock is held when this process ends
    os._exit(1)


if __name__ == "__main__":
    main()
