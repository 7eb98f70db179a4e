"""The plan of an experiment: which runs it consists of, from a file.

An experiment file is a configuration of a run with up to four further sections: ``[experiment]``,
``[seed]``, ``[grid]`` and ``[variants.NAME]``.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, cast

from bootstrap.config.configuration import SECTIONS, read_tables
from bootstrap.config.experiment_options import METHODS, ExperimentOptions, Method, SeedOptions
from bootstrap.config.options import DataOptions, ExecutionOptions
from bootstrap.config.overrides import ConfigurationError, Source
from bootstrap.config.validation import located, parse_section, refuse_unknown, table_of

#: The maximum number of combinations of a grid.
MOST_POINTS = 100_000
#: The sections that an experiment file has in addition to a configuration.
OWN_SECTIONS = ("experiment", "seed", "grid", "variants")
#: The keys of a variant beside sections.
_VARIANT_KEYS = ("method", "grid")
#: Sections that the configurations of its runs lack.
_NOT_OF_RUNS = ("data", "execution", *OWN_SECTIONS)
#: Sections that are the same in all runs of an experiment.
_COMMON = ("data", "labels", "experiment", "execution")

Tables = Mapping[str, Any]
#: Settings of a point of the grid: the keys of each, and its value.
_Point = tuple[tuple[tuple[str, ...], Any], ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration that an experiment compares with others.

    Parameters
    ----------
    name : str
        Its name, with the settings of the grid.
    method : Method
        What its runs do.
    tables : mapping of str to Any
        The sections of its configuration, as in a file, without ``[data]``.
    seed : SeedOptions or None
        How its seeds are drawn; None for all annotated documents.
    """

    name: str
    method: Method
    tables: Tables
    seed: SeedOptions | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of an experiment.

    Parameters
    ----------
    source : Source
        The file, for errors and relative paths.
    options : ExperimentOptions
        ``[experiment]``.
    data : DataOptions
        ``[data]``, with absolute paths. Keys without a value in the file are empty.
    labels : mapping of str to str, or None
        ``[labels]``.
    variants : tuple of Variant
        The variants, in the order of the file; the others are compared with the first.
    execution : ExecutionOptions
        ``[execution]``.
    """

    source: Source
    options: ExperimentOptions
    data: DataOptions
    labels: Mapping[str, str] | None
    variants: tuple[Variant, ...]
    execution: ExecutionOptions = field(default_factory=ExecutionOptions)

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits: each variant has a run for each split and random state.

        With folds, each fold is the test documents in turn. Without test documents, the two halves
        of the validation documents swap roles.
        """
        if self.options.folds:
            return tuple(f"fold-{number}" for number in range(self.options.folds))
        return ("test",) if self.data.test else ("half-0", "half-1")

    @property
    def runs(self) -> list[tuple[Variant, int, str]]:
        """The variant, the random state and the split of each run."""
        return list(itertools.product(self.variants, self.options.random_states, self.splits))


def load_plan(path: Path, trust: Collection[str] = ()) -> Plan:
    """Read an experiment file; `trust` is as for a configuration (`load_configuration`).

    Raises
    ------
    ConfigurationError
        If the file is missing or is not TOML, or a setting does not exist or has an invalid value.
    """
    return parse_plan(read_tables(path), Source(str(path), path.parent, trust=trust))


def parse_plan(tables: Tables, source: Source) -> Plan:
    """Check tables read from TOML and find the variants; see `load_plan`.

    The configurations of the variants are checked when their files are known.
    """
    refuse_unknown(tables, (*SECTIONS, *OWN_SECTIONS), source)
    data = {"seed": "", "validation": "", "unlabeled": "", **table_of(tables, "data", source)}
    plan = Plan(
        source,
        parse_section(ExperimentOptions, tables.get("experiment", {}), "experiment", source),
        located(parse_section(DataOptions, data, "data", source), "data", source),
        tables.get("labels"),
        tuple(_variants(tables, source)),
        located(
            parse_section(ExecutionOptions, tables.get("execution", {}), "execution", source),
            "execution",
            source,
        ),
    )
    _check(plan)
    return plan


def _check(plan: Plan) -> None:
    """Refuse a plan without the documents that its runs need."""
    data, folds, file = plan.data, plan.options.folds, plan.source.file
    draws = any(variant.seed for variant in plan.variants)
    if (draws or folds) and not data.seed:
        what = "[experiment] folds" if folds else "[seed]"
        raise ConfigurationError(f"{file}: {what} needs annotated documents: name [data] seed")
    if folds and data.test:
        raise ConfigurationError(
            f"{file}: with [experiment] folds, each fold is the test documents in turn; remove "
            "[data] test"
        )
    if not folds and not data.validation:
        raise ConfigurationError(
            f"{file}: [data] names no validation documents; without them, set [experiment] folds "
            "for cross-validation"
        )
    if folds == 2 and not data.validation:
        raise ConfigurationError(
            f"{file}: [experiment] folds = 2: one fold is test, the next one validation, and none "
            "is left for training; expected 3 or more, or [data] validation"
        )
    names: set[str] = set()
    for variant in plan.variants:
        if variant.name in names:
            raise ConfigurationError(
                f"{file}: two variants have the name {variant.name}; rename one of them"
            )
        names.add(variant.name)
        if variant.method == "full-supervision" and not data.seed:
            raise ConfigurationError(
                f'{file}: method = "full-supervision" needs all annotated documents: name [data] '
                "seed"
            )
        needs_pool = variant.method in ("self-training", "active") and not variant.seed
        if needs_pool and not data.unlabeled:
            raise ConfigurationError(
                f"{file}: variant {variant.name} needs unlabeled documents: name [data] "
                "unlabeled, or draw seeds with [seed], so that the others are unlabeled"
            )


