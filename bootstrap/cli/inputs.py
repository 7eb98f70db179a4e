"""The notes and the label maps named on the command line."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from bootstrap.config.configuration import load_data
from corpus.corpora import read_corpus, with_classes
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import Columns


def columns_of(options: argparse.Namespace) -> Columns:
    """Return the names of columns given on the command line."""
    return Columns(
        options.id_column, options.text_column, options.label_column, options.group_column
    )


def problems_of(options: argparse.Namespace) -> Problems:
    """Return an empty list of problems with the rules given on the command line."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)


def read_notes(
    options: argparse.Namespace, problems: Problems, *, labelled: bool = True
) -> Iterator[Document]:
    """Read the source of a command."""
    return read_corpus(
        options.source,
        format=options.source_format,
        columns=columns_of(options),
        problems=problems,
        labelled=labelled,
        encoding=options.encoding,
    )


def read_gold(options: argparse.Namespace, problems: Problems) -> Iterator[Document] | None:
    """Read the annotated notes of ``--gold``; None without them."""
    if not options.gold:
        return None
    return read_corpus(options.gold, columns=columns_of(options), problems=problems)


def label_map_of(options: argparse.Namespace) -> Mapping[str, str] | None:
    """Return the class of each label of the source, or None without ``--labels``."""
    if options.labels is None:
        return None
    _, labels = load_data(options.labels)
    if labels is None:
        raise InputError(
            f"{options.labels} has no [labels]; expected a configuration that maps labels"
        )
    return labels


def with_label_map(
    documents: Iterable[Document], labels: Mapping[str, str] | None, dropped: Counter[str]
) -> Iterator[Document]:
    """Yield documents with their labels renamed, and count the spans of unmapped labels."""
    classes = None if labels is None else dict(labels)
    for document in documents:
        if classes is not None:
            dropped.update(span.label for span in document.spans if span.label not in classes)
        yield with_classes(document, classes)
