"""What identifies a document across corpora: its id and its text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.batch import Batch


def keys_of(batch: Batch) -> pa.LargeStringArray:
    """Return a key for each document; equal ids in two corpora may name different notes."""
    separator = pa.scalar("\0", pa.large_string())
    return pc.binary_join_element_wise(batch.ids, batch.texts, separator)


def distinct(batch: Batch) -> npt.NDArray[np.int64]:
    """Return the first of the documents with each key, in the order of the batch."""
    first: dict[str, int] = {}
    for row, key in enumerate(keys_of(batch).to_pylist()):
        first.setdefault(key, row)
    return np.array(list(first.values()), np.int64)


def are_among(batch: Batch, others: Sequence[Batch]) -> npt.NDArray[np.bool_]:
    """Return which documents of a batch are among those of others, shape (D,)."""
    if not others:
        return np.zeros(len(batch), bool)
    known = pa.concat_arrays([keys_of(other) for other in others])
    return np.asarray(pc.is_in(keys_of(batch), known).to_numpy(zero_copy_only=False))
