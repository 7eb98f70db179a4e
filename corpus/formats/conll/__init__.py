"""CoNLL columns: one token and its tag per line, and a blank line after each sentence.

Each sentence is a document. Its id is the file and the line of its first token; its text is its
tokens, joined by spaces. Comments (lines that begin with ``# ``) change this: after ``# id =``
(or ``# newdoc id =``) all sentences up to the next one are one document, ``# text =`` is the text
of the sentences after it, and ``# offsets =`` where each token is in it. Lines with
``-DOCSTART-`` only separate. `corpus.formats.conll.writing` writes all of these comments, so that
its files are read back exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path

import pyarrow as pa

from corpus.arguments import encodable
from corpus.document import Document, Span
from corpus.errors import InputError, Problem, Problems
from corpus.formats.batches import batches_of
from corpus.formats.conll.schemes import (
    OUTSIDE,
    Scheme,
    Tag,
    beginning_inside,
    detect_scheme,
    entities_of,
    fault_in_bioes,
    parsed_tag,
)
from corpus.formats.conll.writing import write
from corpus.formats.files import lines_of
from corpus.formats.records import Unreadable, checked_line, parsed_records
from corpus.formats.sources import Columns, ReadOptions, Source, files_of, name_within
from corpus.tokens.characters import ON_ONE_LINE

__all__ = ["count", "read", "write"]

BAD_LINE = "lines that are not a token with a tag"
BAD_TAGS = "tags that contradict their scheme"
REPAIRED = "entities that begin with I- in a file where others begin with B-"
BAD_TEXT = "tokens that disagree with the text in the comments"

_COMMENTS = {"id", "sent_id", "group", "text", "offsets", "global.columns"}
_SEPARATOR = "-DOCSTART-"
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the lines of a file are read."""

    tabs: bool
    width: int
    token: int
    tag: int
    scheme: Scheme = "BIO"

    def columns_of(self, line: str) -> list[str]:
        return line.split("\t") if self.tabs else list(filter(None, line.split(" ")))

    def row_of(self, line: str) -> tuple[str, Tag] | None:
        """Return the token and the tag of a line; None if it does not have both."""
        columns = self.columns_of(line)
        tag = parsed_tag(columns[self.tag]) if len(columns) == self.width else None
        return None if tag is None else (columns[self.token], tag)

    def is_comment(self, line: str) -> bool:
        """Return whether a line is a comment, rather than a number sign with its tag."""
        return (line == "#" or line.startswith("# ")) and self.row_of(line) is None


#: The layout of a file without tokens, which may have a document without any.
_DEFAULT_LAYOUT = _Layout(tabs=True, width=2, token=0, tag=1)


@dataclass(slots=True)
class _Sentence:
    """The lines of a sentence, with their numbers, and the comments before them."""

    comments: dict[str, str] = field(default_factory=dict)
    lines: list[tuple[int, str]] = field(default_factory=list)


