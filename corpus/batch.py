"""Batches: documents as columns, each token the index of its word type.

Everything between reading and writing works on batches. A batch is complete in itself and goes
to another process as Arrow bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.alignment import touched_tokens
from corpus.document import Document, Span
from corpus.errors import shown
from corpus.problems import Problem, Problems
from corpus.streams import NO_VALUE, Stream, concatenate_streams, used_only
from corpus.tags import (
    UNKNOWN,
    TokenSpans,
    bio_labels,
    classes_of,
    find_entities,
    tags_of_entities,
)
from corpus.tokens import tokenize

#: A kind of problem.
MISALIGNED = "annotations that do not align with tokens"


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some documents as columns.

    Parameters
    ----------
    ids, texts, groups : pyarrow.LargeStringArray, length D
        Of each document; a group is null where none is known.
    vocabulary : tuple of str
        The distinct words of this batch.
    word_ids : ndarray of int32, shape (N,)
        The index into `vocabulary` of each token.
    starts, ends : ndarray of int32, shape (N,)
        Half-open offsets in code points, relative to the document's text.
    document_offsets : ndarray of int64, shape (D + 1,)
        Tokens ``document_offsets[d]`` to ``document_offsets[d + 1]`` belong to document ``d``.
    tags : ndarray of int16, shape (N,)
        Indices into `labels`, or -1 where the tag is unknown.
    labels : tuple of str
        ``O``, then ``B-`` and ``I-`` of each class. Empty where nothing is labelled.
    weights : ndarray of float32, shape (D,), or None
        How much each document counts in training; None where all count 1.
    streams : mapping of str to Stream
        What is said of each token beside its word, by name.
    """

    ids: pa.LargeStringArray
    texts: pa.LargeStringArray
    groups: pa.LargeStringArray
    vocabulary: tuple[str, ...]
    word_ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    document_offsets: npt.NDArray[np.int64]
    tags: npt.NDArray[np.int16]
    labels: tuple[str, ...]
    weights: npt.NDArray[np.float32] | None = None
    streams: Mapping[str, Stream] = field(default_factory=dict)

    def __len__(self) -> int:
        """Give the number of documents, D."""
        return len(self.ids)

    @property
    def n_tokens(self) -> int:
        """The number of tokens, N."""
        return len(self.word_ids)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each document, shape (D,)."""
        return np.diff(self.document_offsets)

    def take(self, indices: npt.NDArray[np.int64]) -> Batch:
        """Give the documents at `indices`, in that order, with only the types they use."""
        lengths = self.lengths[indices]
        documents = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        shift = np.repeat(self.document_offsets[:-1][indices] - documents[:-1], lengths)
        tokens = np.arange(documents[-1]) + shift
        used, words = used_only(self.word_ids[tokens], len(self.vocabulary))
        rows = pa.array(indices, pa.int64())
        return Batch(
            ids=self.ids.take(rows),
            texts=self.texts.take(rows),
            groups=self.groups.take(rows),
            vocabulary=tuple(map(self.vocabulary.__getitem__, used.tolist())),
            word_ids=words,
            starts=self.starts[tokens],
            ends=self.ends[tokens],
            document_offsets=documents,
            tags=self.tags[tokens],
            labels=self.labels,
            weights=None if self.weights is None else self.weights[indices],
            streams={name: stream.take(tokens) for name, stream in self.streams.items()},
        )

    def slice(self, start: int, stop: int) -> Batch:
        """Give the documents from `start` to `stop`; all but the words is not copied."""
        start, stop = min(start, len(self)), min(stop, len(self))
        stop = max(start, stop)
        rows, tokens = slice(start, stop), slice(*self.document_offsets[[start, stop]].tolist())
        used, words = used_only(self.word_ids[tokens], len(self.vocabulary))
        return Batch(
            ids=self.ids[rows],
            texts=self.texts[rows],
            groups=self.groups[rows],
            vocabulary=tuple(map(self.vocabulary.__getitem__, used.tolist())),
            word_ids=words,
            starts=self.starts[tokens],
            ends=self.ends[tokens],
            document_offsets=self.document_offsets[start : stop + 1] - self.document_offsets[start],
            tags=self.tags[tokens],
            labels=self.labels,
            weights=None if self.weights is None else self.weights[rows],
            streams={name: stream.take(tokens) for name, stream in self.streams.items()},
        )

    def with_tags(self, tags: npt.NDArray[np.int16], labels: Sequence[str]) -> Batch:
        """Give the same documents with other tags."""
        return replace(self, tags=tags, labels=tuple(labels))

    def with_weights(self, weights: npt.NDArray[np.float32]) -> Batch:
        """Give the same documents with other weights."""
        return replace(self, weights=weights)

    def with_streams(self, streams: Mapping[str, Stream]) -> Batch:
        """Give the same documents with more streams; one of a name that is there replaces it."""
        return replace(self, streams={**self.streams, **streams})

    def to_documents(self) -> list[Document]:
        """Give the documents with the spans that their tags describe."""
        rows = zip(
            self.ids.to_pylist(),
            self.texts.to_pylist(),
            self.spans(),
            self.groups.to_pylist(),
            strict=True,
        )
        return [Document(name, text, tuple(spans), group) for name, text, spans, group in rows]

    def spans(self) -> list[list[Span]]:
        """Give the spans that the tags of each document describe."""
        found: list[list[Span]] = [[] for _ in range(len(self))]
        if not self.labels:
            return found
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
            found[owner].append(Span(start, end, classes[kind]))
        return found

    def to_bytes(self) -> bytes:
        """Write the batch as an Arrow stream, one row a document."""
        offsets = pa.array(self.document_offsets, pa.int64())
        columns: dict[str, pa.Array] = {
            "id": self.ids,
            "text": self.texts,
            "group": self.groups,
            "word_ids": pa.LargeListArray.from_arrays(
                offsets, _dictionary(self.word_ids, self.vocabulary)
            ),
            "starts": pa.LargeListArray.from_arrays(offsets, pa.array(self.starts, pa.int32())),
            "ends": pa.LargeListArray.from_arrays(offsets, pa.array(self.ends, pa.int32())),
            "tags": pa.LargeListArray.from_arrays(offsets, pa.array(self.tags, pa.int16())),
        }
        if self.weights is not None:
            columns["weight"] = pa.array(self.weights, pa.float32())
        for name, stream in self.streams.items():
            values = _dictionary(stream.values, stream.vocabulary)
            columns[f"{_STREAM}{name}"] = pa.LargeListArray.from_arrays(offsets, values)
        table = pa.record_batch(columns)
        schema = table.schema.with_metadata({"labels": json.dumps(self.labels)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as stream:
            stream.write_batch(table.replace_schema_metadata(schema.metadata))
        data: bytes = sink.getvalue().to_pybytes()
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> Batch:
        """Read what `to_bytes` wrote."""
        with pa.ipc.open_stream(data) as stream:
            table = stream.read_next_batch()
            labels = json.loads((stream.schema.metadata or {})[b"labels"])
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
            vocabulary=tuple(words.values.dictionary.to_pylist()),
            word_ids=words.values.indices.to_numpy(),
            starts=table["starts"].values.to_numpy(),
            ends=table["ends"].values.to_numpy(),
            document_offsets=words.offsets.to_numpy(),
            tags=table["tags"].values.to_numpy(),
            labels=tuple(labels),
            weights=table["weight"].to_numpy() if "weight" in table.schema.names else None,
            streams=streams,
        )


_STREAM = "stream:"  # begins the names of their columns


def _dictionary(values: npt.NDArray[np.int32], types: Sequence[str]) -> pa.DictionaryArray:
    """Encode numbered strings; a negative number is null."""
    numbers = pa.array(values, pa.int32(), mask=values < 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(types, pa.large_string()))


def _stream(values: pa.DictionaryArray) -> Stream:
    numbers = values.indices.fill_null(NO_VALUE).to_numpy()
    return Stream(tuple(values.dictionary.to_pylist()), numbers)


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
        All of them are read at once.
    labelled : bool
        Whether their spans are all there is to find. Without, every tag is unknown.
    classes : iterable of str
        Classes to name in the labels beside those of the spans.
    problems : Problems, optional
        Where spans that do not align with tokens are noted. They are widened to the tokens they
        touch, so that nothing of them is uncovered; one that touches none is lost.

    Returns
    -------
    Batch
    """
    documents = list(documents)
    tokens = tokenize([document.text for document in documents])
    batch = Batch(
        ids=_strings([document.id for document in documents]),
        texts=_strings([document.text for document in documents]),
        groups=_strings([document.group for document in documents]),
        vocabulary=tokens.vocabulary,
        word_ids=tokens.word_ids,
        starts=tokens.starts,
        ends=tokens.ends,
        document_offsets=tokens.document_offsets,
        tags=np.full(tokens.n_tokens, UNKNOWN, np.int16),
        labels=(),
    )
    if not labelled:
        return batch
    found = {span.label for document in documents for span in document.spans}
    labels = bio_labels(found.union(classes))
    entities = _align(documents, batch, classes_of(labels), problems or Problems())
    return batch.with_tags(tags_of_entities(entities, batch.n_tokens, labels), labels)


