"""JSON that others may have written: every value is checked when it is read."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus.errors import InputError, shown

#: Maximum number of bytes of a file of JSON that is read at once.
LARGEST_FILE = 1 << 26


def read_json(path: Path, place: str = "") -> Any:
    """Read a file of JSON.

    Parameters
    ----------
    path : Path
        The file.
    place : str
        Its name in error messages; by default the last part of the path.

    Raises
    ------
    InputError
        If it is not a regular file, is too large, or is not JSON; see `parse_json`.
    OSError
        If it does not exist or cannot be read.
    """
    status, place = path.stat(), place or shown(path.name)
    if not stat.S_ISREG(status.st_mode):  # of devices and pipes, some have no end
        raise InputError(f"{place} is not a regular file")
    if status.st_size > LARGEST_FILE:
        raise InputError(f"{place} has more than {LARGEST_FILE:,} bytes, the limit")
    return parse_json(path.read_bytes(), place)


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
        found = self.value(key)
        if not isinstance(found, str):
            raise self.error(key, "a string")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        found = self.value(key)
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self.error(key, "a list of strings")
        return tuple(found)

    def distinct_texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings, none of which occurs twice."""
        found = self.texts(key)
        if len(set(found)) < len(found):
            raise self.error(key, "a list of different strings")
        return found

    def integer(self, key: str, *, least: int, most: int) -> int:
        """Return a whole number within limits."""
        found = self.value(key)
        if type(found) is not int or not least <= found <= most:
            raise self.error(key, f"a whole number from {least:,} to {most:,}")
        return found

    def number(self, key: str) -> float:
        """Return a finite number."""
        found = self.value(key)
        if type(found) not in (int, float) or not abs(found) < 1e300:
            raise self.error(key, "a finite number")
        return float(found)

    def fields(self, key: str) -> Fields:
        """Return an object."""
        return Fields(self.value(key), self._of(key))

    def rows(self, key: str) -> list[Fields]:
        """Return a list of objects."""
        found = self.value(key)
        if not isinstance(found, list):
            raise self.error(key, "a list of objects")
        return [Fields(each, f"{self._of(key)}, number {row}") for row, each in enumerate(found, 1)]

    def text_by_key(self, key: str) -> dict[str, str]:
        """Return an object whose values are strings."""
        found = self.fields(key)
        return {name: found.text(name) for name in found}

    def __iter__(self) -> Iterator[str]:
        """Yield the keys."""
        return iter(self.values)

    def error(self, key: str, expected: str) -> InputError:
        """Build the error of a value of another type, which it does not show."""
        return InputError(f"{self._of(key)}: expected {expected}")

    def _of(self, key: str) -> str:
        return f'{self.place}: "{shown(key)}"'
