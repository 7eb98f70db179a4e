"""What the parsers of all commands share."""

from __future__ import annotations

import argparse


def command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, help: str
) -> argparse.ArgumentParser:
    """Add the parser of a command."""
    return commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")


def positive(text: str) -> int:
    """Read a whole number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number of 1 or more")
    return int(text)


def natural(text: str) -> int:
    """Read a whole number of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number of 0 or more")
    return int(text)
