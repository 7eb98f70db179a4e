"""Tables of patterns: the one of this package, files, and the descriptions of models."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from corpus.errors import InputError, one_line
from corpus.storage.fields import parse_toml, read_content
from taggers.patterns.matcher import PatternMatcher
from taggers.patterns.pattern import Pattern

#: The table of this package, by the name that is accepted in place of a path.
IDENTIFIERS = "identifiers"
BUILTIN_TABLES = (IDENTIFIERS,)

#: The most rows of a table.
MOST_ROWS = 20_000

_EXAMPLES = ("matches", "not_matches")


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
    known = set(languages)
    return tuple(p for p in patterns if not known or not p.languages or known & set(p.languages))


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
        for text, is_match in failed_examples(pattern):
            place = f"{path}: row {number}"
            index = (pattern.matches if is_match else pattern.not_matches).index(text) + 1
            if is_match:
                raise InputError(f"{place}: the row finds nothing in number {index} of matches")
            raise InputError(f"{place}: the row finds a span in number {index} of not_matches")
    return patterns


def failed_examples(pattern: Pattern) -> Iterator[tuple[str, bool]]:
    """Yield the examples of a pattern that it fails, and whether each should match."""
    matcher = PatternMatcher([pattern])
    for texts, is_match in ((pattern.matches, True), (pattern.not_matches, False)):
        for text in texts:
            if bool(matcher.spans(text)) != is_match:
                yield text, is_match


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
    patterns = []
    for number, row in enumerate(rows, 1):
        try:
            patterns.append(msgspec.convert(row, Pattern))
        except (msgspec.ValidationError, InputError) as error:
            raise InputError(f"{place}: row {number}: {one_line(str(error))}") from None
    return tuple(patterns)


def table_of(patterns: Sequence[Pattern]) -> dict[str, Any]:
    """Return patterns as a table, without their examples."""
    rows = msgspec.to_builtins(list(patterns))
    return {"pattern": [{k: row[k] for k in row if k not in _EXAMPLES} for row in rows]}
