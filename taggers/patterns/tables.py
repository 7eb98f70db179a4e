"""Tables of patterns: the one of this package, files, and the descriptions of models."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from corpus.errors import InputError, one_line
from corpus.storage.fields import parse_toml, read_content
from taggers.patterns.pattern import Pattern

#: The table of this package, by the name that is accepted in place of a path.
IDENTIFIERS = "identifiers"
BUILTIN_TABLES = (IDENTIFIERS,)

_CODE = re.compile("[a-z]{2,3}")
#: The most rows of a table, and the seconds of a processor in which their expressions compile.
MOST_ROWS, _MOST_SECONDS = 3_000, 3.0


def read_patterns(paths: Sequence[str], languages: Iterable[str] = ()) -> tuple[Pattern, ...]:
    """Read tables of patterns, and test each row of a file by its examples.

    Parameters
    ----------
    paths : sequence of str
        TOML files, or names of `BUILTIN_TABLES`.
    languages : iterable of str
        Rows for other languages are left out; none is if empty.

    Raises
    ------
    InputError
        If a file or a row is invalid. The message names the file and the row.
    """
    patterns = [
        pattern
        for path in paths
        for pattern in (_builtin() if path in BUILTIN_TABLES else _read(Path(path)))
    ]
    asked = set(languages)
    if not all(map(_CODE.fullmatch, asked)):
        raise InputError('languages: expected codes such as "es" and "ca"')
    return tuple(p for p in patterns if not asked or not p.languages or asked & set(p.languages))


@functools.cache  # several parts of a command read it
def _builtin() -> tuple[Pattern, ...]:
    content = (files("taggers.patterns") / "identifiers.toml").read_bytes()
    return patterns_of(parse_toml(content, IDENTIFIERS), IDENTIFIERS)


def _read(path: Path) -> tuple[Pattern, ...]:
    try:
        content = read_content(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    patterns = patterns_of(parse_toml(content, str(path)), str(path))
    for number, pattern in enumerate(patterns, 1):
        check_examples(pattern, f"{path}: row {number}")
    return patterns


def check_examples(pattern: Pattern, place: str) -> None:
    """Search for a pattern in its examples.

    Raises
    ------
    InputError
        If it finds nothing in one that should match, or something in another one.
    """
    from taggers.patterns.matcher import PatternMatcher  # noqa: PLC0415 - numba is slow to import

    matcher = PatternMatcher([pattern])
    for key, texts in (("matches", pattern.matches), ("not_matches", pattern.not_matches)):
        for number, text in enumerate(texts, 1):
            if bool(matcher.spans(text)) != (key == "matches"):
                what = "nothing" if key == "matches" else "a span"
                raise InputError(f"{place}: the row finds {what} in number {number} of {key}")


def patterns_of(table: Mapping[str, Any], place: str) -> tuple[Pattern, ...]:
    """Return the patterns of a table of TOML or JSON, whose rows are tested one by one.

    Parameters
    ----------
    table : mapping of str to Any
        The rows are the value of its key ``pattern``.
    place : str
        Where it is, for error messages.

    Raises
    ------
    InputError
        If a row is invalid.
    """
    rows = table.get("pattern")
    if set(table) != {"pattern"} or not isinstance(rows, list) or not 0 < len(rows) <= MOST_ROWS:
        raise InputError(
            f"{place}: expected rows [[pattern]] and nothing else, at most {MOST_ROWS:,}"
        )
    patterns, start = [], time.process_time()
    for number, row in enumerate(rows, 1):
        try:
            patterns.append(msgspec.convert(row, Pattern))
        except (msgspec.ValidationError, InputError) as error:
            raise InputError(f"{place}: row {number}: {one_line(str(error))}") from None
        if time.process_time() - start > _MOST_SECONDS:
            raise InputError(
                f"{place}: row {number}: the expressions so far take too long to compile: "
                "expected fewer rows, or shorter ones"
            )
    return tuple(patterns)


def table_of(patterns: Sequence[Pattern]) -> dict[str, Any]:
    """Return patterns as a table, without their examples."""
    rows = [msgspec.structs.replace(row, matches=(), not_matches=()) for row in patterns]
    return {"pattern": msgspec.to_builtins(rows)}
