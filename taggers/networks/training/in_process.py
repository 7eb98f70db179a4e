"""Training of a network in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from taggers.base import Progress, Training, TrainingError

Arrays = dict[str, npt.NDArray[Any]]

_HEADER = struct.Struct("<QQ")
_LOWER = "; lower minibatch, units or character_units, or set subsequence"

#: The settings of the libraries in the process: one thread, so that the result does not depend on
#: the number of processors, and no messages but errors.
ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def train_in_process(
    plan: Mapping[str, Any],
    schedule: Mapping[str, Any],
    arrays: Arrays,
    backend: str = "tensorflow",
    progress: Progress | None = None,
) -> tuple[Arrays, Training]:
    """Train a network in another process.

    Parameters
    ----------
    plan : mapping
        The fields of `taggers.networks.training.keras_network.Plan`.
    schedule : mapping
        The fields of `taggers.networks.training.process.Schedule`.
    arrays : dict of str to ndarray
        The documents, and the initial weights of a warm start.
    backend : {"tensorflow", "torch"}
        The backend of Keras.
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
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            # With -P, nothing is imported from the current folder.
            [sys.executable, "-P", "-m", "taggers.networks.training.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **ENVIRONMENT, "KERAS_BACKEND": backend, "PYTHONPATH": paths},
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # what happened is in the exit status
                write_frame(process.stdin, {"plan": plan, "schedule": schedule}, arrays)
            while frame := read_frame(process.stdout):
                message, found = frame
                if "result" in message:
                    return found, _training(message["result"], found)
                if "error" in message:
                    raise TrainingError(f"the network was not trained: memory ran out{_LOWER}")
                if progress:
                    progress(*message["progress"])
            process.wait()
            errors.seek(0)
            raise TrainingError(_cause(process.returncode, errors.read().decode(errors="replace")))
        finally:
            process.kill()


def _training(result: Mapping[str, Any], weights: Arrays) -> Training:
    if not weights:
        raise TrainingError(
            f"the network was not trained: {result['outcome']}; lower learning_rate"
        )
    outcome = str(result["outcome"])
    if result["failed"]:
        outcome = f"{outcome}; the weights are those after epoch {result['epochs']}"
    return Training(
        bool(result["converged"]),
        outcome,
        int(result["epochs"]),
        float(result["loss"]),
        bool(result["failed"]),
    )


def _cause(status: int, errors: str) -> str:
    """Return why the process ended without a result."""
    if status == -getattr(signal, "SIGKILL", 9):
        return (
            "the process that trained the network was killed, probably because memory ran out"
            f"{_LOWER}"
        )
    if status < 0:
        return f"the process that trained the network was ended by signal {-status}"
    lines = [line for line in errors.splitlines() if line.strip()]
    last = lines[-1] if lines else f"exit status {status}"
    return f"the process that trained the network ended: {last}"


def write_frame(
    stream: IO[bytes], message: Mapping[str, Any], arrays: Arrays | None = None
) -> None:
    """Write a message and arrays.

    Parameters
    ----------
    stream : binary file
        The stream to write to.
    message : mapping
        Serialisable as JSON.
    arrays : dict of str to ndarray, optional
        Arrays without objects.
    """
    text = json.dumps(message).encode()
    content = io.BytesIO()
    if arrays:
        np.savez(content, allow_pickle=False, **arrays)
    stream.write(_HEADER.pack(len(text), content.tell()))
    stream.write(text)
    with content.getbuffer() as view:
        stream.write(view)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], Arrays] | None:
    """Read a message and its arrays; None if the stream ends before."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    text_size, size = _HEADER.unpack(header)
    text, content = stream.read(text_size), stream.read(size)
    if len(text) < text_size or len(content) < size:
        return None
    arrays: Arrays = {}
    if size:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
    return json.loads(text), arrays
