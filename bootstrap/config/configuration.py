"""The configuration of a run: one TOML file, checked and completed with all defaults."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import tomli_w

from bootstrap.config.errors import ConfigurationError
from bootstrap.config.members import with_members
from bootstrap.config.options import (
    SPLITS,
    DataOptions,
    InitialModelSelection,
    LoopOptions,
    ReferenceOptions,
    SelectOptions,
)
from bootstrap.config.overrides import Source, overridden
from bootstrap.config.paths import located
from bootstrap.config.presets import preset_of, required_values, with_preset
from bootstrap.config.renames import refuse_renamed
from bootstrap.config.validation import parse_section, refuse_unknown, table_of
from corpus.errors import InputError
from corpus.tags import classes_of
from taggers.augmentation import AugmentOptions
from taggers.kinds import Kind, find_kind, known_kinds, make_tagger
from taggers.options import Capability, Coverage, TaggerOptions

SECTIONS = ("data", "labels", "initial_model", "tagger", "augment", "loop", "select")

#: The kind of ``[initial_model]`` that is the tagger of the run, trained on the seed.
SEED = "seed"

#: The kind of ``[tagger]`` by default.
DEFAULT_KIND = "crf"

_SELECTION_KEYS = tuple(each.name for each in fields(InitialModelSelection))

#: Strategies that select parts of documents, for which the measure of documents has no effect.
_OF_SPANS = ("confident_spans", "agreement", "consensus", "agreement_with_lists")

#: Strategies with a tagger of the lists of ``[augment]``: `bootstrap.runs.lists.uses_lists`.
_OF_LISTS = ("auto", "agreement_with_lists")


@dataclass(frozen=True, slots=True)
class InitialModel:
    """A model of iteration 0 that needs no annotated documents; ``[initial_model]``.

    Parameters
    ----------
    kind : str
        The kind of its tagger.
    options : TaggerOptions
        Options of that kind: the keys other than those of `selection`.
    selection : InitialModelSelection
        Options of selection with this model.
    """

    kind: str
    options: TaggerOptions
    selection: InitialModelSelection

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it tags.

        Raises
        ------
        ConfigurationError
            If its tagger has no labels before it is fitted.
        """
        found = classes_of(make_tagger(self.kind, self.options).labels)
        if not found:
            raise ConfigurationError(
                f'[initial_model] kind = "{self.kind}" has no labels before it is fitted, so that '
                "it cannot be an initial model"
            )
        return found


