"""The parser of all commands."""

from __future__ import annotations

import logging

from bootstrap.cli.arguments import CommandParser, add_commands, add_group
from bootstrap.cli.commands import (
    active,
    audit,
    check,
    cluster,
    completion,
    convert,
    count,
    crossvalidate,
    demo,
    embed_load,
    embed_show,
    embed_train,
    evaluate,
    experiment,
    export,
    gazetteer_import,
    gazetteer_merge,
    gazetteer_show,
    help,
    init,
    plot,
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
    for command in (demo, init, check, run, active, experiment, crossvalidate):
        command.register(commands)
    for command in (tag, evaluate, export, audit, convert, count):
        command.register(commands)
    embed = add_group(commands, "embed", "train, load and inspect word embeddings")
    for command in (embed_train, embed_load, embed_show):
        command.register(embed)
    cluster.register(commands)
    gazetteer = add_group(commands, "gazetteer", "import, merge and inspect gazetteers")
    for command in (gazetteer_import, gazetteer_merge, gazetteer_show):
        command.register(gazetteer)
    for command in (show, report, plot, help, completion):
        command.register(commands)
    return parser
