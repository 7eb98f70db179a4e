"""Training of a CRF: by L-BFGS on word types, or by CRFsuite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import HashIndex
from corpus.ragged import owners_of
from taggers.base import Progress, Training, TrainingError
from taggers.crf.training.lbfgs import StoppingCriteria, minimise
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.observed_counts import Pairs
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.weights import Weights, pair_keys, prune
from taggers.crf.wordtype import REALS, WordTypeCRF
from taggers.features.templates import Templates
from taggers.threads import one_thread

if TYPE_CHECKING:
    from taggers.crf.crf_options import CRFOptions

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

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
        A model whose weights initialise the weights with the same values, offsets and labels.
        CRFsuite ignores it.
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
    tolerance = options.tolerance if initial is None else max(options.tolerance, _WARM)
    with one_thread():
        x, training = minimise(
            likelihood,
            np.zeros(likelihood.size) if initial is None else initial,
            curvature=likelihood.curvature,
            # The curvature at zero weights is a poor guide to the curvature near the optimum.
            scaled=initial is not None,
            l1=options.c1,
            criteria=StoppingCriteria(options.max_iterations, tolerance, _NOISE[options.precision]),
            progress=progress,
        )
    if not np.isfinite(training.loss):
        raise TrainingError(f"the CRF was not trained: {training.outcome}")
    return x, training


def _initial_weights(
    warm_start: WordTypeCRF, training: TrainingSet, labels: tuple[str, ...]
) -> Floats:
    """Return the weights of another model, by value, offset and label; 0 where it has none."""
    old, known = warm_start.weights, warm_start.labels
    index = HashIndex(old.values.hashes, old.values.key)
    number = np.array([known.index(name) if name in known else -1 for name in labels])
    codes = index.positions(training.values.hashes).astype(np.int64)
    state = _carried_over(old, codes, training.state, number, training.offsets)
    both = np.ix_(number, number)
    transition = np.where((number[:, None] >= 0) & (number >= 0), old.transition[both], 0.0)
    return np.concatenate([state, transition.reshape(-1)])


def _carried_over(
    old: Weights, codes: Indices, pairs: Pairs, number: Indices, offsets: int
) -> Floats:
    """Return the weights of another model for pairs, from its numbers of values and labels."""
    # Numbers of values or labels that it lacks are negative.
    value, place = np.divmod(owners_of(pairs.offsets), offsets)
    place += (old.offsets - offsets) // 2
    label = number[pairs.labels]
    known = (codes[value] >= 0) & (place >= 0) & (place < old.offsets) & (label >= 0)
    keys = (codes[value] * old.offsets + place) * old.labels + label
    have = pair_keys(old.state_offsets, old.state_labels, old.labels)
    at = np.searchsorted(have, keys)
    known &= np.append(have, -1)[at] == keys
    return np.where(known, np.append(old.state, 0.0)[at], 0.0)
