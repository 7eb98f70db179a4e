"""``bootstrap crossvalidate``: cross-validation of a configuration on its annotated notes."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

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
    from bootstrap.experiments.crossvalidation import crossvalidation_tables
    from bootstrap.experiments.plan import parse_plan

    tables, origins = overridden(read_tables(options.config), options.overrides)
    if isinstance(data := tables.get("data"), dict) and data.get("test"):
        _log.warning("[data] test is not used: each fold of [data] seed is test in turn")
    tables = crossvalidation_tables(
        tables,
        folds=options.folds,
        methods=options.methods or (),
        random_states=options.random_states or (0,),
    )
    config = options.config
    plan = parse_plan(tables, Source(str(config), config.parent, origins))
    run_or_list(plan, options.out or Path("runs") / f"{name_of(config)}-folds", options)
