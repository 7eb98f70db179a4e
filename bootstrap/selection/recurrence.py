"""Other occurrences of the words of entities in a batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import TokenSpans

Indices = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

#: The maximum number of words of an entity whose other occurrences are found.
MAX_WORDS = 8

# Constants of the finalizer of splitmix64, and an odd multiplier of polynomial hashes.
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def recurrences(batch: Batch, spans: TokenSpans) -> tuple[TokenSpans, Indices]:
    """Find all occurrences of the words of spans in the documents of a batch.

    Parameters
    ----------
    batch : Batch
        The documents.
    spans : TokenSpans
        Spans of the batch. Those of more than `MAX_WORDS` words have no other occurrences.

    Returns
    -------
    spans : TokenSpans
        The spans themselves, and every other place with the same words in the same order, once for
        each class that the spans with these words have; distinct, in the order of their tokens.
    groups : ndarray of int64
        The number of the words and the class of each of them.
    """
    lengths = spans.last - spans.first + 1
    words = _mixed(batch.word_ids)
    remaining = np.repeat(batch.document_offsets[1:], batch.lengths) - np.arange(batch.n_tokens)
    parts: list[tuple[Indices, Indices, Indices, Indices]] = []
    groups = 0
    hashes = np.zeros(batch.n_tokens, np.uint64)
    for number in range(1, int(lengths.max(initial=0)) + 1):
        if number > MAX_WORDS:
            break
        hashes = hashes * _MULTIPLIER
        hashes[: batch.n_tokens - number + 1] += words[number - 1 :]
        rows = np.flatnonzero(lengths == number)
        if not len(rows):
            continue
        part = _occurrences(hashes, remaining >= number, spans.first[rows], spans.classes[rows])
        first, classes, found = part
        parts.append((first, first + number - 1, classes, found + groups))
        groups += int(found.max(initial=-1)) + 1
    long = np.flatnonzero(lengths > MAX_WORDS)
    own = np.arange(groups, groups + len(long))
    parts.append((spans.first[long], spans.last[long], spans.classes[long], own))
    first, last, classes, found = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((classes, last, first))
    return TokenSpans(first[order], last[order], classes[order]), found[order]


def _occurrences(
    hashes: Hashes, fits: npt.NDArray[np.bool_], first: Indices, classes: Indices
) -> tuple[Indices, Indices, Indices]:
    """Return the first token, class and group of all occurrences of spans of one length.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (N,)
        The hash of the words of that number from each token on.
    fits : ndarray of bool, shape (N,)
        Whether these words are in one document.
    first, classes : ndarray of int64
        The spans.
    """
    known, number = np.unique(hashes[first], return_inverse=True)
    pairs = np.unique(np.stack([number.reshape(-1), classes], axis=1), axis=0)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    tokens = np.flatnonzero(fits & (known[place] == hashes))
    # An occurrence is repeated for each class of its words; these are neighbours among the pairs.
    begin = np.searchsorted(pairs[:, 0], np.arange(len(known) + 1))
    repeats = np.diff(begin)[place[tokens]]
    starts = np.cumsum(repeats) - repeats
    groups = np.arange(repeats.sum()) + np.repeat(begin[place[tokens]] - starts, repeats)
    return np.repeat(tokens, repeats), pairs[groups, 1], groups


def _mixed(words: npt.NDArray[np.int32]) -> Hashes:
    """Hash the indices of words (the finalizer of splitmix64)."""
    mixed = words.astype(np.uint64) + _MULTIPLIER
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
    return mixed ^ (mixed >> np.uint64(31))
