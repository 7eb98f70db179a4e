"""TOML that others may have written."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from corpus.errors import InputError

#: The last line of a file that `with_digest` returned.
_DIGEST = re.compile(rb"^# blake2b (.*)\n?\Z", re.MULTILINE)


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
