"""Training of a CRF: by L-BFGS on word types, or by CRFsuite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import Array, compiled
from corpus.kernels.hash_index import HashIndex
from taggers.base import Progress, Training, TrainingError
from taggers.crf.training.lbfgs import minimise
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.weights import prune
from taggers.crf.wordtype import REALS, WordTypeCRF
from taggers.templates import Templates
from taggers.threads import one_thread

if TYPE_CHECKING:
    from taggers.crf.crf_options import CRFOptions

Floats = npt.NDArray[np.float64]

_UNTRAINED = (
    "the CRF was not trained: no weight is better than 0. The training tokens all have the same "
    "tag, or no feature separates their tags, or c1 is too large"
)

#: Relative rounding error of the objective for each precision.
_NOISE = {"single": 1e-4, "double": 1e-12}

#: The lowest tolerance of a warm start. With it, training ends within a thousandth of the optimum,
#: beyond which predictions hardly change.
_WARM = 3e-4


def train_crf(
    train: Batch,
    options: CRFOptions,
    templates: Templates,
    *,
    warm_start: WordTypeCRF | None = None,
    progress: Progress | None = None,
) -> tuple[WordTypeCRF, Training]:
    """Train on tagged documents by the trainer of the options.

    Parameters
    ----------
    train : Batch
        Documents with at least one known tag, and with all streams of the templates.
    options : CRFOptions
        The trainer and its settings.
    templates : Templates
        The features and streams to use.
    warm_start : WordTypeCRF, optional
        A model whose weights initialise those of the same values, offsets and labels. CRFsuite
        ignores it.
    progress : callable, optional
        Called with the number of completed iterations and their maximum.

    Returns
    -------
    crf : WordTypeCRF
    training : Training
        The result of training.

    Raises
    ------
    TrainingError
        If no tag is known, the objective is not finite, or no weight is better than 0.
    ValueError
        If the trainer is "crfsuite", and tags are unknown or documents have weights.
    """
    if not (train.tags >= 0).any():
        raise TrainingError("no training token has a known tag")
    training_set, labels = TrainingSet.from_batch(
        train, templates, min_frequency=options.min_frequency
    )
    if options.trainer == "crfsuite":
        from taggers.crf.training.crfsuite_trainer import (  # noqa: PLC0415 - not always used
            crfsuite_model,
            weights_of_model,
        )

        model, training = crfsuite_model(training_set, options, templates, progress)
        x = weights_of_model(model, training_set)
    else:
        initial = None
        if warm_start is not None:
            initial = _initial_weights(warm_start, training_set, labels)
        x, training = _train_by_word_type(training_set, options, initial, progress)
    if not x.any():
        raise TrainingError(_UNTRAINED)
    weights = prune(training_set.weights_of(x))
    return WordTypeCRF(templates, labels, weights, REALS[options.precision]), training


def _train_by_word_type(
    training_set: TrainingSet,
    options: CRFOptions,
    initial: Floats | None,
    progress: Progress | None,
) -> tuple[Floats, Training]:
    likelihood = Likelihood(training_set, options.c2, REALS[options.precision])
    tolerance = options.tolerance
    with one_thread():
        minimum = minimise(
            likelihood,
            np.zeros(likelihood.size) if initial is None else initial,
            curvature=likelihood.curvature,
            # At zero weights, the curvature is a poor guide to that near the optimum.
            scaled=initial is not None,
            l1=options.c1,
            most=options.max_iterations,
            delta=tolerance if initial is None else max(tolerance, _WARM),
            noise=_NOISE[options.precision],
            progress=progress,
        )
    if not np.isfinite(minimum.value):
        raise TrainingError(f"the CRF was not trained: {minimum.outcome}")
    return minimum.x, Training(
        minimum.converged, minimum.outcome, minimum.iterations, minimum.value, minimum.failed
    )


def _initial_weights(
    warm_start: WordTypeCRF, training: TrainingSet, labels: tuple[str, ...]
) -> Floats:
    """Return the weights of another model, by value, offset and label; 0 where it has none."""
    old = warm_start.weights
    number = np.array(
        [warm_start.labels.index(name) if name in warm_start.labels else -1 for name in labels]
    )
    codes = HashIndex(old.hashes, old.key).positions(training.hashes)
    state = np.zeros(len(training.state.labels))
    shift = (old.offsets - training.offsets) // 2
    _carry_over(
        codes, training.state.begins, training.state.labels, number, shift,
        old.begins, old.state_labels, old.state, old.offsets, state,
    )  # fmt: skip
    both = np.ix_(number, number)
    transition = np.where((number[:, None] >= 0) & (number >= 0), old.transition[both], 0.0)
    return np.concatenate([state, transition.reshape(-1)])


@compiled(
    "int32[::1], int64[::1], int16[::1], int64[::1], int64, int64[::1], int16[::1], "
    "float64[::1], int64, float64[::1]"
)
def _carry_over(
    codes: Array,
    begins: Array,
    labels: Array,
    number: Array,
    shift: int,
    old_begins: Array,
    old_labels: Array,
    old_weights: Array,
    old_offsets: int,
    weights: Array,
) -> None:
    """Copy the weights of another model, whose window is wider by `shift` words on each side."""
    offsets = (len(begins) - 1) // max(len(codes), 1)
    for value in range(len(codes)):
        for offset in range(offsets):
            place = offset + shift
            if codes[value] < 0 or place < 0 or place >= old_offsets:
                continue
            old = np.int64(codes[value]) * old_offsets + place
            row = value * offsets + offset
            for pair in range(begins[row], begins[row + 1]):
                for candidate in range(old_begins[old], old_begins[old + 1]):
                    if old_labels[candidate] == number[labels[pair]]:
                        weights[pair] = old_weights[candidate]
