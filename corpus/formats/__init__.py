"""File formats, read and written as streams: brat, CoNLL, CSV, JSON lines, Parquet, plain text.

`corpus.formats.table.FORMATS` has a row for each format. All of them are read and written as Arrow
record batches of one schema (`read_batches`, `write_batches`; see `corpus.formats.batches`). `read`
and `write` convert these to and from documents, one by one. Conversion between formats preserves
documents exactly. The parts that a format cannot represent are counted in the report of the writer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats.files import checked_codec, is_standard
from corpus.formats.sources import (
    Carry,
    Columns,
    ReadOptions,
    Source,
    format_for,
    format_of,
    locate,
)
from corpus.formats.synthetic import count_notes, is_synthetic, notes_of
from corpus.formats.table import FORMATS, Format, format_named
from corpus.formats.tabular.dialects import checked_delimiter
from corpus.formats.targets import Target, WriteReport
from corpus.storage.atomic import refuse_existing

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FORMATS",
    "Columns",
    "Format",
    "Target",
    "WriteReport",
    "count_records",
    "find_files",
    "has_column",
    "read",
    "read_batches",
    "target_of",
    "write",
    "write_batches",
]


def find_files(source: str | Path) -> list[Path]:
    """Find the files that a source consists of.

    Parameters
    ----------
    source : str or Path
        A file, a folder or a pattern. A folder stands for all files below it that have the suffix
        of a format, except hidden ones (``.NAME``). A pattern has ``*``, ``?``, ``[...]`` or ``**``
        and stands for all files that it matches, unless a file of exactly this name exists.

    Returns
    -------
    list of Path
        The files, sorted.

    Raises
    ------
    InputError
        If no file exists or has the suffix of a format, or the source is standard input or a pipe.
    """
    located = locate(source)
    if is_standard(source) or any(p.exists() and not p.is_file() for p in located.files):
        name = located.name
        raise InputError(f"{name} can be read only once: name a file that can be read again")
    return list(located.files)


def has_column(
    source: str | Path | Source,
    name: str,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> bool:
    """Return whether any file or record of a source has a column or key.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    name : str
        The name of the column (Parquet, CSV) or key (JSONL). The result is True for other formats.
    format, delimiter, encoding
        As in `read`.
    """
    located = locate(source)
    options = ReadOptions(Columns(), "nothing", encoding, delimiter)
    return _has_column(located, format_named(format or format_of(located)), name, options)


def count_records(source: str | Path, *, format: str | None = None) -> int:
    """Count the records of a source without parsing them, much faster than `read`.

    Parameters
    ----------
    source : str or Path
        As in `read`.
    format : str, optional
        A key of `FORMATS`; detected by default.

    Returns
    -------
    int
        An estimate of the number of documents: blank lines count. It is 0 for a pipe.
    """
    if is_synthetic(source):
        return count_notes(source)
    located = locate(source)
    return int(format_named(format or format_of(located)).implementation.count(located))


def read(
    source: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    problems: Problems,
    labelled: bool = True,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Iterator[Document]:
    """Read the documents of a source one by one.

    Parameters
    ----------
    source : str or Path
        As in `find_files`; ``-`` is standard input, and ``synthetic:1000?random_state=1&part=seed``
        is 1,000 synthetic notes.
    format : str, optional
        A key of `FORMATS`; detected by default. If a source has files of several formats, only
        files of this format are read.
    columns : Columns
        Names of columns or keys, for formats that have them.
    problems : Problems
        Collects input that cannot be used unchanged, or raises an error for it.
    labelled : bool
        Whether annotations are required. If so, their column must exist if it was named.
    encoding : str, optional
        The encoding of brat, CoNLL, CSV and text files, such as ``"latin-1"``. By default, it is
        detected in CSV files, and UTF-8 in others.
    delimiter : str, optional
        The character between the columns of CSV files, or ``"tab"``; detected by default.

    Returns
    -------
    iterator of Document
        Documents in the order of the files and of their records. In brat and text, ids are paths
        without suffix relative to the folder, or for a pattern to the deepest common folder. In
        other formats, a record without id has such a path with its suffix, a colon and the number
        of the line or row as its id.

    Raises
    ------
    InputError
        At the call if no file exists, the format or encoding is unknown, a format has no
        delimiter, or no record has the column of annotations or groups that was named. During
        iteration if a file cannot be read.
    ProblemError
        At the first problem of a kind that stops the program.
    """
    batches = read_batches(
        source,
        format=format,
        columns=columns,
        problems=problems,
        labelled=labelled,
        encoding=encoding,
        delimiter=delimiter,
        carry="nothing",
    )
    from corpus.formats.batches import documents_of  # noqa: PLC0415 - pyarrow is slow to import

    return chain.from_iterable(map(documents_of, batches))


def read_batches(
    source: str | Path | Source,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    problems: Problems,
    labelled: bool = True,
    encoding: str | None = None,
    delimiter: str | None = None,
    carry: Carry = "columns",
) -> Iterator[pa.RecordBatch]:
    """Read the documents of a source as Arrow record batches of one schema.

    Parameters
    ----------
    source, format, columns, problems, labelled, encoding, delimiter
        As in `read`.
    carry : {"nothing", "columns", "records"}
        How the other columns of CSV, JSONL and Parquet are read: not at all, as columns, or, from
        JSONL, as a JSON object for each line. The keys of JSONL on standard input, which is read
        only once, are always such objects.

    Returns
    -------
    iterator of RecordBatch
        Columns ``id``, ``text``, ``group``, ``starts``, ``ends`` and ``labels``, the confidences of
        a tagger if there are any, and ``others`` (see `corpus.formats.batches`). The size of
        batches is bounded in rows and bytes.

    Raises
    ------
    InputError, ProblemError
        As `read`; also if files of a source have columns of the same name and incompatible types.
    """
    if not isinstance(source, Source) and is_synthetic(source):
        from corpus.formats.batches import batches_of  # noqa: PLC0415 - pyarrow is slow to import

        return batches_of(notes_of(source))
    options = ReadOptions(
        columns,
        carry,
        checked_codec(encoding) if encoding else None,
        checked_delimiter(delimiter) if delimiter else None,
    )
    located, row = _located(source, format, options, labelled)
    batches: Iterator[pa.RecordBatch] = row.implementation.read(located, options, problems)
    return batches


_STREAMS = "expected " + " or ".join(name for name, row in FORMATS.items() if row.is_stream)


def _located(
    source: str | Path | Source, format: str | None, options: ReadOptions, labelled: bool
) -> tuple[Source, Format]:
    """Return a source's files and a format that reads them, after checking the options."""
    located = locate(source)
    row = format_named(format or format_of(located))
    if is_standard(located.files[0]) and not row.is_stream:
        raise InputError(f"the format {row.name} cannot be read from standard input: {_STREAMS}")
    if options.text_encoding != "utf-8" and not row.has_encoding:
        raise InputError(f"files of the format {row.name} are UTF-8: no other encoding can be read")
    if options.delimiter and row.name != "csv":
        raise InputError(f"files of the format {row.name} have no delimiter: only those of csv do")
    for part in ("label", "group") if labelled else ("group",):
        name = getattr(options.columns, part)
        if not options.columns.is_default(part) and not _has_column(located, row, name, options):
            raise InputError(
                f"{located.name} has no column or key {name!r}, which was named as the column of "
                f"the {part}"
            )
    return located, row


