"""brat standoff: a folder of texts (`NAME.txt`), each with its annotations (`NAME.ann`).

An annotation is a line ``T1<TAB>LABEL START END<TAB>TEXT``. A discontinuous annotation has several
fragments, ``START END;START END``. Offsets count characters of the text exactly as stored: a
byte-order mark is one character, a Windows line end two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa

from corpus.document import Document, Span
from corpus.errors import InputError, Problem, Problems, quoted
from corpus.formats.batches import batches_of, documents_of
from corpus.formats.files import CODECS
from corpus.formats.records import (
    DISAGREEING,
    DISCONTINUOUS,
    MALFORMED,
    Unreadable,
    of_document,
    parsed_records,
    settled,
    within,
)
from corpus.formats.sources import ReadOptions, Source, files_of, id_of, stem_of, suffix_of, text_of
from corpus.formats.targets import Target, WriteReport, new_document_folder, write_file_for
from corpus.tokens.characters import ON_ONE_LINE

BYTE_ORDER_MARK = "\ufeff"
OTHER_KINDS = "brat lines that are not text-bound annotations"
LABEL = re.compile(r"\S+")
OTHER_KIND = re.compile(r"(?:[REAMN][0-9]+|#[0-9]*|\*)\t")  # relation, event, attribute, note, ...
POSITION = re.compile(r"(\S+) ([0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*)")


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a name: one text and one annotation file, or several if their case differs."""

    texts: list[Path]
    annotations: list[Path]


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield the documents of a folder in the order of their names."""
    files = map(_completed, _by_name(files_of(source, "brat")))
    records = ((str([*paths.texts, *paths.annotations][0]), paths) for paths in files)
    parse = partial(_document, source.root, options.text_encoding, problems)
    return batches_of(parsed_records(records, parse, problems))


def count(source: Source) -> int:
    """Return the number of names."""
    return len(_by_name(files_of(source, "brat")))


def _by_name(files: list[Path]) -> list[_Files]:
    """Group texts and annotations by name, in order of the names."""
    names: dict[Path, _Files] = {}
    for file in files:
        of_name = names.setdefault(stem_of(file), _Files([], []))
        (of_name.annotations if suffix_of(file) == ".ann" else of_name.texts).append(file)
    return [of_name for _, of_name in sorted(names.items())]


def _completed(files: _Files) -> _Files:
    """Add the other file of a name if a pattern matched only one of the two."""
    stem = stem_of([*files.texts, *files.annotations][0])
    return _Files(files.texts or _beside(stem, ".txt"), files.annotations or _beside(stem, ".ann"))


def _beside(stem: Path, suffix: str) -> list[Path]:
    for end in ("", *CODECS):
        named = [Path(f"{stem}{variant}{end}") for variant in (suffix, suffix.upper())]
        paths = [path for path in named if path.exists()]
        if paths:  # both names may denote one file if the file system ignores case
            return paths[:1] if paths[0].samefile(paths[-1]) else paths
    return []


def _document(root: Path, encoding: str, problems: Problems, where: str, files: _Files) -> Document:
    if not files.texts:
        raise Unreadable("annotations without a text", "expected a .txt of the same name")
    for several in (files.texts, files.annotations):
        if len(several) > 1:
            names = " and ".join(file.name for file in several)
            raise Unreadable("several files of one name", f"{names}; expected one of them")
    name, text = id_of(files.texts[0], root), text_of(files.texts[0], encoding)
    if not files.annotations:
        return Document(name, text)
    lines = _annotations(files.annotations[0], encoding)
    file = str(files.annotations[0])
    spans = [
        span
        for number, line in enumerate(lines, start=1)
        for span in _spans(line, text, f"{file}:{number}", problems)
    ]
    return Document(name, text, settled(spans, of_document(file, name), problems))


def _annotations(file: Path, encoding: str) -> list[str]:
    try:
        content = text_of(file, encoding)
    except Unreadable as error:
        raise Unreadable(error.kind, f"{error.detail}, in its {suffix_of(file)}") from None
    return [line.removesuffix("\r") for line in content.removeprefix(BYTE_ORDER_MARK).split("\n")]


def _spans(line: str, text: str, where: str, problems: Problems) -> Iterator[Span]:
    """Yield the span of a line, if it has a valid one."""
    if line.startswith("T"):
        yield from _text_bound(line, text, where, problems)
    elif OTHER_KIND.match(line):
        problems.note(Problem(OTHER_KINDS, where, f"a line of kind {line[0]} is not kept"))
    elif line.strip():
        problems.reject(Problem(MALFORMED, where, "the line begins with no kind that brat knows"))


def _text_bound(line: str, text: str, where: str, problems: Problems) -> Iterator[Span]:
    columns = line.split("\t", 2)
    position = POSITION.fullmatch(columns[1]) if len(columns) == 3 else None
    if not position:
        expected = "expected T1<TAB>LABEL START END<TAB>TEXT"
        problems.reject(Problem(MALFORMED, where, expected))
        return
    label, offsets = position.groups()
    bounds = [map(int, piece.split(" ")) for piece in offsets.split(";")]
    pieces = [Span(start, end, label) for start, end in bounds]
    if not all(within(piece, text, where, problems) for piece in pieces):
        return
    listed = " and ".join(map(str, pieces))
    covered = " ".join(text[piece.start : piece.end] for piece in pieces)
    if covered.translate(ON_ONE_LINE) != columns[2].translate(ON_ONE_LINE):
        detail = f"{listed}: its last column is not the text at these offsets"
        problems.reject(Problem(DISAGREEING, where, detail))
        return
    if problems.conflicts == "joined":
        yield from pieces
        return
    longest = min(pieces, key=lambda piece: (piece.start - piece.end, piece))
    if len(pieces) > 1:
        kept = "" if problems.conflicts == "stop" else f": {longest} is kept"
        problems.conflict(Problem(DISCONTINUOUS, where, f"{listed}{kept}"))
    yield longest


def write(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: Target, report: WriteReport
) -> None:
    """Write a folder with two files for each document, without groups and confidences.

    Raises
    ------
    InputError
        If an id is not a unique file name in the folder, or a label contains white space.
    """
    with new_document_folder(target.path) as folder:
        for document in chain.from_iterable(map(documents_of, batches)):
            write_file_for(document, folder, ".txt", document.text.encode())
            write_file_for(document, folder, ".ann", b"".join(_lines(document)))


def _lines(document: Document) -> Iterator[bytes]:
    for number, span in enumerate(document.spans, start=1):
        if not LABEL.fullmatch(span.label):
            raise InputError(
                f"document {quoted(document.id)}: the label of {span} has white space, "
                f"which brat cannot store; write JSONL or Parquet"
            )
        covered = document.text[span.start : span.end].translate(ON_ONE_LINE)
        yield f"T{number}\t{span.label} {span.start} {span.end}\t{covered}\n".encode()
