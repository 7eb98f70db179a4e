"""File formats, read and written as streams: brat, CoNLL, CSV, JSON lines, Parquet, plain text.

`corpus.formats.table.FORMATS` has a row for each format. Documents are read and written one by one
(`read`, `write`) or as Arrow record batches of one schema (`read_batches`, `write_batches`; see
`corpus.formats.batches`). Conversion between formats preserves documents exactly. The parts that a
format cannot represent are counted in the report of the writer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats.files import checked_codec, is_standard
from corpus.formats.rows import Row, WriteReport
from corpus.formats.sources import (
    CONFIDENCE,
    SPAN_CONFIDENCES,
    Columns,
    ReadOptions,
    Source,
    format_for,
    format_of,
    locate,
)
from corpus.formats.table import FORMATS, Format, format_named
from corpus.storage.atomic import refuse_existing

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FORMATS",
    "Columns",
    "Format",
    "WriteReport",
    "count_records",
    "find_files",
    "has_column",
    "read",
    "read_batches",
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
        If no file exists or has the suffix of a format, or the source is standard input.
    """
    if is_standard(source):
        raise InputError("standard input can be read only once: name a file that can be read again")
    return list(locate(source).files)


def has_column(source: str | Path, name: str, *, format: str | None = None) -> bool:
    """Return whether any file or record of a source has a column or key.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    name : str
        The name of the column (Parquet, CSV) or key (JSONL). The result is True for other formats.
    format : str, optional
        A key of `FORMATS`; detected by default.
    """
    located = locate(source)
    return _has_column(located, format_named(format or format_of(located)), name)


def count_records(source: str | Path, *, format: str | None = None) -> int:
    """Count the records of a source without parsing them, much faster than `read`.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    format : str, optional
        A key of `FORMATS`; detected by default.

    Returns
    -------
    int
        An estimate of the number of documents: blank lines count. It is 0 for a pipe.
    """
    located = locate(source)
    return int(format_named(format or format_of(located)).implementation.count(located))


def read(
    source: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    problems: Problems,
    start: int = 0,
    labelled: bool = True,
    encoding: str = "utf-8",
) -> Iterator[Document]:
    """Read the documents of a source one by one.

    Parameters
    ----------
    source : str or Path
        As in `find_files`; ``-`` is standard input.
    format : str, optional
        A key of `FORMATS`; detected by default. If a source has files of several formats, only
        files of this format are read.
    columns : Columns
        Names of columns or keys, for formats that have them.
    problems : Problems
        Collects input that cannot be used unchanged, or raises an error for it.
    start : int
        The number of records to skip: non-blank lines (JSONL), rows (CSV, Parquet), names (brat),
        files (text) or documents (CoNLL). Records that cannot be read count too, so `start` is a
        number of documents only if none is rejected.
    labelled : bool
        Whether annotations are required. If so, their column must exist if it was named.
    encoding : str
        The encoding of brat, CoNLL, CSV and text files, such as ``"latin-1"``.

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
        At the call if no file exists, the format or encoding is unknown, or no record has the
        column of annotations or groups that was named. During iteration if a file cannot be read.
    ProblemError
        At the first problem of a kind that stops the program.
    """
    options = ReadOptions(columns, start, encoding=checked_codec(encoding))
    located, row = _located(source, format, options, labelled)
    records: Iterator[Any] = row.implementation.read(located, options, problems)
    if row.records == "documents":
        return records
    if row.records == "rows":
        return (record.document for record in records)
    from corpus.formats.batches import documents_of  # noqa: PLC0415 - pyarrow is slow to import

    return chain.from_iterable(map(documents_of, records))


def read_batches(
    source: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    problems: Problems,
    start: int = 0,
    labelled: bool = True,
    encoding: str = "utf-8",
) -> Iterator[pa.RecordBatch]:
    """Read the documents of a source as Arrow record batches of one schema.

    Parameters
    ----------
    source, format, columns, problems, start, labelled, encoding
        As in `read`.

    Returns
    -------
    iterator of RecordBatch
        Columns ``id``, ``text``, ``group``, ``starts``, ``ends`` and ``labels`` (see
        `corpus.formats.batches`), followed by the other columns of CSV and Parquet under their own
        names. `problems` counts as unused any other key of JSONL, and any other column with the
        name of one of these six. The size of batches is bounded in rows and bytes.

    Raises
    ------
    InputError, ProblemError
        As `read`; also if files of a source have columns of the same name and incompatible types.
    """
    options = ReadOptions(columns, start, carry=True, encoding=checked_codec(encoding))
    located, row = _located(source, format, options, labelled)
    records: Iterator[Any] = row.implementation.read(located, options, problems)
    if row.records == "batches":
        return records
    from corpus.formats.batches import batches_of  # noqa: PLC0415 - pyarrow is slow to import

    if row.records == "rows":
        return batches_of(records, row.implementation.other_columns(located, options))
    return batches_of(map(Row, records), {})


_STREAMS = "expected " + " or ".join(name for name, row in FORMATS.items() if row.is_stream)


