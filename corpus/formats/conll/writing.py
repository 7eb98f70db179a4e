"""Writing of CoNLL columns, with comments that let documents be read back exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.errors import InputError, Problems, quoted
from corpus.formats.batches import documents_of
from corpus.formats.files import new_text_file, readable
from corpus.formats.targets import Target, WriteReport
from corpus.tags import MISALIGNED
from corpus.tokens.characters import LINE_ENDS, ON_ONE_LINE

_LABEL = re.compile(r"\S+")
_LINE_ENDS = frozenset(LINE_ENDS)


def write(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, target: Target, report: WriteReport
) -> None:
    """Write lines of one token and its BIO tag, with this project's tokens.

    A span that does not align with tokens is widened to the tokens that it touches. A span without
    a token of its own is left out. The report counts both.

    Raises
    ------
    InputError
        If a label has white space in it.
    """
    with new_text_file(target.path) as file:
        file.writelines(_written(batch, report) for batch in batches)


def _written(batch: pa.RecordBatch, report: WriteReport) -> bytes:
    documents, problems = list(documents_of(batch)), Problems()
    for document in documents:
        _check_labels(document)
    tokens = make_batch(documents, labelled=True, problems=problems)
    _count_misaligned(documents, tokens, problems, report)
    lines = (_lines(document, tokens, index) for index, document in enumerate(documents))
    return b"".join(readable(line) for of_document in lines for line in of_document)


def _check_labels(document: Document) -> None:
    for span in document.spans:
        if not _LABEL.fullmatch(span.label):
            raise InputError(
                f"document {quoted(document.id)}: the label of {span} has white space, which CoNLL "
                f"columns cannot hold; write JSONL or Parquet"
            )


def _count_misaligned(
    documents: Sequence[Document], batch: Batch, problems: Problems, report: WriteReport
) -> None:
    begins = [label.startswith("B-") for label in batch.labels]
    written = int(np.count_nonzero(np.array(begins, bool)[batch.tags])) if begins else 0
    lost = sum(len(document.spans) for document in documents) - written
    report.spans -= lost
    report.lose("spans", lost)
    report.lose("span boundaries inside tokens", problems.counts[MISALIGNED] - lost)


def _lines(document: Document, batch: Batch, index: int) -> Iterator[bytes]:
    """Yield the lines of a document: its comments, and its tokens."""
    # A blank line follows the tokens of each line of the text, but none is inside an entity.
    tokens = slice(*batch.document_offsets[index : index + 2].tolist())
    starts, ends = batch.starts[tokens].tolist(), batch.ends[tokens].tolist()
    tags = [batch.labels[tag] for tag in batch.tags[tokens].tolist()]
    text = document.text
    yield _comment("id", document.id)
    if document.group is not None:
        yield _comment("group", document.group)
    yield _comment("text", text)
    offsets = " ".join(f"{start}-{end}" for start, end in zip(starts, ends, strict=True))
    if offsets:
        yield f"# offsets = {offsets}\n".encode()
    before = 0
    for start, end, tag in zip(starts, ends, tags, strict=True):
        if before and not _LINE_ENDS.isdisjoint(text[before:start]) and not tag.startswith("I-"):
            yield b"\n"
        yield f"{text[start:end].translate(ON_ONE_LINE)}\t{tag}\n".encode()
        before = end
    yield b"\n"


def _comment(key: str, value: str) -> bytes:
    return f"# {key} = {json.dumps(value, ensure_ascii=False)}\n".encode()
