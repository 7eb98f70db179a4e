"""The CRF engine on python-crfsuite (Okazaki, 2007), the reference implementation."""

from __future__ import annotations

import contextlib
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pycrfsuite

from corpus.batch import Batch
from corpus.storage.arrays import Expected, array_files
from taggers.base import Detail, Progress, Training, TrainingError
from taggers.crf.attributes import WindowAttributes
from taggers.crf.crf_options import UNTRAINED
from taggers.crf.crfsuite_checks import check_crfsuite
from taggers.crf.decoding import Decoded
from taggers.templates import Templates

if TYPE_CHECKING:
    from taggers.crf.crf_options import CRFOptions
    from taggers.model_folder import ModelFiles

_MODEL = "crf.crfsuite"
_ITERATION = re.compile(r"\*+ Iteration #(\d+) \*+")
_LOSS = re.compile(r"Loss: (-?[\d.]+|-?nan|-?inf)")
_END = re.compile(r"L-BFGS (terminated with .*|resulted in convergence.*)")
_ALREADY_MINIMIZED = "error code (2)"  # of liblbfgs: the initial weights, 0, are the minimum


class CRFsuiteEngine:
    """A linear-chain CRF of python-crfsuite.

    Parameters
    ----------
    labels : tuple of str
        The labels of the training batch, in its order.
    templates : Templates
        The feature templates of the model.
    model : bytes
        The content of a model file of CRFsuite that it has just written, or that
        `taggers.crf.crfsuite_checks.check_crfsuite` has checked: a damaged one can crash the
        process.
    patients : tuple of ndarray
        Hashes of the values of features and streams, and the number of patients of each; see
        `taggers.patient_counts`.
    """

    #: The key of the hashes of values: they have none.
    key = 0

    def __init__(
        self,
        labels: tuple[str, ...],
        templates: Templates,
        model: bytes,
        patients: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]],
    ) -> None:
        self.labels = labels
        self.model = model
        self.patients = patients
        self._attributes = WindowAttributes(templates)
        self._crfsuite = pycrfsuite.Tagger()
        self._crfsuite.open_inmemory(model)

    @classmethod
    def trained(
        cls,
        train: Batch,
        options: CRFOptions,
        templates: Templates,
        *,
        progress: Progress | None = None,
    ) -> tuple[Self, Training]:
        """Train on tagged documents by L-BFGS.

        Raises
        ------
        TrainingError
            If L-BFGS failed before its first step.
        ValueError
            If a tag is unknown, or a document has a weight other than 1.
        """
        if (train.tags < 0).any():
            raise ValueError("CRFsuite needs every tag of its training documents")
        if train.weights is not None and (train.weights != 1).any():
            raise ValueError("CRFsuite supports no weights of documents: each must be 1")
        trainer = _Trainer(options.max_iterations, progress)
        trainer.set_params(
            {
                "c1": options.c1,
                "c2": options.c2,
                "max_iterations": options.max_iterations,
                "delta": options.tolerance,
                "feature.minfreq": options.min_frequency,
                "feature.possible_transitions": True,
            }
        )
        # CRFsuite reads labels as ASCII, so that they are passed as numbers.
        tags = train.tags.astype(str).tolist()
        attributes = WindowAttributes(templates)
        for row, document in enumerate(attributes.of_documents(train)):
            if document:
                trainer.append(
                    document, tags[train.document_offsets[row] : train.document_offsets[row + 1]]
                )
        model = _train_in_memory(trainer)
        return cls(train.labels, templates, model, _patients(train, templates)), trainer.result()

    def decode(
        self, batch: Batch, *, detail: Detail = "document", progress: Progress | None = None
    ) -> Decoded:
        """Compute the best labels of the tokens of a batch.

        Raises
        ------
        ValueError
            If the probabilities of entities are requested, which CRFsuite does not compute.
        """
        if detail == "entity":
            raise ValueError("CRFsuite computes no probabilities of entities")
        numbers = {name: int(name) for name in self._crfsuite.labels()}
        decoded = Decoded.empty(batch.n_tokens, len(batch), len(self.labels), detail)
        for row, document in enumerate(self._attributes.of_documents(batch)):
            if document:
                self._decode_document(
                    document, int(batch.document_offsets[row]), row, numbers, decoded
                )
            if progress and (row % 256 == 255 or row == len(batch) - 1):
                progress(row + 1, len(batch))
        return decoded

    def _decode_document(
        self,
        attributes: Sequence[Sequence[bytes]],
        start: int,
        row: int,
        numbers: Mapping[str, int],
        decoded: Decoded,
    ) -> None:
        crfsuite: Any = self._crfsuite
        crfsuite.set(attributes)
        path = crfsuite.tag()
        decoded.labels[start : start + len(path)] = [numbers[label] for label in path]
        probability = min(float(crfsuite.probability(path)), 1.0)  # rounding can exceed 1
        decoded.log_probability[row] = math.log(probability) if probability else -math.inf
        for place, label in enumerate(path):
            if decoded.chosen is not None:
                decoded.chosen[start + place] = crfsuite.marginal(label, place)
            if decoded.marginals is not None:
                for name, number in numbers.items():
                    decoded.marginals[start + place, number] = crfsuite.marginal(name, place)

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        hashes, patients = self.patients
        return {_MODEL: self.model, **array_files({"hashes": hashes, "patients": patients})}

    @classmethod
    def of_model(cls, model: ModelFiles, templates: Templates) -> Self:
        """Read an engine from the files of a model.

        Raises
        ------
        InputError
            If the file of CRFsuite is missing, or CRFsuite could not read it safely.
        """
        labels, content = model.engine_labels(), model.content(_MODEL)
        check_crfsuite(content, len(labels))
        hashes = model.hashes("hashes")
        patients = model.array("patients", Expected("int32", hashes.shape, 0))
        return cls(labels, templates, content, (hashes, patients))