@dataclass(frozen=True, slots=True)
class Configuration:
    """All settings of a run.

    Parameters
    ----------
    data : DataOptions
        ``[data]``.
    labels : mapping of str to str, or None
        ``[labels]``: classes by the labels of the source. Other labels are dropped; None keeps all
        labels as they are.
    initial_model : InitialModel or None
        ``[initial_model]``; None trains iteration 0 on the seed.
    kind : str
        ``[tagger] kind``.
    tagger : TaggerOptions
        Options of that kind: the other keys of ``[tagger]``.
    augment : AugmentOptions
        ``[augment]``.
    loop : LoopOptions
        ``[loop]``.
    select : SelectOptions
        ``[select]``.
    reference : ReferenceOptions or None
        ``[select.reference]``; None measures the proportions on the validation documents.
    """

    data: DataOptions
    labels: Mapping[str, str] | None
    initial_model: InitialModel | None
    kind: str
    tagger: TaggerOptions
    augment: AugmentOptions
    loop: LoopOptions
    select: SelectOptions
    reference: ReferenceOptions | None

    def __post_init__(self) -> None:
        for name in SPLITS:
            if not getattr(self.data, name) and not (name == "seed" and self.initial_model):
                raise ConfigurationError(f"[data] {name} is empty: expected documents")
        strategy = self.select.strategy
        if strategy in _OF_SPANS and self.select.measure != SelectOptions().measure:
            raise ConfigurationError(
                f'select.measure = "{self.select.measure}" applies to whole documents and has no '
                f'effect with select.strategy = "{strategy}"; remove it'
            )
        taggers = {section: (kind, options) for section, kind, options in self._taggers()}
        for setting, capability, section in self._needs():
            kind, options = taggers[section]
            if capability not in options.capabilities:
                raise ConfigurationError(
                    f"{setting} needs {capability.replace('_', ' ')}, which [{section}] kind = "
                    f'"{kind}" does not support with these options'
                )

    def _needs(self) -> Iterator[tuple[str, Capability, str]]:
        """Yield settings that need a capability, the capability, and the section of the tagger."""
        strategy = self.select.strategy
        if strategy in _OF_SPANS:
            yield f'select.strategy = "{strategy}"', "partial_tags", "tagger"
        if strategy == "confident_spans":
            yield f'select.strategy = "{strategy}"', "entity_probabilities", "tagger"
        if self.augment.copies:
            yield "augment.copies other than 0", "document_weights", "tagger"
        if self.loop.pseudo_weight != 1:
            yield "loop.pseudo_weight other than 1", "document_weights", "tagger"
        if self.loop.propagate:
            for section, _, _ in self._taggers():
                yield "loop.propagate", "entity_probabilities", section

    def _taggers(self) -> Iterator[tuple[str, str, TaggerOptions]]:
        """Yield the section, kind and options of each tagger."""
        yield "tagger", self.kind, self.tagger
        if self.initial_model:
            yield "initial_model", self.initial_model.kind, self.initial_model.options

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of taggers of the run."""
        return tuple(kind for _, kind, _ in self._taggers())

    @property
    def _reads_lists(self) -> bool:
        """Whether a run reads the files of ``[augment]``: for copies, or for a view of lists."""
        return bool(self.augment.copies) or self.select.strategy in _OF_LISTS

    def options_of(self, kind: str) -> TaggerOptions:
        """Return the options of the tagger of a kind, one of `kinds`."""
        return next(options for _, name, options in self._taggers() if name == kind)

    def files(self) -> dict[str, Sequence[Path]]:
        """Return the files that training its taggers reads, by ``section.option``."""
        sections = [(section, options.files()) for section, _, options in self._taggers()]
        if self._reads_lists:
            sections.append(("augment", self.augment.files()))
        return {
            f"{section}.{name}": paths
            for section, files in sections
            for name, paths in files.items()
        }

    def check(self) -> list[Coverage]:
        """Check the options of its taggers and the augmentation against the files they name.

        Returns
        -------
        list of Coverage
            The resources whose coverage of the documents is reported.

        Raises
        ------
        ConfigurationError
            If a file is missing or of another kind.
        """
        found: list[Coverage] = []
        for section, _, options in self._taggers():
            with _errors_of(section):
                found += options.check()
        if self._reads_lists:
            with _errors_of("augment"):
                self.augment.check()
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return every setting as in the file."""
        select = asdict(self.select)
        if self.reference:
            select["reference"] = asdict(self.reference)
        tables: dict[str, Any] = {"data": asdict(self.data)}
        if self.labels is not None:
            tables["labels"] = dict(self.labels)
        tables["initial_model"] = {"kind": SEED}
        if self.initial_model:
            tables["initial_model"] = {
                "kind": self.initial_model.kind,
                **asdict(self.initial_model.selection),
                **self.initial_model.options.as_table(),
            }
        tagger = {"kind": self.kind, **self.tagger.as_table()}
        tables |= {
            "tagger": tagger,
            "augment": asdict(self.augment),
            "loop": asdict(self.loop),
            "select": select,
        }
        return {name: _as_toml(table) for name, table in tables.items()}

    def to_toml(self) -> str:
        """Write every setting as TOML."""
        return tomli_w.dumps(self.as_dict())


@contextlib.contextmanager
def _errors_of(section: str) -> Iterator[None]:
    """Raise errors of input as errors of a section."""
    try:
        yield
    except InputError as error:
        raise ConfigurationError(f"[{section}] {error}") from None


def _as_toml(value: Any) -> Any:
    """Convert tuples to lists, which is what TOML is read as."""
    if isinstance(value, Mapping):
        return {key: _as_toml(item) for key, item in value.items()}
    return [_as_toml(item) for item in value] if isinstance(value, (list, tuple)) else value


def load_configuration(path: Path, overrides: Sequence[str] = ()) -> Configuration:
    """Read a configuration file.

    Parameters
    ----------
    path : Path
        A TOML file. Paths in it are relative to its folder.
    overrides : sequence of str
        Settings such as ``select.confidence=0.9`` that replace those of the file. Paths in them
        are relative to the current folder.

    Returns
    -------
    Configuration
        Complete; its paths are absolute.

    Raises
    ------
    ConfigurationError
        If the file is missing or is not TOML, or a setting does not exist or has an invalid value.
        The message names the override that the setting comes from, or else the file.
    """
    replaced, origins = overridden(read_tables(path), overrides)
    return parse_configuration(replaced, Source(str(path), path.parent, origins))


