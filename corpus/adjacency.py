"""Which tokens of a batch touch each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tokens.normalisation import normalise_all


def visible_starts(batch: Batch) -> npt.NDArray[np.int32]:
    """Return where each token seems to start, shape (N,).

    A token starts where the token before it ends if there are only characters between them that are
    not displayed, such as a soft hyphen in ``C/``. All others start at their offset.
    """
    found = normalise_all(batch.texts.to_pylist())
    if not found:
        return batch.starts
    starts = batch.starts.copy()
    for row, normalised in found.items():
        tokens = slice(*batch.document_offsets[row : row + 2].tolist())
        of_text, ends = starts[tokens], batch.ends[tokens]
        first = np.searchsorted(normalised.starts, of_text)
        after = np.searchsorted(normalised.ends, ends, side="right")
        of_text[1:] = np.where(first[1:] == after[:-1], ends[:-1], of_text[1:])
    return starts
