"""Where settings come from: a configuration file, and the command line that overrides it."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus.errors import InputError

#: What lies beside the configuration of a run.
_OF_RUN = ("data.parquet", "environment.json", "iterations", "metrics.parquet")


class ConfigurationError(InputError):
    """A setting that does not exist, or cannot have its value."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the settings of a configuration come from, for errors and relative paths.

    Parameters
    ----------
    file : str
        The name of the file, for errors.
    folder : Path
        Its folder, to which paths in it are relative.
    overrides : mapping of tuple of str to str
        The overrides, such as ``"--set loop.batch=5"``, by the key that they set: ``("loop",
        "batch")``. Paths in such settings are relative to the current folder.
    trust : collection of str
        The kinds of other packages that the configuration of a run may name.
    """

    file: str
    folder: Path
    overrides: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    trust: Collection[str] = ()

    def trusted(self, section: str, kind: str) -> Collection[str]:
        """Return the kinds whose code may be imported for a section: its own one, if the user's."""
        # A run may come from somebody else, who has left something out.
        of_run = any((self.folder / name).exists() for name in _OF_RUN)
        is_own = not of_run or (section, "kind") in self.overrides
        return (kind,) if is_own else self.trust

    def origin(self, *keys: str) -> str:
        """Name the last override of a section, a key or a part of its value, or else the file."""
        within = [
            typed
            for path, typed in self.overrides.items()
            if path[: len(keys)] == keys or keys[: len(path)] == path
        ]
        return within[-1] if within else self.file

    def origins(self, *sections: str) -> str:
        """Name the file, and the overrides in some sections."""
        typed = [typed for path, typed in self.overrides.items() if path[0] in sections]
        return " with ".join([self.file, *dict.fromkeys(typed)])

    def folder_of(self, *keys: str) -> Path:
        """Return the folder to which a path in a setting is relative."""
        return Path() if keys in self.overrides else self.folder


def overridden(
    tables: Mapping[str, Any], overrides: Sequence[str], section: str = ""
) -> tuple[dict[str, Any], dict[tuple[str, ...], str]]:
    """Return the tables with settings such as ``select.confidence=0.9`` replaced.

    The last override of a key applies. The overrides are also returned by their keys, as for
    `Source`. With a section, they name the keys in it alone: ``confidence=0.9``.
    """
    replaced: dict[str, Any] = copy.deepcopy(dict(tables))
    origins: dict[tuple[str, ...], str] = {}
    for override in overrides:
        keys, value = _parsed(override, (section,) if section else ())
        table = replaced
        for key in keys[:-1]:
            table = table.setdefault(key, {})
            if not isinstance(table, dict):
                raise ConfigurationError(f"--set {override}: {key} is not a section")
        table[keys[-1]] = value
        origins.pop(keys, None)  # the last one comes last
        origins[keys] = f"--set {override}"
    return replaced, origins


def _parsed(override: str, section: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    """Parse the key and the value of an override; a value that is not TOML is a string."""
    name, equals, text = override.partition("=")
    keys = (*section, *name.strip().split("."))
    if not equals or len(keys) < 2:
        expected = "KEY=VALUE" if section else "SECTION.KEY=VALUE"
        raise ConfigurationError(f"--set {override}: expected {expected}")
    try:
        return keys, tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # not TOML, or too many digits or brackets
        return keys, text.strip()
