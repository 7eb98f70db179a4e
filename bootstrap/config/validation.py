"""Tables of a configuration made into options: every key known, every value checked."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from corpus.errors import InputError


class ConfigurationError(InputError):
    """A setting that does not exist or has a value that it cannot have."""


def table_of(tables: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    """Give a table of a configuration; an empty one where there is none."""
    table = tables.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where}: {name} must be a section, [{name}]")
    return table


def refuse_unknown(given: Mapping[str, Any], known: Sequence[str], what: str, where: str) -> None:
    """Refuse names that are not known, and say which known one is the nearest."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            raise ConfigurationError(
                f'{where}: there is no {what} "{name}"; the nearest is "{near[0]}"'
            )


def section(options: type[Any], table: Any, name: str, where: str) -> Any:
    """Make options of a table, every value checked."""
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where}: [{name}] must be a section")
    refuse_unknown(table, [item.name for item in fields(options)], f"key in [{name}]", where)
    hints = get_type_hints(options)
    values: dict[str, Any] = {}
    for item in fields(options):
        if item.name in table:
            label = f"{where}: [{name}] {item.name}"
            values[item.name] = _checked(table[item.name], hints[item.name], item.metadata, label)
    needed = [
        item.name
        for item in fields(options)
        if item.default is MISSING and item.default_factory is MISSING
    ]
    if lacking := [key for key in needed if key not in values]:
        raise ConfigurationError(f"{where}: [{name}] lacks {', '.join(lacking)}")
    try:
        return options(**values)
    except InputError as error:
        raise ConfigurationError(f"{where}: [{name}] {error}") from None


def _checked(value: Any, kind: Any, limits: Mapping[str, Any], label: str) -> Any:
    """Return a value of the type that an option has, within its limits."""
    expected = _mismatch(value, kind, limits.get("example", ""))
    if expected:
        raise ConfigurationError(f"{label} = {value!r}: expected {expected}")
    if kind is float:
        value = float(value)
    if "least" in limits and not value >= limits["least"]:
        raise ConfigurationError(f"{label} = {value}: expected {limits['least']} or more")
    if "most" in limits and not value <= limits["most"]:
        raise ConfigurationError(f"{label} = {value}: expected {limits['most']} or less")
    if kind is float and not math.isfinite(value):
        raise ConfigurationError(f"{label} = {value}: expected a finite number")
    return tuple(value) if isinstance(value, list) else value


def _mismatch(value: Any, kind: Any, example: str) -> str:
    """Say what was expected if a value is not of a kind."""
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        return "" if value in choices else "one of " + ", ".join(f'"{name}"' for name in choices)
    if get_origin(kind) is tuple:
        ok = isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
        return "" if ok else "a list of strings"
    if get_origin(kind) is Mapping and get_args(kind)[1] is str:
        ok = isinstance(value, Mapping) and all(
            isinstance(item, str) and item for item in value.values()
        )
        return "" if ok else f"a table of strings, {example}"
    if get_origin(kind) is Mapping:
        ok = isinstance(value, Mapping) and all(
            type(item) in (int, float) and 0 <= item < math.inf for item in value.values()
        )
        return "" if ok else "a table of numbers, { CLASS = 0.01 }, finite and not negative"
    expected = {float: "a number", int: "a whole number", bool: "true or false", str: "a string"}
    allowed = (int, float) if kind is float else (kind,)
    return "" if type(value) in allowed else expected[kind]