def _located(
    source: str | Path, format: str | None, options: ReadOptions, labelled: bool
) -> tuple[Source, Format]:
    """Return a source's files and a format that reads them, after checking the options."""
    located = locate(source)
    row = format_named(format or format_of(located))
    if is_standard(source) and not row.is_stream:
        raise InputError(f"the format {row.name} cannot be read from standard input: {_STREAMS}")
    if options.encoding != "utf-8" and not row.has_encoding:
        raise InputError(f"files of the format {row.name} are UTF-8: no other encoding can be read")
    if options.start < 0:
        raise InputError(f"start = {options.start}: expected 0 or more")
    for part in ("label", "group") if labelled else ("group",):
        name = getattr(options.columns, part)
        is_checked = options.start == 0 and not options.columns.is_default(part)
        if is_checked and not _has_column(located, row, name):
            raise InputError(
                f"{located.name} has no column or key {name!r}, which was named as the column of "
                f"the {part}"
            )
    return located, row


def _has_column(located: Source, row: Format, name: str) -> bool:
    """Return whether a source has a column or key; True for formats without named columns."""
    has_column = getattr(row.implementation, "has_column", None)
    return has_column is None or bool(has_column(located, name))


def write(
    documents: Iterable[Document],
    target: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    confidences: Iterable[float] | None = None,
    span_confidences: Iterable[Sequence[float]] | None = None,
) -> WriteReport:
    """Write documents to a new file or folder: completely, or not at all.

    The output has a hidden name beside the target until it is complete, is private to its owner,
    and replaces no existing file. Missing parent folders are created.

    Parameters
    ----------
    documents : iterable of Document
        The documents, written one by one; memory does not depend on their number.
    target : str or Path
        A new file, or a new folder for brat and text, or ``-`` for standard output. A text file is
        compressed if its name ends in ``.gz`` or ``.zst``.
    format : str, optional
        A key of `FORMATS`. By default it is determined by the suffix of the target: brat without
        suffix, and JSONL for standard output.
    columns : Columns
        Names of columns or keys, for CSV, JSONL and Parquet.
    confidences : iterable of float, optional
        The confidence of each document, written by CSV, JSONL and Parquet as the column
        ``"confidence"``.
    span_confidences : iterable of sequence of float, optional
        The confidences of the spans of each document, in their order, written by CSV, JSONL and
        Parquet only, as the column ``"span_confidences"``.

    Returns
    -------
    WriteReport
        Counts of what was written and of what the format could not represent.

    Raises
    ------
    InputError
        If the target exists or cannot be created, a document cannot be written in this format,
        there is no document to write into a folder, or the format cannot store confidences of
        spans.
    """
    path, row = _target(target, format)
    extra: dict[str, Iterable[Any]] = {}
    if confidences is not None:
        extra[CONFIDENCE] = map(float, confidences)
    if span_confidences is not None:
        extra[SPAN_CONFIDENCES] = (list(map(float, of_spans)) for of_spans in span_confidences)
    for name in extra:
        if name in astuple(columns):
            raise InputError(f"column {name!r} is reserved for confidences: choose another name")
    if span_confidences is not None and "span confidences" not in row.keeps:
        raise InputError(
            f"the format {row.name} cannot store the confidence of spans: write JSONL or Parquet"
        )
    rows = (
        _row(document, dict(zip(extra, values, strict=True)))
        for document, *values in zip(documents, *extra.values(), strict=True)
    )
    report = WriteReport(keeps=row.keeps)
    if row.records == "documents":
        row.implementation.write(rows, path, columns, report)
        return report
    from corpus.formats import batches  # noqa: PLC0415 - pyarrow is slow to import

    types = {name: batches.CONFIDENCE_TYPES[name] for name in extra}
    schema = batches.schema_with(types)
    row.implementation.write(batches.batches_of(rows, types), schema, path, columns, report)
    return report


def _row(document: Document, confidences: dict[str, Any]) -> Row:
    of_spans = confidences.get(SPAN_CONFIDENCES, document.spans)
    if len(of_spans) != len(document.spans):
        raise ValueError("expected one confidence for each span of a document")
    return Row(document, confidences)


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
        Record batches of one schema. The columns ``confidence`` (float64) and ``span_confidences``
        (a list of float64, one for each span) hold the confidences of a tagger.
    target, format, columns
        As in `write`.

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
    from corpus.formats.batches import conforming, rows_of  # noqa: PLC0415
    from corpus.formats.tabular.checks import verified  # noqa: PLC0415

    path, row = _target(target, format)
    schema, conformed = conforming(batches, columns)
    report = WriteReport(keeps=row.keeps)
    if row.records == "documents":
        rows = chain.from_iterable(map(rows_of, conformed))
        row.implementation.write(rows, path, columns, report)
    else:
        row.implementation.write(map(verified, conformed), schema, path, columns, report)
    return report


def _target(target: str | Path, format: str | None) -> tuple[Path, Format]:
    """Return the path of a new target and a format that can write it."""
    path = Path(target)
    row = format_named(format or format_for(path))
    if not is_standard(path):
        refuse_existing(path)
    elif not row.is_stream:
        raise InputError(f"the format {row.name} cannot be written to standard output: {_STREAMS}")
    return path, row
