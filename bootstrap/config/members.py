"""The members of an ensemble in a configuration: a list of tables, each with a kind of tagger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bootstrap.config.errors import ConfigurationError
from bootstrap.config.overrides import Source
from bootstrap.config.paths import located
from bootstrap.config.presets import with_preset
from bootstrap.config.validation import parse_section
from corpus.errors import InputError, shown
from taggers.ensemble.member import Member, kind_of_member, member_fields, member_name
from taggers.options import TaggerOptions


def with_members(
    options: type[TaggerOptions],
    table: Mapping[str, Any],
    section: str,
    preset: str,
    source: Source,
) -> dict[str, Any]:
    """Parse the members in a section, and complete them.

    Every member receives the values of the preset that a tagger of its kind would receive in the
    same section. Relative paths are resolved as those of the section.

    Parameters
    ----------
    options : type
        The options of the kind of tagger of the section.
    table : mapping of str to Any
        The section.
    section : str
        Its name.
    preset : str
        The preset of the configuration.
    source : Source
        Where the settings come from.

    Returns
    -------
    dict of str to Any
        The section, in which each field that holds members is a tuple of `Member`.

    Raises
    ------
    ConfigurationError
        If a member is not a table, its kind cannot be that of a member, or one of its options is
        wrong. The message names the member.
    """
    completed = dict(table)
    for name, default in member_fields(options).items():
        tables = table.get(name, [member.as_table() for member in default])
        completed[name] = _parsed(tables, section, name, preset, source)
    return completed


def _parsed(
    tables: Any, section: str, name: str, preset: str, source: Source
) -> tuple[Member, ...]:
    origin = source.of(section, name)
    if not isinstance(tables, (list, tuple)) or not all(
        isinstance(each, Mapping) for each in tables
    ):
        raise ConfigurationError(
            f"{origin}: [{section}] {name} = {shown(repr(tables))}: expected a list of tables, "
            'such as [{ kind = "crf" }, { kind = "crf", window = 1 }]'
        )
    own = Source(origin, source.folder_of(section, name))
    return tuple(
        _member(table, section, number, preset, own) for number, table in enumerate(tables)
    )


def _member(
    table: Mapping[str, Any], section: str, number: int, preset: str, source: Source
) -> Member:
    """Parse the member with an index counted from 0."""
    name = f"{section} {member_name(number)}"
    others = {key: value for key, value in table.items() if key != "kind"}
    try:
        if "kind" not in table:
            raise InputError('kind is missing; expected a kind of tagger, such as kind = "crf"')
        kind = kind_of_member(table["kind"])
    except InputError as error:
        raise ConfigurationError(
            f"{source.file}: [{section}] {member_name(number)}: {error}"
        ) from None
    completed = with_preset(section, others, preset, kind.options_type())
    options = parse_section(kind.options_type(), completed, name, source)
    return Member(kind.name, located(options, name, source))
