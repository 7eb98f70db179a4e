"""The configurations of the runs of an experiment."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from bootstrap.config.configuration import Configuration, parse_configuration
from bootstrap.config.overrides import ConfigurationError
from bootstrap.experiments.documents import RunFiles, data_table
from bootstrap.experiments.plan import Plan, Variant

#: Methods that train on annotated documents alone.
_SUPERVISED = ("supervised", "full-supervision")


def configuration_of(
    plan: Plan, variant: Variant, files: RunFiles, random_state: int
) -> Configuration:
    """Build the configuration of a run on some files, with a random state.

    Raises
    ------
    ConfigurationError
        If a setting does not exist or has an invalid value.
    """
    tables: dict[str, Any] = copy.deepcopy(dict(variant.tables))
    tables["data"] = data_table(plan, files)
    # Without the final model, since validation chooses in one run and is scored in another.
    tables["loop"] = {"refit": False, **tables.get("loop", {}), "random_state": random_state}
    if variant.method in _SUPERVISED:
        tables["loop"]["iterations"] = 0
        tables.pop("later_tagger", None)  # there is no later iteration
        if files.seed:
            tables.pop("initial_model", None)
    if variant.method == "active":
        tables["active"] = _active(plan, dict(tables.get("active", {})), files)
    else:
        tables.pop("active", None)
    return parse_configuration(tables, plan.source)


def _active(plan: Plan, table: dict[str, Any], files: RunFiles) -> dict[str, Any]:
    """Complete ``[active]``: the documents that are not in a drawn seed answer."""
    if "gold" in table:
        columns = plan.data.columns_with(table.get("gold_columns", {}))
        return {**table, "gold_columns": asdict(columns)}
    if not files.others:
        raise ConfigurationError(
            f"{plan.source.file}: active learning needs documents to annotate: draw seeds with "
            "[seed], so that the others are annotated, or name [active] gold"
        )
    return {**table, "gold": files.others}


def check_variants(plan: Plan, *, resources: bool = False) -> None:
    """Check the settings of all variants, before any document is read.

    With `resources`, the gazetteers, embeddings and other files that taggers name are checked, too.

    Raises
    ------
    ConfigurationError
        If the configuration of a variant is invalid, or a file is missing or of another kind.
    """
    checked, seed = set(), "seed" if plan.data.seed else ""
    for variant in plan.variants:
        try:
            drawn = "others" if variant.seed and variant.method != "full-supervision" else ""
            files = RunFiles(seed, "validation", "test", "unlabeled", drawn)  # not written yet
            configuration = configuration_of(plan, variant, files, plan.options.random_states[0])
            named = repr((configuration.taggers(), configuration.augment))
            if resources and named not in checked:
                configuration.check()
                checked.add(named)
        except ConfigurationError as error:
            raise ConfigurationError(f"{error} (variant {variant.name})") from None


def needs_embeddings(configurations: Iterable[Configuration]) -> bool:
    """Return whether a run of these configurations trains its own embeddings."""
    asked: list[bool] = []
    for configuration in configurations:
        for section in configuration.taggers().values():
            section.options.with_embeddings(lambda: asked.append(True))
    return bool(asked)
