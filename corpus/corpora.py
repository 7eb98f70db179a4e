"""Corpora by the names that configurations and the command line use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from urllib.parse import parse_qsl

from corpus import formats
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import Columns, read

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
    start: int = 0,
    labelled: bool = True,
    encoding: str = "utf-8",
) -> Iterator[Document]:
    """Read the documents of a corpus, one by one.

    Parameters
    ----------
    source : str
        A path or pattern (see `corpus.formats.read`), or synthetic notes:
        ``synthetic:1000?random_state=1&part=seed`` is 1,000 of them.
    format, columns, problems, start, labelled, encoding
        As in `corpus.formats.read`.

    Raises
    ------
    InputError
        If the corpus does not exist.
    """
    if is_synthetic(source):
        return islice(_synthetic(source), start, None)
    return read(
        source,
        format=format,
        columns=columns or Columns(),
        problems=problems,
        start=start,
        labelled=labelled,
        encoding=encoding,
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