def read(source: Source, options: ReadOptions, problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield the documents of files.

    Raises
    ------
    InputError
        If a file is in another encoding, or has other columns than were asked for.
    """
    records = _records(source, options)
    return batches_of(parsed_records(records, partial(_document, problems), problems))


def count(source: Source) -> int:
    """Count the documents of all files, whatever their encoding."""
    files = files_of(source, "conll")
    sentences = (_sentences(_numbered(path, "latin-1"), _DEFAULT_LAYOUT) for path in files)
    return sum(1 for part in sentences for _ in _documents_of_sentences(part))


_Record = tuple[_Layout, str, list[_Sentence]]


def _records(source: Source, options: ReadOptions) -> Iterator[tuple[str, _Record]]:
    """Yield where each document begins, and its parts."""
    for path in files_of(source, "conll"):
        layout = _layout_of(path, options)
        where, name = str(path), name_within(path, source.root)
        sentences = _sentences(_numbered(path, options.text_encoding), layout)
        for document in _documents_of_sentences(sentences):
            number = next((sentence.lines[0][0] for sentence in document if sentence.lines), 1)
            yield f"{where}:{number}", (layout, f"{name}:{number}", document)


def _numbered(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file without their ends."""
    for number, line in enumerate(lines_of(path, encoding), start=1):
        fault = ""
        try:
            checked_line(line, encoding)
        except Unreadable as error:
            fault = f"{error.kind}: {error.detail}"
        if fault:  # outside of the handler, whose context holds text
            raise InputError(f"{path}:{number}: {fault}")
        text = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
        yield number, text.removesuffix("\n").removesuffix("\r")


def _layout_of(path: Path, options: ReadOptions) -> _Layout:
    """Find the columns of a file by its first token, and the scheme by all of its tags."""
    declared: list[str] = []
    for number, line in _numbered(path, options.text_encoding):
        if line.startswith("# global.columns = "):
            declared = line.partition(" = ")[2].split()
        if line.strip() and not line.startswith(("#", _SEPARATOR)):
            layout = _columns_layout(line, f"{path}:{number}", options.columns, declared)
            tags = _tags(path, options.text_encoding, layout)
            return replace(layout, scheme=detect_scheme(tags))
    return _DEFAULT_LAYOUT


def _columns_layout(line: str, where: str, columns: Columns, declared: list[str]) -> _Layout:
    tabs = "\t" in line
    width = len(_Layout(tabs, 0, 0, 0).columns_of(line))
    names = {name: index for index, name in enumerate(declared)}
    names |= {str(index): index % width for index in range(-width, width)}
    if width < 2:
        raise InputError(
            f"{where}: one column: expected a token and its tag, between tab or spaces"
        )
    token = 0 if columns.is_default("text") else names.get(columns.text)
    tag = width - 1 if columns.is_default("label") else names.get(columns.label)
    for name, index in ((columns.text, token), (columns.label, tag)):
        if index is None or index >= width:
            raise InputError(
                f"{where}: there is no column {name!r}: expected a number from 0 to {width - 1}, "
                f"or from -1 (the last) down, or a name in a comment # global.columns = ..."
            )
    if token is None or tag is None or token == tag:
        raise InputError(f"{where}: token and tag are the same column: name another for the text")
    return _Layout(tabs, width, token, tag)


def _tags(path: Path, encoding: str, layout: _Layout) -> Iterator[Tag]:
    """Yield the tags of a file; lines that have none are reported when they are read."""
    for sentence in _sentences(_numbered(path, encoding), layout):
        rows = (layout.row_of(line) for _, line in sentence.lines)
        yield from (row[1] for row in rows if row)
        yield OUTSIDE


def _sentences(lines: Iterator[tuple[int, str]], layout: _Layout) -> Iterator[_Sentence]:
    sentence = _Sentence()
    for number, line in lines:
        if not line.strip() or line.startswith(_SEPARATOR):
            if sentence.lines or sentence.comments:
                yield sentence
            sentence = _Sentence()
        elif layout.is_comment(line):
            key, _, value = line.removeprefix("# ").partition(" =")
            key = "id" if key == "newdoc id" else key
            sentence.comments[key.strip()] = value.strip(" ")
        else:
            sentence.lines.append((number, line))
    if sentence.lines or sentence.comments:
        yield sentence


def _documents_of_sentences(sentences: Iterator[_Sentence]) -> Iterator[list[_Sentence]]:
    """Yield the sentences of each document: all sentences after an id, or a single one."""
    document: list[_Sentence] = []
    for sentence in sentences:
        if not sentence.lines and not sentence.comments.keys() & {"id", "text"}:
            continue
        if document and ("id" in sentence.comments or "id" not in document[0].comments):
            yield document
            document = []
        document.append(sentence)
    if document:
        yield document


def _document(problems: Problems, where: str, record: _Record) -> Document:
    layout, name, sentences = record
    text, spans = "", []
    for piece in _with_common_text(sentences):
        text += "\n" if text else ""
        rows = [_rows_of(sentence, layout) for sentence in piece]
        tokens = [token for sentence_rows in rows for token, _ in sentence_rows]
        piece_text, offsets = _placed(tokens, piece[0].comments)
        offsets = [(start + len(text), end + len(text)) for start, end in offsets]
        text += piece_text
        spans += _spans(piece, rows, offsets, layout.scheme)
        if layout.scheme == "BIO":
            _report_repairs(piece, rows, where, problems)
    first = sentences[0].comments
    group = _value(first["group"]) if "group" in first else None
    problems.unused.update(_unused(sentences, layout))
    return Document(_id_of(first, name), text, tuple(spans), group)


def _unused(sentences: list[_Sentence], layout: _Layout) -> set[str]:
    """Name the columns and comments that no part of a document is read from."""
    keys = {key for sentence in sentences for key in sentence.comments}
    columns = set(range(layout.width)) - {layout.token, layout.tag}
    return {f"#{key}" for key in keys - _COMMENTS} | {str(index) for index in columns}


def _id_of(comments: dict[str, str], default: str) -> str:
    for key in ("id", "sent_id"):
        if comments.get(key):
            return _value(comments[key])
    return default


def _with_common_text(sentences: list[_Sentence]) -> list[list[_Sentence]]:
    """Group sentences by their text: one without text shares the text of the sentence before."""
    pieces: list[list[_Sentence]] = []
    for sentence in sentences:
        if pieces and "text" in pieces[-1][0].comments and "text" not in sentence.comments:
            pieces[-1].append(sentence)
        else:
            pieces.append([sentence])
    return pieces


def _value(text: str) -> str:
    """Return the value of a comment, which may be a JSON string."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) and encodable(value) else text


def _rows_of(sentence: _Sentence, layout: _Layout) -> list[tuple[str, Tag]]:
    """Return the token and the tag of each line."""
    rows = []
    for number, line in sentence.lines:
        row = layout.row_of(line)
        if row is None or not row[0]:
            raise Unreadable(
                BAD_LINE,
                f"line {number}: expected {layout.width} columns, in column {layout.token} a token "
                f"and in column {layout.tag} O or B-, I-, E-, S- with a class",
            )
        rows.append(row)
    return rows


def _placed(tokens: list[str], comments: dict[str, str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text of tokens, and the offsets of each, in order."""
    if "text" not in comments:
        # Without a search, which would find a token of spaces in the gap before it.
        starts = accumulate((len(token) + 1 for token in tokens), initial=0)
        offsets = [
            (start, start + len(token)) for token, start in zip(tokens, starts, strict=False)
        ]
        return " ".join(tokens), offsets
    tokens = [token.translate(ON_ONE_LINE) for token in tokens]
    for text in (_value(comments["text"]), comments["text"]):  # whose quotation marks may be text
        line, given = text.translate(ON_ONE_LINE), comments.get("offsets")
        offsets = _located(line, tokens) if given is None else _given(given)
        if [line[start:end] for start, end in offsets] == tokens and _ascending(offsets):
            return text, offsets
    raise Unreadable(BAD_TEXT, "the tokens are not in # text in their order, or not at # offsets")


def _ascending(offsets: list[tuple[int, int]]) -> bool:
    bounds = [bound for pair in offsets for bound in pair]
    return all(left <= right for left, right in pairwise(bounds))


def _given(comment: str) -> list[tuple[int, int]]:
    pairs = [pair.partition("-") for pair in comment.split()]
    if not all(start.isdecimal() and end.isdecimal() for start, _, end in pairs):
        raise Unreadable(BAD_TEXT, "# offsets is not a list of START-END")
    return [(int(start), int(end)) for start, _, end in pairs]


def _located(text: str, tokens: list[str]) -> list[tuple[int, int]]:
    """Find tokens in a text, one after the other; a missing token has no place."""
    offsets, place = [], 0
    for token in tokens:
        start = text.find(token, place)
        if start < 0:
            return []
        place = start + len(token)
        offsets.append((start, place))
    return offsets


def _spans(
    sentences: list[_Sentence],
    rows: list[list[tuple[str, Tag]]],
    offsets: list[tuple[int, int]],
    scheme: Scheme,
) -> list[Span]:
    spans, first = [], 0
    for sentence, sentence_rows in zip(sentences, rows, strict=True):
        tags = [tag for _, tag in sentence_rows]
        fault = fault_in_bioes(tags) if scheme == "BIOES" else None
        if fault is not None:
            line = sentence.lines[fault][0]
            raise Unreadable(BAD_TAGS, f"line {line}: its tag does not follow as in {scheme}")
        for start, end, label in entities_of(tags):
            spans.append(Span(offsets[first + start][0], offsets[first + end][1], label))
        first += len(tags)
    return spans


def _report_repairs(
    sentences: list[_Sentence], rows: list[list[tuple[str, Tag]]], where: str, problems: Problems
) -> None:
    """Report each entity that begins with ``I-`` in a file of BIO."""
    file = where.rpartition(":")[0]
    for sentence, sentence_rows in zip(sentences, rows, strict=True):
        for index in beginning_inside([tag for _, tag in sentence_rows]):
            line = sentence.lines[index][0]
            problems.note(Problem(REPAIRED, f"{file}:{line}", "read as B-, which begins an entity"))
