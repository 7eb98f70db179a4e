"""Merging of overlapping spans of patterns: the longest is kept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


def merged(first: Indices, last: Indices, confidences: npt.NDArray[np.float64]) -> Indices:
    """Select spans of which no two have a common token.

    The longest span is taken first, then the one with the highest confidence, then the one that
    begins first. Spans that overlap it are left out.

    Parameters
    ----------
    first, last : ndarray of int64, shape (S,)
        The first and the last token of each span.
    confidences : ndarray of float64, shape (S,)
        The confidence in each span.

    Returns
    -------
    ndarray of int64
        The indices of the spans that are taken, in the order of their tokens.

    Examples
    --------
    >>> first, last = np.array([0, 1, 4]), np.array([1, 3, 4])
    >>> merged(first, last, np.ones(3)).tolist()
    [1, 2]
    """
    order = np.lexsort((first, -confidences, first - last))
    by_token = np.lexsort((last, first))
    # Spans that reach each other one after the other; most are alone.
    reach = np.maximum.accumulate(last[by_token])
    begins = np.ones(len(first), bool)
    begins[1:] = first[by_token][1:] > reach[:-1]
    chain = np.empty(len(first), np.int64)
    chain[by_token] = np.cumsum(begins)
    is_alone = np.bincount(chain, minlength=1)[chain] == 1
    taken: list[int] = np.flatnonzero(is_alone).tolist()
    tokens: set[int] = set()
    for span in order[~is_alone[order]].tolist():
        own = range(int(first[span]), int(last[span]) + 1)
        if tokens.isdisjoint(own):
            tokens.update(own)
            taken.append(span)
    selected = np.array(taken, np.int64)
    return selected[np.argsort(first[selected])]
