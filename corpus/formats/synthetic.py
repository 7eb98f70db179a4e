"""Synthetic notes as a source: ``synthetic:1000?random_state=1&part=seed`` is 1,000 of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from corpus.document import Document
from corpus.errors import InputError

_PREFIX = "synthetic:"
_DEFAULTS = {"random_state": "0", "part": "all", "language": "all"}


def is_synthetic(source: str | Path) -> bool:
    """Return whether a source names synthetic notes rather than files."""
    return str(source).startswith(_PREFIX)


def count_notes(source: str | Path) -> int:
    """Return the number in a name of synthetic notes; 0 if it has none."""
    number = str(source).removeprefix(_PREFIX).partition("?")[0]
    return int(number) if number.isdecimal() else 0


def notes_of(source: str | Path) -> Iterator[Document]:
    """Return the synthetic notes of a name.

    Raises
    ------
    InputError
        If it is no such name.
    """
    from corpus.synthetic import synthetic_notes  # noqa: PLC0415 - only needed here

    number, _, query = str(source).removeprefix(_PREFIX).partition("?")
    options: dict[str, Any] = dict(parse_qsl(query, keep_blank_values=True))
    state, part, language = (options.pop(name, default) for name, default in _DEFAULTS.items())
    if number.isdecimal() and state.isdecimal() and not options:
        with suppress(ValueError):  # an unknown part or language
            return synthetic_notes(
                int(number), random_state=int(state), part=part, language=language
            )
    raise InputError(
        f'"{source}": expected synthetic:NUMBER?random_state=NUMBER, and optionally &part=seed or '
        "all, and &language=es, ca or mixed"
    )
