"""``bootstrap completion``: completion of commands and options in a shell."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bootstrap.cli.arguments import Commands, add_command

#: The shells that `shtab` supports.
_SHELLS = ("bash", "zsh", "tcsh")
#: Arguments that are not of the type Path, but may name a file.
_FILES = ("source", "gold", "predicted")


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "completion", main, "print a completion script for a shell")
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))


def main(options: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    import shtab

    _complete_files(options.root, shtab.FILE, shtab.DIRECTORY)
    sys.stdout.write(shtab.complete(options.root, options.shell) + "\n")


def _complete_files(parser: argparse.ArgumentParser, file: object, folder: object) -> None:
    """Mark the arguments of all commands that are files and folders, for `shtab`."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command, file, folder)
        elif action.type is Path or action.dest in _FILES:
            action.complete = (  # type: ignore[attr-defined]
                folder if action.metavar in ("DIR", "RUN") else file
            )
