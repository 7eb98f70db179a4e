"""Former names of settings: each is an error that names its successor."""

from __future__ import annotations

from collections.abc import Mapping
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
_GAZETTEERS = tuple(
    (section, key)
    for section in ("initial_model", "tagger")
    for key in ("names", "not_names", "blocked", "phrases")
)


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
    for section, key in _GAZETTEERS:
        lists = _section(tables, section).get(key)
        for name in lists if isinstance(lists, list) else ():
            if name in RENAMED_LISTS:
                raise ConfigurationError(
                    f'{source.of(section, key)}: [{section}] {key}: the list "{name}" is now '
                    f'"{RENAMED_LISTS[name]}"'
                )


def _section(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = tables.get(name)
    return section if isinstance(section, Mapping) else {}
