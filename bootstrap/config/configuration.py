"""The configuration of a run: one TOML file, checked and completed with all defaults."""

from __future__ import annotations

import contextlib
import copy
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import tomli_w

from bootstrap.config.options import LoopOptions, SelectOptions, StartOptions
from bootstrap.config.validation import ConfigurationError, refuse_unknown, section, table_of
from corpus.corpora import is_synthetic
from corpus.formats import Columns
from corpus.units import Unit
from gazetteers.builtin import BUILTIN_LISTS
from taggers import ANNOTATORS, OPTIONS, START_OPTIONS
from taggers.embeddings.listing import cluster_files

_SECTIONS = ("data", "labels", "start", "tagger", "loop", "select")

#: The keys of ``[data]`` that name notes.
_PATHS = ("seed", "validation", "unlabeled")

#: All keys that name paths.
_LOCATED = {
    *(("data", name) for name in _PATHS),
    *(("tagger", name) for name in ("clusters", "names", "phrases")),
    *(("start", name) for name in ("names", "not_names", "blocked", "counts")),
}

#: Those that name columns: the parts of a note.
_PARTS = ("id", "text", "label", "group")

_COLUMNS = '{ text = "nota", id = "noteid" }'


@dataclass(frozen=True, slots=True)
class DataOptions:
    """Where the notes are; every field is a key of ``[data]``."""

    seed: str = field(
        default="seed.jsonl",
        metadata={
            "help": 'annotated notes to start from: a file, a folder or a pattern; "" if there are '
            "none, where [start] names a model"
        },
    )
    validation: str = field(
        default="validation.jsonl",
        metadata={"help": "annotated notes that decide when to stop and which iteration is best"},
    )
    unlabeled: str = field(
        default="unlabeled.jsonl", metadata={"help": "notes to learn from, read in batches"}
    )
    unit: Unit = field(
        default="document",
        metadata={"help": 'what is tagged and selected: "document", "line" or "sentence"'},
    )
    id: str = field(default="id", metadata={"help": "column or key of the id (Parquet, JSONL)"})
    text: str = field(default="text", metadata={"help": "column or key of the text"})
    label: str = field(default="label", metadata={"help": "column or key of the spans"})
    group: str = field(
        default="group", metadata={"help": "column or key of the patient, where there is one"}
    )
    seed_columns: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"help": "where the seed has other names", "example": _COLUMNS},
    )
    validation_columns: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"help": "where the validation notes have other names", "example": _COLUMNS},
    )
    unlabeled_columns: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"help": "where the unlabeled notes have other names", "example": _COLUMNS},
    )
    conflicts: Literal["stop", "longest"] = field(
        default="stop",
        metadata={"help": 'overlapping and discontinuous spans: "stop" or keep the "longest"'},
    )
    invalid: Literal["stop", "skip"] = field(
        default="stop", metadata={"help": 'what cannot be read: "stop" or "skip" and count it'}
    )

    def __post_init__(self) -> None:
        for split in _PATHS:
            for part in getattr(self, f"{split}_columns"):
                if part not in _PARTS:
                    raise ConfigurationError(
                        f'{split}_columns names a "{part}"; expected {", ".join(_PARTS)}'
                    )

    def columns_of(self, split: str) -> Columns:
        """Give the names of the columns of a split."""
        names = {part: getattr(self, part) for part in _PARTS}
        return Columns(**(names | dict(getattr(self, f"{split}_columns"))))


@dataclass(frozen=True, slots=True)
class ReferenceOptions:
    """Given proportions; every field is a key of ``[select.reference]``."""

    empty: float = field(
        metadata={"help": "share of documents without entities", "least": 0, "most": 1}
    )
    per_token: Mapping[str, float] = field(metadata={"help": "entities per token of each class"})
    length: Mapping[str, float] = field(metadata={"help": "mean tokens of an entity of each class"})

    def __post_init__(self) -> None:
        if set(self.per_token) != set(self.length):
            raise ConfigurationError(
                "[select.reference] per_token and length must name the same classes; they name "
                f"{sorted(self.per_token)} and {sorted(self.length)}"
            )
        if any(length < 1 for length in self.length.values()):
            raise ConfigurationError("[select.reference] length: an entity has 1 token or more")


@dataclass(frozen=True, slots=True)
class Start:
    """A model to start from that needs no annotated notes; ``[start]``.

    Parameters
    ----------
    kind : str
        A key of `taggers.START_OPTIONS`.
    tagger : options of that kind of tagger
        The other keys, but for those of `trust`.
    trust : StartOptions
        Which of its documents are selected.
    """

    kind: str
    tagger: Any
    trust: StartOptions

    @property
    def files(self) -> list[Path]:
        """The dictionaries and the counts that are read."""
        options = asdict(self.tagger)
        lists = (*options["names"], *options["blocked"], *options.get("not_names", ()))
        counts = [options["counts"]] if options["counts"] else []
        return [Path(path) for path in (*lists, *counts) if path not in BUILTIN_LISTS]


