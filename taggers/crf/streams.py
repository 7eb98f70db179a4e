"""What a CRF looks at beside words: streams, and conjunctions of few-valued features.

A conjunction of features of neighbouring words depends on the place, as a stream does, so it is
made one: its values are numbered, and each token holds a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.compiled import Array, compiled
from corpus.errors import InputError
from corpus.streams import Stream, used_only
from taggers.features import BEGIN, END, Words, feature, is_feature
from taggers.templates import Conjunction, Templates

Codes = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]

_KEPT = 1_000_000  # words whose values of features are kept
_DENSE = 1 << 24  # so many possible values of a conjunction are looked up in a table
_SILENT = ""  # value of a stream that says nothing of a token, in a conjunction


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """A stream of a batch, and where it is looked at.

    Parameters
    ----------
    name : str
        Of the stream or the conjunction.
    offsets : tuple of int
        Places, counted from the token.
    stream : Stream
        The values of all tokens.
    """

    name: str
    offsets: tuple[int, ...]
    stream: Stream


class Channels:
    """Gives the channels of batches; values of words that were met before are kept.

    Parameters
    ----------
    templates : Templates
        What is looked at.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        terms = [name for each in templates.conjunctions for name, _ in each.terms]
        names = [name for name in dict.fromkeys(terms) if is_feature(name)]
        self._words = {name: _FewValued(name) for name in names}

    def of(self, batch: Batch) -> list[Channel]:
        """Give the channels of a batch that has all streams which the templates name.

        Raises
        ------
        InputError
            If words have too many values of a feature of a conjunction.
        """
        streams = [
            Channel(each.name, each.offsets, batch.streams[each.name])
            for each in self._templates.streams
        ]
        if not self._templates.conjunctions:
            return streams
        sources = {name: kept.stream(batch) for name, kept in self._words.items()}
        sources = {**batch.streams, **sources}
        return streams + [
            Channel(each.name, (0,), _joined(each, sources, batch.documents))
            for each in self._templates.conjunctions
        ]


class _FewValued:
    """The values of a feature that has few: a number for each word, kept for later batches."""

    def __init__(self, name: str) -> None:
        self._feature = feature(name)
        self._numbers: dict[str, int] = {}  # of the value of each word
        self._values: dict[str, int] = {}

    def stream(self, batch: Batch) -> Stream:
        """Give the value of each token's word."""
        if len(self._numbers) > _KEPT:
            self._numbers, self._values = {}, {}
        new = [word for word in batch.types if word not in self._numbers]
        values = self._values
        if new:
            found = self._feature(Words(new))
            numbers = [values.setdefault(value, len(values)) for value in found]
            self._numbers.update(zip(new, numbers, strict=True))
        of_types = np.fromiter(
            map(self._numbers.__getitem__, batch.types), np.int32, len(batch.types)
        )
        return Stream(tuple(values), of_types[batch.words])


def _joined(conjunction: Conjunction, sources: dict[str, Stream], documents: Indices) -> Stream:
    """Make one stream of the values of several at their places."""
    numbers: Indices = np.zeros(documents[-1], np.int64)
    types: list[tuple[str, ...]] = []
    size = 1
    for name, offset in conjunction.terms:
        stream = sources[name]
        types.append((*stream.types, _SILENT, BEGIN, END))
        size *= len(types[-1])
        _append(stream.values, documents, offset, len(stream.types), numbers)
    if size > np.iinfo(np.int64).max:
        raise InputError(f"{conjunction.name} has too many values for a conjunction")
    used, values = _numbered(numbers, size)
    return Stream(_names(used, types), values)


@compiled
def _append(values: Array, documents: Array, offset: int, size: int, numbers: Array) -> None:
    """Make the value at an offset from each token the last digit of its number.

    After the values of the stream come nothing, and the places before and after a document.
    """
    for owner in range(len(documents) - 1):
        for token in range(documents[owner], documents[owner + 1]):
            other = token + offset
            if other < documents[owner]:
                value = size + 1
            elif other >= documents[owner + 1]:
                value = size + 2
            else:
                value = values[other] if values[other] >= 0 else size
            numbers[token] = numbers[token] * (size + 3) + value


def _numbered(numbers: Indices, size: int) -> tuple[Indices, Codes]:
    """Give the distinct numbers, all below a size, and which of them each is."""
    if size > _DENSE:
        used, values = np.unique(numbers, return_inverse=True)
        return used, values.reshape(-1).astype(np.int32)
    return used_only(numbers, size)


def _names(used: Indices, types: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Write what is taken together, such as ``first|lower``."""
    columns = []
    for names in reversed(types):
        used, last = np.divmod(used, len(names))
        columns.append([names[index] for index in last.tolist()])
    return tuple(map("|".join, zip(*reversed(columns), strict=True)))


@compiled
def gather_stream(
    values: Array,
    first: Array,
    lengths: Array,
    steps: Array,
    offsets: Array,
    table: Array,
    scores: Array,
) -> None:
    """Add what a stream adds to the scores of each token to them.

    ``scores[token] += sum over o of table[values[token + offsets[o]], o]``, of the tokens in the
    same document of which the stream says something. Tokens are packed as in `taggers.crf.lattice`.
    """
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


@compiled
def scatter_stream(
    values: Array,
    first: Array,
    lengths: Array,
    steps: Array,
    offsets: Array,
    marginals: Array,
    table: Array,
) -> None:
    """Add the marginals of tokens to the rows of the values beside them: `gather` transposed."""
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
