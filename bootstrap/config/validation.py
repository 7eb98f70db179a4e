"""Checks of tables of a configuration against the fields of dataclasses."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from bootstrap.config.errors import ConfigurationError
from corpus.errors import InputError, shown
from taggers.ensemble.member import is_members

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from bootstrap.config.overrides import Source

OptionsT = TypeVar("OptionsT", bound="DataclassInstance")

_LISTED = {str: "strings", int: "whole numbers"}
_EXPECTED = {float: "a number", int: "a whole number", bool: "true or false", str: "a string"}


def table_of(tables: Mapping[str, Any], name: str, source: Source) -> dict[str, Any]:
    """Return a section of a configuration; an empty one if it is absent."""
    table = tables.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{source.of(name)}: {name} must be a section, [{name}]")
    return dict(table)


def refuse_unknown(
    table: Mapping[str, Any], known: Sequence[str], source: Source, section: str = ""
) -> None:
    """Refuse unknown names; the error suggests the nearest known one.

    Parameters
    ----------
    table : mapping of str to Any
        A section, or the sections of a configuration.
    known : sequence of str
        The valid names.
    source : Source
        Where the settings come from.
    section : str
        The name of the section, as in `parse_section`; empty for the sections themselves.

    Raises
    ------
    ConfigurationError
        If a name is unknown.
    """
    for name in table:
        if name not in known:
            keys = (*section.split("."), name) if section else (name,)
            what = f"key in {_heading(section)}" if section else "section"
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            advice = f'; the nearest is "{near[0]}"' if near else ", nor any other"
            raise ConfigurationError(f'{source.of(*keys)}: there is no {what} "{name}"{advice}')


def parse_section(
    options: type[OptionsT], table: Any, name: str, source: Source, others: Sequence[str] = ()
) -> OptionsT:
    """Build options from a section and check every value.

    Parameters
    ----------
    options : type
        A dataclass.
    table : mapping of str to Any
        The section.
    name : str
        Its name; for a table in a section, the names of both, such as ``"tagger members[2]"``.
    source : Source
        Where the settings come from.
    others : sequence of str
        Keys of the section that belong to other options.

    Returns
    -------
    options
        An instance of the dataclass.

    Raises
    ------
    ConfigurationError
        If a key is unknown or missing, or a value is of another type or outside of its limits.
    """
    if not isinstance(table, Mapping):
        raise ConfigurationError(
            f"{source.of(*name.split('.'))}: {_heading(name)} must be a section"
        )
    known = {item.name: item for item in fields(options)}
    refuse_unknown(table, [*known, *others], source, name)
    hints = get_type_hints(options)
    values: dict[str, Any] = {}
    for key, item in known.items():
        if key in table:
            label = f"{source.of(*name.split('.'), key)}: {_heading(name, key)}"
            values[key] = _checked(table[key], hints[key], item.metadata, label)
        elif item.default is MISSING and item.default_factory is MISSING:
            values[key] = MISSING
    if lacking := [key for key, value in values.items() if value is MISSING]:
        raise ConfigurationError(
            f"{source.of_section(name)}: {_heading(name)} lacks {', '.join(lacking)}"
        )
    try:
        return options(**values)
    except InputError as error:
        section = source.of_section(name.partition(".")[0])
        raise ConfigurationError(f"{section}: {_heading(name, str(error))}") from None


def _heading(name: str, of: str = "") -> str:
    """Return how messages refer to a section or a table in it, and to what is in it."""
    section, _, table = name.partition(" ")
    if not table:
        return f"[{section}] {of}".rstrip()
    return f"[{section}] {table}: {of}" if of else f"[{section}] {table}"


def _checked(value: Any, kind: Any, limits: Mapping[str, Any], label: str) -> Any:
    """Return a value of the type of an option, within its limits."""
    expected = _mismatch(value, kind, limits)
    if expected:
        raise ConfigurationError(f"{label} = {shown(repr(value))}: expected {expected}")
    if kind is float:
        value = float(value)
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if "least" in limits and not each >= limits["least"]:
            raise ConfigurationError(f"{label} = {value}: expected {limits['least']} or more")
        if "most" in limits and not each <= limits["most"]:
            raise ConfigurationError(f"{label} = {value}: expected {limits['most']} or less")
    if kind is float and not math.isfinite(value):
        raise ConfigurationError(f"{label} = {value}: expected a finite number")
    return tuple(value) if isinstance(value, list) else value


def _mismatch(value: Any, kind: Any, limits: Mapping[str, Any]) -> str:
    """Describe what was expected if a value is not of a type; return an empty text if it is."""
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        return "" if value in choices else "one of " + ", ".join(f'"{name}"' for name in choices)
    if is_members(kind):  # which `bootstrap.config.members` has parsed
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
        raise ConfigurationError(f"a configuration cannot hold an option of the type {kind}")
    allowed = (int, float) if kind is float else (kind,)
    return "" if type(value) in allowed else _EXPECTED[kind]
