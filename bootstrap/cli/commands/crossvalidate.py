"""``bootstrap crossvalidate``: cross-validation of a configuration on its annotated notes."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bootstrap.cli.arguments import Commands, add_command, add_configuration, add_list, natural
from bootstrap.cli.commands.experiment import add_experiment_arguments, run_or_list

_log = logging.getLogger(__name__)

#: The folds of the paper (003, table 4.2).
_FOLDS = 7


def register(commands: Commands) -> None:
    """Add the command."""
    summary = "cross-validate a configuration on its annotated notes, by patient"
    parser = add_command(commands, "crossvalidate", main, summary)
    add_configuration(parser)
    parser.add_argument(
        "--folds",
        type=natural,
        default=_FOLDS,
        metavar="K",
        help=f"number of folds of [data] seed (default: {_FOLDS})",
    )
    add_list(
        parser,
        "--methods",
        str,
        metavar="NAME",
        help="what is compared: supervised, self-training, active (default: supervised, and "
        "self-training if [data] names unlabeled notes)",
    )
    add_list(
        parser,
        "--random-states",
        natural,
        metavar="N",
        help="seeds of the random number generator (default: 0)",
    )
    add_experiment_arguments(parser, "runs/NAME-folds, named after CONFIG or its folder")


def main(options: argparse.Namespace) -> None:
    """Train on all folds but one, score on it, and print the mean of all folds."""
    from bootstrap.cli.commands.run import name_of
    from bootstrap.config.configuration import read_tables
    from bootstrap.config.overrides import Source, overridden
    from bootstrap.experiments.plan import parse_plan

    tables, origins = overridden(read_tables(options.config), options.overrides)
    states = options.random_states or [0]
    tables = _tables_of(tables, options.folds, options.methods or (), states)
    config = options.config
    plan = parse_plan(tables, Source(str(config), config.parent, origins))
    run_or_list(plan, options.out or Path("runs") / f"{name_of(config)}-folds", options)


def _tables_of(
    tables: Mapping[str, Any], folds: int, methods: Sequence[str], random_states: list[int]
) -> dict[str, Any]:
    """Return the tables of an experiment that cross-validates a configuration.

    The folds are those of ``[data] seed``. Each is the test documents in turn. ``[data]
    validation``, or else the next fold, determines when to stop.

    Raises
    ------
    ConfigurationError
        If there are fewer than two folds, a method twice, or sections of an experiment.
    """
    from bootstrap.config.overrides import ConfigurationError
    from bootstrap.experiments.plan import OWN_SECTIONS

    if folds < 2:
        raise ConfigurationError(f"--folds {folds}: expected 2 or more")
    for section in OWN_SECTIONS:
        if section in tables:
            raise ConfigurationError(
                f"[{section}] belongs to an experiment: carry it out with `bootstrap experiment`, "
                "where [experiment] folds sets the number of folds"
            )
    data = tables.get("data")
    data = dict(data) if isinstance(data, Mapping) else {}
    if data.pop("test", None):
        _log.warning("[data] test is not used: each fold of [data] seed is test in turn")
    names = methods or ["supervised", *(["self-training"] if data.get("unlabeled") else [])]
    if len(set(names)) < len(names):
        raise ConfigurationError(f"--methods {','.join(names)}: a method is named twice")
    return {
        **{key: value for key, value in tables.items() if key != "active" or key in names},
        "data": data,
        "experiment": {"folds": folds, "random_states": random_states},
        "variants": {name: {"method": name} for name in names},
    }
