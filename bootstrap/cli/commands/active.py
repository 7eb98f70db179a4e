"""``bootstrap active``: rounds of active learning."""

from __future__ import annotations

import argparse

from bootstrap.cli.arguments import Commands, add_command
from bootstrap.cli.commands.run import add_run_arguments, run_and_report
from corpus.errors import InputError, shown


def register(commands: Commands) -> None:
    """Add the command."""
    summary = "train a tagger on rounds of annotated documents that it chooses itself"
    # Another folder than that of `bootstrap run` with the same configuration.
    add_run_arguments(add_command(commands, "active", main, summary), suffix="-active")


def main(options: argparse.Namespace) -> None:
    """Run active learning, and print the gain, the run folder and the next commands.

    Raises
    ------
    InputError
        If the configuration has no section ``[active]``.
    """
    from bootstrap.config.active_options import LACKS_ACTIVE
    from bootstrap.config.configuration import load_configuration

    configuration = load_configuration(options.config, options.overrides)
    if configuration.active is None:
        raise InputError(LACKS_ACTIVE.format(shown(options.config)))
    run_and_report(configuration, options)
