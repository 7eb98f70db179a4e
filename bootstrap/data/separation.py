"""Whether two samples of documents are of the same kind: a classifier two-sample test.

A classifier learns to tell the documents of two samples apart. Its area under the ROC curve (AUC)
on held-out documents is 0.5 if both are samples of the same documents (Lopez-Paz and Oquab,
"Revisiting classifier two-sample tests", ICLR 2017).
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch, concatenate
from corpus.patients import number_patients
from corpus.ragged import offsets_of, owners_of

#: Samples are of different kinds if the AUC is at least this, ...
_LEAST_AUC = 0.6
#: ... and exceeds 0.5 by at least this number of standard errors.
_STANDARD_ERRORS = 4.0

_QUANTILE = 0.25  # of the scores of the second sample
_LEAST_UNITS = 10  # patients, or documents without one, of a sample that are compared
_FOLDS = 5
_LONGEST = 12  # log2 of the number of tokens from which on lengths are equal
_DIGITS = re.compile(r"\d")
_REPEATED = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True)
class Separation:
    """How well a classifier tells the documents of two samples apart.

    Parameters
    ----------
    auc : float
        The probability that it ranks a document of the first sample before one of the second.
    standard_error : float
        The standard error of the AUC if both are samples of the same documents.
    alike : float
        The estimated number of documents of the first sample that are like those of the second.
    """

    auc: float
    standard_error: float
    alike: float = 0.0

    @property
    def is_significant(self) -> bool:
        """Whether the samples are of different kinds, more than by chance."""
        return self.auc >= max(_LEAST_AUC, 0.5 + _STANDARD_ERRORS * self.standard_error)


def separation(first: Batch, second: Batch, *, by_entities: bool) -> Separation | None:
    """Measure how well the documents of two samples can be told apart.

    Parameters
    ----------
    first, second : Batch
        The samples. Documents without tokens are ignored.
    by_entities : bool
        Whether only documents with entities are compared with each other, and documents without
        entities with each other. The batches are tagged then. The AUC is the mean of both,
        weighted by the number of documents of `first`.

    Returns
    -------
    Separation or None
        None if the samples are too small to compare.
    """
    samples = [batch.take(np.flatnonzero(batch.lengths > 0)) for batch in (first, second)]
    both = concatenate(samples)
    is_first = np.arange(len(both)) < len(samples[0])
    strata = has_entities(both) if by_entities else np.zeros(len(both), bool)
    aucs, errors, weights, alike = [], [], [], 0.0
    for stratum in (False, True):
        rows = np.flatnonzero(strata == stratum)
        found = _auc(both.take(rows), is_first[rows])
        if found:
            aucs.append(found.auc)
            errors.append(found.standard_error)
            weights.append(is_first[rows].sum())
            alike += found.alike
    if not weights:
        return None
    shares = np.array(weights) / np.sum(weights)
    error = np.sqrt((shares**2) @ (np.array(errors) ** 2))
    return Separation(float(shares @ np.array(aucs)), float(error), alike)


def has_entities(batch: Batch) -> npt.NDArray[np.bool_]:
    """Return which documents of a tagged batch have an entity, shape (D,)."""
    inside = offsets_of(batch.tags > 0)
    found: npt.NDArray[np.bool_] = np.diff(inside[batch.document_offsets]) > 0
    return found


def _auc(batch: Batch, is_first: npt.NDArray[np.bool_]) -> Separation | None:
    """Cross-validate a logistic regression; no patient is in training and held out at once."""
    units = number_patients(batch.groups.to_pylist(), batch.ids.to_pylist())
    # Documents of a patient are alike: the standard error is that of as many patients.
    sizes = [len(np.unique(units[is_first == side])) for side in (True, False)]
    if min(sizes) < _LEAST_UNITS:
        return None
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - the same
    from sklearn.model_selection import StratifiedGroupKFold  # noqa: PLC0415 - the same

    features = _features(batch)
    scores = np.zeros(len(batch))
    folds = StratifiedGroupKFold(_FOLDS, shuffle=True, random_state=0)
    for train, held_out in folds.split(features, is_first, units):
        if len(np.unique(is_first[train])) > 1:
            model = LogisticRegression(
                C=0.1, class_weight="balanced", max_iter=200, solver="liblinear"
            )
            model.fit(features[train], is_first[train])
            scores[held_out] = model.decision_function(features[held_out])
    left, right = sizes
    error = np.sqrt((left + right + 1) / (12 * left * right))
    auc = float(roc_auc_score(is_first, scores))
    return Separation(auc, float(error), _alike(scores[is_first], scores[~is_first]))


def _alike(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    """Estimate the number of documents of the first sample that are like those of the second.

    Of documents like those of the second sample, a quarter has lower scores than its first quartile
    (mixture proportion estimation at one threshold; Blanchard, Lee and Scott, "Semi-supervised
    novelty detection", JMLR 2010).
    """
    below = first < np.quantile(second, _QUANTILE)
    return float(min(below.sum() / _QUANTILE, len(first)))


def _features(batch: Batch) -> Any:
    """Build a sparse matrix of word types, the first two words and their shapes, and length.

    Returns
    -------
    scipy.sparse.csr_matrix of float64, shape (D, F)
        Ones where a document has a feature.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

    rows = [owners_of(batch.document_offsets)]
    columns = [_numbers(batch.vocabulary, plain_form)[batch.word_ids]]
    for place in (0, 1):
        for value in (plain_form, short_shape):
            owners = np.flatnonzero(batch.lengths > place)
            words = batch.word_ids[batch.document_offsets[:-1][owners] + place]
            rows.append(owners)
            columns.append(_numbers(batch.vocabulary, value)[words])
    rows.append(np.arange(len(batch)))
    columns.append(np.minimum(np.log2(batch.lengths + 1).astype(np.int64), _LONGEST))
    widths = np.cumsum([0, *(column.max(initial=0) + 1 for column in columns)])
    numbers = np.concatenate(
        [column + width for column, width in zip(columns, widths[:-1], strict=True)]
    )
    matrix = csr_matrix(
        (np.ones(len(numbers)), (np.concatenate(rows), numbers)), (len(batch), widths[-1])
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _numbers(words: Sequence[str], value: Callable[[str], str]) -> npt.NDArray[np.int64]:
    """Return the number of the value of each word, among the distinct values."""
    index: dict[str, int] = {}
    return np.array([index.setdefault(value(word), len(index)) for word in words], np.int64)


def plain_form(word: str) -> str:
    """Return a word in lower case, with all digits as 0."""
    return _DIGITS.sub("0", word.lower())


def short_shape(word: str) -> str:
    """Return the shape of a word, without repetitions: ``Xx0`` of ``Sala12``."""
    return _REPEATED.sub(r"\1", "".join(map(_shape_of, word)))


def _shape_of(character: str) -> str:
    if character.isalpha():
        return "X" if character.isupper() else "x"
    if character.isdigit():
        return "0"
    return character if character in string.punctuation else "*"
