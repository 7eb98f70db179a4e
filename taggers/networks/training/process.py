"""Training of a network in a separate process: Keras and TensorFlow keep memory of every model.

The process is run as ``python -m taggers.networks.training.process``. It reads the documents from
standard input, and writes its progress and the weights to standard output. It ends with the process
that started it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import IO, Any, BinaryIO

import numpy as np

from taggers.base import Progress, Training, TrainingError
from taggers.networks.training.minibatches import Arrays

#: The modules whose ``train_network(request, arrays, progress)`` trains a network of a kind.
NETWORKS = {
    "bilstm-crf": "taggers.networks.training.schedule",
    "tccnn": "taggers.ngrams.training",
    "spacy": "taggers.spacy_ner.training",
}

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
_LOWER = "; lower minibatch or the sizes of the layers"


def train_in_process(
    request: Mapping[str, Any],
    arrays: Arrays,
    progress: Progress | None = None,
    *,
    backend: str = "",
) -> tuple[Arrays, Training]:
    """Train a network in another process.

    Parameters
    ----------
    request : mapping of str to Any
        What the network needs besides the arrays, serialisable as JSON. ``kind`` is a key of
        `NETWORKS`.
    arrays : dict of str to ndarray
        The documents, and the initial weights of a warm start.
    progress : callable, optional
        Called with the number of completed steps, and their maximum.
    backend : str, optional
        The backend of Keras, for networks in Keras.

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
    libraries = {**ENVIRONMENT, "PYTHONPATH": paths}
    if backend:
        libraries["KERAS_BACKEND"] = backend
    with (
        subprocess.Popen(
            # With -P, nothing is imported from the current folder.
            [sys.executable, "-P", "-m", "taggers.networks.training.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # messages of libraries may have text of the notes
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
                if "error" in message:
                    raise TrainingError(_cause(message["error"]))
                if progress:
                    progress(*message["progress"])
            raise TrainingError(_end(process.wait()))
        finally:
            process.kill()


def _cause(error: str) -> str:
    """Return why training failed, from the name of an exception: its message may have text."""
    if any(name in error for name in _OUT_OF_MEMORY):
        return f"the network was not trained: memory ran out{_LOWER}"
    return f"the network was not trained: {error}"


def _end(status: int) -> str:
    """Return why the process ended without a result."""
    process = "the process that trained the network"
    if status == -getattr(signal, "SIGKILL", 9):
        return f"{process} was killed, probably because memory ran out{_LOWER}"
    if status < 0:
        return f"{process} was ended by signal {-status}"
    return f"{process} ended with exit status {status}"


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
        message, arrays = request
        try:
            module = importlib.import_module(NETWORKS[message["kind"]])
            weights, training = module.train_network(
                message, arrays, lambda done, steps: _write(sink, {"progress": [done, steps]})
            )
        except Exception as error:  # libraries raise any exception
            _write(sink, {"error": type(error).__name__})
        else:
            _write(sink, {"training": asdict(training)}, weights)


def _end_with(source: BinaryIO) -> None:
    """End this process when its standard input ends, because the one that started it has ended."""
    os.read(source.fileno(), 1)  # unbuffered, so that no lock is held when this process ends
    os._exit(1)


if __name__ == "__main__":
    main()
