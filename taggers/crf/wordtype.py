"""The word-type engine of CRFs, which computes features and scores once per word type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import kernel_array
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes, hash_values
from corpus.storage.arrays import array_bytes
from taggers.base import Detail, Progress, Training, TrainingError
from taggers.crf import lattice
from taggers.crf.channels import Channel, Channels
from taggers.crf.crf_options import UNTRAINED
from taggers.crf.crfsuite_file import read_crfsuite, weights_of
from taggers.crf.decoding import Decoded, Decoder, StreamScores
from taggers.crf.training.lbfgs import minimise
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.weights import (
    Weights,
    add_weights,
    border_hashes,
    carry_over,
    empty_table,
    middle,
    prune,
    read_weights,
    value_hashes,
    values_of,
)
from taggers.identities import PART, WHOLE, identities
from taggers.patient_counts import Counts
from taggers.pruning import AFFIXES, Pruning
from taggers.string_table import EMPTY
from taggers.templates import Templates
from taggers.threads import one_thread

if TYPE_CHECKING:
    from taggers.crf.crf_options import CRFOptions
    from taggers.model_folder import ModelFiles

#: The type of probabilities for each precision.
REALS = {"single": np.float32, "double": np.float64}

#: Relative rounding error of the objective for each precision.
NOISE = {"single": 1e-4, "double": 1e-12}

#: The lowest tolerance of a warm start. With it, training ends within a thousandth of the optimum,
#: beyond which predictions hardly change.
_WARM = 3e-4

#: Words whose features are computed at once, which limits the memory that is needed.
_PIECE = 1 << 13

#: Memory for the cached score table of words, in bytes.
KEPT = 128 * 2**20


class WordTypeEngine:
    """A linear-chain CRF that computes scores once per word type.

    Parameters
    ----------
    templates : Templates
        The feature templates of the model.
    labels : tuple of str
        The labels of the model.
    weights : Weights
        The weights of the model.
    real : dtype
        The type of probabilities in tagging: float32, or float64, which takes twice the time.
    """

    def __init__(
        self,
        templates: Templates,
        labels: tuple[str, ...],
        weights: Weights,
        real: npt.DTypeLike = np.float32,
    ) -> None:
        self.templates = templates
        self.labels = labels
        self.weights = weights
        kind: np.dtype[Any] = np.dtype(real)
        if not lattice.safe(weights.transition, kind):
            kind = np.dtype(np.float64)
        self._real = kind
        self._scores = WordScores(weights, templates, kind)
        self._channels = Channels(templates)

    @property
    def key(self) -> int:
        """The key of the hashes of values; 0 for none."""
        return self.weights.key

    @classmethod
    def trained(
        cls,
        train: Batch,
        options: CRFOptions,
        templates: Templates,
        *,
        warm_start: WordTypeEngine | None = None,
        progress: Progress | None = None,
    ) -> tuple[Self, Training]:
        """Train on tagged documents by L-BFGS.

        Parameters
        ----------
        train : Batch
            Documents with at least one known tag.
        options : CRFOptions
            Regularization, precision, tolerance and the maximum number of iterations.
        templates : Templates
            The features and streams to use.
        warm_start : WordTypeEngine, optional
            A model whose weights initialise those of the same values, offsets and labels.
        progress : callable, optional
            Called with the number of completed L-BFGS iterations and their maximum.

        Returns
        -------
        engine : WordTypeEngine
        training : Training
            The result of training.

        Raises
        ------
        TrainingError
            If no tag is known, the objective is not finite, or no weight is better than 0.
        """
        if not (train.tags >= 0).any():
            raise TrainingError("no training token has a known tag")
        training_set, labels = TrainingSet.of_batch(
            train, templates, min_frequency=options.min_frequency
        )
        real = REALS[options.precision]
        likelihood = Likelihood(training_set, options.c2, real)
        initial = np.zeros(likelihood.size)
        if warm_start is not None:
            initial = _initial_weights(warm_start, training_set, labels)
        with one_thread():
            minimum = minimise(
                likelihood,
                initial,
                l1=options.c1,
                most=options.max_iterations,
                noise=NOISE[options.precision],
                delta=options.tolerance if warm_start is None else max(options.tolerance, _WARM),
                # At zero weights, the curvature is a poor guide to that near the optimum.
                curvature=None if warm_start is None else likelihood.curvature,
                progress=progress,
            )
        if not np.isfinite(minimum.value):
            raise TrainingError(f"the CRF was not trained: {minimum.outcome}")
        if not minimum.x.any():
            raise TrainingError(UNTRAINED)
        engine = cls(templates, labels, prune(training_set.weights_of(minimum.x)), real)
        training = Training(
            minimum.converged, minimum.outcome, minimum.iterations, minimum.value, minimum.failed
        )
        return engine, training

    def decode(
        self, batch: Batch, *, detail: Detail = "document", progress: Progress | None = None
    ) -> Decoded:
        """Compute the best labels of the tokens of a batch."""
        rows = self._scores.rows(batch.vocabulary)
        decoder = Decoder(
            self._scores.table, self.weights.transition, begin=0, end=1, names=self.labels
        )
        streams = [self._scores.stream_scores(channel) for channel in self._channels.of(batch)]
        words, documents = rows[batch.word_ids], kernel_array(batch.document_offsets)
        with one_thread():
            return decoder.decode(words, documents, streams, detail=detail, progress=progress)

    def pruned(self, pruning: Pruning, templates: Templates) -> WordTypeEngine:
        """Return an engine without the values of few patients, optionally without their text.

        `templates` are those of the pruned model.
        """
        weights = self.weights
        if pruning.min_patients > 1:
            weights = prune(weights, pruning.keeps(weights.patients))
        hashes, key = pruning.with_hashes(weights.hashes, weights.key)
        weights = replace(
            weights,
            hashes=hashes,
            names=EMPTY if pruning.hash_names else weights.names,
            patients=pruning.known(weights.patients),
            key=key,
        )
        return WordTypeEngine(templates, self.labels, weights, self._real)

    def with_patients(self, hashes: Hashes, patients: Counts) -> WordTypeEngine:
        """Return an engine with the numbers of patients of values, 0 for those without a number."""
        positions = HashIndex(hashes).positions(self.weights.hashes)
        known = np.append(patients, np.int32(0))[positions]
        weights = replace(self.weights, patients=known)
        return WordTypeEngine(self.templates, self.labels, weights, self._real)

    def traces(self, words: Sequence[str]) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words have values of their own, and which have parts that all have weights.

        The values of a word are those of features and streams that are the word itself.
        """
        whole, parts = np.zeros(len(words), bool), np.ones(len(words), bool)
        some = np.zeros(len(words), bool)
        for begin in range(0, len(words), _PIECE):
            piece = slice(begin, begin + _PIECE)
            for name, values, kinds in identities(words[piece], self.templates):
                known = self._scores.has(name, values)
                whole[piece] |= known & (kinds == WHOLE)
                parts[piece] &= known | (kinds != PART)
                some[piece] |= kinds == PART
        return {"features": whole, AFFIXES: parts & some}

    @classmethod
    def of_crfsuite(
        cls,
        model: bytes,
        templates: Templates | None = None,
        named: Callable[[str], str] = str,
    ) -> Self:
        """Convert a model file of CRFsuite.

        Parameters
        ----------
        model : bytes
            The file.
        templates : Templates, optional
            The feature templates of the model; derived from its attributes by default.
        named : callable
            Maps the labels of the file to the names of tags.
        """
        found = read_crfsuite(model)
        templates, weights = weights_of(found, templates)
        return cls(templates, tuple(map(named, found.labels)), weights, np.float64)

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model: arrays in NumPy's format."""
        arrays = {name: getattr(self.weights, name) for name in _ARRAYS}
        arrays |= {"names": self.weights.names.text, "name_ends": self.weights.names.ends}
        return {f"{name}.npy": array_bytes(array) for name, array in arrays.items()}

    @classmethod
    def of_model(cls, model: ModelFiles, options: CRFOptions, templates: Templates) -> Self:
        """Read an engine from the files of a model.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns.
        """
        labels = model.engine_labels()
        weights = read_weights(model, len(labels), 2 * templates.reach + 1)
        return cls(templates, labels, weights, REALS[options.precision])