#: Starts from annotated notes: the kind of ``[start]`` if there is no other.
SEED = "seed"


@dataclass(frozen=True, slots=True)
class Configuration:
    """All settings of a run.

    Parameters
    ----------
    data : DataOptions
        ``[data]``.
    labels : mapping of str to str, or None
        ``[labels]``: classes by the labels of the source. Labels not in it are dropped; None, no
        such table, keeps all.
    start : Start or None
        ``[start]``; None starts from the seed.
    kind : str
        ``[tagger] kind``.
    tagger : options of that kind of tagger
        The other keys of ``[tagger]``.
    loop, select : LoopOptions, SelectOptions
        ``[loop]`` and ``[select]``.
    reference : ReferenceOptions or None
        ``[select.reference]``; None measures the proportions on the validation notes.
    """

    data: DataOptions
    labels: Mapping[str, str] | None
    start: Start | None
    kind: str
    tagger: Any
    loop: LoopOptions
    select: SelectOptions
    reference: ReferenceOptions | None

    def __post_init__(self) -> None:
        for name in _PATHS:
            if not getattr(self.data, name) and not (name == SEED and self.start):
                raise ConfigurationError(f"[data] {name} is empty: expected notes")
        if self.select.level == "span" and self.select.measure != SelectOptions().measure:
            raise ConfigurationError(
                f'select.measure = "{self.select.measure}" is of whole documents and does nothing '
                'with select.level = "span"; leave it out'
            )
        if getattr(self.tagger, "engine", None) == "crfsuite":
            wants = {
                'select.level = "span"': self.select.level == "span",
                "loop.pseudo_weight other than 1": self.loop.pseudo_weight != 1,
            }
            for what in (name for name, wanted in wants.items() if wanted):
                raise ConfigurationError(f'{what} needs [tagger] engine = "wordtype"')

    def as_dict(self) -> dict[str, Any]:
        """Give every setting as it would stand in the file."""
        select = asdict(self.select)
        if self.reference:
            select["reference"] = asdict(self.reference)
        tagger = {"kind": self.kind, **asdict(self.tagger)}
        tables: dict[str, Any] = {"data": asdict(self.data)}
        if self.labels is not None:
            tables["labels"] = dict(self.labels)
        if self.start:
            start = {"kind": self.start.kind, **asdict(self.start.trust)}
            tables["start"] = start | asdict(self.start.tagger)
        else:
            tables["start"] = {"kind": SEED}
        tables |= {"tagger": tagger, "loop": asdict(self.loop), "select": select}
        return {name: _plain(table) for name, table in tables.items()}

    def to_toml(self) -> str:
        """Write every setting as TOML."""
        return tomli_w.dumps(self.as_dict())


def _plain(value: Any) -> Any:
    """Turn tuples into lists, as TOML reads them."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


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
        Complete; the paths of its data are absolute.

    Raises
    ------
    ConfigurationError
        If the file is missing or no TOML, or a setting does not exist or cannot have its value.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"{path}: {error.strerror}; a configuration was expected"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not TOML: {error}") from None
    try:
        return parse_configuration(_overridden(tables, overrides), path.parent, str(path))
    except ConfigurationError:
        _blame(tables, overrides, path)
        raise


def _blame(tables: Mapping[str, Any], overrides: Sequence[str], path: Path) -> None:
    """Raise the error of the setting without which there is none.

    If there is no such setting, raise that of the file alone or, where it has none, of the first
    setting to make one.
    """

    def parse(settings: Sequence[str], where: str) -> None:
        parse_configuration(_overridden(tables, settings), path.parent, where)

    for number, override in reversed(list(enumerate(overrides))):
        try:
            parse([*overrides[:number], *overrides[number + 1 :]], "")
        except ConfigurationError:
            continue
        parse(overrides, f"--set {override}")
    parse((), str(path))
    for number, override in enumerate(overrides, start=1):
        parse(overrides[:number], f"--set {override}")


def _overridden(tables: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Give tables with some settings replaced."""
    given: dict[str, Any] = copy.deepcopy(dict(tables))
    for override in overrides:
        _override(given, override)
    return given


