"""The configuration of a run: one TOML file, checked and completed with all defaults."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import tomli_w

from bootstrap.active_learning.queries import QUERIES, ActiveOptions
from bootstrap.config.options import (
    SPLITS,
    DataOptions,
    ExecutionOptions,
    ListsOptions,
    LoopOptions,
    ReferenceOptions,
    TrustedPatternOptions,
    listed,
)
from bootstrap.config.overrides import ConfigurationError, Source, overridden
from bootstrap.config.presets import defaults_of, required_values, with_preset
from bootstrap.config.tagger_sections import (
    SEED,
    TAGGER,
    InitialModel,
    LaterTagger,
    RunTagger,
    TaggerSection,
    parse_initial_model,
    parse_later_tagger,
    parse_second_tagger,
    parse_tagger,
    trained_capabilities,
)
from bootstrap.config.validation import located, parse_section, refuse_unknown, table_of
from bootstrap.selection.strategies import SelectOptions, strategy_kinds, uses_lists
from corpus.errors import InputError
from corpus.formats import find_files
from corpus.formats.synthetic import is_synthetic
from corpus.storage.fields import parse_toml
from taggers.augmentation import AugmentOptions
from taggers.options import Capability, Coverage, Reach

SECTIONS = (
    "data",
    "labels",
    "initial_model",
    "tagger",
    "second_tagger",
    "later_tagger",
    "lists",
    "patterns",
    "augment",
    "loop",
    "select",
    "active",
    "execution",
)

#: The message about a configuration without ``[active]``.
LACKS_ACTIVE = (
    "{}: there is no section [active]; active learning needs its gold, the annotated documents "
    "that answer, and its budget"
)


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
    tagger : TaggerSection
        ``[tagger]``.
    lists, patterns, augment, loop, select
        ``[lists]``, ``[patterns]``, ``[augment]``, ``[loop]`` and ``[select]``.
    reference : ReferenceOptions or None
        ``[select.reference]``; None measures the proportions on the validation documents.
    second : TaggerSection, optional
        ``[second_tagger]``; None is the second view of the tagger.
    later : LaterTagger, optional
        ``[later_tagger]``; None has the same tagger in all iterations.
    active : ActiveOptions, optional
        ``[active]``; None is self-training without active learning.
    execution : ExecutionOptions
        ``[execution]``, which does not change results.
    """

    data: DataOptions
    labels: Mapping[str, str] | None
    initial_model: InitialModel | None
    tagger: RunTagger
    lists: ListsOptions
    patterns: TrustedPatternOptions
    augment: AugmentOptions
    loop: LoopOptions
    select: SelectOptions
    reference: ReferenceOptions | None
    second: TaggerSection | None = None
    later: LaterTagger | None = None
    active: ActiveOptions | None = None
    execution: ExecutionOptions = field(default_factory=ExecutionOptions)

    def __post_init__(self) -> None:
        optional = ("test", "seed") if self.initial_model else ("test",)
        for name in SPLITS:
            if not getattr(self.data, name) and name not in optional:
                raise ConfigurationError(f"[data] {name} is empty: expected documents")
            if "" in listed(getattr(self.data, name)):
                raise ConfigurationError(f'[data] {name} names "": expected paths')
        if isinstance(self.data.validation, float) and not self.data.seed:
            raise ConfigurationError(
                f"[data] validation = {self.data.validation:g} divides the annotated notes of "
                "seed, and there are none: name validation notes"
            )
        if self.initial_model and self.loop.continues:
            raise ConfigurationError(
                "loop.continues and [initial_model] are two models for iteration 0; remove one"
            )
        strategy = self.select.strategy
        kinds = strategy_kinds(strategy).values()
        in_parts = all("partial_tags" in kind.needs for kind in kinds)
        if in_parts and self.select.measure != SelectOptions().measure:
            raise ConfigurationError(
                f'select.measure = "{self.select.measure}" applies to whole documents and has no '
                f'effect with select.strategy = "{strategy}"; remove it'
            )
        committee = self.active is not None and QUERIES[self.active.query].views > 0
        if self.second and not (committee or any(kind.views for kind in kinds)):
            raise ConfigurationError(
                f'[second_tagger] has no effect with select.strategy = "{strategy}", which has one '
                "view; remove it"
            )
        limited = self.active is None  # rounds are further iterations
        if limited and self.later and self.later.start.iteration > self.loop.iterations:
            raise ConfigurationError(
                f"later_tagger.iteration = {self.later.start.iteration} is after the last "
                f"iteration: loop.iterations = {self.loop.iterations}"
            )
        if self.active and committee and self.initial_model:
            raise ConfigurationError(
                f'active.query = "{self.active.query}" compares two taggers of the seed; it '
                "needs a seed instead of an [initial_model]"
            )
        for setting, capability, sections in self._needs():
            for name, section in self.taggers().items():
                if name in sections and capability not in section.options.capabilities:
                    raise ConfigurationError(
                        f"{setting} needs {capability.replace('_', ' ')}, which [{name}] kind = "
                        f'"{section.kind}" does not support with these options'
                    )

    def _needs(self) -> Iterator[tuple[str, Capability, tuple[str, ...]]]:
        """Yield settings that need a capability, the capability, and the sections of taggers."""
        strategy, tagging = self.select.strategy, ("tagger", "later_tagger")
        trained = (*tagging, "second_tagger")
        needs = (kind.needs for kind in strategy_kinds(strategy).values())
        for capability in sorted(frozenset.intersection(*needs), reverse=True):
            sections = tagging if capability == "entity_probabilities" else trained
            yield f'select.strategy = "{strategy}"', capability, sections
        if self.augment.copies:
            yield "augment.copies other than 0", "document_weights", trained
        if self.loop.pseudo_weight != 1:
            yield "loop.pseudo_weight other than 1", "document_weights", trained
        if isinstance(self.tagger.thresholds.min_probability, Mapping):
            yield "tagger.min_probability", "entity_probabilities", (*tagging, "initial_model")
        if self.loop.propagate and isinstance(self.loop.propagate, Mapping):
            yield "loop.propagate", "entity_probabilities", (*tagging, "initial_model")
        if self.active:
            for capability in QUERIES[self.active.query].needs:
                needing = (*tagging, "initial_model")
                yield f'active.query = "{self.active.query}"', capability, needing

    def taggers(self) -> dict[str, TaggerSection]:
        """Return the sections of taggers, by name."""
        sections = {
            "tagger": self.tagger,
            "initial_model": self.initial_model,
            "second_tagger": self.second,
            "later_tagger": self.later,
        }
        return {name: section for name, section in sections.items() if section}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of taggers of the run."""
        return tuple(dict.fromkeys(section.kind for section in self.taggers().values()))

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities shared by all taggers that are trained on pseudo-labels."""
        return trained_capabilities(self.tagger, self.second, self.later)

    @property
    def min_probability(self) -> Mapping[str, float] | Literal["auto"]:
        """The smallest probabilities of entities by class; none if a tagger has no such."""
        return self.tagger.thresholds.min_probability if self._has_entity_probabilities else {}

    @property
    def propagate(self) -> Mapping[str, Reach] | Literal["auto"]:
        """What is propagated of the entities of each class; nothing if a tagger has no such."""
        return self.loop.propagate if self._has_entity_probabilities else {}

    @property
    def _has_entity_probabilities(self) -> bool:
        tagging = (self.tagger, self.later, self.initial_model)
        return "entity_probabilities" in trained_capabilities(*tagging)

    @property
    def self_trains(self) -> bool:
        """Whether the run selects pseudo-labels: active learning alone does not."""
        return self.active is None or self.active.hybrid

    def most_iterations(self, seed: int) -> int:
        """Return the maximum number of iterations after iteration 0 with `seed` documents."""
        if self.active is None:
            return self.loop.iterations
        rounds = -(-(self.active.budget - seed) // self.active.round)
        return rounds + (self.loop.iterations if self.active.hybrid else 0)

    @property
    def _reads_lists(self) -> bool:
        """Whether a run reads the files of ``[augment]``: for copies, or for a view of lists."""
        return bool(self.augment.copies) or (self.self_trains and uses_lists(self.select.strategy))

    def tagger_of(self, iteration: int) -> TaggerSection:
        """Return the tagger of an iteration."""
        if self.initial_model and iteration == 0:
            return self.initial_model
        return self._trained_in(iteration)

    def second_tagger_of(self, iteration: int) -> TaggerSection:
        """Return the tagger of the second view of an iteration."""
        if self.second:
            return self.second
        own = self._trained_in(iteration)
        return TaggerSection(own.kind, own.options.second_view())

    def _trained_in(self, iteration: int) -> TaggerSection:
        """Return the tagger that an iteration trains on documents."""
        if self.later and iteration >= self.later.start.iteration:
            return self.later
        return self.tagger

    def training_files(self) -> dict[str, Sequence[Path]]:
        """Return the files that training its taggers reads, by ``section.option``."""
        sections = [
            (name, section.options.training_files()) for name, section in self.taggers().items()
        ]
        sections.append(("patterns", self.patterns.training_files()))
        if self.loop.continues:
            described = Path(self.loop.continues) / "metrics.parquet"  # with the run, it changes
            sections.append(("loop", {"continues": [described]}))
        if self._reads_lists:
            sections.append(("augment", self.augment.training_files()))
        if self.active:
            gold = [name for name in listed(self.active.gold) if not is_synthetic(name)]
            sections.append(
                ("active", {"gold": [file for name in gold for file in find_files(name)]})
            )
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
        coverages: dict[str, Coverage] = {}
        for name, section in self.taggers().items():
            with _errors_of(name):
                coverages |= {coverage.of: coverage for coverage in section.options.check()}
        with _errors_of("patterns"):
            self.patterns.check()
        if self._reads_lists:
            with _errors_of("augment"):
                self.augment.check()
        return list(coverages.values())

    def as_dict(self) -> dict[str, Any]:
        """Return every setting as in the file."""
        select = asdict(self.select)
        if self.reference:
            select["reference"] = asdict(self.reference)
        tables: dict[str, Any] = {"data": asdict(self.data)}
        if self.labels is not None:
            tables["labels"] = dict(self.labels)
        initial, second, later = self.initial_model, self.second, self.later
        tables |= {
            "initial_model": initial.as_table() if initial else {"kind": SEED},
            "tagger": self.tagger.as_table(),
            "second_tagger": second.as_table() if second else {"kind": TAGGER},
            "later_tagger": later.as_table() if later else {"kind": TAGGER},
            "lists": asdict(self.lists),
            "patterns": asdict(self.patterns),
            "augment": asdict(self.augment),
            "loop": asdict(self.loop),
            "select": select,
            "execution": asdict(self.execution),
        }
        if self.active:
            tables["active"] = asdict(self.active)
        return {name: as_toml(table) for name, table in tables.items()}

    def to_toml(self) -> str:
        """Write every setting as TOML."""
        return tomli_w.dumps(self.as_dict())


@contextlib.contextmanager
def _errors_of(section: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise ConfigurationError(f"[{section}] {error}") from None


def as_toml(value: Any) -> Any:
    """Convert tuples to lists, as TOML readers return them."""
    if isinstance(value, Mapping):
        return {key: as_toml(item) for key, item in value.items()}
    return [as_toml(item) for item in value] if isinstance(value, (list, tuple)) else value


def load_configuration(
    path: Path, overrides: Sequence[str] = (), *, trust: Collection[str] = ()
) -> Configuration:
    """Read a configuration file.

    Parameters
    ----------
    path : Path
        A TOML file. Paths in it are relative to its folder.
    overrides : sequence of str
        Settings such as ``select.confidence=0.9`` that override the file. Paths in them are
        relative to the current folder.
    trust : collection of str
        Kinds of other packages that the configuration of a run may name; a file of the user may
        name any.

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
    return parse_configuration(replaced, Source(str(path), path.parent, origins, trust))


def read_tables(path: Path) -> dict[str, Any]:
    """Read the tables of a configuration file, without checking the settings in them."""
    try:
        return parse_toml(path.read_bytes(), str(path))
    except (OSError, ValueError) as error:
        fault = getattr(error, "strerror", "no file can have this name")
        raise ConfigurationError(f"{path}: {fault}; expected a configuration file") from None
    except InputError as error:
        raise ConfigurationError(str(error)) from None


def load_data(path: Path) -> tuple[DataOptions, Mapping[str, str] | None]:
    """Read ``[data]`` and ``[labels]`` of a configuration, without importing its taggers.

    Raises
    ------
    ConfigurationError
        As for `load_configuration`.
    """
    tables, source = read_tables(path), Source(str(path), path.parent)
    refuse_unknown(tables, SECTIONS, source)
    data = parse_section(DataOptions, tables.get("data", {}), "data", source)
    return located(data, "data", source), _labels(tables.get("labels"), source)


def parse_configuration(tables: Mapping[str, Any], source: Source) -> Configuration:
    """Check tables read from TOML and complete them; see `load_configuration`."""
    refuse_unknown(tables, SECTIONS, source)
    defaults = defaults_of(tables, source)
    tagger = parse_tagger(tables, defaults, source)
    second = parse_second_tagger(tables, defaults, source)
    later = parse_later_tagger(tables, defaults, source)
    initial_model = parse_initial_model(tables, defaults, source)
    table = table_of(tables, "data", source)
    if initial_model and not table.setdefault("seed", ""):  # it needs none
        table.setdefault("validation", "validation.jsonl")  # which no seed can be divided into
    data = parse_section(DataOptions, table, "data", source)

    capabilities = trained_capabilities(tagger, second, later)
    required = required_values(capabilities, seeded=initial_model is None)

    def completed(section: str) -> dict[str, Any]:
        table = {**required.get(section, {}), **table_of(tables, section, source)}
        return with_preset(section, table, defaults)

    lists = parse_section(ListsOptions, completed("lists"), "lists", source)
    patterns = parse_section(TrustedPatternOptions, completed("patterns"), "patterns", source)
    augment = parse_section(AugmentOptions, completed("augment"), "augment", source)
    loop = parse_section(LoopOptions, completed("loop"), "loop", source)
    table = completed("select")
    reference = table.pop("reference", None)
    if reference is not None:
        reference = parse_section(ReferenceOptions, reference, "select.reference", source)
    select = parse_section(SelectOptions, table, "select", source)
    labels = _labels(tables.get("labels"), source)
    active = None
    if "active" in tables:
        options = parse_section(ActiveOptions, tables["active"], "active", source)
        active = located(options, "active", source)
    execution = parse_section(ExecutionOptions, completed("execution"), "execution", source)
    try:
        return Configuration(
            located(data, "data", source),
            labels,
            initial_model,
            tagger,
            lists,
            located(patterns, "patterns", source),
            located(augment, "augment", source),
            located(loop, "loop", source),
            select,
            reference,
            second,
            later,
            active,
            located(execution, "execution", source),
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"{source.origins(*SECTIONS)}: {error}") from None


def _labels(table: Any, source: Source) -> Mapping[str, str] | None:
    if table is not None and not (
        isinstance(table, Mapping)
        and all(isinstance(name, str) and name for name in table.values())
    ):
        raise ConfigurationError(
            f'{source.origin("labels")}: [labels] must hold lines such as SOURCE_LABEL = "CLASS"'
        )
    return table
