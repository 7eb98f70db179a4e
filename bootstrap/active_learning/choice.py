"""The choice of a round of documents by their utility, without near-duplicates and by class."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootstrap.active_learning.queries import Floats
from bootstrap.data.representativeness import plain_form
from corpus.batch import Batch
from corpus.ragged import owners_of
from corpus.tags import classes_of, find_entities
from taggers.base import Tagging

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ChoiceLimits:
    """The limits of a round.

    Parameters
    ----------
    documents : int
        The maximum number of documents.
    tokens : int or None
        The maximum number of their tokens; None for no limit.
    near_duplicate : float
        No two documents have this Jaccard similarity of their words or more. 1 excludes only
        documents with the same words, a number above 1 none.
    class_share : float
        The share of the round that is divided among the classes of the tagging.
    turn : int
        The number of the round. Where the share cannot be divided evenly, classes take turns.
    full : bool
        Whether near-duplicates fill the round if there are not enough other documents.
    """

    documents: int
    tokens: int | None = None
    near_duplicate: float = math.inf
    class_share: float = 0.0
    turn: int = 0
    full: bool = False


def choose_round(
    utility: Floats, batch: Batch, limits: ChoiceLimits, tagging: Tagging | None = None
) -> Indices:
    """Choose the documents of a round, those with the highest utility first.

    Each class first gets its part of the class share: documents that have one of its entities in
    the tagging, if there are any. The rest of the round is filled by utility alone. Documents
    without tokens, or with more tokens than are left, are not chosen.

    Parameters
    ----------
    utility : ndarray of float64, shape (D,)
        The utility of each document. Ties are resolved in the order of the batch.
    batch : Batch
        The candidates.
    limits : ChoiceLimits
        The limits of the round.
    tagging : Tagging, optional
        The tagging of the batch. With it, the words of entities count as their class in comparisons
        of documents; a share of classes requires it.

    Returns
    -------
    ndarray of int64, shape (K,)
        The documents, in the order in which they were chosen.
    """
    order = np.argsort(-utility, kind="stable")
    order = order[batch.lengths[order] > 0]
    chosen = _Round(batch, limits, tagging)
    if limits.class_share and tagging is not None:
        by_class = _documents_by_class(tagging, batch)
        for number, has_class in zip(_parts(limits, len(by_class)), by_class, strict=True):
            chosen.fill(order[has_class[order]], len(chosen.indices) + number)
    chosen.fill(order, limits.documents)
    if limits.full:
        chosen.fill(order, limits.documents, near_duplicates=True)
    return np.array(chosen.indices, np.int64)


class _Round:
    """The documents chosen so far, and which others are near-duplicates of them."""

    def __init__(self, batch: Batch, limits: ChoiceLimits, tagging: Tagging | None) -> None:
        self.indices: list[int] = []
        self._lengths = batch.lengths
        self._tokens_left = math.inf if limits.tokens is None else limits.tokens
        self._near_duplicate = limits.near_duplicate
        self._types = _DocumentWords(batch, tagging) if limits.near_duplicate <= 1 else None
        self._chosen = np.zeros(len(batch), bool)
        self._alike = np.zeros(len(batch), bool)

    def fill(self, order: Iterable[int], size: int, *, near_duplicates: bool = False) -> None:
        """Add documents in some order until there are `size`."""
        # After a document with too many tokens, shorter ones are still added.
        for index in order:
            if len(self.indices) >= size:
                return
            excluded = self._chosen[index] or (self._alike[index] and not near_duplicates)
            if not excluded and self._lengths[index] <= self._tokens_left:
                self._add(int(index))

    def _add(self, index: int) -> None:
        self._tokens_left -= int(self._lengths[index])
        self.indices.append(index)
        self._chosen[index] = True
        if self._types:
            self._alike |= self._types.similarity(index) >= self._near_duplicate


def _parts(limits: ChoiceLimits, classes: int) -> list[int]:
    """Divide the class share among the classes; the remainder goes to different ones each round."""
    share, left = divmod(round(limits.class_share * limits.documents), max(classes, 1))
    first = limits.turn * left
    return [share + ((number - first) % classes < left) for number in range(classes)]


def _documents_by_class(tagging: Tagging, batch: Batch) -> list[npt.NDArray[np.bool_]]:
    """Return which documents have an entity of each class in the tagging."""
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    owners = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    has = np.zeros((len(classes_of(tagging.labels)), len(batch)), bool)
    has[entities.classes, owners] = True
    return list(has)


class _DocumentWords:
    """The distinct words of each document, in lower case and with all digits as 0."""

    def __init__(self, batch: Batch, tagging: Tagging | None = None) -> None:
        index: dict[str, int] = {}
        forms = (plain_form(word) for word in batch.vocabulary)
        numbers = np.array([index.setdefault(form, len(index)) for form in forms], np.int64)
        types = numbers[batch.word_ids]
        self._number = len(index)
        if tagging is not None:  # documents that differ in a name alone are equal
            classes = _classes(tagging)
            types = np.where(classes >= 0, len(index) + classes, types)
            self._number += len(classes_of(tagging.labels))
        owners = owners_of(batch.document_offsets)
        pairs = np.unique(owners * max(self._number, 1) + types)
        self._owners, self._types = np.divmod(pairs, max(self._number, 1))
        self._sizes = np.bincount(self._owners, minlength=len(batch))

    def similarity(self, document: int) -> Floats:
        """Compute the Jaccard similarity of a nonempty document to every document, shape (D,)."""
        inside = np.zeros(self._number, bool)
        inside[self._types[self._owners == document]] = True
        shared = np.bincount(self._owners[inside[self._types]], minlength=len(self._sizes))
        similarity: Floats = shared / (self._sizes + self._sizes[document] - shared)
        return similarity


def _classes(tagging: Tagging) -> npt.NDArray[np.int64]:
    """Return the number of the class of each token; -1 outside of entities."""
    number = {name: index for index, name in enumerate(classes_of(tagging.labels))}
    of_label = np.array([number.get(label[2:], -1) for label in tagging.labels], np.int64)
    return of_label[tagging.tags]
