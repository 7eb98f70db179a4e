"""Former names of settings: each is an error that names its successor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bootstrap.config.errors import ConfigurationError
from bootstrap.config.overrides import Source
from gazetteers.builtin import RENAMED_LISTS

_SECTIONS = {"start": "initial_model"}
_KEYS = {
    ("select", "most"): "max_selected",
    ("select", "level"): 'strategy: "confident_documents" or "confident_spans"',
    ("loop", "repeated"): "propagate",
}
_VALUES = {
    ("loop", "keep", "retag"): "relabel",
    ("select", "measure", "lowest"): "min_marginal",
    ("initial_model", "measure", "lowest"): "min_marginal",
}
#: Keys with lists of gazetteers, some of which are builtin.
_GAZETTEERS = ("names", "not_names", "blocked", "phrases")


def refuse_renamed(tables: Mapping[str, Any], source: Source) -> None:
    """Refuse sections, keys and values that have been renamed.

    Raises
    ------
    ConfigurationError
        If the tables contain a former name; the message contains the current one.
    """
    for section, successor in _SECTIONS.items():
        if section in tables:
            raise ConfigurationError(f"{source.of(section)}: [{section}] is now [{successor}]")
    for (section, key), successor in _KEYS.items():
        if key in _section(tables, section):
            raise ConfigurationError(
                f"{source.of(section, key)}: [{section}] {key} is now {successor}"
            )
    for (section, key, value), successor in _VALUES.items():
        if _section(tables, section).get(key) == value:
            raise ConfigurationError(
                f'{source.of(section, key)}: [{section}] {key} = "{value}" is now "{successor}"'
            )
    for section in ("initial_model", "tagger", "second_tagger", "later_tagger"):
        for key in _GAZETTEERS:
            where = f"{source.of(section, key)}: [{section}]"
            refuse_renamed_lists(_section(tables, section), where, (key,))


def refuse_renamed_lists(
    options: Mapping[str, Any], where: str, keys: Sequence[str] = _GAZETTEERS
) -> None:
    """Refuse former names of builtin lists in the options of a tagger.

    Parameters
    ----------
    options : mapping of str to Any
        The options.
    where : str
        Where they are, for the message.
    keys : sequence of str
        The options that name gazetteers.

    Raises
    ------
    ConfigurationError
        If a list has been renamed; the message contains its current name.
    """
    for key in keys:
        lists = options.get(key)
        for name in lists if isinstance(lists, list) else ():
            if isinstance(name, str) and name in RENAMED_LISTS:
                raise ConfigurationError(
                    f'{where} {key}: the list "{name}" is now "{RENAMED_LISTS[name]}"'
                )


def _section(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = tables.get(name)
    return section if isinstance(section, Mapping) else {}
