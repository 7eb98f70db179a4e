"""What several commands are told about notes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from corpus.corpora import count_records, read_corpus
from corpus.document import Document
from corpus.formats import Columns
from corpus.problems import Problems


def columns_of(options: argparse.Namespace) -> Columns:
    """Give the names of columns on the command line."""
    return Columns(
        options.id_column, options.text_column, options.label_column, options.group_column
    )


def problems_of(options: argparse.Namespace) -> Problems:
    """Give a list of problems with the rules on the command line."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)


def unlabeled_of(options: argparse.Namespace, problems: Problems) -> Iterator[Document]:
    """Read the notes that a command is given, without their annotations."""
    return read_corpus(
        options.source,
        format=options.source_format,
        columns=columns_of(options),
        problems=problems,
        labelled=False,
    )


def number_of(options: argparse.Namespace) -> int:
    """Give about how many notes a command is given."""
    return count_records(options.source, format=options.source_format)
