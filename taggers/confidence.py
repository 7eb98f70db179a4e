"""Confidence of documents, tokens and entities, from sequence probabilities and token marginals.

A tagger with a lattice computes the probabilities of whole tag sequences and of entities. For a
tagger with token marginals alone, the tags of a document are assumed to be independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.ragged import offsets_of
from corpus.tags import TokenSpans, classes_of

Floats = npt.NDArray[np.float64]

#: Measures of the confidence in a document, by their names in the configuration.
MEASURES = {
    "probability": "probability of the whole tag sequence, P(y|x)",
    "normalised": "P(y|x) to the power 1 / tokens: the geometric mean per token",
    "min_marginal": "the lowest marginal probability of a chosen tag",
}


def check_measure(measure: str) -> None:
    """Check the name of a measure.

    Raises
    ------
    InputError
        If `measure` is not one of `MEASURES`.
    """
    if measure not in MEASURES:
        raise InputError(f'there is no measure "{measure}"; there are {", ".join(MEASURES)}')


def needs_marginals(measure: str) -> bool:
    """Return whether a measure is computed from token marginals where there is a lattice."""
    return measure == "min_marginal"


def document_confidence(
    measure: str,
    document_offsets: npt.NDArray[np.int64],
    *,
    token_confidence: Floats | None = None,
    log_probability: Floats | None = None,
) -> Floats:
    """Compute the confidence in the tags of each document.

    Parameters
    ----------
    measure : str
        One of `MEASURES`.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of the tokens of each document.
    token_confidence : ndarray of float64, shape (N,), optional
        Marginal probability of the tag of each token.
    log_probability : ndarray of float64, shape (D,), optional
        Logarithm of the probability of each tag sequence; by default, the sum of the logarithms
        of the token marginals. Not used by "min_marginal".

    Returns
    -------
    ndarray of float64, shape (D,)
        In [0, 1]; 1 for a document without tokens.

    Raises
    ------
    InputError
        If the measure does not exist.
    ValueError
        If the token marginals are missing that the measure needs.
    """
    check_measure(measure)
    lengths = np.diff(document_offsets)
    filled = lengths > 0
    first = document_offsets[:-1][filled]
    confidence = np.ones(len(lengths))
    if needs_marginals(measure):
        confidence[filled] = _reduced(np.minimum, token_confidence, first)
        return np.clip(confidence, 0.0, 1.0)
    if log_probability is not None:
        logs = log_probability[filled]
    else:
        with np.errstate(divide="ignore"):  # the logarithm of 0 is correctly minus infinity
            logs = _reduced(np.add, token_confidence, first, np.log)
    if measure == "normalised":
        logs = logs / lengths[filled]
    confidence[filled] = np.exp(np.minimum(logs, 0.0))
    return confidence


def _reduced(
    function: np.ufunc,
    token_confidence: Floats | None,
    first: npt.NDArray[np.int64],
    transform: np.ufunc = np.positive,
) -> Floats:
    """Reduce the values of the tokens of each document to one value."""
    if token_confidence is None:
        raise ValueError("the confidence in documents needs the marginals of their tokens")
    if not len(first):
        return np.zeros(0)
    return np.asarray(function.reduceat(transform(token_confidence), first))


def spread(values: Floats, columns: Sequence[int] | npt.NDArray[np.int64], number: int) -> Floats:
    """Move the columns of an array to others of a wider one, whose other columns are 0.

    Parameters
    ----------
    values : ndarray of float64, shape (R, C)
        The values.
    columns : sequence of int, of length C
        The place of each column.
    number : int
        The number of columns of the result.

    Returns
    -------
    ndarray of float64, shape (R, number)
    """
    wide = np.zeros((len(values), number))
    wide[:, columns] = values
    return wide


def token_confidence_of(marginals: Floats, tags: npt.NDArray[np.int16]) -> Floats:
    """Return the marginal probability of the tag of each token.

    Parameters
    ----------
    marginals : ndarray of float64, shape (N, L)
        Probability of each label.
    tags : ndarray of int16, shape (N,)

    Returns
    -------
    ndarray of float64, shape (N,)
    """
    return np.take_along_axis(marginals, tags[:, None].astype(np.int64), 1)[:, 0]


def entity_probabilities_of(
    marginals: Floats, entities: TokenSpans, labels: Sequence[str]
) -> Floats:
    """Estimate the probabilities of entities from token marginals, without a lattice.

    The probability of an entity of a class is estimated as the lowest marginal of its labels:
    ``B-`` of the class at the first token, and ``I-`` of the class at the other tokens.

    Parameters
    ----------
    marginals : ndarray of float64, shape (N, L)
        Probability of each label.
    entities : TokenSpans
        E entities.
    labels : sequence of str
        ``O``, and ``B-`` and ``I-`` of every class.

    Returns
    -------
    ndarray of float64, shape (E, C)
        For each of ``classes_of(labels)``.
    """
    names = classes_of(labels)
    if not len(entities.first):
        return np.zeros((0, len(names)))
    begin, inside = (
        np.array([labels.index(f"{prefix}-{name}") for name in names]) for prefix in "BI"
    )
    lengths = entities.last - entities.first + 1
    rows = offsets_of(lengths)[:-1]
    within = np.arange(lengths.sum()) - np.repeat(rows, lengths)
    tokens = np.repeat(entities.first, lengths) + within
    columns = np.where(within[:, None] == 0, begin, inside)
    return np.asarray(np.minimum.reduceat(marginals[tokens[:, None], columns], rows))
