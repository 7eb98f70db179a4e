"""The contexts of spans: the header of their line, or the words before them.

The errors of a tagger recur in a context. A tagger that has taken ``NHC:`` for a header of places
finds a place in each of its lines, with a high probability. Whether there are any is decided for
the context as a whole.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE, Batch
from corpus.tags import TokenSpans
from taggers.annotators.lines import LineHeaders

Indices = npt.NDArray[np.int64]

#: The number of words before a span that are its context where its line has no header.
WORDS = 2

_BORDER = -2  # in the place of a word before the document


def contexts_of(batch: Batch, spans: TokenSpans) -> Indices:
    """Return the number of the context and class of each span, shape (E,), from 0 on.

    Parameters
    ----------
    batch : Batch
        The documents.
    spans : TokenSpans
        Spans of the batch.
    """
    headers = LineHeaders().annotate(batch).values[spans.first].astype(np.int64)
    owners = np.searchsorted(batch.document_offsets, spans.first, side="right") - 1
    columns = [spans.classes, headers]
    for distance in range(1, WORDS + 1):
        places = spans.first - distance
        inside = places >= batch.document_offsets[owners]
        words = np.where(inside, batch.word_ids[np.maximum(places, 0)], _BORDER)
        columns.append(np.where(headers == NO_VALUE, words, _BORDER))
    rows = np.stack(columns, axis=1).astype(np.int64)
    numbers: Indices = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return numbers
