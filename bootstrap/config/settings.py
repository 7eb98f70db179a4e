"""Every setting of a configuration with its type, default and help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, get_type_hints

import tomli_w

from bootstrap.config.active_options import ActiveOptions
from bootstrap.config.experiment_options import ExperimentOptions, SeedOptions
from bootstrap.config.options import (
    AUTO,
    DataOptions,
    InitialModelSelection,
    LaterTaggerStart,
    LoopOptions,
    ReferenceOptions,
    SelectOptions,
)
from bootstrap.config.presets import PRESETS
from bootstrap.config.tagger_sections import DEFAULT_KIND, SEED, TAGGER
from taggers.augmentation import AugmentOptions
from taggers.ensemble.member import Member
from taggers.options import describe
from taggers.registry import BUILTIN

#: The kind of settings that every kind but the default one has.
OTHER_KINDS = "other kinds"


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting of a configuration.

    Parameters
    ----------
    section, key : str
        ``[section] key``.
    kind : str
        The kind of tagger that has the setting, or `OTHER_KINDS`; empty if every run has it.
    type : str
        For people, such as ``list of strings``, ``"stop" or "longest"`` or ``integer, at
        least 1``.
    default : str
        The default with the preset "auto", as TOML; empty if the setting has none.
    help : str
        Its meaning.
    example : str
        As TOML, for a setting whose default is empty or that has none.
    """

    section: str
    key: str
    kind: str
    type: str
    default: str
    help: str
    example: str = ""


def setting_rows() -> list[SettingRow]:
    """Return every setting, in the order of ``bootstrap init`` and of the documentation."""
    rows = _rows("data", DataOptions)
    rows.append(
        SettingRow(
            *("initial_model", "kind", "", "string", f'"{SEED}"'),
            f'the model of iteration 0: "{SEED}", the tagger trained on the seed, or the kind of a '
            "tagger that needs no annotated documents",
        )
    )
    for kind in BUILTIN.values():
        if not kind.needs_seed:
            rows += _rows("initial_model", kind.options_type(), kind.name)
            rows += _rows("initial_model", InitialModelSelection, kind.name)
    rows.append(
        SettingRow(
            *("tagger", "kind", "", "string", f'"{DEFAULT_KIND}"'),
            "the kind of tagger: one of the package, the name of an entry point, or "
            "package.module:Class",
        )
    )
    for kind in BUILTIN.values():
        if kind.needs_seed:
            rows += _rows("tagger", kind.options_type(), kind.name)
    rows.append(
        SettingRow(
            *("second_tagger", "kind", "", "string", f'"{TAGGER}"'),
            "the tagger of the second view, which some strategies need: a kind of [tagger] with "
            f'options of its own, or "{TAGGER}", the tagger of the run without the features of the '
            "layout",
        )
    )
    rows.append(
        SettingRow(
            *("later_tagger", "kind", "", "string", f'"{TAGGER}"'),
            "another tagger for the later iterations: a kind of [tagger] with options of its own, "
            f'or "{TAGGER}", the tagger of the run',
        )
    )
    rows += _rows("later_tagger", LaterTaggerStart, OTHER_KINDS)
    rows += _rows("augment", AugmentOptions)
    rows += _rows("loop", LoopOptions)
    rows += _rows("select", SelectOptions)
    rows += _rows("select.reference", ReferenceOptions)
    rows += _rows("active", ActiveOptions)
    return rows


def experiment_rows() -> list[SettingRow]:
    """Return every setting of an experiment file that a configuration has not."""
    return [*_rows("experiment", ExperimentOptions), *_rows("seed", SeedOptions)]


def _rows(section: str, options: type[Any], kind: str = "") -> list[SettingRow]:
    hints = get_type_hints(options)
    return [
        SettingRow(
            section,
            each.name,
            kind,
            describe(hints[each.name], each.metadata),
            _preset_default(section, each),
            each.metadata.get("help", ""),
            each.metadata.get("example", ""),
        )
        for each in fields(options)
    ]


def _preset_default(section: str, each: Field[Any]) -> str:
    """Return the default of a setting as TOML: that of the preset, or else of the options."""
    values = PRESETS[AUTO].get(section, {})
    return _toml(values[each.name]) if each.name in values else _default(each)


def _default(each: Field[Any]) -> str:
    if each.default_factory is not MISSING:
        return _toml(each.default_factory())
    return "" if each.default is MISSING else _toml(each.default)


def _toml(value: Any) -> str:
    """Write a value as TOML, in one line."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Member):
        return _toml(value.as_table())
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key} = {_toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").strip()
