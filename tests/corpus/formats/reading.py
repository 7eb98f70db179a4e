"""Documents of a source, problems that do not stop, and confidences beside documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpus.document import Document
from corpus.errors import Problems
from corpus.formats import read
from corpus.formats.batches import CONFIDENCE_TYPES, batch_of


def documents(
    source: str | Path, problems: Problems | None = None, **options: Any
) -> list[Document]:
    return list(read(source, problems=problems or Problems(), **options))


def lenient() -> Problems:
    return Problems(conflicts="longest", invalid="skip")


def with_confidences(
    notes: Sequence[Document],
    confidences: Sequence[float] | None,
    of_spans: Sequence[Sequence[float]] | None = None,
) -> list[pa.RecordBatch]:
    """Return documents as a batch with the confidences of a tagger."""
    batch = batch_of(notes)
    for values, name in zip((confidences, of_spans), CONFIDENCE_TYPES, strict=True):
        if values is not None:
            batch = batch.append_column(name, pa.array(values, CONFIDENCE_TYPES[name]))
    return [batch]
