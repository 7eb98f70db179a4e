"""Batches: documents as columns, in which each token is the index of its word type.

All processing between reading and writing works on batches. A batch is self-contained: it is sent
to another process as Arrow bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.formats.batches import from_bytes, to_bytes
from corpus.ragged import offsets_of, ranges_of, used_only
from corpus.tags import (
    UNKNOWN,
    align_spans,
    bio_labels,
    classes_of,
    find_entities,
    tags_of_entities,
)
from corpus.tokens import Tokens, tokenize
from corpus.tokens.normalisation import normalise_all

_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_Selection = npt.NDArray[np.int64] | slice

#: The index of a token without a value.
NO_VALUE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """A value for each token of a batch.

    Parameters
    ----------
    vocabulary : tuple of str
        The distinct values.
    values : ndarray of int32, shape (N,)
        The index into `vocabulary` of each token, or -1 for no value.
    """

    vocabulary: tuple[str, ...]
    values: npt.NDArray[np.int32]

    def take(self, tokens: npt.NDArray[np.int64] | slice) -> Stream:
        """Select the values of tokens, with the vocabulary that they use."""
        used, values = used_only(self.values[tokens], len(self.vocabulary))
        return Stream(tuple(self.vocabulary[index] for index in used.tolist()), values)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Batch:
    """Documents as columns.

    Parameters
    ----------
    ids, texts, groups : pyarrow.LargeStringArray, length D
        The id, text and group of each document; a group is null where it is unknown.
    words : Stream
        The word of each token, and the distinct words (word types) of the batch.
    starts, ends : ndarray of int32, shape (N,)
        Half-open offsets in code points, relative to the document's text.
    document_offsets : ndarray of int64, shape (D + 1,)
        Tokens ``document_offsets[d]`` to ``document_offsets[d + 1]`` belong to document ``d``.
    tags : ndarray of int16, shape (N,)
        Indices into `labels`, or -1 where the tag is unknown.
    labels : tuple of str
        ``O``, then ``B-`` and ``I-`` of each class. Empty if the batch is unlabelled.
    weights : ndarray of float32, shape (D,), or None
        The weight of each document in training; None if all weights are 1.
    streams : mapping of str to Stream
        Further values of each token besides its word, by name.
    derived : ndarray of bool, shape (D,), or None
        Which documents combine parts of others, so that their words count for no
        patient; None if there are none.
    """

    ids: pa.LargeStringArray
    texts: pa.LargeStringArray
    groups: pa.LargeStringArray
    words: Stream
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    document_offsets: npt.NDArray[np.int64]
    tags: npt.NDArray[np.int16]
    labels: tuple[str, ...]
    weights: npt.NDArray[np.float32] | None = None
    streams: Mapping[str, Stream] = field(default_factory=dict)
    derived: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """Return the number of documents, D."""
        return len(self.ids)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The distinct words."""
        return self.words.vocabulary

    @property
    def word_ids(self) -> npt.NDArray[np.int32]:
        """The index into `vocabulary` of each token, shape (N,)."""
        return self.words.values

    @property
    def n_tokens(self) -> int:
        """The number of tokens, N."""
        return len(self.word_ids)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each document, shape (D,)."""
        return np.diff(self.document_offsets)

    def take(self, indices: npt.NDArray[np.int64]) -> Batch:
        """Select the documents at `indices`, in that order, with the vocabulary that they use."""
        lengths = self.lengths[indices]
        tokens = ranges_of(self.document_offsets[:-1][indices], lengths)
        return self._part(indices, tokens, offsets_of(lengths))

    def slice(self, start: int, stop: int) -> Batch:
        """Select the documents from `start` to `stop`; only the word ids are copied."""
        start, stop = min(start, len(self)), min(stop, len(self))
        offsets = self.document_offsets[start : max(start, stop) + 1]
        return self._part(
            slice(start, max(start, stop)), slice(*offsets[[0, -1]].tolist()), offsets - offsets[0]
        )

    def _part(self, rows: _Selection, tokens: _Selection, offsets: npt.NDArray[np.int64]) -> Batch:
        """Select documents and their tokens."""

        def of_rows(column: pa.LargeStringArray) -> pa.LargeStringArray:
            return column[rows] if isinstance(rows, slice) else column.take(pa.array(rows))

        return Batch(
            ids=of_rows(self.ids),
            texts=of_rows(self.texts),
            groups=of_rows(self.groups),
            words=self.words.take(tokens),
            starts=self.starts[tokens],
            ends=self.ends[tokens],
            document_offsets=offsets,
            tags=self.tags[tokens],
            labels=self.labels,
            weights=None if self.weights is None else self.weights[rows],
            streams={name: stream.take(tokens) for name, stream in self.streams.items()},
            derived=None if self.derived is None else self.derived[rows],
        )

    def with_tags(self, tags: npt.NDArray[np.int16], labels: Sequence[str]) -> Batch:
        """Return the same documents with other tags."""
        return replace(self, tags=tags, labels=tuple(labels))

    def with_weights(self, weights: npt.NDArray[np.float32]) -> Batch:
        """Return the same documents with other weights."""
        return replace(self, weights=weights)

    def with_streams(self, streams: Mapping[str, Stream]) -> Batch:
        """Return the same documents with additional streams; existing names are replaced."""
        return replace(self, streams={**self.streams, **streams})

    def with_sorted_vocabulary(self) -> Batch:
        """Return the same documents with the vocabulary in alphabetical order.

        Equal documents then have equal word ids, however the batch was built.
        """
        order = sorted(range(len(self.vocabulary)), key=self.vocabulary.__getitem__)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        words = tuple(self.vocabulary[index] for index in order)
        return replace(self, words=Stream(words, place[self.word_ids]))

    def to_documents(self) -> list[Document]:
        """Convert the batch to documents with the spans that their tags describe."""
        rows = zip(
            self.ids.to_pylist(),
            self.texts.to_pylist(),
            self.spans(),
            self.groups.to_pylist(),
            strict=True,
        )
        return [Document(name, text, tuple(spans), group) for name, text, spans, group in rows]

    def spans(self) -> list[list[Span]]:
        """Return the spans that the tags of each document describe."""
        spans: list[list[Span]] = [[] for _ in range(len(self))]
        if not self.labels:
            return spans
        entities = find_entities(self.tags, self.document_offsets, self.labels)
        classes = classes_of(self.labels)
        owners = np.searchsorted(self.document_offsets, entities.first, side="right") - 1
        rows = zip(
            owners.tolist(),
            self.starts[entities.first].tolist(),
            self.ends[entities.last].tolist(),
            entities.classes.tolist(),
            strict=True,
        )
        for owner, start, end, kind in rows:
            spans[owner].append(Span(start, end, classes[kind]))
        return spans

    def visible_starts(self) -> npt.NDArray[np.int32]:
        """Return where each token seems to start, shape (N,).

        A token starts where the token before it ends if there are only characters between them that
        have no glyph, such as a soft hyphen in ``C/``. All others start at their offset.
        """
        starts = self.starts.copy()
        for row, normalised in normalise_all(self.texts).items():
            tokens = slice(*self.document_offsets[row : row + 2].tolist())
            of_text, ends = starts[tokens], self.ends[tokens]
            first = np.searchsorted(normalised.starts, of_text)
            after = np.searchsorted(normalised.ends, ends, side="right")
            of_text[1:] = np.where(first[1:] == after[:-1], ends[:-1], of_text[1:])
        return starts

    def to_bytes(self) -> bytes:
        """Write the batch as an Arrow stream with one row per document."""
        of_tokens = {
            "word_ids": _dictionary(self.words),
            "starts": pa.array(self.starts, pa.int32()),
            "ends": pa.array(self.ends, pa.int32()),
            "tags": pa.array(self.tags, pa.int16()),
        }
        for name, stream in self.streams.items():
            of_tokens[f"{_STREAM}{name}"] = _dictionary(stream)
        offsets = pa.array(self.document_offsets, pa.int64())
        columns = {"id": self.ids, "text": self.texts, "group": self.groups} | {
            name: pa.LargeListArray.from_arrays(offsets, values)
            for name, values in of_tokens.items()
        }
        if self.weights is not None:
            columns["weight"] = pa.array(self.weights, pa.float32())
        if self.derived is not None:
            columns["derived"] = pa.array(self.derived, pa.bool_())
        return to_bytes(pa.record_batch(columns, metadata={"labels": json.dumps(self.labels)}))

    @classmethod
    def from_bytes(cls, data: bytes) -> Batch:
        """Read what `to_bytes` wrote."""
        table = from_bytes(data)
        words = table["word_ids"]
        streams = {
            name.removeprefix(_STREAM): _stream(table[name].values)
            for name in table.schema.names
            if name.startswith(_STREAM)
        }
        return cls(
            ids=table["id"],
            texts=table["text"],
            groups=table["group"],
            words=_stream(words.values),
            starts=table["starts"].values.to_numpy(),
            ends=table["ends"].values.to_numpy(),
            document_offsets=words.offsets.to_numpy(),
            tags=table["tags"].values.to_numpy(),
            labels=tuple(json.loads(table.schema.metadata[b"labels"])),
            weights=table["weight"].to_numpy() if "weight" in table.schema.names else None,
            streams=streams,
            derived=table["derived"].to_numpy(zero_copy_only=False)
            if "derived" in table.schema.names
            else None,
        )


_STREAM = "stream:"  # the prefix of the names of columns that hold streams


def _dictionary(stream: Stream) -> pa.DictionaryArray:
    """Encode a stream as an Arrow dictionary; a token without a value is null."""
    indices = pa.array(stream.values, pa.int32(), mask=stream.values < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(stream.vocabulary, pa.large_string()))


def _stream(values: pa.DictionaryArray) -> Stream:
    indices = values.indices.fill_null(NO_VALUE).to_numpy()
    return Stream(tuple(values.dictionary.to_pylist()), indices)


def batch_of_texts(
    texts: pa.LargeStringArray, ids: pa.LargeStringArray, groups: pa.LargeStringArray | None = None
) -> Batch:
    """Tokenize texts into a batch without labels.

    Parameters
    ----------
    texts, ids : pyarrow.LargeStringArray, length D
        The text and id of each document; none is null.
    groups : pyarrow.LargeStringArray, length D, optional
        The group of each document, null where it is unknown; if None, all are.
    """
    tokens = tokenize(texts)
    return Batch(
        ids=ids,
        texts=texts,
        groups=pa.nulls(len(texts), pa.large_string()) if groups is None else groups,
        words=Stream(tokens.vocabulary, tokens.word_ids),
        starts=tokens.starts,
        ends=tokens.ends,
        document_offsets=tokens.document_offsets,
        tags=np.full(tokens.n_tokens, UNKNOWN, np.int16),
        labels=(),
    )


def make_batch(
    documents: Iterable[Document],
    *,
    labelled: bool,
    classes: Iterable[str] = (),
    problems: Problems | None = None,
) -> Batch:
    """Tokenize documents into a batch.

    Parameters
    ----------
    documents : iterable of Document
        Read completely into memory.
    labelled : bool
        Whether the documents are completely annotated. If not, all tags are unknown.
    classes : iterable of str
        Classes to include in the labels in addition to the classes of the spans.
    problems : Problems, optional
        Collects spans that do not align with tokens. Such a span is widened to all tokens that it
        touches, so that it stays covered; a span that touches no token is dropped.
    """
    documents = list(documents)
    batch = batch_of_texts(
        _strings([document.text for document in documents]),
        _strings([document.id for document in documents]),
        _strings([document.group for document in documents]),
    )
    if not labelled:
        return batch
    annotated = {span.label for document in documents for span in document.spans}
    labels = bio_labels(annotated.union(classes))
    tokens = Tokens(
        batch.vocabulary, batch.word_ids, batch.starts, batch.ends, batch.document_offsets
    )
    entities = align_spans(documents, tokens, classes_of(labels), problems or Problems())
    return batch.with_tags(tags_of_entities(entities, batch.n_tokens, labels), labels)


def _strings(values: Sequence[str | None]) -> pa.LargeStringArray:
    return pa.array(values, pa.large_string())


def concatenate(batches: Sequence[Batch]) -> Batch:
    """Concatenate batches, with one vocabulary and one set of labels for all documents.

    Parameters
    ----------
    batches : sequence of Batch
        At least one. A stream is kept only if every batch with tokens has it: otherwise missing
        values could not be distinguished from tokens without a value.
    """
    classes = {name for batch in batches for name in classes_of(batch.labels)}
    labels = bio_labels(classes) if any(batch.labels for batch in batches) else ()
    sizes = np.cumsum([0, *(batch.document_offsets[-1] for batch in batches)])
    documents = [
        batch.document_offsets[:-1] + size for batch, size in zip(batches, sizes, strict=False)
    ]
    return Batch(
        ids=pa.concat_arrays([batch.ids for batch in batches]),
        texts=pa.concat_arrays([batch.texts for batch in batches]),
        groups=pa.concat_arrays([batch.groups for batch in batches]),
        words=concatenate_streams([batch.words for batch in batches]),
        starts=np.concatenate([batch.starts for batch in batches]),
        ends=np.concatenate([batch.ends for batch in batches]),
        document_offsets=np.concatenate([*documents, sizes[-1:]]).astype(np.int64),
        tags=np.concatenate([_relabelled(batch, labels) for batch in batches]),
        labels=labels,
        weights=_concatenated([batch.weights for batch in batches], batches, np.float32(1)),
        streams={
            name: concatenate_streams([_stream_of(batch, name) for batch in batches])
            for name in dict.fromkeys(name for batch in batches for name in batch.streams)
            if all(name in batch.streams for batch in batches if batch.n_tokens)
        },
        derived=_concatenated([batch.derived for batch in batches], batches, np.False_),
    )


def concatenate_streams(streams: Sequence[Stream]) -> Stream:
    """Concatenate streams and merge their vocabularies.

    Parameters
    ----------
    streams : sequence of Stream
        At least one.
    """
    index: dict[str, int] = {}
    parts = []
    for stream in streams:
        numbers = [index.setdefault(value, len(index)) for value in stream.vocabulary]
        # A missing value is -1, which indexes the last entry.
        parts.append(np.array([*numbers, NO_VALUE], np.int32)[stream.values])
    return Stream(tuple(index), np.concatenate(parts))


def _stream_of(batch: Batch, name: str) -> Stream:
    """Return a stream of a batch, or an empty stream if a batch without tokens lacks it."""
    return batch.streams.get(name, Stream((), np.zeros(0, np.int32)))


def _concatenated(
    columns: Sequence[npt.NDArray[_ScalarT] | None], batches: Sequence[Batch], default: _ScalarT
) -> npt.NDArray[_ScalarT] | None:
    """Concatenate the columns of batches; a batch without the column has the default."""
    if all(column is None for column in columns):
        return None
    return np.concatenate(
        [
            np.full(len(batch), default) if column is None else column
            for column, batch in zip(columns, batches, strict=True)
        ]
    )


def _relabelled(batch: Batch, labels: Sequence[str]) -> npt.NDArray[np.int16]:
    if batch.labels == tuple(labels):
        return batch.tags
    position = {label: index for index, label in enumerate(labels)}
    # Unknown tags are -1, which indexes the last entry.
    new_tags = np.array([*(position[label] for label in batch.labels), UNKNOWN], np.int16)
    return new_tags[batch.tags]


def keys_of(batch: Batch) -> pa.LargeStringArray:
    """Return a key for each document; equal ids in two corpora may name different notes."""
    return joined_keys(batch.ids, batch.texts)


def joined_keys(ids: pa.LargeStringArray, texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return the keys of documents with these ids and texts."""
    return pc.binary_join_element_wise(ids, texts, pa.scalar("\0", pa.large_string()))


def distinct(batch: Batch) -> npt.NDArray[np.int64]:
    """Return the first of the documents with each key, in the order of the batch."""
    first: dict[str, int] = {}
    for row, key in enumerate(keys_of(batch).to_pylist()):
        first.setdefault(key, row)
    return np.array(list(first.values()), np.int64)


def are_among(batch: Batch, others: Sequence[Batch]) -> npt.NDArray[np.bool_]:
    """Return which documents of a batch also occur in other batches, shape (D,)."""
    if not others:
        return np.zeros(len(batch), bool)
    known = pa.concat_arrays([keys_of(other) for other in others])
    return np.asarray(pc.is_in(keys_of(batch), known).to_numpy(zero_copy_only=False))
