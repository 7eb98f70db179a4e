"""Training by CRFsuite (Okazaki, 2007), whose weights become weights of word types."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import os
import re
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pycrfsuite

from taggers.base import Progress, Training, TrainingError
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.weights import pair_keys
from taggers.features.templates import Templates

if TYPE_CHECKING:
    from taggers.crf.crf_options import CRFOptions

Floats = npt.NDArray[np.float64]

_STEP = re.compile(r"\*+ (?:Iteration|Epoch) #(\d+) \*+")
_LOSS = re.compile(r"Loss: (-?[\d.]+|-?nan|-?inf)")
_END = re.compile(
    r"((?:L-BFGS|SGD) )?(terminated with .*|resulted in convergence.*)", re.IGNORECASE
)
_ALREADY_MINIMISED = "error code (2)"  # of liblbfgs: the initial weights, 0, are the minimum
_CONVERGED = ("convergence", "stopping criteri")

_C = ctypes.CDLL(None) if os.name == "posix" else ctypes.CDLL("ucrtbase")

_HEADER = struct.Struct("<4sI4sIIIIIIIII")
_STRINGS = struct.Struct("<4sIIIII")  # the header of a table of strings
_FEATURES_HEADER = 12
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
_STATE, _TRANSITION = 0, 1


def crfsuite_model(
    training_set: TrainingSet,
    options: CRFOptions,
    templates: Templates,
    progress: Progress | None = None,
) -> tuple[bytes, Training]:
    """Train by an algorithm of CRFsuite.

    Parameters
    ----------
    training_set : TrainingSet
        Documents in which every tag is known.
    options : CRFOptions
        The algorithm and its settings.
    templates : Templates
        The features and streams of the training set.
    progress : callable, optional
        Called with the number of completed iterations and their maximum.

    Returns
    -------
    model : bytes
        The content of the model file of CRFsuite, for `weights_of_model`.
    training : Training
        The result of training.

    Raises
    ------
    TrainingError
        If training failed before its first step.
    ValueError
        If a tag is unknown, or a document has a weight other than 1.
    """
    if (training_set.tags < 0).any():
        raise ValueError("CRFsuite needs every tag of its training documents")
    if (training_set.weights != 1).any():
        raise ValueError("CRFsuite supports no weights of documents: each must be 1")
    trainer = _LoggedTrainer(options, progress)
    tags = training_set.tags.astype(str).tolist()
    for first, last, attributes in attributes_of(training_set, templates):
        trainer.append(attributes, tags[first:last])
    _C.srand(1)  # all algorithms but L-BFGS shuffle the documents by it
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"  # of numbers: it contains no words
        trainer.train(str(file))
        return file.read_bytes(), trainer.result()


def attributes_of(
    training_set: TrainingSet, templates: Templates
) -> Iterator[tuple[int, int, list[list[str]]]]:
    """Yield the attributes of the tokens of each document, in the form that CRFsuite reads.

    The attribute of a value at an offset is its row in ``training_set.state``, as text.

    Yields
    ------
    first, last : int
        The tokens of the document; documents without tokens are left out.
    attributes : list of list of str
        The attributes of each token.
    """
    window, reach, stride = templates.window, templates.reach, training_set.offsets
    places = [*(template.offsets for template in templates.features), range(-window, window + 1)]
    begin, end = len(training_set.codes) - 2, len(training_set.codes) - 1

    @functools.lru_cache(1 << 17)  # most tokens are frequent words
    def named(word: int, offset: int) -> list[str]:
        codes = training_set.codes[word].tolist()
        return [
            str(code * stride + offset + reach)
            for code, offsets in zip(codes, places, strict=True)
            if code >= 0 and offset in offsets
        ]

    streams = [
        (offset, stream.values.tolist(), (stream.codes * stride + offset + reach).tolist())
        for stream in training_set.streams
        for offset in stream.offsets.tolist()
    ]
    words = training_set.words.tolist()
    for first, last in itertools.pairwise(training_set.document_offsets.tolist()):
        document = []
        for token in range(first, last):
            attributes = []
            for offset in range(-window, window + 1):
                place = token + offset
                word = begin if place < first else end if place >= last else words[place]
                attributes += named(word, offset)
            for offset, values, rows in streams:
                if first <= token + offset < last and values[token + offset] >= 0:
                    attributes.append(str(rows[values[token + offset]]))
            document.append(attributes)
        if document:
            yield first, last, document


class _LoggedTrainer(pycrfsuite.BaseTrainer):  # type: ignore[misc]
    """A trainer that parses the log of CRFsuite, which alone reports how training ended."""

    def __init__(self, options: CRFOptions, progress: Progress | None) -> None:
        algorithm = options.algorithm or "lbfgs"
        super().__init__(algorithm=algorithm)
        settings: dict[str, object] = {
            "max_iterations": options.max_iterations,
            "feature.minfreq": options.min_frequency,
            "feature.possible_transitions": True,
        }
        if algorithm in {"lbfgs", "l2sgd"}:
            settings |= {"c2": options.c2, "delta": options.tolerance}
        if algorithm == "lbfgs":
            settings["c1"] = options.c1
        self.set_params(settings)
        self._most = options.max_iterations
        self._progress = progress
        self._iterations = 0
        self._loss = math.nan
        self._outcome = "the maximum number of iterations was reached"

    def message(self, message: str) -> None:
        """Read a message of the log."""
        if match := _STEP.match(message):
            self._iterations = int(match[1])
            if self._progress:
                self._progress(self._iterations, self._most)
        elif match := _LOSS.match(message):
            self._loss = float(match[1])
        elif match := _END.match(message):
            self._outcome = match[0]

    def result(self) -> Training:
        """Return the result of training."""
        converged = any(text in self._outcome for text in _CONVERGED)
        failed = "error" in self._outcome
        if failed and self._iterations == 0 and _ALREADY_MINIMISED not in self._outcome:
            raise TrainingError(f"the CRF was not trained: {self._outcome}")
        return Training(converged, self._outcome, self._iterations, self._loss, failed)


def weights_of_model(model: bytes, training_set: TrainingSet) -> Floats:
    """Read the weights of a model file, whose text dump has only six decimals.

    Returns
    -------
    ndarray of float64, shape (K + L * L,)
        The weights, in the order of `taggers.crf.training.likelihood.Likelihood`.
    """
    _, _, _, _, _, labels, attributes, at_features, at_labels, at_attributes, _, _ = (
        _HEADER.unpack_from(model)
    )
    label = _numbers(model, at_labels, labels)
    row = _numbers(model, at_attributes, attributes)
    (number,) = struct.unpack_from("<I", model, at_features + 8)
    features = np.frombuffer(model, _FEATURE, number, at_features + _FEATURES_HEADER)
    state = features[features["type"] == _STATE]
    size = training_set.labels
    known = pair_keys(training_set.state.offsets, training_set.state.labels, size)
    x = np.zeros(len(known))
    pair = row[state["source"]] * size + label[state["target"]]
    x[np.searchsorted(known, pair)] = state["weight"]
    transition = np.zeros((size, size))
    follows = features[features["type"] == _TRANSITION]
    transition[label[follows["source"]], label[follows["target"]]] = follows["weight"]
    return np.concatenate([x, transition.reshape(-1)])


def _numbers(data: bytes, start: int, number: int) -> npt.NDArray[np.int64]:
    """Read the numbers in a table of strings (a constant quark database), in order of their ids."""
    offset = _STRINGS.unpack_from(data, start)[5]
    numbers = []
    for place in np.frombuffer(data, "<u4", number, start + offset).tolist():
        begin = start + place + 8
        numbers.append(int(data[begin : data.index(b"\0", begin)]))
    return np.array(numbers, np.int64)
