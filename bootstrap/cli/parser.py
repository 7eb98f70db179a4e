"""The parser of all commands."""

from __future__ import annotations

import logging

from bootstrap.cli.arguments import CommandParser, add_commands
from bootstrap.cli.commands import (
    audit,
    check,
    cluster,
    convert,
    count,
    demo,
    embed,
    evaluate,
    experiment,
    export,
    gazetteer,
    help,
    report,
    run,
    show,
    tag,
)


def build_parser() -> CommandParser:
    """Build the parser of all commands.

    The parsed options have the function `main` of a command, its `parser`, and this parser as
    `root`. Where no command is named, `main` is None and `parser` is that of the group.
    """
    parser = CommandParser(
        prog="bootstrap",
        description="Train taggers that find protected health information in clinical notes from "
        "a few annotated notes and many unlabeled ones, by self-training.",
    )
    parser.set_defaults(verbosity=logging.INFO, log=None, root=parser)
    commands = add_commands(parser)
    demo.register(commands)
    help.register_init(commands)
    for command in (check, run, experiment, tag, evaluate, export, audit, convert, count):
        command.register(commands)
    for command in (embed, cluster, gazetteer, show, report, help):
        command.register(commands)
    return parser
