"""The sections of a configuration that describe taggers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bootstrap.config.options import InitialModelSelection, LaterTaggerStart, Thresholds
from bootstrap.config.overrides import ConfigurationError, Source, overridden
from bootstrap.config.presets import Defaults, with_preset
from bootstrap.config.validation import located, parse_section, table_of
from corpus.errors import InputError
from corpus.tags import classes_of
from taggers.ensemble.ensemble_options import Member, kind_of_member, member_fields, member_name
from taggers.options import Capability, TaggerOptions
from taggers.registry import Kind, find_kind, known_kinds, make_tagger

#: The kind of ``[initial_model]`` that is the tagger of the run, trained on the seed.
SEED = "seed"

#: The kind of ``[second_tagger]`` and ``[later_tagger]`` that is the tagger of the run.
TAGGER = "tagger"

#: The kind of ``[tagger]`` by default.
DEFAULT_KIND = "crf"

_SELECTION_KEYS = tuple(item.name for item in fields(InitialModelSelection))
_THRESHOLD_KEYS = tuple(item.name for item in fields(Thresholds))
_START_KEYS = tuple(item.name for item in fields(LaterTaggerStart))


@dataclass(frozen=True, slots=True)
class TaggerSection:
    """A kind of tagger and its options, the other keys of ``[tagger]`` or ``[second_tagger]``."""

    kind: str
    options: TaggerOptions

    def as_table(self) -> dict[str, Any]:
        """Return the section as in the file."""
        return {"kind": self.kind, **self.options.as_table()}


@dataclass(frozen=True, slots=True)
class RunTagger(TaggerSection):
    """The tagger of the run, and what it leaves out; ``[tagger]``."""

    thresholds: Thresholds

    def as_table(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self.thresholds), **self.options.as_table()}


@dataclass(frozen=True, slots=True)
class LaterTagger(TaggerSection):
    """The tagger of the later iterations, and when it replaces the first; ``[later_tagger]``."""

    start: LaterTaggerStart

    def as_table(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self.start), **self.options.as_table()}


@dataclass(frozen=True, slots=True)
class InitialModel(TaggerSection):
    """A model of iteration 0 that needs no annotated documents; ``[initial_model]``."""

    selection: InitialModelSelection

    def as_table(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self.selection), **self.options.as_table()}

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it tags; a tagger without labels is a `ConfigurationError`."""
        classes = classes_of(make_tagger(self.kind, self.options).labels)
        if not classes:
            raise ConfigurationError(
                f'[initial_model] kind = "{self.kind}" has no labels before it is fitted, so that '
                "it cannot be an initial model"
            )
        return classes


def trained_capabilities(*sections: TaggerSection | None) -> frozenset[Capability]:
    """Return the capabilities that all taggers of some sections have."""
    return frozenset.intersection(
        *(section.options.capabilities for section in sections if section)
    )


def parse_tagger(tables: Mapping[str, Any], defaults: Defaults, source: Source) -> RunTagger:
    """Parse ``[tagger]``; a `ConfigurationError` names what is wrong, as in the other sections."""
    table = table_of(tables, "tagger", source)
    name = table.pop("kind", DEFAULT_KIND)
    own = {key: table.pop(key) for key in _THRESHOLD_KEYS if key in table}
    own = with_preset("tagger", own, defaults, Thresholds)
    thresholds = parse_section(Thresholds, own, "tagger", source)
    trained = _trained(
        name, table, "tagger", defaults=defaults, source=source, others=_THRESHOLD_KEYS
    )
    return RunTagger(trained.kind, trained.options, thresholds)


def parse_second_tagger(
    tables: Mapping[str, Any], defaults: Defaults, source: Source
) -> TaggerSection | None:
    """Parse ``[second_tagger]``; None for the second view of the run's tagger."""
    name, table = _kind_and_options(tables, "second_tagger", TAGGER, source)
    if name == TAGGER:
        return None
    return _trained(name, table, "second_tagger", defaults=defaults, source=source)


def parse_later_tagger(
    tables: Mapping[str, Any], defaults: Defaults, source: Source
) -> LaterTagger | None:
    """Parse ``[later_tagger]``; None if all iterations have the tagger of the run."""
    name, table = _kind_and_options(tables, "later_tagger", TAGGER, source)
    if name == TAGGER:
        return None
    own = {key: table.pop(key) for key in _START_KEYS if key in table}
    start = parse_section(LaterTaggerStart, own, "later_tagger", source)
    trained = _trained(
        name, table, "later_tagger", defaults=defaults, source=source, others=_START_KEYS
    )
    return LaterTagger(trained.kind, trained.options, start)


def parse_initial_model(
    tables: Mapping[str, Any], defaults: Defaults, source: Source
) -> InitialModel | None:
    """Parse ``[initial_model]``; None if iteration 0 is trained on the seed."""
    name, table = _kind_and_options(tables, "initial_model", SEED, source)
    if name == SEED:
        return None
    kind = _kind(name, "initial_model", source)
    table = with_preset("initial_model", table, defaults, kind.options_type())
    own = {key: table.pop(key) for key in _SELECTION_KEYS if key in table}
    selection = parse_section(InitialModelSelection, own, "initial_model", source)
    options = _options(kind, table, "initial_model", source, _SELECTION_KEYS)
    return InitialModel(kind.name, options, selection)