def _patients(
    train: Batch, templates: Templates
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
    """Return the hashes of the values of training documents, and the patients of each."""
    from taggers.crf.training.training_set import (  # noqa: PLC0415 - numba is slow to import
        TrainingSet,
    )

    found, _ = TrainingSet.of_batch(train, templates)
    return found.hashes, found.patients


class _Trainer(pycrfsuite.BaseTrainer):  # type: ignore[misc]
    """A trainer that parses the log of CRFsuite, which alone reports how L-BFGS ended."""

    def __init__(self, most: int, progress: Progress | None) -> None:
        super().__init__(algorithm="lbfgs")
        self._most = most
        self._progress = progress
        self._iterations = 0
        self._loss = math.nan
        self._outcome = "CRFsuite did not report how L-BFGS ended"

    def message(self, message: str) -> None:
        if match := _ITERATION.match(message):
            self._iterations = int(match[1])
            if self._progress:
                self._progress(self._iterations, self._most)
        elif match := _LOSS.match(message):
            self._loss = float(match[1])
        elif match := _END.match(message):
            self._outcome = match[0]

    def result(self) -> Training:
        """Return the result of training."""
        converged = "resulted in convergence" in self._outcome or (
            "stopping criteria" in self._outcome
        )
        if _ALREADY_MINIMIZED in self._outcome:
            raise TrainingError(UNTRAINED)
        failed = "error" in self._outcome
        if failed and self._iterations == 0:
            raise TrainingError(f"the CRF was not trained: {self._outcome}")
        return Training(converged, self._outcome, self._iterations, self._loss, failed)


def _train_in_memory(trainer: _Trainer) -> bytes:
    """Train, and return the model file, which contains words of notes and is not left on disk."""
    with _private_file() as path:
        trainer.train(path)
        return Path(path).read_bytes()


@contextlib.contextmanager
def _private_file() -> Iterator[str]:
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("crf")
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:  # only Linux has anonymous files in memory
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / _MODEL)