def _has_column(located: Source, row: Format, name: str, options: ReadOptions) -> bool:
    """Return whether a source has a column or key; True for formats without named columns."""
    has_column = getattr(row.implementation, "has_column", None)
    return has_column is None or bool(has_column(located, name, options))


def target_of(
    target: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
) -> Target:
    """Return a new target.

    Parameters
    ----------
    target : str or Path
        As in `Target`.
    format : str, optional
        A key of `FORMATS`. By default it is determined by the suffix of the target: brat without
        suffix, and JSONL for standard output.
    columns : Columns
        Names of columns or keys, for CSV, JSONL and Parquet.

    Raises
    ------
    InputError
        If the target exists, or the format is unknown or cannot be written to standard output.
    """
    path = Path(target)
    row = format_named(format or format_for(path))
    if not is_standard(path):
        refuse_existing(path)
    elif not row.is_stream:
        raise InputError(f"the format {row.name} cannot be written to standard output: {_STREAMS}")
    return Target(path, row.name, columns)


def write(
    documents: Iterable[Document],
    target: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
) -> WriteReport:
    """Write documents to a new file or folder: completely, or not at all.

    Parameters
    ----------
    documents : iterable of Document
        The documents; memory does not depend on their number.
    target, format, columns
        As in `target_of`.

    Returns
    -------
    WriteReport
        Counts of what was written and of what the format could not represent.

    Raises
    ------
    InputError
        If the target exists or cannot be created, a document cannot be written in this format, or
        there is no document to write into a folder.
    """
    new = target_of(target, format=format, columns=columns)
    from corpus.formats.batches import SCHEMA, batches_of  # noqa: PLC0415 - pyarrow is slow

    return new.write(batches_of(documents), SCHEMA)


def write_batches(
    batches: Iterable[pa.RecordBatch],
    target: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
) -> WriteReport:
    """Write record batches, such as those from `read_batches`, to a new file or folder.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Record batches of one schema; see `corpus.formats.batches`.
    target, format, columns
        As in `target_of`.

    Returns
    -------
    WriteReport
        Counts of what was written and of what the format could not represent.

    Raises
    ------
    InputError
        As `write`; also if a row is not a valid document, or another column has one of the names
        in `columns`.
    ValueError
        If a column of documents is missing, or batches have different columns.
    """
    from corpus.formats.batches import conforming  # noqa: PLC0415 - pyarrow is slow to import
    from corpus.formats.tabular.checks import verified  # noqa: PLC0415

    new = target_of(target, format=format, columns=columns)
    schema, conformed = conforming(batches, columns)
    return new.write(map(verified, conformed), schema)
