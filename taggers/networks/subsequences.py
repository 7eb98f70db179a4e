"""Overlapping sub-sequences of documents (paper 003, section 3.5.2, figure 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.ragged import offsets_of, ranges_of

Indices = npt.NDArray[np.int64]

#: The share of a sub-sequence that it has in common with each of its neighbours.
_OVERLAP = 0.25

#: The token that stands for the border of a document.
BORDER = -1


@dataclass(frozen=True, slots=True, eq=False)
class Subsequences:
    """Documents with a border on both sides, divided into S sub-sequences of equal length.

    Parameters
    ----------
    tokens : ndarray of int64, shape (M,)
        The tokens of all sub-sequences, as positions in the batch; `BORDER` for borders.
    offsets : ndarray of int64, shape (S + 1,)
        Offsets of each sub-sequence in `tokens`.
    best : ndarray of int64, shape (N,)
        For each token of the batch, its position in `tokens` where it has the most context: where
        the shorter of the distances to the ends of the sub-sequence is the longest.
    documents : ndarray of int64, shape (S,)
        The document of each sub-sequence.
    """

    tokens: Indices
    offsets: Indices
    best: Indices
    documents: Indices

    @classmethod
    def from_offsets(cls, document_offsets: Indices, length: int) -> Subsequences:
        """Divide documents.

        Parameters
        ----------
        document_offsets : ndarray of int64, shape (D + 1,)
            Offsets of each document's tokens. A document without tokens has no sub-sequence.
        length : int
            Tokens and borders of a sub-sequence; shorter documents have a shorter one. With 0,
            documents stay whole and have no borders.
        """
        if not length:
            tokens = np.arange(document_offsets[-1])
            return cls(tokens, document_offsets, tokens, np.arange(len(document_offsets) - 1))
        step = length - max(round(_OVERLAP * length), 1)
        lengths = np.diff(document_offsets)
        filled = np.flatnonzero(lengths)
        sizes = lengths[filled] + 2
        numbers = 1 + np.maximum(-(-(sizes - length) // step), 0)
        documents = np.repeat(filled, numbers)
        order = ranges_of(np.zeros_like(numbers), numbers)
        whole = np.repeat(sizes, numbers)
        # The last sub-sequence ends with the document, and so has the full length too.
        begins = np.maximum(np.minimum(order * step, whole - length), 0)
        own = np.minimum(whole - begins, length)
        offsets = offsets_of(own)
        within = ranges_of(np.zeros_like(own), own)
        places = within + np.repeat(begins, own) - 1  # in the document, whose border is at -1
        first = np.repeat(document_offsets[:-1][documents], own)
        outside = (places < 0) | (places >= np.repeat(lengths[documents], own))
        tokens = np.where(outside, BORDER, first + places)
        # Borders are context that no other sub-sequence has more of.
        before = np.where(np.repeat(begins == 0, own), length, within)
        after = np.repeat(own, own) - 1 - within
        after[np.repeat(begins + own == whole, own)] = length
        context = np.minimum(before, after)
        inner = np.flatnonzero(~outside)
        ranked = inner[np.lexsort((-inner, context[inner], tokens[inner]))]
        last = np.append(np.diff(tokens[ranked]) > 0, True)[: len(ranked)]
        return cls(tokens, offsets, ranked[last], documents)
