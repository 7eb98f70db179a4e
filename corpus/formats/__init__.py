"""File formats, read and written in a stream: brat, CoNLL, CSV, JSON lines, Parquet, plain text.

`corpus.formats.table.FORMATS` has a row for each. Documents are read and written one by one
(`read`, `write`) or as Arrow record batches of one schema (`read_batches`, `write_batches`; see
`corpus.formats.batches`). A document read from one format and written to another is the same to
the character, as far as that format holds it; what it does not hold, the report counts.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats.columns import CONFIDENCE, SPAN_CONFIDENCES, Columns, ReadOptions
from corpus.formats.files import is_standard
from corpus.formats.rows import Row, Rows, WriteReport
from corpus.formats.source import Source
from corpus.formats.sources import format_of, locate
from corpus.formats.table import FORMATS, Format, format_named
from corpus.formats.targets import format_for
from corpus.problems import Problems
from corpus.storage import refuse_existing

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FORMATS",
    "Columns",
    "Format",
    "WriteReport",
    "count_records",
    "detect_format",
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
        A file; a folder, of which all files with the suffix of a format count, nested too, hidden
        ones (``.NAME``) excepted; or a pattern with ``*``, ``?``, ``[...]`` or ``**``, of which all
        that it matches counts. What exists by this very name is no pattern.

    Returns
    -------
    list of Path
        Sorted.

    Raises
    ------
    InputError
        If nothing is there, or nothing that a format reads, or it is standard input.
    """
    if is_standard(source):
        raise InputError("standard input can be read only once: name a file that can be read again")
    return list(locate(source).files)


def detect_format(source: str | Path) -> str:
    """Detect the format of a source by the suffixes of its files.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.

    Returns
    -------
    str
        A key of `FORMATS`: ``"brat"`` with any `.ann`, ``"text"`` with only `.txt`.

    Raises
    ------
    InputError
        If there are files of several formats or of none; it says what was found.
    """
    return format_of(locate(source))


def has_column(source: str | Path, name: str, *, format: str | None = None) -> bool:
    """Return whether anything in a source has a column or key.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    name : str
        Of the column (Parquet, CSV) or key (JSONL). Other formats have none, and lack none.
    format : str, optional
        A key of `FORMATS`; detected if not given.
    """
    located = locate(source)
    return format_named(format or format_of(located)).has_column(located, name)


