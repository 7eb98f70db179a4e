"""``bootstrap gazetteer merge``: several gazetteers become one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bootstrap.cli.console import say
from corpus.errors import InputError, shown
from corpus.storage import refuse_existing
from gazetteers.gazetteer import Gazetteer, merged


def main(options: argparse.Namespace) -> None:
    """Put gazetteers together, and write the sums."""
    refuse_existing(options.output)
    refuse_repeated(options.sources)
    gazetteer = merged([Gazetteer.load(path) for path in options.sources])
    gazetteer.save(options.output)
    say([sizes_line(gazetteer, options.output)])


def refuse_repeated(paths: Sequence[Path]) -> None:
    """Raise an `InputError` if a file is named twice: its counts would be twice as high."""
    seen: set[Path] = set()
    for path in paths:
        found = path.resolve()
        if found in seen:
            raise InputError(f"{shown(path)} is named twice; expected different files")
        seen.add(found)


def sizes_line(gazetteer: Gazetteer, path: Path) -> str:
    """Say how much there is of each class."""
    sizes = ", ".join(
        f"{shown(each.name)} {each.terms:,} ({each.count:,} in all)" for each in gazetteer.sizes()
    )
    return f"{len(gazetteer):,} terms are in {shown(path)}: {sizes}"
