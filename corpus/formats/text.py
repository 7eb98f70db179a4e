"""Plain text without annotations: a folder with a file for each note, or lines of a stream.

On standard input and output, each line is a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa

from corpus.document import Document
from corpus.errors import InputError, Problems, quoted
from corpus.formats.batches import batches_of, documents_of
from corpus.formats.files import is_standard, lines_of, new_text_file, readable
from corpus.formats.records import checked_line, parsed_records
from corpus.formats.sources import (
    ReadOptions,
    Source,
    files_of,
    id_of,
    name_within,
    stem_of,
    text_of,
)
from corpus.formats.targets import Target, WriteReport, new_document_folder, write_file_for


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield a document for each file; ids are paths without suffix.

    Each line of standard input is a document, blank lines too; ids are line numbers.
    """
    if is_standard(source.files[0]):
        return batches_of(_documents_of_lines(source, options, problems))
    files = sorted(files_of(source, "text"), key=stem_of)
    records = ((str(file), file) for file in files)
    parse = partial(_document, source.root, options.text_encoding)
    return batches_of(parsed_records(records, parse, problems))


def count(source: Source) -> int:
    """Count the files; the result is 0 for standard input, which can be read only once."""
    return 0 if is_standard(source.files[0]) else len(files_of(source, "text"))


def _document(root: Path, encoding: str, where: str, file: Path) -> Document:
    return Document(id_of(file, root), text_of(file, encoding))


def _documents_of_lines(
    source: Source, options: ReadOptions, problems: Problems
) -> Iterator[Document]:
    (file,) = source.files
    name = name_within(file, source.root)
    numbered = enumerate(lines_of(file, options.text_encoding), start=1)
    records = ((f"{name}:{number}", line) for number, line in numbered)
    return parsed_records(records, partial(_line_document, options.text_encoding), problems)


def _line_document(encoding: str, where: str, line: str) -> Document:
    return Document(where, checked_line(line, encoding).removesuffix("\n"))


def _line(document: Document) -> bytes:
    if "\n" in document.text:
        raise InputError(
            f"document {quoted(document.id)} has several lines, but text on standard output has "
            "one line per document: write JSONL"
        )
    return readable(f"{document.text}\n".encode())


def write(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: Target, report: WriteReport
) -> None:
    """Write a folder with a file for each document, or a line for each to standard output.

    Raises
    ------
    InputError
        If an id is not a unique file name in the folder, or a text of several lines is written to
        standard output.
    """
    if is_standard(target.path):
        with new_text_file(target.path) as file:
            file.writelines(b"".join(map(_line, documents_of(batch))) for batch in batches)
        return
    with new_document_folder(target.path) as folder:
        for document in chain.from_iterable(map(documents_of, batches)):
            write_file_for(document, folder, ".txt", document.text.encode())
