"""Packing of documents, so that many are processed together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from corpus.ragged import offsets_of, owners_of

Reals = npt.NDArray[np.floating]
Indices = npt.NDArray[np.int64]
Where = tuple[Indices, Indices, Indices]

#: Labels are padded to a multiple of this, so that rows fill the vector registers.
LANES = 8
#: The type of `Packing.where` in the signatures of kernels.
WHERE = "UniTuple(int64[::1], 3)"
#: Score of a padding label. Its exponential is 0, and sums of such scores are finite.
NEVER = -1e9


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """The positions of the tokens of packed documents.

    Parameters
    ----------
    documents : ndarray of int64, shape (D,)
        Rows of the batch, longest first; none without tokens.
    first : ndarray of int64, shape (D,)
        The first token of each in the batch.
    lengths : ndarray of int64, shape (D,)
        Tokens of each.
    steps : ndarray of int64, shape (T + 1,)
        Packed tokens ``steps[t]`` to ``steps[t + 1]`` are at place t of their documents.
    """

    documents: Indices
    first: Indices
    lengths: Indices
    steps: Indices

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.steps[-1])

    @property
    def where(self) -> Where:
        """The first tokens, the lengths and the steps, as kernels receive them."""
        return self.first, self.lengths, self.steps

    @property
    def rows(self) -> Indices:
        """The document of each packed token, counted from 0 as in `documents`."""
        return np.arange(self.tokens) - np.repeat(self.steps[:-1], np.diff(self.steps))

    @property
    def positions(self) -> Indices:
        """The position of each packed token in the batch."""
        return self.first[self.rows] + owners_of(self.steps)


def pack(
    document_offsets: Indices, tokens: int, wanted: npt.NDArray[np.bool_] | None = None
) -> list[Packing]:
    """Group documents into packings of about a number of tokens.

    Parameters
    ----------
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    tokens : int
        Tokens of a packing; one document may have more.
    wanted : ndarray of bool, shape (D,), optional
        Which documents to pack; all of them by default.

    Returns
    -------
    list of Packing
        Documents without tokens are in none of them.
    """
    lengths = np.diff(document_offsets)
    order = np.argsort(-lengths, kind="stable")
    order = order[: np.count_nonzero(lengths)]
    if wanted is not None:
        order = order[wanted[order]]
    packings = []
    part = (np.cumsum(lengths[order]) - 1) // tokens
    for rows in np.split(order, np.flatnonzero(np.diff(part)) + 1) if len(order) else []:
        longest = lengths[rows[0]]
        active = np.searchsorted(-lengths[rows], -np.arange(longest), side="left")
        steps = offsets_of(active)
        packings.append(Packing(rows, document_offsets[:-1][rows], lengths[rows], steps))
    return packings


@compiled(f"int32[::1], {WHERE}, real[:, :, ::1], int64, int64, real[:, ::1]")
def gather(words: Array, where: Where, table: Array, begin: int, end: int, scores: Array) -> None:
    """Sum the scores of the words around each token.

    ``scores[token] = sum over o of table[words[token + o - window], o]``, with the rows `begin`
    and `end` of the table for places before and after the document.
    """
    offsets = table.shape[1]
    labels = table.shape[2]
    window = offsets // 2
    first, lengths, steps = where
    for row in range(len(first)):
        start, length = first[row], lengths[row]
        for place in range(length):
            into = scores[steps[place] + row]
            for label in range(labels):
                into[label] = 0
            for offset in range(offsets):
                other = place + offset - window
                word = begin if other < 0 else end if other >= length else words[start + other]
                added = table[word, offset]
                for label in range(labels):
                    into[label] += added[label]


@compiled(f"int32[::1], {WHERE}, real[:, ::1], int64, int64, real[:, :, ::1]")
def scatter(
    words: Array, where: Where, marginals: Array, begin: int, end: int, table: Array
) -> None:
    """Add the marginals of each token to the rows of the words around it: `gather` transposed."""
    offsets = table.shape[1]
    labels = table.shape[2]
    window = offsets // 2
    first, lengths, steps = where
    for row in range(len(first)):
        start, length = first[row], lengths[row]
        for place in range(length):
            added = marginals[steps[place] + row]
            for offset in range(offsets):
                other = place + offset - window
                word = begin if other < 0 else end if other >= length else words[start + other]
                into = table[word, offset]
                for label in range(labels):
                    into[label] += added[label]


@compiled(f"int32[::1], {WHERE}, int64[::1], real[:, :, ::1], real[:, ::1]")
def gather_stream(values: Array, where: Where, offsets: Array, table: Array, scores: Array) -> None:
    """Add the scores of the values of a stream around each token.

    ``scores[token] += sum over o of table[values[token + offsets[o]], o]``, over the offsets at
    which there is a token with a value in the same document.
    """
    first, lengths, steps = where
    for row in range(len(first)):
        start, length = first[row], lengths[row]
        for place in range(length):
            into = scores[steps[place] + row]
            for number in range(len(offsets)):
                other = place + offsets[number]
                if 0 <= other < length and values[start + other] >= 0:
                    added = table[values[start + other], number]
                    for label in range(len(into)):
                        into[label] += added[label]


@compiled(f"int32[::1], {WHERE}, int64[::1], real[:, ::1], real[:, :, ::1]")
def scatter_stream(
    values: Array, where: Where, offsets: Array, marginals: Array, table: Array
) -> None:
    """Add the marginals of each token to the rows of the values around it."""
    first, lengths, steps = where
    for row in range(len(first)):
        start, length = first[row], lengths[row]
        for place in range(length):
            added = marginals[steps[place] + row]
            for number in range(len(offsets)):
                other = place + offsets[number]
                if 0 <= other < length and values[start + other] >= 0:
                    into = table[values[start + other], number]
                    for label in range(len(added)):
                        into[label] += added[label]
