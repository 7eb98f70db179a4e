"""``bootstrap init``: a new configuration."""

from __future__ import annotations

import argparse
from pathlib import Path

from bootstrap.cli.arguments import Commands, add_command


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "init", main, "write a commented configuration with every setting"
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write config.toml")


def main(options: argparse.Namespace) -> None:
    """Write ``config.toml`` into a folder; an existing one is not overwritten."""
    from bootstrap.cli.console import print_lines
    from bootstrap.config.settings import commented_template
    from corpus.storage.atomic import new_file

    path = options.folder / "config.toml"
    with new_file(path) as file:
        file.write(commented_template().encode())
    print_lines(
        [
            f"{path} has every setting with its default.",
            "Set the paths of your notes in [data], then:",
            f"  bootstrap check {path}",
            f"  bootstrap run {path} --out runs/NAME",
        ]
    )
