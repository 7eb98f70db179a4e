"""Sections of a configuration as dataclasses: every key and value is checked."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from bootstrap.config.overrides import ConfigurationError, Source
from corpus.arguments import is_url
from corpus.errors import InputError
from corpus.formats.synthetic import is_synthetic
from taggers.options import checked_value, is_required, path_fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OptionsT = TypeVar("OptionsT", bound="DataclassInstance")


def table_of(tables: Mapping[str, Any], name: str, source: Source) -> dict[str, Any]:
    """Return a section of a configuration; an empty one if it is absent."""
    table = tables.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{source.origin(name)}: {name} must be a section, [{name}]")
    return dict(table)


def refuse_unknown(
    table: Mapping[str, Any], known: Sequence[str], source: Source, section: str = ""
) -> None:
    """Refuse unknown keys of a section, or unknown sections; the error suggests the nearest."""
    for name in table:
        if name not in known:
            keys = (*section.split("."), name) if section else (name,)
            what = f"key in {_heading(section)}" if section else "section"
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            advice = f'; the nearest is "{near[0]}"' if near else ", nor any other"
            raise ConfigurationError(f'{source.origin(*keys)}: there is no {what} "{name}"{advice}')


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

    Raises
    ------
    ConfigurationError
        If a key is unknown or missing, or a value is of another type or outside of its limits.
    """
    if not isinstance(table, Mapping):
        raise ConfigurationError(
            f"{source.origin(*name.split('.'))}: {_heading(name)} must be a section"
        )
    known = {item.name: item for item in fields(options)}
    refuse_unknown(table, [*known, *others], source, name)
    hints = get_type_hints(options)
    values: dict[str, Any] = {}
    for key, item in known.items():
        if key in table:
            label = f"{source.origin(*name.split('.'), key)}: {_heading(name, key)}"
            try:
                values[key] = checked_value(table[key], hints[key], item.metadata)
            except InputError as error:
                raise ConfigurationError(f"{label} = {table[key]!r}: {error}") from None
        elif is_required(item):
            values[key] = MISSING
    if lacking := [key for key, value in values.items() if value is MISSING]:
        raise ConfigurationError(
            f"{source.origins(name)}: {_heading(name)} lacks {', '.join(lacking)}"
        )
    try:
        return options(**values)
    except InputError as error:
        section = source.origins(name.partition(".")[0])
        raise ConfigurationError(f"{section}: {_heading(name, str(error))}") from None


def _heading(name: str, of: str = "") -> str:
    """Return how messages name a section or a table in it, and what is in it."""
    section, _, table = name.partition(" ")
    if not table:
        return f"[{section}] {of}".rstrip()
    return f"[{section}] {table}: {of}" if of else f"[{section}] {table}"


def located(options: OptionsT, section: str, source: Source) -> OptionsT:
    """Convert the path options of a section, which their metadata marks, to absolute paths."""
    return replace(
        options,
        **{
            name: _absolute(getattr(options, name), builtin, source.folder_of(section, name))
            for name, builtin in path_fields(type(options)).items()
        },
    )


def _absolute(value: Any, builtin: Sequence[str], folder: Path) -> Any:
    if isinstance(value, tuple):
        return tuple(_absolute(path, builtin, folder) for path in value)
    if not value or isinstance(value, float) or value in builtin:
        return value
    if is_synthetic(value) or is_url(value):
        return value
    path = Path(value)
    with contextlib.suppress(RuntimeError):  # ~NAME of no user is the name of a file, as in a shell
        path = path.expanduser()
    return str((folder / path).absolute())
