"""The final filter: characters and numbers of words that entities of a class have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.storage.arrays import Expected, array_files
from corpus.tags import TokenSpans, classes_of, find_entities
from taggers.model_folder import ModelFiles

Masks = npt.NDArray[np.uint32]
Indices = npt.NDArray[np.int64]

_CHARACTERS: tuple[Callable[[str], bool], ...] = (
    str.isdecimal,
    str.isalpha,
    str.isupper,
    str.islower,
    *(sign.__eq__ for sign in "@./-,:()"),
)
_ANY = 2 ** len(_CHARACTERS) - 1

_LEAST = 20  # entities from which constraints of a class are learned
_EXCEPTIONS = 0.005  # the share of these entities that need not meet one
_NAME = "constraints"


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """What nearly all entities of a class have in training documents (paper 000, section 3).

    Emails have an ``@`` and telephone numbers no letters. The paper states such constraints by
    hand.

    Parameters
    ----------
    table : ndarray of uint32, shape (C, 4)
        Of each class: the kinds of characters that an entity must have, and those that it may have,
        as bits; the least and the largest number of words.
    """

    table: Masks

    @classmethod
    def from_training(cls, train: Batch) -> Self:
        """Learn from tagged documents; a class with few entities has no constraints."""
        entities = find_entities(train.tags, train.document_offsets, train.labels)
        masks = joined_masks(masks_of(train), entities.first, entities.last)
        lengths = entities.last - entities.first + 1
        rows = []
        for number in range(len(classes_of(train.labels))):
            own = entities.classes == number
            if own.sum() < _LEAST:
                rows.append((0, _ANY, 1, 2**31))
                continue
            bits = 1 << np.arange(len(_CHARACTERS), dtype=np.uint32)
            shares = ((masks[own, None] & bits) > 0).mean(axis=0)
            must = int(bits[shares >= 1 - _EXCEPTIONS].sum())
            may = int(bits[shares > _EXCEPTIONS].sum())
            least, most = np.quantile(
                lengths[own], (_EXCEPTIONS, 1 - _EXCEPTIONS), method="inverted_cdf"
            )
            rows.append((must, may, int(least), int(most)))
        return cls(np.array(rows, np.uint32).reshape(-1, 4))

    def met(self, tokens: Masks, first: Indices, last: Indices) -> npt.NDArray[np.bool_]:
        """Return whether n-grams meet the constraints of each class, shape (K, C).

        Parameters
        ----------
        tokens : ndarray of uint32, shape (N,)
            The kinds of characters of tokens; see `masks_of`.
        first, last : ndarray of int64, shape (K,)
            The first and the last token of each n-gram.
        """
        masks = joined_masks(tokens, first, last)[:, None]
        must, may, least, most = self.table.T
        lengths = (last - first + 1)[:, None]
        has = ((masks & must) == must) & ((masks & ~may) == 0)
        met: npt.NDArray[np.bool_] = has & (lengths >= least) & (lengths <= most)
        return met

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model, by name."""
        return array_files({_NAME: self.table})

    @classmethod
    def from_model(cls, model: ModelFiles, classes: Sequence[str]) -> Self:
        """Read constraints from the files of a model.

        Raises
        ------
        InputError
            If the file is missing, or is not what `files` returns.
        """
        return cls(model.array(_NAME, Expected("uint32", (len(classes), 4))))


def masks_of(batch: Batch) -> Masks:
    """Return the kinds of characters that tokens have, as bits, shape (N,)."""
    of_types = np.array(
        [
            sum(1 << bit for bit, is_kind in enumerate(_CHARACTERS) if any(map(is_kind, word)))
            for word in batch.vocabulary
        ],
        np.uint32,
    )
    masks: Masks = of_types[batch.word_ids]
    return masks


def joined_masks(tokens: Masks, first: Indices, last: Indices) -> Masks:
    """Return the kinds of characters that n-grams have, shape (K,)."""
    masks, rest = np.zeros(len(first), np.uint32), np.arange(len(first))
    for more in range(int((last - first).max(initial=-1)) + 1):
        rest = rest[first[rest] + more <= last[rest]]
        masks[rest] |= tokens[first[rest] + more]
    return masks


def leftmost_longest(spans: TokenSpans) -> Indices:
    """Return the rows of spans that overlap with none further left, and with no longer one."""
    order = np.lexsort((-spans.last, spans.first))
    kept, end = [], -1
    for row in order.tolist():
        if spans.first[row] > end:
            kept.append(row)
            end = spans.last[row]
    return np.array(kept, np.int64)
