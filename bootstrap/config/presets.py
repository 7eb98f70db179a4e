"""Presets: the values of settings that a configuration does not name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from bootstrap.config.options import AUTO
from bootstrap.config.overrides import Source
from bootstrap.config.validation import table_of
from taggers.options import Capability

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: The preset of the paper.
PAPER = "paper"

#: The values of each preset that differ from the defaults of the options, by section. A tagger
#: section receives the values that its kind has as options. The preset "auto" is the defaults.
PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    PAPER: {
        "initial_model": {"names": ()},
        "tagger": {
            "min_probability": {},
            "embeddings": "",
            "clusters": "",
            "names": (),
            "phrases": (),
            "tolerance": 1e-5,
        },
        "patterns": {"files": ()},
        "augment": {"copies": 0},
        "loop": {
            "iterations": 20,
            "batch": 50_000,
            "patience": 3,
            "keep": "accumulate",
            "propagate": {},
            "refit": False,
        },
        "select": {"strategy": "confident_documents", "confidence": 0.85, "max_selected": 5000},
    },
}


def preset_of(tables: Mapping[str, Any], source: Source) -> str:
    """Return the preset that ``[loop] preset`` of a configuration names."""
    return str(table_of(tables, "loop", source).get("preset", AUTO))


def with_preset(
    section: str,
    table: Mapping[str, Any],
    preset: str,
    options: type[DataclassInstance] | None = None,
    *,
    others: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Complete the settings that a section names with the values of a preset.

    Parameters
    ----------
    section : str
    table : mapping of str to Any
    preset : str
    options : type, optional
        The options of a kind of tagger, or others of its section: values of settings that they do
        not have are left out.
    others : mapping of str to Any, optional
        Values that override the preset; see `required_values`.
    """
    values = PRESETS.get(preset, {}).get(section, {})
    if options is not None:
        known = {item.name for item in fields(options)}
        values = {name: value for name, value in values.items() if name in known}
    return {**values, **(others or {}), **table}


def required_values(
    capabilities: Collection[Capability], *, seeded: bool
) -> dict[str, dict[str, Any]]:
    """Return by section the values that a run requires, whatever the preset."""
    values: dict[str, dict[str, Any]] = {}
    if not (seeded and "document_weights" in capabilities):  # copies are of the seed, with weights
        values["augment"] = {"copies": 0}
    if not seeded:  # the documents that an initial model is confident of are selected as a whole
        values["select"] = {"strategy": "confident_documents"}
    return values
