"""Line numbers of the tokens of a batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.ragged import owners_of

Indices = npt.NDArray[np.int64]

_BREAKS = (ord("\n"), ord("\r"))


def line_numbers(batch: Batch) -> Indices:
    """Return the line number of each token, shape (N,), counted through all documents."""
    owners = owners_of(batch.document_offsets)
    data, bounds = _bytes_of(batch)
    breaks = np.flatnonzero((data == _BREAKS[0]) | (data == _BREAKS[1]))
    if not len(breaks):  # every document is one line
        return owners
    continued = np.flatnonzero((data & 0xC0) == 0x80)  # UTF-8 continuation bytes

    def character_offsets(byte_offsets: Indices) -> Indices:
        offsets: Indices = byte_offsets - np.searchsorted(continued, byte_offsets)
        return offsets

    begins = character_offsets(bounds[:-1])[owners] + batch.starts
    lines: Indices = np.searchsorted(character_offsets(breaks), begins) + owners
    return lines


def _bytes_of(batch: Batch) -> tuple[npt.NDArray[np.uint8], Indices]:
    """Return all texts as UTF-8, and the offsets of each, shape (D + 1,)."""
    texts = batch.texts
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int64)
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
    return content, bounds - bounds[0]