def _strings(values: Sequence[str | None]) -> pa.LargeStringArray:
    return pa.array(values, pa.large_string())


def _align(
    documents: Sequence[Document], batch: Batch, classes: Sequence[str], problems: Problems
) -> TokenSpans:
    """Find the tokens of every span, and note the spans that do not align."""
    spans = [(row, span) for row, document in enumerate(documents) for span in document.spans]
    index = {name: position for position, name in enumerate(classes)}
    rows = np.array([row for row, _ in spans], np.int64)
    starts = np.array([span.start for _, span in spans], np.int64)
    ends = np.array([span.end for _, span in spans], np.int64)
    kinds = np.array([index[span.label] for _, span in spans], np.int64)
    first, last = touched_tokens(
        batch.document_offsets, batch.starts, batch.ends, rows=rows, begins=starts, finishes=ends
    )
    # Two spans that meet within a token: it stays with the first of them.
    if len(first):
        taken = np.maximum.accumulate(last)
        first[1:] = np.maximum(first[1:], taken[:-1] + 1)
    kept = last >= first
    aligned = kept.copy()
    aligned[kept] = (batch.starts[first[kept]] == starts[kept]) & (
        batch.ends[last[kept]] == ends[kept]
    )
    for position in np.flatnonzero(~aligned).tolist():
        row, span = spans[position]
        became = "widened to its tokens" if kept[position] else "lost: no token of its own"
        problems.note(
            Problem(
                MISALIGNED,
                f"document {shown(documents[row].id)}",
                f"{span}, {became}",
            )
        )
    return TokenSpans(first[kept], last[kept], kinds[kept])