_ARRAYS = ("hashes", "patients", "begins", "state_labels", "state", "transition")


def _initial_weights(
    warm_start: WordTypeEngine, training: TrainingSet, labels: tuple[str, ...]
) -> npt.NDArray[np.float64]:
    """Return the initial weights: those of another model, by value, offset and label."""
    old = warm_start.weights
    number = np.array(
        [warm_start.labels.index(name) if name in warm_start.labels else -1 for name in labels]
    )
    codes = HashIndex(old.hashes, old.key).positions(training.hashes)
    state = np.zeros(len(training.state.labels))
    shift = (old.offsets - training.offsets) // 2
    carry_over(
        codes, training.state.begins, training.state.labels, number, shift,
        old.begins, old.state_labels, old.state, old.offsets, state,
    )  # fmt: skip
    both = np.ix_(number, number)
    transition = np.where((number[:, None] >= 0) & (number >= 0), old.transition[both], 0.0)
    return np.concatenate([state, transition.reshape(-1)])


class WordScores:
    """The cached table of the scores that words add to the tokens around them.

    The rows of words are cached up to `KEPT` bytes.

    Parameters
    ----------
    weights : Weights
        The weights of the model.
    templates : Templates
        The feature templates of the model.
    real : dtype
        The type of the scores.
    """

    def __init__(self, weights: Weights, templates: Templates, real: npt.DTypeLike) -> None:
        self._weights = weights
        self._templates = templates
        self._features = [each.name for each in templates.features]
        self._offsets = 2 * templates.window + 1
        self._places = middle(self._offsets, weights.offsets)
        self._value_index = HashIndex(weights.hashes, weights.key)
        self._real = real
        self._clear()

    def _clear(self) -> None:
        self._index: dict[str, int] = {}
        self._rows = empty_table(1024, self._offsets, self._weights.labels, self._real)
        borders = np.full((2, 1), -1, np.int32)
        borders[:, 0] = self._value_index.positions(border_hashes())
        self._add(borders, self._rows[:2])

    @property
    def table(self) -> lattice.Reals:
        """The scores, shape (rows, offsets, labels padded): begin, end, then words."""
        return self._rows

    def rows(self, types: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the row of each word; rows of new words are added to the table."""
        new = self._new(types)
        if new and (len(self._index) + len(new)) * self._rows[0].nbytes > KEPT:
            self._clear()
            new = self._new(types)
        used = len(self._index) + 2
        self._grow(used + len(new))
        for first in range(0, len(new), _PIECE):
            self._compute(new[first : first + _PIECE], used + first)
        return np.fromiter(map(self._index.__getitem__, types), np.int32, len(types))

    def has(self, name: str, values: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which values of a feature or stream have weights."""
        found: npt.NDArray[np.bool_] = self._value_index.positions(hash_values(name, values)) >= 0
        return found

    def _new(self, types: Sequence[str]) -> list[str]:
        """Return the distinct words without a row."""
        index = self._index
        return [word for word in dict.fromkeys(types) if word not in index]

    def _compute(self, words: Sequence[str], row: int) -> None:
        """Compute the rows of words, the first of them at index `row`."""
        hashes = value_hashes(values_of(words, self._templates), self._features)
        codes = self._value_index.positions(hashes.reshape(-1)).reshape(hashes.shape)
        self._add(codes, self._rows[row : row + len(words)])
        self._index.update(zip(words, range(row, row + len(words)), strict=True))

    def _grow(self, rows: int) -> None:
        if rows > len(self._rows):
            number = max(rows, 2 * len(self._rows))
            more = empty_table(number, self._offsets, self._weights.labels, self._real)
            more[: len(self._rows)] = self._rows
            self._rows = more

    def stream_scores(self, channel: Channel) -> StreamScores:
        """Compute the scores that the values of a stream add."""
        types = channel.stream.vocabulary
        offsets = np.array(channel.offsets, np.int64)
        table = empty_table(len(types), len(offsets), self._weights.labels, self._real)
        if types:
            codes = self._value_index.positions(hash_values(channel.name, types))
            self._add(codes[:, None], table, offsets + self._weights.offsets // 2)
        return StreamScores(kernel_array(channel.stream.values), offsets, table)

    def _add(
        self,
        codes: npt.NDArray[np.int32],
        table: lattice.Reals,
        places: npt.NDArray[np.int64] | None = None,
    ) -> None:
        weights = self._weights
        where = self._places if places is None else places, weights.offsets
        add_weights(codes, *where, weights.begins, weights.state_labels, weights.state, table)