def _variants(tables: Tables, source: Source) -> Iterator[Variant]:
    """Yield each variant with each point of the grid."""
    named = table_of(tables, "variants", source) or {"": {}}
    points = list(_points(tables, source))
    base = {name: tables[name] for name in tables if name not in _NOT_OF_RUNS}
    if "seed" in tables:
        base["seed"] = table_of(tables, "seed", source)
    for name, table in named.items():
        method, uses_grid, settings = _parse_variant(name, table, source)
        used = points if uses_grid else [()]
        if method != "active":
            _refuse_active(name, method, settings, used, source)
        kept = {key: value for key, value in base.items() if settings.get(key) != {}}
        changed = _merged(kept, settings)
        for point in used:
            yield _variant(name, method, changed, point, source)
    _refuse_unused_active(tables, named, source)


def _refuse_active(
    name: str, method: Method, settings: Tables, points: Sequence[_Point], source: Source
) -> None:
    """Refuse settings of active learning in a variant of another method."""
    if "active" in settings or any(keys[0] == "active" for point in points for keys, _ in point):
        where = f"[variants.{name}]" if name else "[grid]"
        raise ConfigurationError(
            f'{source.file}: {where} has settings of [active], but method = "{method}"; set '
            'method = "active", or grid = false where the grid is for other variants'
        )


def _refuse_unused_active(tables: Tables, variants: Tables, source: Source) -> None:
    """Refuse ``[active]`` if it applies to no variant."""
    methods = [table.get("method", METHODS[0]) for table in variants.values()]
    if "active" in tables and "active" not in methods:
        raise ConfigurationError(
            f'{source.file}: [active] applies to no variant; add one with method = "active", or '
            "remove the section"
        )


def _parse_variant(name: str, table: Any, source: Source) -> tuple[Method, bool, Tables]:
    """Return the method of a variant, whether the grid applies to it, and its settings."""
    where = f"{source.file}: [variants.{name}]"
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where} must be a section")
    refuse_unknown(table, (*_VARIANT_KEYS, *SECTIONS, "seed"), source, f"variants.{name}")
    method, uses_grid = table.get("method", METHODS[0]), table.get("grid", True)
    if method not in METHODS:
        expected = ", ".join(f'"{known}"' for known in METHODS)
        raise ConfigurationError(f"{where} method = {method!r}: expected one of {expected}")
    if not isinstance(uses_grid, bool):
        raise ConfigurationError(f"{where} grid = {uses_grid!r}: expected true or false")
    settings = {key: value for key, value in table.items() if key not in _VARIANT_KEYS}
    for section in settings:
        _refuse_common((section,), where)
        table_of(settings, section, source)
    return cast(Method, method), uses_grid, settings


def _refuse_common(keys: Sequence[str], where: str) -> None:
    """Refuse a setting that cannot differ between the runs of an experiment."""
    if keys[0] in _COMMON:
        raise ConfigurationError(
            f"{where}: [{keys[0]}] is the same in all runs of an experiment; write another "
            "experiment file"
        )
    if tuple(keys) == ("loop", "random_state"):
        raise ConfigurationError(f"{where}: loop.random_state is set by [experiment] random_states")


def _points(tables: Tables, source: Source) -> Iterator[_Point]:
    """Yield the points of the grid; one without settings if there is no grid."""
    axes = list(_axes(table_of(tables, "grid", source), (), source))
    for keys, values in axes:
        _refuse_common(keys, f"{source.file}: [grid]")
        if len({repr(value) for value in values}) < len(values):
            raise ConfigurationError(f"{source.file}: [grid] {'.'.join(keys)} has a value twice")
    number = math.prod(len(values) for _, values in axes)
    if number > MOST_POINTS:
        raise ConfigurationError(
            f"{source.file}: [grid] has {number:,} combinations; expected at most {MOST_POINTS:,}"
        )
    for point in itertools.product(*(values for _, values in axes)):
        yield tuple((keys, value) for (keys, _), value in zip(axes, point, strict=True))


def _axes(
    table: Tables, keys: tuple[str, ...], source: Source
) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield the keys of each setting of the grid, and its values."""
    for key, value in table.items():
        path = (*keys, key)
        if isinstance(value, Mapping):
            yield from _axes(value, path, source)
        elif len(path) < 2 or not isinstance(value, list) or not value:
            raise ConfigurationError(
                f"{source.file}: [grid] {'.'.join(path)}: expected SECTION.KEY = a list of values"
            )
        else:
            yield path, value


def _variant(name: str, method: Method, tables: Tables, point: _Point, source: Source) -> Variant:
    """Return a variant at a point of the grid."""
    changed = dict(tables)
    for keys, value in point:
        setting = reduce(lambda inner, key: {key: inner}, reversed(keys), value)
        changed = _merged(changed, setting)
    if "random_state" in table_of(changed, "loop", source):
        _refuse_common(("loop", "random_state"), source.file)
    settings = ", ".join(f"{'.'.join(keys)}={_text(value)}" for keys, value in point)
    seed = changed.pop("seed", None)
    return Variant(
        ", ".join(filter(None, (name, settings))) or method,
        method,
        changed,
        None if seed is None else parse_section(SeedOptions, seed, "seed", source),
    )


def _text(value: Any) -> str:
    """Write a value as in TOML, in a short form."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)


def _merged(tables: Tables, others: Tables) -> dict[str, Any]:
    """Return tables with their settings overridden by other tables."""
    merged = copy.deepcopy(dict(tables))
    for key, value in others.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = _merged(merged[key], value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged
