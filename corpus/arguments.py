"""Checks of the arguments of public functions; errors name the argument, and its position."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from corpus.errors import InputError

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def typed(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Check the types of arguments by their annotations, but not those of elements."""
    signature, hints = inspect.signature(function), get_type_hints(function)

    @functools.wraps(function)
    def checked(*values: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        for name, value in signature.bind(*values, **named).arguments.items():
            hint = hints.get(name, Any)
            parts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
            kinds = tuple(get_origin(part) or part for part in parts)
            # Texts and bytes are no collections.
            is_text = isinstance(value, str | bytes) and not {str, bytes} & {*kinds}
            if hint is not Any and (is_text or not isinstance(value, kinds)):
                expected, given = signature.parameters[name].annotation, type(value).__name__
                raise TypeError(f"{name}: expected {expected}, not {given}")
            if Path in kinds and isinstance(value, str | Path) and not _is_possible(value):
                raise InputError(f"{name}: no file can have this name")
        return function(*values, **named)

    return checked


def _is_possible(path: str | Path) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def elements_of(values: Iterable[Any], name: str, *kinds: type) -> Iterator[Any]:
    """Yield the elements of an argument, and check their types."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected an iterable, not {type(values).__name__}")
    for position, value in enumerate(values):
        if not isinstance(value, kinds):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"{name}[{position}]: expected {expected}, not {type(value).__name__}")
        yield value


def require_text(name: str, text: object) -> None:
    """Check that a value is a string that UTF-8 can encode."""
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected str, not {type(text).__name__}")
    if not text.isascii() and not encodable(text):
        raise InputError(f"{name}: half a surrogate pair is no character; remove it")


def encodable(*texts: str | None) -> bool:
    """Return whether texts can be encoded in UTF-8: lone surrogates cannot."""
    try:
        for text in texts:
            if text is not None:
                text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


#: The URL of an object store or a scheduler. A path of this machine has no such beginning.
_URL = re.compile(r"[a-z][a-z0-9+.-]+://")


def is_url(name: str) -> bool:
    """Return whether a name is the URL of an object store or a scheduler."""
    return _URL.match(name) is not None


def path_or_store(name: str) -> Path | str:
    """Return a path of this machine, or the URL of an object store as it is."""
    return name if is_url(name) else Path(name)
