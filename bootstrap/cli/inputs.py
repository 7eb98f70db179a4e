"""The notes and the label maps named on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from bootstrap.config.configuration import load_data
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import Columns, read, read_batches
from corpus.formats.sources import Carry, Source

if TYPE_CHECKING:
    import pyarrow as pa


def columns_of(
    options: argparse.Namespace,
    default: Columns = Columns(),  # noqa: B008 - frozen
    prefix: str = "",
) -> Columns:
    """Return the names of columns given on the command line, and default names of others."""
    given = {part.name: getattr(options, f"{prefix}{part.name}_column") for part in fields(Columns)}
    return replace(default, **{part: name for part, name in given.items() if name is not None})


def problems_of(options: argparse.Namespace) -> Problems:
    """Return an empty list of problems with the rules given on the command line."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)


def read_note_batches(
    options: argparse.Namespace,
    problems: Problems,
    *,
    source: str | Source | None = None,
    columns: Columns | None = None,
    labelled: bool = True,
    carry: Carry = "nothing",
) -> Iterator[pa.RecordBatch]:
    """Read the source of a command, or another one, as record batches."""
    return read_batches(
        options.source if source is None else source,
        format=options.source_format,
        columns=columns or columns_of(options),
        problems=problems,
        labelled=labelled,
        encoding=options.encoding,
        delimiter=options.delimiter,
        carry=carry,
    )


def read_gold(options: argparse.Namespace, problems: Problems) -> Iterator[Document] | None:
    """Read the annotated notes of ``--gold``; None without them."""
    if not options.gold:
        return None
    return read(options.gold, columns=columns_of(options), problems=problems)


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
