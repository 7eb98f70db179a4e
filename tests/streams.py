"""Streams of values that are written out."""

from collections.abc import Sequence

import numpy as np

from corpus.batch import NO_VALUE, Stream


def stream_of(values: Sequence[str | None]) -> Stream:
    """Return a stream of the values of tokens; None is no value."""
    index: dict[str, int] = {}
    numbers = [
        NO_VALUE if value is None else index.setdefault(value, len(index)) for value in values
    ]
    return Stream(tuple(index), np.array(numbers, np.int32))