def read_tables(path: Path) -> dict[str, Any]:
    """Read the tables of a configuration file, without checking the settings in them.

    Raises
    ------
    ConfigurationError
        If the file is missing or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"{path}: {error.strerror}; expected a configuration file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not TOML: {error}") from None


def parse_configuration(tables: Mapping[str, Any], source: Source) -> Configuration:
    """Check tables read from TOML and complete them; see `load_configuration`."""
    refuse_renamed(tables, source)
    refuse_unknown(tables, SECTIONS, source)
    preset = preset_of(tables, source)
    kind, tagger = _tagger(table_of(tables, "tagger", source), preset, source)
    initial_model = _initial_model(table_of(tables, "initial_model", source), preset, source)
    table = table_of(tables, "data", source)
    if initial_model:
        table.setdefault("seed", "")  # it needs none
    data = parse_section(DataOptions, table, "data", source)

    required = required_values(tagger.capabilities, seeded=initial_model is None)

    def completed(section: str) -> dict[str, Any]:
        table = table_of(tables, section, source)
        return with_preset(section, table, preset, others=required.get(section))

    augment = parse_section(AugmentOptions, completed("augment"), "augment", source)
    loop = parse_section(LoopOptions, completed("loop"), "loop", source)
    table = completed("select")
    reference = _reference(table.pop("reference", None), source)
    select = parse_section(SelectOptions, table, "select", source)
    labels = _labels(tables.get("labels"), source)
    try:
        return Configuration(
            located(data, "data", source),
            labels,
            initial_model,
            kind,
            tagger,
            located(augment, "augment", source),
            loop,
            select,
            reference,
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"{source.of_section(*SECTIONS)}: {error}") from None


def _labels(table: Any, source: Source) -> Mapping[str, str] | None:
    if table is not None and not (
        isinstance(table, Mapping)
        and all(isinstance(name, str) and name for name in table.values())
    ):
        raise ConfigurationError(
            f'{source.of("labels")}: [labels] must hold lines such as SOURCE_LABEL = "CLASS"'
        )
    return table


def _reference(table: Any, source: Source) -> ReferenceOptions | None:
    if table is None:
        return None
    return parse_section(ReferenceOptions, table, "select.reference", source)


def _tagger(table: dict[str, Any], preset: str, source: Source) -> tuple[str, TaggerOptions]:
    """Parse ``[tagger]``: the kind and its options."""
    kind = _kind(table.pop("kind", DEFAULT_KIND), "tagger", source)
    table = with_preset("tagger", table, preset, kind.options_type())
    table = with_members(kind.options_type(), table, "tagger", preset, source)
    return kind.name, _tagger_options(kind, table, "tagger", source)


def _initial_model(table: dict[str, Any], preset: str, source: Source) -> InitialModel | None:
    """Parse ``[initial_model]``; None if iteration 0 is trained on the seed."""
    name = table.pop("kind", SEED)
    if name == SEED:
        for key in table:
            raise ConfigurationError(
                f"{source.of('initial_model', key)}: [initial_model] {key} has no effect with "
                f'kind = "{SEED}"; other kinds are {", ".join(known_kinds(needs_seed=False))}'
            )
        return None
    kind = _kind(name, "initial_model", source)
    table = with_preset("initial_model", table, preset, kind.options_type())
    own = {key: table.pop(key) for key in _SELECTION_KEYS if key in table}
    selection = parse_section(InitialModelSelection, own, "initial_model", source)
    options = _tagger_options(kind, table, "initial_model", source, _SELECTION_KEYS)
    return InitialModel(kind.name, options, selection)


def _kind(name: Any, section: str, source: Source) -> Kind:
    """Find the kind of tagger that a section names; it may be the path of a class."""
    needs_seed = section == "tagger"
    where = f"{source.of(section, 'kind')}: [{section}]"
    try:
        kind = find_kind(name, trusted=(name,))
    except InputError as error:
        raise ConfigurationError(f"{where} {error}") from None
    if kind.needs_seed != needs_seed:
        other = "initial_model" if needs_seed else "tagger"
        what = "needs no" if needs_seed else "needs"
        raise ConfigurationError(
            f'{where} kind = "{kind.name}" {what} annotated documents: it is a kind of [{other}]'
        )
    return kind


def _tagger_options(
    kind: Kind, table: dict[str, Any], section: str, source: Source, others: Sequence[str] = ()
) -> TaggerOptions:
    """Parse the options of a kind of tagger."""
    return located(
        parse_section(kind.options_type(), table, section, source, others), section, source
    )