def parse_kind(name: str, overrides: Sequence[str]) -> TaggerSection:
    """Parse a kind that needs no annotated documents, and options of it such as ``label=NAME``."""
    kind = find_kind(name, trust=(name,))  # the user names it
    if kind.needs_seed:
        others = ", ".join(known_kinds(needs_seed=False))
        raise InputError(f'kind = "{name}" needs annotated documents; those without are {others}')
    tables, origins = overridden({}, overrides, "initial_model")
    source = Source(f'kind = "{name}"', Path(), origins)
    table = table_of(tables, "initial_model", source)
    return TaggerSection(name, _options(kind, table, "initial_model", source))


def _kind_and_options(
    tables: Mapping[str, Any], section: str, default: str, source: Source
) -> tuple[Any, dict[str, Any]]:
    """Return the kind of a section, and its options, which the default kind lacks."""
    table = table_of(tables, section, source)
    name = table.pop("kind", default)
    if name == default and table:
        key, others = next(iter(table)), ", ".join(known_kinds(needs_seed=default == TAGGER))
        raise ConfigurationError(
            f"{source.origin(section, key)}: [{section}] {key} has no effect with "
            f'kind = "{default}"; other kinds are {others}'
        )
    return name, table


def _kind(name: Any, section: str, source: Source) -> Kind:
    """Find the kind of tagger of a section; it may be the import path of a class."""
    needs_seed = section != "initial_model"
    where = f"{source.origin(section, 'kind')}: [{section}]"
    try:
        kind = find_kind(name, trust=source.trusted(section, name))
    except InputError as error:
        raise ConfigurationError(f"{where} {error}") from None
    if kind.needs_seed != needs_seed:
        other = "initial_model" if needs_seed else "tagger"
        what = "needs no" if needs_seed else "needs"
        raise ConfigurationError(
            f'{where} kind = "{kind.name}" {what} annotated documents: it is a kind of [{other}]'
        )
    return kind


def _trained(
    name: Any,
    table: Mapping[str, Any],
    section: str,
    *,
    defaults: Defaults,
    source: Source,
    others: Sequence[str] = (),
) -> TaggerSection:
    """Parse a tagger that is trained, completed as ``[tagger]``."""
    kind = _kind(name, section, source)
    completed = with_preset("tagger", table, defaults, kind.options_type())
    completed = _with_members(kind.options_type(), completed, section, defaults, source)
    return TaggerSection(kind.name, _options(kind, completed, section, source, others))


def _options(
    kind: Kind, table: dict[str, Any], section: str, source: Source, others: Sequence[str] = ()
) -> TaggerOptions:
    """Parse the options of a kind of tagger."""
    options = parse_section(kind.options_type(), table, section, source, others)
    return located(options, section, source)


def _with_members(
    options: type[TaggerOptions],
    table: Mapping[str, Any],
    section: str,
    defaults: Defaults,
    source: Source,
) -> dict[str, Any]:
    """Parse the members of an ensemble, completed as taggers of the same section."""
    completed = dict(table)
    for name, default in member_fields(options).items():
        tables = table.get(name, [_without_defaults(member) for member in default])
        completed[name] = _members(tables, section, name, defaults, source)
    return completed


def _without_defaults(member: Member) -> dict[str, Any]:
    """Return the table of a member without the options that have their defaults."""
    usual = kind_of_member(member.kind).options_type()().as_table()
    return {key: value for key, value in member.as_table().items() if usual.get(key) != value}


def _members(
    tables: Any, section: str, name: str, defaults: Defaults, source: Source
) -> tuple[Member, ...]:
    origin = source.origin(section, name)
    if not isinstance(tables, (list, tuple)) or not all(
        isinstance(table, Mapping) for table in tables
    ):
        raise ConfigurationError(
            f"{origin}: [{section}] {name} = {tables!r}: expected a list of tables, "
            'such as [{ kind = "crf" }, { kind = "crf", window = 1 }]'
        )
    own = Source(origin, source.folder_of(section, name))
    return tuple(
        _member(table, section, number, defaults, own) for number, table in enumerate(tables)
    )


def _member(
    table: Mapping[str, Any], section: str, number: int, defaults: Defaults, source: Source
) -> Member:
    name = f"{section} {member_name(number)}"
    others = dict(table)
    try:
        if "kind" not in table:
            raise InputError('kind is missing; expected a kind of tagger, such as kind = "crf"')
        kind = kind_of_member(others.pop("kind"))
    except InputError as error:
        raise ConfigurationError(
            f"{source.file}: [{section}] {member_name(number)}: {error}"
        ) from None
    completed = with_preset("tagger", others, defaults, kind.options_type())
    options = parse_section(kind.options_type(), completed, name, source)
    return Member(kind.name, located(options, name, source))
