"""JSON and TOML that others may have written: every value is checked when it is read."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from corpus.arguments import encodable
from corpus.errors import InputError

#: The most bytes of JSON, which holds the phrases of a model, and of TOML, which is slow to parse.
LARGEST_JSON, LARGEST_TOML = 1 << 25, 1 << 20
#: The most values. Each empty list takes 20 times the memory that it takes in a file.
_MOST_VALUES = 500_000
#: The most levels. All that recurs over values, such as computing digests, needs a limit.
_MOST_LEVELS = 32

#: What does not belong to the structure: strings, and the comments of TOML.
_JSON_TEXT = re.compile(rb'"[^"]*+"')  # without escapes
_TOML_TEXT = re.compile(
    rb'"""(?:[^"\\]++|\\.|"(?!""))*"{3,5}+|"(?:[^"\\\n]++|\\.)*"'
    rb"|'''(?:[^']++|'(?!''))*'{3,5}+|'[^'\n]*+'|#[^\n]*+",
    re.DOTALL,
)
_STRUCTURE = b"[]{},."
#: The most characters of a key or a number; Python refuses to convert longer numbers.
_LONGEST_WORD = 1_000
_LONG_WORD = re.compile(rb"\w{%d}" % (_LONGEST_WORD + 1))
_STEPS = dict(zip(b"[{]}", (1, 1, -1, -1), strict=True))

#: The last line of a file that `with_digest` returned.
_DIGEST = re.compile(rb"^# blake2b (.*)\n?\Z", re.MULTILINE)


def parse_json(content: bytes, place: str) -> Any:
    """Parse JSON in UTF-8; `place` is where it is, for error messages.

    Raises
    ------
    InputError
        If it is not JSON, or is too large or nested too deeply.
    """
    check_size(len(content), LARGEST_JSON, place)
    # A group for escapes would take memory for each of them.
    _check_cost(content.replace(rb"\\", b"").replace(rb"\"", b""), _JSON_TEXT, place)
    try:
        return json.loads(content.decode("utf-8"))
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is not UTF-8"
        raise InputError(f"{place} is not JSON: {reason}") from None


def parse_toml(content: bytes, place: str) -> dict[str, Any]:
    """Parse TOML in UTF-8; `place` is where it is, for error messages.

    Raises
    ------
    InputError
        If it is not TOML, or is too large or nested too deeply.
    """
    check_size(len(content), LARGEST_TOML, place)
    _check_cost(content, _TOML_TEXT, place)
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # The message may quote a key; only its end tells a place.
        at = re.search(r"\(at [^()]*\)$", str(error))
        raise InputError(f"{place} is not TOML{f' {at[0]}' if at else ''}") from None


def read_content(path: Path) -> bytes:
    """Read a file of JSON or TOML whose size is limited.

    Raises
    ------
    InputError
        If it is too large, or no regular file.
    OSError
        If it cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # of devices and pipes, some have no end
        raise InputError(f"{path} is not a regular file")
    check_size(status.st_size, LARGEST_JSON, str(path))
    return path.read_bytes()


def check_size(size: int, most: int, place: str) -> None:
    """Raise an `InputError` if a file has, or would have, too many bytes."""
    if size > most:
        raise InputError(f"{place} has {size:,} bytes; expected at most {most:,}")


def _check_cost(content: bytes, text: re.Pattern[bytes], place: str) -> None:
    """Refuse JSON or TOML that takes too much time or memory to parse, by what is not text."""
    others = bytes(set(range(256)) - set(_STRUCTURE))
    bare = text.sub(b"", content)
    if _LONG_WORD.search(bare):
        raise InputError(f"{place} has a key or a number of more than {_LONGEST_WORD:,} characters")
    structure = bare.translate(None, others)
    if len(structure.translate(None, b"]}.")) > _MOST_VALUES:
        raise InputError(f"{place} has too many values; expected at most {_MOST_VALUES:,}")
    levels = accumulate(map(_STEPS.__getitem__, structure.translate(None, b",.")))
    if max(levels, default=0) > _MOST_LEVELS or b"." * _MOST_LEVELS in structure:  # a.b.c of TOML
        raise InputError(f"{place} is nested too deeply; expected at most {_MOST_LEVELS} levels")


def with_digest(text: str) -> bytes:
    """Return TOML with the digest of its text as a comment in its last line."""
    content = f"{text.rstrip()}\n".encode()
    return content + b"# blake2b " + _digest(content) + b"\n"


def is_unchanged(content: bytes) -> bool:
    """Check TOML against the digest in its last line; without one, it may be anything."""
    stored = _DIGEST.search(content)
    return stored is None or stored[1] == _digest(content[: stored.start()])


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=32).hexdigest().encode()


def flattened(tables: Mapping[str, Any], separator: str = ".") -> dict[str, Any]:
    """Return the values of nested tables by the joined names of their keys.

    >>> flattened({"loop": {"batch": 20}, "unit": "line"})
    {'loop.batch': 20, 'unit': 'line'}
    """
    values: dict[str, Any] = {}
    for name, value in tables.items():
        if isinstance(value, Mapping):
            inner = flattened(value, separator)
            values |= {f"{name}{separator}{key}": inner[key] for key in inner}
        else:
            values[name] = value
    return values


class Fields:
    """An object of JSON.

    Parameters
    ----------
    values : Any
        The object.
    place : str
        Where it is, for error messages: a path, and the keys that lead to it.

    Raises
    ------
    InputError
        If it is not an object. All methods raise it, too, if a key is missing, or if its value has
        another type or is outside of its limits.
    """

    def __init__(self, values: Any, place: str) -> None:
        if not isinstance(values, Mapping):
            raise InputError(f"{place}: expected an object, {{...}}")
        self.values = values
        self.place = place

    def value(self, key: str) -> Any:
        """Return the value of a key, of any type."""
        if key not in self.values:
            raise InputError(f'{self.place} lacks the key "{key}"')
        return self.values[key]

    def text(self, key: str) -> str:
        """Return a string."""
        value = self.value(key)
        if not isinstance(value, str) or not encodable(value):
            raise self.error(key, "a string")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        values = self.value(key)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self.error(key, "a list of strings")
        if not encodable(*values):  # half a surrogate pair, which JSON can hold
            raise self.error(key, "strings of characters")
        return tuple(values)

    def distinct_texts(self, key: str) -> tuple[str, ...]:
        """Return a list of different strings."""
        texts = self.texts(key)
        if len(set(texts)) < len(texts):
            raise self.error(key, "a list of different strings")
        return texts

    def integer(self, key: str, *, least: int, most: int) -> int:
        """Return a whole number within limits."""
        value = self.value(key)
        if type(value) is not int or not least <= value <= most:
            raise self.error(key, f"a whole number from {least:,} to {most:,}")
        return value

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self.value(key)
        if type(value) not in (int, float) or not abs(value) < 1e300:
            raise self.error(key, "a finite number")
        return float(value)

    def fields(self, key: str) -> Fields:
        """Return an object."""
        return Fields(self.value(key), self._place_of(key))

    def rows(self, key: str) -> list[Fields]:
        """Return a list of objects."""
        rows = self.value(key)
        if not isinstance(rows, list):
            raise self.error(key, "a list of objects")
        place = self._place_of(key)
        return [Fields(row, f"{place}, number {number}") for number, row in enumerate(rows, 1)]

    def text_by_key(self, key: str) -> dict[str, str]:
        """Return an object whose values are strings."""
        values = self.fields(key).values
        if not all(isinstance(value, str) for value in values.values()):
            raise self.error(key, "an object of strings")
        return dict(values)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def error(self, key: str, expected: str) -> InputError:
        """Build the error of a value of another type, without showing the value."""
        return InputError(f"{self._place_of(key)}: expected {expected}")

    def _place_of(self, key: str) -> str:
        return f'{self.place}: "{key}"'
