"""``bootstrap init``: a configuration to start from."""

from __future__ import annotations

import argparse

from bootstrap.cli.console import say
from bootstrap.config.template import commented_template
from corpus.errors import InputError


def main(options: argparse.Namespace) -> None:
    """Write ``config.toml`` into a folder; one that is there stays as it is."""
    path = options.folder / "config.toml"
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(commented_template())
    except FileExistsError:
        raise InputError(f"{path} exists already and is not overwritten") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    say(
        [
            f"{path} has every setting with its default.",
            "Say in [data] where your notes are, then type:",
            f"  bootstrap check {path}",
            f"  bootstrap run {path} --out runs/NAME",
        ]
    )
