"""Input of a CRF in addition to words: streams, and feature conjunctions.

The value of a conjunction depends on the context of a token, like the value of a stream.
Conjunctions are therefore converted to streams, with a numbered value for each token.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.kernels.compiled import Array, compiled, kernel_array
from corpus.ragged import number_used
from taggers.features.templates import Conjunction, Template, Templates
from taggers.features.words import BEGIN, END, Feature, Words

Codes = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]

_CACHED_WORDS = 1_000_000  # words whose feature values are cached
#: The text in a conjunction for no value, and for positions before and after the document.
_MISSING = ("", BEGIN, END)


#: A stream of a batch, with its name or its conjunction's, and the offsets at which it applies.
Channel = tuple[Template, Stream]


class Channels:
    """The channels of batches, with a cache of the feature values of words.

    Parameters
    ----------
    templates : Templates
        The features and streams to use.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        terms = [name for conjunction in templates.conjunctions for name, _ in conjunction.terms]
        names = [name for name in dict.fromkeys(terms) if templates.has_feature(name)]
        self._words = {name: _WordValues(templates.feature(name)) for name in names}

    def from_batch(self, batch: Batch) -> list[Channel]:
        """Return the channels of a batch that has all streams of the templates."""
        channels = [
            (template, batch.streams[template.name]) for template in self._templates.streams
        ]
        if self._templates.conjunctions:
            of_words = {name: values.stream(batch) for name, values in self._words.items()}
            sources = {**batch.streams, **of_words}
            for conjunction in self._templates.conjunctions:
                joined = _joined(conjunction, sources, batch.document_offsets)
                channels.append((Template(conjunction.name, (0,)), joined))
        return channels


class _WordValues:
    """The cached values of a feature."""

    def __init__(self, feature: Feature) -> None:
        self._feature = feature
        self._values: dict[str, str] = {}  # of each word

    def stream(self, batch: Batch) -> Stream:
        """Return the value of each token's word."""
        if len(self._values) > _CACHED_WORDS:
            self._values = {}
        new = [word for word in batch.vocabulary if word not in self._values]
        if new:
            self._values.update(zip(new, self._feature(Words(new)), strict=True))
        values = [self._values[word] for word in batch.vocabulary]
        distinct = filter(None, dict.fromkeys(values))  # "" is no value
        numbers = {value: number for number, value in enumerate(distinct)}
        of_words = [numbers.get(value, NO_VALUE) for value in values]
        return Stream(tuple(numbers), np.array(of_words, np.int32)[batch.word_ids])


def _joined(
    conjunction: Conjunction, sources: Mapping[str, Stream], document_offsets: Indices
) -> Stream:
    """Join the values of several streams at their offsets into one, such as ``first|lower``."""
    # They are joined one at a time and renumbered after each step, so that numbers cannot overflow.
    parts: list[tuple[str, ...]] = [()]
    values = np.zeros(document_offsets[-1], np.int32)
    document_offsets = kernel_array(document_offsets)
    for name, offset in conjunction.terms:
        stream, numbers = sources[name], values.astype(np.int64)
        size = len(stream.vocabulary)
        _append(kernel_array(stream.values), document_offsets, offset, size, numbers)
        size += len(_MISSING)
        used, values = number_used(numbers, len(parts) * size)
        before, own = np.divmod(used, size)
        texts = {value: _escaped(stream, value) for value in np.unique(own).tolist()}
        pairs = zip(before.tolist(), own.tolist(), strict=True)
        parts = [(*parts[left], texts[right]) for left, right in pairs]
    return Stream(tuple(map("|".join, parts)), values)


def _escaped(stream: Stream, value: int) -> str:
    """Return the text of a value in a conjunction, escaped so that joined values are distinct."""
    if value >= len(stream.vocabulary):
        return _MISSING[value - len(stream.vocabulary)]
    text = stream.vocabulary[value]
    if text in _MISSING:
        return rf"\={text}"
    return text.replace("\\", r"\\").replace("|", r"\|")


@compiled("int32[::1], int64[::1], int64, int64, int64[::1]")
def _append(values: Array, document_offsets: Array, offset: int, size: int, numbers: Array) -> None:
    """Append the value at an offset from each token to its number, as the last digit."""
    # The digits after the values of the stream stand for no value, and for positions before and
    # after the document.
    for owner in range(len(document_offsets) - 1):
        for token in range(document_offsets[owner], document_offsets[owner + 1]):
            other = token + offset
            if other < document_offsets[owner]:
                value = size + 1
            elif other >= document_offsets[owner + 1]:
                value = size + 2
            else:
                value = values[other] if values[other] >= 0 else size
            numbers[token] = numbers[token] * (size + 3) + value
