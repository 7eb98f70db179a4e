"""Checks of the values of options, in a configuration and in the folder of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from corpus.errors import InputError, shown
from corpus.storage.json_fields import Fields
from taggers.ensemble.member import is_members
from taggers.options import INSIDE_MODEL, TaggerOptions

OptionsT = TypeVar("OptionsT", bound=TaggerOptions)

_LISTED = {str: "strings", int: "whole numbers"}
_EXPECTED = {float: "a number", int: "a whole number", bool: "true or false", str: "a string"}


def checked_value(value: Any, kind: Any, limits: Mapping[str, Any]) -> Any:
    """Return a value as that of a field of options, if it has its type and is within its limits.

    Parameters
    ----------
    value : Any
        A value of TOML or JSON.
    kind : type
        The type of the field; see `taggers.options.TaggerOptions`.
    limits : mapping of str to Any
        The metadata of the field.

    Raises
    ------
    InputError
        If it has another type, or is outside of the limits. The message begins with the value.
    """
    expected = _mismatch(value, kind, limits)
    if expected:
        raise InputError(f"{shown(repr(value))}: expected {expected}")
    if kind is float:
        try:
            value = float(value)
        except OverflowError:
            raise InputError("a number of many digits: expected a finite number") from None
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if "least" in limits and not each >= limits["least"]:
            raise InputError(f"{value}: expected {limits['least']} or more")
        if "most" in limits and not each <= limits["most"]:
            raise InputError(f"{value}: expected {limits['most']} or less")
    if kind is float and not math.isfinite(value):
        raise InputError(f"{value}: expected a finite number")
    return tuple(value) if isinstance(value, list) else value


def options_of_fields(options: type[OptionsT], found: Fields) -> OptionsT:
    """Build options from the description of a model, and check every value.

    Parameters
    ----------
    options : type
        The options of a kind of tagger.
    found : Fields
        The values of the fields. Paths can only be `taggers.options.INSIDE_MODEL`, since a model
        contains the resources that it was trained with.

    Raises
    ------
    InputError
        If an option is unknown, or a value cannot be that of an option.
    """
    known = {item.name: item for item in fields(options)}
    hints = get_type_hints(options)
    values: dict[str, Any] = {}
    for key in found:
        if key not in known:
            raise InputError(f'{found.place} has the unknown option "{shown(key)}"')
        try:
            value = checked_value(found.value(key), hints[key], known[key].metadata)
        except InputError as error:
            raise InputError(f'{found.place}: "{key}" = {error}') from None
        paths = (value,) if isinstance(value, str) else value
        if known[key].metadata.get("path") and not set(paths) <= {"", INSIDE_MODEL}:
            raise found.error(key, f'"{INSIDE_MODEL}", since a model contains its resources')
        values[key] = value
    try:
        return options(**values)
    except InputError as error:
        raise InputError(f"{found.place}: {error}") from None


def _mismatch(value: Any, kind: Any, limits: Mapping[str, Any]) -> str:
    """Describe what was expected if a value is not of a type; return an empty text if it is."""
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        return "" if value in choices else "one of " + ", ".join(f'"{name}"' for name in choices)
    if is_members(kind):  # which their owner has parsed
        return ""
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        ok = isinstance(value, (list, tuple)) and all(type(each) is item for each in value)
        return "" if ok else f"a list of {_LISTED[item]}"
    if get_origin(kind) is Mapping and get_args(kind)[1] is str:
        ok = isinstance(value, Mapping) and all(
            isinstance(item, str) and (item or limits.get("may_be_empty"))
            for item in value.values()
        )
        example = f", {limits['example']}" if "example" in limits else ""
        return "" if ok else f"a table of strings{example}"
    if get_origin(kind) is Mapping:
        ok = isinstance(value, Mapping) and all(
            type(item) in (int, float) and 0 <= item < math.inf for item in value.values()
        )
        return "" if ok else "a table of numbers, { CLASS = 0.01 }, finite and not negative"
    if kind not in _EXPECTED:
        raise InputError(f"{shown(repr(value))}: no option can have the type {kind}")
    allowed = (int, float) if kind is float else (kind,)
    return "" if type(value) in allowed else _EXPECTED[kind]
