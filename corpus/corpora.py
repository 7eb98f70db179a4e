"""Corpora by the names that configurations and the command line use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from corpus import formats
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import Columns, read_batches
from corpus.formats.sources import SPAN_CONFIDENCES, Carry

if TYPE_CHECKING:
    import pyarrow as pa

_SYNTHETIC = "synthetic:"


def is_synthetic(source: str) -> bool:
    """Return whether a source names synthetic notes rather than files."""
    return source.startswith(_SYNTHETIC)


def read_corpus(
    source: str,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    problems: Problems,
    encoding: str = "utf-8",
) -> Iterator[Document]:
    """Read the documents of a corpus, one by one; see `read_corpus_batches`."""
    from corpus.formats.batches import documents_of  # noqa: PLC0415 - pyarrow is slow to import

    batches = read_corpus_batches(
        source, format=format, columns=columns, problems=problems, encoding=encoding
    )
    return chain.from_iterable(map(documents_of, batches))


def read_corpus_batches(
    source: str,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    problems: Problems,
    labelled: bool = True,
    encoding: str = "utf-8",
    carry: Carry = "nothing",
) -> Iterator[pa.RecordBatch]:
    """Read the documents of a corpus as record batches.

    Parameters
    ----------
    source : str
        A path or pattern (see `corpus.formats.read`), or synthetic notes:
        ``synthetic:1000?random_state=1&part=seed`` is 1,000 of them.
    format, columns, problems, labelled, encoding, carry
        As in `corpus.formats.read_batches`.

    Raises
    ------
    InputError
        If the corpus does not exist.
    """
    if is_synthetic(source):
        from corpus.formats.batches import batches_of  # noqa: PLC0415 - pyarrow is slow to import

        return batches_of(_synthetic(source))
    return read_batches(
        source,
        format=format,
        columns=columns or Columns(),
        problems=problems,
        labelled=labelled,
        encoding=encoding,
        carry=carry,
    )


def count_records(source: str, *, format: str | None = None) -> int:
    """Count the records of a corpus (see `corpus.formats.count_records`)."""
    if is_synthetic(source):
        number = source.removeprefix(_SYNTHETIC).partition("?")[0]
        return int(number) if number.isdecimal() else 0
    return formats.count_records(source, format=format)


def _synthetic(source: str) -> Iterator[Document]:
    from corpus.synthetic import synthetic_notes  # noqa: PLC0415 - only needed here

    number, _, query = source.removeprefix(_SYNTHETIC).partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    state, part = options.pop("random_state", "0"), options.pop("part", "all")
    if options or not number.isdecimal() or not state.isdecimal() or part not in ("all", "seed"):
        raise InputError(
            f'"{source}": expected synthetic:NUMBER?random_state=NUMBER&part=all (or part=seed)'
        )
    return synthetic_notes(
        int(number), random_state=int(state), part="seed" if part == "seed" else "all"
    )


def with_classes(document: Document, classes: Mapping[str, str] | None) -> Document:
    """Rename the labels of a document to classes and drop all others; None keeps every label."""
    if classes is None:
        return document
    spans = (
        replace(span, label=classes[span.label]) for span in document.spans if span.label in classes
    )
    return replace(document, spans=tuple(spans))


def relabelled(
    batch: pa.RecordBatch, classes: Mapping[str, str] | None, dropped: Counter[str]
) -> pa.RecordBatch:
    """Do what `with_classes` does to all documents of a record batch.

    Parameters
    ----------
    batch : RecordBatch
        Documents as in `corpus.formats.batches`.
    classes : mapping of str to str or None
        The class of each label; None keeps every label.
    dropped : Counter of str
        Counts the annotations of all other labels, which are dropped.
    """
    if classes is None:
        return batch
    import numpy as np  # noqa: PLC0415 - slow to import
    import pyarrow as pa  # noqa: PLC0415 - the same
    import pyarrow.compute as pc  # noqa: PLC0415 - the same

    from corpus.formats.batches import list_array  # noqa: PLC0415 - the same
    from corpus.ragged import offsets_of  # noqa: PLC0415 - the same

    labels = batch.column("labels").flatten().dictionary_encode()
    names = [classes.get(name) for name in labels.dictionary.to_pylist()]
    renamed = pa.array(names, pa.string()).take(labels.indices)
    kept = renamed.is_valid().to_numpy(zero_copy_only=False)
    lost = pc.value_counts(labels.filter(pa.array(~kept)).dictionary_decode()).to_pylist()
    dropped.update({count["values"]: count["counts"] for count in lost})
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    bounds = columns["starts"].offsets.to_numpy() - columns["starts"].offsets[0].as_py()
    columns["labels"] = list_array(bounds, renamed)
    for name in columns.keys() & {"starts", "ends", "labels", SPAN_CONFIDENCES}:
        given = columns[name].is_valid().to_numpy(zero_copy_only=False)  # confidences may be null
        own = np.repeat(given, np.diff(bounds))
        values = columns[name].flatten().filter(pa.array(kept[own]))
        offsets = pa.array(offsets_of(kept & own)[bounds], pa.int32())
        columns[name] = pa.ListArray.from_arrays(offsets, values, mask=pa.array(~given))
    return pa.record_batch([columns[name] for name in batch.schema.names], schema=batch.schema)
