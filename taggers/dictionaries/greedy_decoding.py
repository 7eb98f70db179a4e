"""From what is said of each word to tags: one pass over the tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.kernels.compiled import Array, compiled
from corpus.tags import bio_labels, find_entities
from taggers.base import MEASURES, Detail, Tagging

#: So many words that join others stand between two words of a name at most: ``de la``, ``-``.
_JOINED = 3
_BEGIN, _INSIDE = 1, 2  # places in the labels of one class


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What is said of the T words of a batch.

    Parameters
    ----------
    divergence : ndarray of float64, shape (T,)
        How far each is from being nothing but a name; infinite where it is in no name.
    joins : ndarray of bool, shape (T,)
        Words that stand between words of a name, and are none by themselves.
    doubtful : ndarray of bool, shape (T,)
        Words that leave no confidence in a document, whatever they are tagged as.
    """

    divergence: npt.NDArray[np.float64]
    joins: npt.NDArray[np.bool_]
    doubtful: npt.NDArray[np.bool_]


def tagged(
    batch: Batch,
    judged: Judged,
    blocked: npt.NDArray[np.bool_],
    *,
    label: str,
    threshold: float,
    threshold_after: float,
    measure: str,
    detail: Detail,
) -> Tagging:
    """Tag the names of a batch.

    A word is one of a name if its divergence is below a threshold, which depends on whether the
    word before is one; so is what joins two of them. What stands together is one name. The
    certainty of such a word is 1 - divergence / threshold (paper 003, equation 3.7); that of
    another word of the dictionary 1 - threshold / divergence, which is as far from the threshold
    the other way; that of all other words is 1.

    Parameters
    ----------
    batch : Batch
        Its words are looked at.
    judged : Judged
        What is said of them.
    blocked : ndarray of bool, shape (N,)
        Tokens with which no name begins.
    label : str
        The class of names.
    threshold, threshold_after : float
        Above 0; the second after a word of a name.
    measure : str
        "min_marginal" for the lowest certainty of a token (equation 3.7), "probability" for the
        product of all of them, "normalised" for the geometric mean.
    detail : str
        What else to give; see `taggers.base.Tagging`.

    Raises
    ------
    InputError
        If there is no such measure.
    """
    if measure not in MEASURES:
        raise InputError(f'there is no measure "{measure}"; there are {", ".join(MEASURES)}')
    labels = bio_labels([label])
    tags = np.zeros(len(batch.words), np.int16)
    certainty = np.ones(len(batch.words))
    walk(
        np.require(batch.words, requirements="W"),
        np.require(batch.documents, requirements="W"),
        judged.divergence, judged.joins, blocked, threshold, threshold_after, tags, certainty,
    )  # fmt: skip
    certainty[judged.doubtful[batch.words]] = 0.0
    marginals = entities = None
    if detail == "labels":
        marginals = np.zeros((len(tags), len(labels)))
        marginals[np.arange(len(tags)), tags] = certainty
        marginals[np.arange(len(tags)), np.where(tags > 0, 0, _BEGIN)] += 1 - certainty
    if detail == "entity":
        entities = _of_entities(certainty, find_entities(tags, batch.documents, labels).first, tags)
    return Tagging(
        tags,
        labels,
        _confidence(certainty, batch, measure),
        None if detail == "document" else certainty,
        marginals,
        entities,
    )


def _of_entities(
    certainty: npt.NDArray[np.float64],
    first: npt.NDArray[np.int64],
    tags: npt.NDArray[np.int16],
) -> npt.NDArray[np.float64]:
    """Give the lowest certainty of the tokens of each name, shape (E, 1)."""
    inside = np.flatnonzero(tags)
    lowest = np.zeros(0)
    if len(first):
        lowest = np.minimum.reduceat(certainty[inside], np.searchsorted(inside, first))
    return lowest[:, None]


def _confidence(
    certainty: npt.NDArray[np.float64], batch: Batch, measure: str
) -> npt.NDArray[np.float64]:
    confidence = np.ones(len(batch))
    some = batch.lengths > 0
    begins = batch.documents[:-1][some]
    if not len(begins):
        return confidence
    if measure == "min_marginal":
        confidence[some] = np.minimum.reduceat(certainty, begins)
        return confidence
    with np.errstate(divide="ignore"):  # the logarithm of 0 is what it should be
        logs = np.add.reduceat(np.log(certainty), begins)
    confidence[some] = np.exp(logs / batch.lengths[some] if measure == "normalised" else logs)
    return confidence


@compiled
def walk(
    words: Array,
    documents: Array,
    divergence: Array,
    joins: Array,
    blocked: Array,
    threshold: float,
    threshold_after: float,
    tags: Array,
    certainty: Array,
) -> None:
    """Write the tags and the certainty of all tokens; see `tagged`."""
    for document in range(len(documents) - 1):
        last = -1  # token of the name that is being read, or -1
        for token in range(documents[document], documents[document + 1]):
            found = divergence[words[token]]
            if last < 0 and blocked[token]:
                continue
            most = threshold_after if last >= 0 else threshold
            if found < most:
                certainty[token] = 1 - found / most
                if last >= 0:
                    tags[last + 1 : token + 1] = _INSIDE
                else:
                    tags[token] = _BEGIN
                last = token
            elif not (last >= 0 and joins[words[token]] and token - last <= _JOINED):
                last = -1
                certainty[token] = 1 - most / found
