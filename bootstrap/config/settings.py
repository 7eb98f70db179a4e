"""Every setting with its type, default and help, and the template that contains them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from itertools import groupby
from textwrap import wrap
from typing import Any, get_type_hints

import tomli_w

from bootstrap.active_learning.queries import ActiveOptions
from bootstrap.config.experiment_options import ExperimentOptions, SeedOptions
from bootstrap.config.options import (
    DataOptions,
    ExecutionOptions,
    InitialModelSelection,
    LaterTaggerStart,
    ListsOptions,
    LoopOptions,
    ReferenceOptions,
    Thresholds,
    TrustedPatternOptions,
)
from bootstrap.config.tagger_sections import DEFAULT_KIND, SEED, TAGGER
from bootstrap.selection.strategies import SelectOptions
from taggers.augmentation import AugmentOptions
from taggers.ensemble.ensemble_options import Member
from taggers.options import describe
from taggers.registry import BUILTIN

#: The kind of settings that every kind but the default one has.
OTHER_KINDS = "other kinds"

_WIDTH = 100  # of comments

#: The pages about kinds of taggers; all other kinds are dictionary models.
_TOPICS = {"bilstm-crf": "networks", "ensemble": "ensembles", "tccnn": "tccnn", "spacy": "spacy"}

#: Sections that a configuration may lack, and what they are for.
_OPTIONAL = {
    "select.reference": "Reference proportions of the classes; by default those of the validation "
    "documents.",
    "active": "Active learning (bootstrap active): rounds of documents that are annotated.",
}

_LABELS = """\

# The class of each label of the source. With this section, labels without a class are dropped.
# [labels]
# NOMBRE_SUJETO_ASISTENCIA = "PERSON"
# HOSPITAL = "LOCATION"
"""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting ``[section] key`` of a configuration, described for people."""

    section: str
    key: str
    kind: str  # of the tagger that has the setting, or `OTHER_KINDS`; empty if every run has it
    type: str  # such as ``list of strings`` or ``integer, at least 1``
    default: str  # as TOML; empty if the setting has none
    help: str
    example: str = ""  # as TOML, of a setting whose default is empty or that has none


#: The options of the sections without kinds, except for ``[data]``.
_SECTIONS: Mapping[str, type[Any]] = {
    "lists": ListsOptions,
    "patterns": TrustedPatternOptions,
    "augment": AugmentOptions,
    "loop": LoopOptions,
    "select": SelectOptions,
    "select.reference": ReferenceOptions,
    "active": ActiveOptions,
    "execution": ExecutionOptions,
}

#: The help of the kinds of taggers, by section.
_KINDS = {
    "initial_model": f'the model of iteration 0: "{SEED}", the tagger trained on the seed, or the '
    "kind of a tagger that needs no annotated documents",
    "tagger": "the kind of tagger: one of the package, the name of an entry point, or "
    "package.module:Class",
    "second_tagger": "the tagger of the second view, which some strategies need: a kind of "
    f'[tagger] with options of its own, or "{TAGGER}", the tagger of the run without the features '
    "of the layout",
    "later_tagger": "another tagger for the later iterations: a kind of [tagger] with options of "
    f'its own, or "{TAGGER}", the tagger of the run',
}


def setting_rows() -> list[SettingRow]:
    """Return every setting, in the order of ``bootstrap init`` and of the documentation."""
    rows = [*_rows("data", DataOptions), _kind_row("initial_model", SEED)]
    for kind in BUILTIN.values():
        if not kind.needs_seed:
            rows += _rows("initial_model", kind.options_type(), kind.name)
            rows += _rows("initial_model", InitialModelSelection, kind.name)
    rows += [_kind_row("tagger", DEFAULT_KIND), *_rows("tagger", Thresholds)]
    for kind in BUILTIN.values():
        if kind.needs_seed:
            rows += _rows("tagger", kind.options_type(), kind.name)
    rows += [_kind_row("second_tagger", TAGGER), _kind_row("later_tagger", TAGGER)]
    rows += _rows("later_tagger", LaterTaggerStart, OTHER_KINDS)
    for section, options in _SECTIONS.items():
        rows += _rows(section, options)
    return rows


def experiment_rows() -> list[SettingRow]:
    """Return every setting of an experiment file that a configuration lacks."""
    return [*_rows("experiment", ExperimentOptions), *_rows("seed", SeedOptions)]


def _kind_row(section: str, default: str) -> SettingRow:
    return SettingRow(section, "kind", "", "string", f'"{default}"', _KINDS[section])


def _rows(section: str, options: type[Any], kind: str = "") -> list[SettingRow]:
    hints = get_type_hints(options)
    return [
        SettingRow(
            section,
            item.name,
            kind,
            describe(hints[item.name], item.metadata),
            _default(item),
            item.metadata.get("help", ""),
            item.metadata.get("example", ""),
        )
        for item in fields(options)
    ]


def _default(item: Field[Any]) -> str:
    """Return the default of a setting as TOML."""
    if item.default_factory is not MISSING:
        return _toml(item.default_factory())
    return "" if item.default is MISSING else _toml(item.default)


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


#: A configuration file with the settings that a run on other notes needs.
SHORT_TEMPLATE = """\
# Configuration of a self-training run. Paths are relative to the folder of this file.
[data]
seed = "seed.jsonl"            # annotated notes: a file, a folder or a pattern, or a list of them
validation = 0.3               # the share of their patients that decides; or other annotated notes
unlabeled = "unlabeled.jsonl"  # the other notes
unit = "document"              # what is tagged and selected: "document", "line" or "sentence"

# [labels]                     # the class of each label; others are dropped
# NOMBRE = "PERSON"
# All settings: bootstrap init --all ANOTHER_FOLDER, or bootstrap help settings
"""


def commented_template() -> str:
    """Write a configuration file with every setting, its help and its default.

    Settings without a default, or with an empty table, are comments with an example: in TOML, a
    section cannot extend ``rules = {}``. So are sections whose presence has an effect.
    """
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Configuration of a self-training run. Check it with: bootstrap check THIS_FILE"
    yield "# Paths are relative to the folder of this file."
    for section, rows in groupby(setting_rows(), lambda row: row.section):
        if section in _OPTIONAL:
            yield from ("", f"# {_OPTIONAL[section]}", f"# [{section}]")
            yield from _settings(rows, "# ")
            continue
        yield ""
        yield f"[{section}]"
        for kind, of_kind in groupby(rows, lambda row: row.kind):
            if kind in ("", DEFAULT_KIND):
                yield from _settings(of_kind)
                continue
            topic = _TOPICS.get(kind, "dictionary-models")
            yield (
                "# With other kinds, which have the settings of [tagger]:"
                if kind == OTHER_KINDS
                else f'# With kind = "{kind}" (bootstrap help {topic}):'
            )
            yield from _settings(of_kind, "# ")
        if section == "data":
            yield from _LABELS.rstrip("\n").split("\n")


def _settings(rows: Iterable[SettingRow], comment: str = "") -> Iterator[str]:
    for row in rows:
        prefix = f"{comment}# "
        yield from wrap(
            row.help,
            _WIDTH,
            initial_indent=prefix,
            subsequent_indent=prefix,
            break_on_hyphens=False,
        )
        # A setting with an example has no default, or an empty one.
        before = "# " if comment or row.example else ""
        yield f"{before}{row.key} = {row.example or row.default}"
