"""File formats: brat standoff, JSON lines, Parquet and plain text, read and written in a stream.

A document read from one format and written to another is the same to the character, as far as
that format holds it; what it does not hold, the report of `write` counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from corpus.document import Document
from corpus.errors import InputError
from corpus.formats import brat, jsonl, parquet, text
from corpus.formats.columns import CONFIDENCE, SPAN_CONFIDENCES, Columns
from corpus.formats.sources import Source, format_of, locate
from corpus.formats.targets import Row, Rows, WriteReport, format_for
from corpus.problems import Problems
from corpus.storage import refuse_existing

__all__ = [
    "Columns",
    "WriteReport",
    "count_records",
    "detect_format",
    "find_files",
    "has_column",
    "read",
    "write",
]

_READERS = {"brat": brat.read, "jsonl": jsonl.read, "parquet": parquet.read, "text": text.read}
_COUNTERS = {"brat": brat.count, "jsonl": jsonl.count, "parquet": parquet.count, "text": text.count}
_HOLDERS = {"jsonl": jsonl.holds, "parquet": parquet.holds}
_WRITERS = {"brat": brat.write, "jsonl": jsonl.write, "parquet": parquet.write, "text": text.write}


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
        If nothing is there, or nothing that a format reads.
    """
    return list(locate(source).files)


def detect_format(source: str | Path) -> str:
    """Tell the format of a source by the suffixes of its files.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.

    Returns
    -------
    str
        ``"brat"`` (any `.ann`, besides `.txt`), ``"text"`` (only `.txt`), ``"jsonl"`` or
        ``"parquet"``.

    Raises
    ------
    InputError
        If there are files of several formats or of none; it says what was found.
    """
    return format_of(locate(source))


def has_column(source: str | Path, name: str, *, format: str | None = None) -> bool:
    """Tell whether anything in a source has a column or key.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    name : str
        Of the column (Parquet) or key (JSONL). Other formats have none, and lack none.
    format : {"brat", "jsonl", "parquet", "text"}, optional
        Detected if not given.
    """
    located = locate(source)
    return _holds(located, _known(format or format_of(located)), name)


def count_records(source: str | Path, *, format: str | None = None) -> int:
    """Count the records of a source as `read` passes over them, which is far faster than reading.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    format : {"brat", "jsonl", "parquet", "text"}, optional
        Detected if not given.

    Returns
    -------
    int
        About how many documents there are: blank lines count, and a pipe counts nothing.
    """
    located = locate(source)
    return _COUNTERS[_known(format or format_of(located))](located)


def _holds(located: Source, format: str, name: str) -> bool:
    return format not in _HOLDERS or _HOLDERS[format](located, name)


def read(
    source: str | Path,
    *,
    format: str | None = None,
    columns: Columns = Columns(),  # noqa: B008 - frozen
    problems: Problems,
    start: int = 0,
    labelled: bool = True,
) -> Iterator[Document]:
    """Read the documents of a source, one after the other.

    Parameters
    ----------
    source : str or Path
        As in `find_files`.
    format : {"brat", "jsonl", "parquet", "text"}, optional
        Detected if not given. Of a source of several formats, it reads the files of this one.
    columns : Columns
        Names of columns or keys, for JSONL and Parquet.
    problems : Problems
        Told of all that cannot be used as it stands: it stops or collects.
    start : int
        How many records of the source are skipped, cheaply: lines that are not blank (JSONL),
        rows (Parquet), names (brat), files (text). A record counts whether it can be read or not,
        so that `start` is the number of documents only where none is rejected.
    labelled : bool
        Whether annotations are asked for: then their column must be somewhere if it was named.

    Returns
    -------
    iterator of Document
        In order of the files and of what is in them. In brat and text, ids are paths without
        suffix, relative to the folder; for a pattern, to the deepest folder that holds all.

    Raises
    ------
    InputError
        At once if nothing is there, the format is unknown, or nothing has the column of the
        annotations or groups although it has another name than by default; on the way if a file
        cannot be read.
    ProblemError
        At the first problem of a kind that `problems` is to stop at.
    """
    if start < 0:
        raise InputError(f"start = {start}: expected 0 or more")
    located = locate(source)
    format = _known(format or format_of(located))
    if start == 0:
        _refuse_absent(located, format, columns, ("label", "group") if labelled else ("group",))
    return _READERS[format](located, columns, problems, start)


def _refuse_absent(located: Source, format: str, columns: Columns, parts: Iterable[str]) -> None:
    """Raise an `InputError` if a column that was named by the user is nowhere: it is mistyped."""
    for part in parts:
        name = getattr(columns, part)
        if name != getattr(Columns(), part) and not _holds(located, format, name):
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
        A file for JSONL and Parquet, a folder for brat and text. It must not exist.
    format : {"brat", "jsonl", "parquet", "text"}, optional
        If not given, the suffix of the target decides; without suffix it is brat.
    columns : Columns
        Names of columns or keys, for JSONL and Parquet.
    confidences : iterable of float, optional
        One for each document, for JSONL and Parquet, as column ``"confidence"``.
    span_confidences : iterable of sequence of float, optional
        One for each span of each document, for JSONL and Parquet only, as column
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
    path = Path(target)
    format = _known(format or format_for(path))
    refuse_existing(path)
    given = {CONFIDENCE: confidences, SPAN_CONFIDENCES: span_confidences}
    extra = {name: values for name, values in given.items() if values is not None}
    for name in extra:
        if name in astuple(columns):
            raise InputError(f"column {name!r} is that of the confidences: name another")
    if span_confidences is not None and format not in _HOLDERS:
        raise InputError(
            f"the format {format} has no place for the confidence of spans: write JSONL or Parquet"
        )
    return _WRITERS[format](_rows(documents, extra), path, columns, extra)


def _rows(documents: Iterable[Document], extra: Mapping[str, Iterable[Any]]) -> Rows:
    for document, *values in zip(documents, *extra.values(), strict=True):
        yield Row(document, **dict(zip(extra, values, strict=True)))


def _known(format: str) -> str:
    if format not in _READERS:
        raise InputError(f"format {format!r} is unknown: expected {', '.join(_READERS)}")
    return format
