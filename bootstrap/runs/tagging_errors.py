"""Errors of a model on the validation documents: the record in ``errors.parquet``.

They are offsets and classes, without any text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from bootstrap.runs.parquet_files import read_table
from corpus.error_analysis import EntityError, Mention, entity_errors
from corpus.errors import InputError
from corpus.evaluation import GoldBatch
from taggers.base import Tagging

_MENTION = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("label", pa.large_string())])
_ERRORS = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.large_string()),
        ("kind", pa.large_string()),
        ("gold", _MENTION),
        ("predicted", _MENTION),
    ]
)


class TaggingError(NamedTuple):
    """An error in a validation document.

    Parameters
    ----------
    id : str
        The document.
    error : EntityError
        The entities; its `row` is the index of the document.
    """

    id: str
    error: EntityError


def tagging_errors(validation: GoldBatch, tagging: Tagging) -> list[TaggingError]:
    """Return the errors of a tagging of the validation documents."""
    predicted = validation.batch.with_tags(tagging.tags, tagging.labels)
    ids = validation.batch.ids.to_pylist()
    return [TaggingError(ids[error.row], error) for error in entity_errors(validation, predicted)]


def errors_table(errors: Sequence[TaggingError]) -> pa.Table:
    """Return a table with a row for each error; the absent entity of an error is null."""
    return pa.Table.from_pylist(
        [
            {
                "row": error.row,
                "id": name,
                "kind": error.kind,
                "gold": error.gold._asdict() if error.gold else None,
                "predicted": error.predicted._asdict() if error.predicted else None,
            }
            for name, error in errors
        ],
        schema=_ERRORS,
    )


def load_errors(path: Path) -> list[TaggingError]:
    """Read the errors of an iteration.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    rows = read_table(path).to_pylist()
    try:
        return [TaggingError(row["id"], _error_of(row)) for row in rows]
    except (KeyError, ValueError, TypeError):
        raise InputError(f"{path} is damaged: it is not a table of errors") from None


def load_error_kinds(path: Path) -> Counter[str]:
    """Count the errors of an iteration by kind.

    Raises
    ------
    InputError
        If the file is missing or damaged.
    """
    table = read_table(path)
    try:
        return Counter(table["kind"].to_pylist())
    except KeyError:
        raise InputError(f"{path} is damaged: it is not a table of errors") from None


def _error_of(row: dict[str, Any]) -> EntityError:
    gold, predicted = (
        Mention(**row[side]) if row[side] else None for side in ("gold", "predicted")
    )
    if gold is None and predicted is None:
        raise ValueError("neither a gold nor a predicted entity")
    return EntityError(row["row"], gold, predicted)