def count_records(source: str | Path, *, format: str | None = None) -> int:
    """Count the records of a source as `read` passes over them, which is far faster than reading.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    format : str, optional
        A key of `FORMATS`; detected if not given.

    Returns
    -------
    int
        About how many documents there are: blank lines count, and a pipe counts nothing.
    """
    located = locate(source)
    return format_named(format or format_of(located)).count(located)


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
    """Read the documents of a source, one after the other.

    Parameters
    ----------
    source : str or Path
        As in `find_files`; ``-`` is standard input.
    format : str, optional
        A key of `FORMATS`; detected if not given. Of a source of several formats, it reads the
        files of this one.
    columns : Columns
        Names of columns or keys, where the format has them.
    problems : Problems
        Collects all that cannot be used as it stands, or stops at it.
    start : int
        How many records of the source are skipped, cheaply: lines that are not blank (JSONL),
        rows (CSV, Parquet), names (brat), files (text), documents (CoNLL). A record counts whether
        it can be read or not, so that `start` is the number of documents only where none is
        rejected.
    labelled : bool
        Whether annotations are asked for: then their column must be somewhere if it was named.
    encoding : str
        Of brat, CoNLL, CSV and text, if it is not UTF-8; such as ``"latin-1"``.

    Returns
    -------
    iterator of Document
        In order of the files and of what is in them. In brat and text, ids are paths without
        suffix, relative to the folder; for a pattern, to the deepest folder that holds all. Where
        another source has no ids, they are such a path with its suffix, a colon and the number of
        the line or row.

    Raises
    ------
    InputError
        At once if nothing is there, the format or encoding is unknown, or nothing has the column
        of the annotations or groups although it has another name than by default; on the way if a
        file cannot be read.
    ProblemError
        At the first problem of a kind that `problems` is to stop at.
    """
    located, found = _located(source, format, encoding)
    options = ReadOptions(columns, start, encoding=encoding)
    _check_request(located, found, options, labelled)
    return found.read_documents(located, options, problems)


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
        `corpus.formats.batches`), and then the other columns of CSV and Parquet under their own
        names. A column that has the name of one of these six, and any other key of JSONL, is
        counted as unused by `problems`. Batches are bounded in rows and bytes.

    Raises
    ------
    InputError, ProblemError
        As `read`; also if files of a source have columns of the same name but of types that
        cannot be unified.
    """
    located, found = _located(source, format, encoding)
    options = ReadOptions(columns, start, carry=True, encoding=encoding)
    _check_request(located, found, options, labelled)
    return found.read_batches(located, options, problems)


def _located(source: str | Path, format: str | None, encoding: str) -> tuple[Source, Format]:
    """Return the files of a source and their format.

    Raises
    ------
    InputError
        If there are none, or the format is not read in this way.
    """
    located = locate(source)
    found = format_named(format or format_of(located))
    if is_standard(source) and not found.is_stream:
        raise InputError(f"the format {found.name} cannot be read from standard input: {_STREAMS}")
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise InputError(
            f"encoding {shown(encoding)} is unknown: expected utf-8 or latin-1"
        ) from None
    if name != "utf-8" and not found.has_encoding:
        raise InputError(f"files of the format {found.name} are UTF-8: no other encoding is read")
    return located, found


_STREAMS = "expected " + " or ".join(each.name for each in FORMATS.values() if each.is_stream)


def _check_request(located: Source, found: Format, options: ReadOptions, labelled: bool) -> None:
    """Raise an `InputError` if a column that was named by the user is nowhere: it is mistyped."""
    if options.start < 0:
        raise InputError(f"start = {options.start}: expected 0 or more")
    if options.start > 0:
        return
    for part in ("label", "group") if labelled else ("group",):
        name = getattr(options.columns, part)
        if not options.columns.is_default(part) and not found.has_column(located, name):
            raise InputError(
                f"{located.name} has no column or key {name!r}, which was named as that of the "
                f"{part}"
            )


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

    What is written stands in a hidden name beside the target until it is complete, is private to
    its owner, and replaces nothing. Folders above the target are made.

    Parameters
    ----------
    documents : iterable of Document
        Written as they come; memory does not depend on their number.
    target : str or Path
        A file, or a folder for brat and text, which must not exist; or ``-``, standard output, to
        which documents are written as they come. A file of text is compressed if it ends in
        ``.gz`` or ``.zst``.
    format : str, optional
        A key of `FORMATS`. If not given, the suffix of the target decides; without suffix it is
        brat, and on standard output JSONL.
    columns : Columns
        Names of columns or keys, for CSV, JSONL and Parquet.
    confidences : iterable of float, optional
        One for each document, for CSV, JSONL and Parquet, as column ``"confidence"``.
    span_confidences : iterable of sequence of float, optional
        One for each span of each document, for CSV, JSONL and Parquet only, as column
        ``"span_confidences"``: a list beside that of the annotations, in its order.

    Returns
    -------
    WriteReport
        What was written, and what the format could not hold.

    Raises
    ------
    InputError
        If the target exists or cannot be made, or a document cannot be written in this format, or
        there is none to write into a folder, or the format has no place for confidences of spans.
    """
    path, found = _target(target, format)
    given = {CONFIDENCE: confidences, SPAN_CONFIDENCES: span_confidences}
    extra = {name: values for name, values in given.items() if values is not None}
    for name in extra:
        if name in astuple(columns):
            raise InputError(f"column {name!r} is that of the confidences: name another")
    if span_confidences is not None and "span confidences" not in found.keeps:
        raise InputError(
            f"the format {found.name} has no place for the confidence of spans: write JSONL or "
            f"Parquet"
        )
    return found.write_rows(_rows(documents, extra), extra, path, columns)


def write_batches(
    batches: Iterable[pa.RecordBatch],
    target: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
) -> WriteReport:
    """Write record batches as `read_batches` returns them to a new file or folder.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Of one schema; columns ``confidence`` (float64) and ``span_confidences`` (a list of float64,
        one for each span) are those of a tagger.
    target, format, columns
        As in `write`.

    Returns
    -------
    WriteReport
        What was written, and what the format could not hold.

    Raises
    ------
    InputError
        As `write`; also if a row is no document, or another column has the name of one in
        `columns`.
    ValueError
        If a column of documents is missing, or batches have different columns.
    """
    path, found = _target(target, format)
    return found.write_batches(batches, path, columns)


def _target(target: str | Path, format: str | None) -> tuple[Path, Format]:
    """Return where to write and in which format.

    Raises
    ------
    InputError
        If the target exists, or the format is unknown or not written in this way.
    """
    path = Path(target)
    found = format_named(format or format_for(path))
    if not is_standard(path):
        refuse_existing(path)
    elif not found.is_stream:
        raise InputError(
            f"the format {found.name} cannot be written to standard output: {_STREAMS}"
        )
    return path, found


def _rows(documents: Iterable[Document], extra: Mapping[str, Iterable[Any]]) -> Rows:
    for document, *values in zip(documents, *extra.values(), strict=True):
        yield Row(document, **dict(zip(extra, values, strict=True)))