def concatenate(batches: Sequence[Batch]) -> Batch:
    """Put batches together: types and labels are unified, documents follow one another.

    Parameters
    ----------
    batches : sequence of Batch
        At least one. A stream that one with tokens lacks is left out of the whole: half a stream
        would pass for one that says nothing of the other half.

    Returns
    -------
    Batch
    """
    index: dict[str, int] = {}
    for batch in batches:
        for word in batch.vocabulary:
            index.setdefault(word, len(index))
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
        vocabulary=tuple(index),
        word_ids=np.concatenate(
            [_renumbered(batch.word_ids, batch.vocabulary, index) for batch in batches]
        ),
        starts=np.concatenate([batch.starts for batch in batches]),
        ends=np.concatenate([batch.ends for batch in batches]),
        document_offsets=np.concatenate([*documents, sizes[-1:]]).astype(np.int64),
        tags=np.concatenate([_relabelled(batch, labels) for batch in batches]),
        labels=labels,
        weights=_together(batches),
        streams={
            name: concatenate_streams([_stream_of(batch, name) for batch in batches])
            for name in dict.fromkeys(name for batch in batches for name in batch.streams)
            if all(name in batch.streams for batch in batches if batch.n_tokens)
        },
    )


def _stream_of(batch: Batch, name: str) -> Stream:
    """Give a stream of a batch, or an empty one where a batch without tokens lacks it."""
    return batch.streams.get(name, Stream((), np.zeros(0, np.int32)))


def _together(batches: Sequence[Batch]) -> npt.NDArray[np.float32] | None:
    if all(batch.weights is None for batch in batches):
        return None
    return np.concatenate(
        [
            np.ones(len(batch), np.float32) if batch.weights is None else batch.weights
            for batch in batches
        ]
    )


def _renumbered(
    words: npt.NDArray[np.int32], types: Sequence[str], index: dict[str, int]
) -> npt.NDArray[np.int32]:
    numbers = np.fromiter(map(index.__getitem__, types), np.int32, len(types))
    return numbers[words]


def _relabelled(batch: Batch, labels: Sequence[str]) -> npt.NDArray[np.int16]:
    if batch.labels == tuple(labels):
        return batch.tags
    position = {label: index for index, label in enumerate(labels)}
    # The last entry is where -1, unknown, points.
    numbers = np.array([*(position[label] for label in batch.labels), UNKNOWN], np.int16)
    return numbers[batch.tags]
