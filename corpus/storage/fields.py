"""JSON and TOML that others may have written: every value is checked when it is read."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from corpus.errors import InputError, shown

#: Maximum number of bytes of a file of JSON that is read at once.
LARGEST_FILE = 1 << 26

#: The last line of a file that `with_digest` returned.
_DIGEST = re.compile(rb"^# blake2b (.*)\n?\Z", re.MULTILINE)


def parse_json(content: bytes, place: str) -> Any:
    """Parse JSON.

    Parameters
    ----------
    content : bytes
        A document in UTF-8.
    place : str
        Where it is, for error messages.

    Raises
    ------
    InputError
        If it is not JSON, or is nested too deeply.
    """
    try:
        return json.loads(content.decode("utf-8"))
    except RecursionError:
        raise InputError(f"{place} is nested too deeply; expected a few levels") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is not UTF-8"
        raise InputError(f"{place} is not JSON: {reason}") from None


def parse_toml(content: bytes, place: str) -> dict[str, Any]:
    """Parse TOML.

    Parameters
    ----------
    content : bytes
        A document in UTF-8.
    place : str
        Where it is, for error messages.

    Raises
    ------
    InputError
        If it is not TOML, or is nested too deeply.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{place} is not TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{place} is nested too deeply; expected a few levels") from None
    except ValueError:
        raise InputError(f"{place} has a number of too many digits") from None


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
        if not isinstance(value, str):
            raise self.error(key, "a string")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        values = self.value(key)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self.error(key, "a list of strings")
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
        fields = self.fields(key)
        return {name: fields.text(name) for name in fields}

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def error(self, key: str, expected: str) -> InputError:
        """Build the error of a value of another type, without showing the value."""
        return InputError(f"{self._place_of(key)}: expected {expected}")

    def _place_of(self, key: str) -> str:
        return f'{self.place}: "{shown(key)}"'
