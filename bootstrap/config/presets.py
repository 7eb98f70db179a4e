"""Presets, and lists of languages: the values of settings that a configuration does not name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from bootstrap.config.options import AUTO, LANGUAGES
from bootstrap.config.overrides import Source
from bootstrap.config.validation import table_of
from corpus.errors import quoted
from gazetteers import builtin
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
            "list_model": "",
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


_SPANISH = {
    "names": (builtin.CENSUS,),
    "phrases": (builtin.PLACES,),
    "places": (builtin.PLACES,),
    "gazetteers": (builtin.CENSUS, builtin.PLACES),
    "blocked": (builtin.BLOCKING,),
    "cue_words": (builtin.CUE_WORDS,),
}
#: The built-in lists of each language, by the option that names them.
LISTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "es": _SPANISH,
    "ca": _SPANISH,
    "en": {
        "names": (builtin.CENSUS_US,),
        "phrases": (builtin.PLACES_WORLD,),
        "places": (builtin.PLACES_WORLD,),
        "gazetteers": (builtin.CENSUS_US, builtin.PLACES_WORLD),
        "blocked": (builtin.BLOCKING_EN, builtin.BLOCKING),
        "cue_words": (builtin.CUE_WORDS_EN,),
    },
}
#: The options of each section that name lists.
_LIST_OPTIONS = {
    "initial_model": ("names", "places", "blocked", "cue_words"),
    "tagger": ("names", "phrases"),
    "augment": ("gazetteers",),
}

#: Values of settings by section.
Defaults = Mapping[str, Mapping[str, Any]]


def defaults_of(tables: Mapping[str, Any], source: Source) -> Defaults:
    """Return the values of ``[loop] preset`` and ``[data] language`` of a configuration."""
    preset = PRESETS.get(str(table_of(tables, "loop", source).get("preset", AUTO)), {})
    value = table_of(tables, "data", source).get("language", LANGUAGES)  # of any type
    languages = [value] if isinstance(value, str) else value if isinstance(value, Sequence) else ()
    languages = [code for code in languages if isinstance(code, str)]
    if not languages or {*languages} == {*LANGUAGES}:  # the defaults of the options
        return preset
    lists = {section: _lists(languages, options) for section, options in _LIST_OPTIONS.items()}
    return {name: {**lists.get(name, {}), **preset.get(name, {})} for name in {**lists, **preset}}


def _lists(languages: Collection[str], options: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the lists of all languages, without repetitions, by option."""
    known = [LISTS[code] for code in languages if code in LISTS]
    return {
        option: tuple(dict.fromkeys(name for lists in known for name in lists[option]))
        for option in options
    }


def list_model_options(languages: Collection[str]) -> dict[str, Any]:
    """Return the built-in lists of a model of the kind "lists", by option."""
    return _lists(languages, _LIST_OPTIONS["initial_model"])


def language_lines(languages: Collection[str]) -> list[str]:
    """Return a warning if some languages have no built-in lists."""
    unknown = [code for code in languages if code not in LISTS]
    if not unknown:
        return []
    names = ", ".join(map(quoted, unknown))
    return [f"[data] language: there are no built-in lists for {names}; name your own, or none"]


def with_preset(
    section: str,
    table: Mapping[str, Any],
    defaults: Defaults,
    options: type[DataclassInstance] | None = None,
) -> dict[str, Any]:
    """Complete the settings that a section names with defaults of the configuration.

    Parameters
    ----------
    section : str
    table : mapping of str to Any
    defaults : mapping
        From `defaults_of`.
    options : type, optional
        The options of a kind of tagger, or others of its section: values of settings that they do
        not have are left out.
    """
    values = defaults.get(section, {})
    if options is not None:
        known = {item.name for item in fields(options)}
        values = {name: value for name, value in values.items() if name in known}
    return {**values, **table}


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
