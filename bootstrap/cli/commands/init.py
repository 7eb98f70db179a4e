"""``bootstrap init``: a new configuration."""

from __future__ import annotations

import argparse
from pathlib import Path

from bootstrap.cli.arguments import Commands, add_command
from corpus.errors import InputError


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "init", main, "write a commented configuration with every setting"
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write config.toml")


def main(options: argparse.Namespace) -> None:
    """Write ``config.toml`` into a folder; an existing one is not overwritten."""
    from bootstrap.cli.console import print_lines
    from bootstrap.config.template import commented_template

    path = options.folder / "config.toml"
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(commented_template())
    except FileExistsError:
        raise InputError(f"{path} exists already and is not overwritten") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    print_lines(
        [
            f"{path} has every setting with its default.",
            "Set the paths of your notes in [data], then:",
            f"  bootstrap check {path}",
            f"  bootstrap run {path} --out runs/NAME",
        ]
    )
