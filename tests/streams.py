"""Streams of values that are written out."""

from collections.abc import Sequence

import numpy as np

from corpus.batch import NO_VALUE, Stream
from taggers.annotators import ANNOTATORS, OF_LANGUAGES

#: The annotators of the layout, of patterns and of phrases.
PLAIN = {name: kind() for name, kind in ANNOTATORS.items() if name not in OF_LANGUAGES}


def stream_of(values: Sequence[str | None]) -> Stream:
    """Return a stream of the values of tokens; None is no value."""
    index: dict[str, int] = {}
    numbers = [
        NO_VALUE if value is None else index.setdefault(value, len(index)) for value in values
    ]
    return Stream(tuple(index), np.array(numbers, np.int32))