def _override(tables: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    keys = name.strip().split(".")
    if not equals or len(keys) < 2:
        raise ConfigurationError(f"--set {override}: expected SECTION.KEY=VALUE")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    if tuple(keys) in _LOCATED:
        value = _all_located(value, Path())
    table = tables
    for key in keys[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise ConfigurationError(f"--set {override}: {key} is not a section")
    table[keys[-1]] = value


def parse_configuration(tables: Mapping[str, Any], folder: Path, where: str) -> Configuration:
    """Check tables read from TOML and complete them; see `load_configuration`."""
    refuse_unknown(
        tables, ("data", "labels", "start", "tagger", "loop", "select"), "section", where
    )
    tagger = dict(table_of(tables, "tagger", where))
    kind = tagger.pop("kind", "crf")
    if kind not in list(OPTIONS):  # not all that TOML can hold can be looked up in a dict
        raise ConfigurationError(
            f'{where}: [tagger] kind = "{kind}" is unknown; known are {", ".join(OPTIONS)}'
        )
    select = dict(table_of(tables, "select", where))
    reference = select.pop("reference", None)
    labels = tables.get("labels")
    if labels is not None and not (
        isinstance(labels, Mapping)
        and all(isinstance(name, str) and name for name in labels.values())
    ):
        raise ConfigurationError(
            f'{where}: [labels] must hold lines such as SOURCE_LABEL = "CLASS"'
        )
    options = section(OPTIONS[kind], tagger, "tagger", where)
    options = replace(options, **_paths_in("tagger", options, folder))
    _refuse_unknown_streams(options, where)
    start = _start(table_of(tables, "start", where), folder, where)
    given = dict(table_of(tables, "data", where))
    if start:
        given.setdefault("seed", "")  # it needs none
    data: DataOptions = section(DataOptions, given, "data", where)
    paths = {name: _all_located(getattr(data, name), folder) for name in _PATHS}
    loop: LoopOptions = section(LoopOptions, table_of(tables, "loop", where), "loop", where)
    selecting: SelectOptions = section(SelectOptions, select, "select", where)
    if reference is not None:
        reference = section(ReferenceOptions, reference, "select.reference", where)
    located = DataOptions(**{**asdict(data), **paths})
    try:
        return Configuration(located, labels, start, kind, options, loop, selecting, reference)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None


def _start(table: Mapping[str, Any], folder: Path, where: str) -> Start | None:
    """Read ``[start]``; None where it starts from the seed."""
    kind = table.get("kind", SEED)
    given = {name: value for name, value in table.items() if name != "kind"}
    if kind == SEED:
        if given:
            raise ConfigurationError(
                f'{where}: [start] {next(iter(given))} does nothing with kind = "{SEED}"; other '
                f"kinds are {', '.join(START_OPTIONS)}"
            )
        return None
    if kind not in list(START_OPTIONS):
        raise ConfigurationError(
            f'{where}: [start] kind = "{kind}" is unknown; known are {SEED}, '
            f"{', '.join(START_OPTIONS)}"
        )
    kinds = (StartOptions, START_OPTIONS[kind])
    refuse_unknown(
        given, [item.name for each in kinds for item in fields(each)], "key in [start]", where
    )
    trust, options = (section(each, _part_for(each, given), "start", where) for each in kinds)
    return Start(kind, replace(options, **_paths_in("start", options, folder)), trust)


def _part_for(options: type[Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Give what is in a table for some options."""
    names = [item.name for item in fields(options)]
    return {name: value for name, value in table.items() if name in names}


def _refuse_unknown_streams(options: Any, where: str) -> None:
    """No file of notes brings a stream; what is named is to be there otherwise."""
    clusters = cluster_files(Path(options.clusters)) if options.clusters else []
    known = [*ANNOTATORS, *(name for name, _ in clusters)]
    for name in options.templates().needed:
        if name == "phrases" and not options.phrases:
            raise ConfigurationError(
                f'{where}: [tagger] the stream "phrases" has no phrases: name gazetteers in '
                "phrases, or leave it out"
            )
        if name not in known:
            raise ConfigurationError(
                f'{where}: [tagger] there is no stream or feature "{name}"; the streams are '
                f"{', '.join(known)}"
            )


def _paths_in(name: str, options: Any, folder: Path) -> dict[str, Any]:
    """Give the paths in the options of a section, made absolute."""
    return {
        item.name: _all_located(getattr(options, item.name), folder)
        for item in fields(options)
        if (name, item.name) in _LOCATED
    }


def _all_located(value: Any, folder: Path) -> Any:
    """Make a path, or each of several, absolute; what is no text stays as it is."""
    if isinstance(value, (list, tuple)):
        return type(value)(_all_located(each, folder) for each in value)
    return _located(value, folder) if isinstance(value, str) and value else value


def _located(source: str, folder: Path) -> str:
    """Make a path absolute that is relative to a folder."""
    if is_synthetic(source) or source in BUILTIN_LISTS:
        return source
    path = Path(source)
    with contextlib.suppress(RuntimeError):  # ~NAME of no user is the name of a file, as in a shell
        path = path.expanduser()
    return str((folder / path).absolute())
