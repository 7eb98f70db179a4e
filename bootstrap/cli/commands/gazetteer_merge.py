"""``bootstrap gazetteer merge``: one gazetteer of several."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import Commands, add_command, add_output
from corpus.errors import InputError, shown
from gazetteers.builtin import BUILTIN_LISTS

if TYPE_CHECKING:
    from gazetteers.gazetteer import Gazetteer


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "merge", main, "merge gazetteers and add up their counts")
    parser.add_argument(
        "sources",
        type=Path,
        nargs="+",
        metavar="FILE",
        help=f"gazetteers, or builtin lists: {', '.join(BUILTIN_LISTS)}",
    )
    add_output(parser, "a new Parquet file")


def main(options: argparse.Namespace) -> None:
    """Merge gazetteers and write the sums of their counts."""
    from bootstrap.cli.console import print_lines
    from corpus.storage.atomic import refuse_existing
    from gazetteers.builtin import read_gazetteer
    from gazetteers.gazetteer import merge

    refuse_existing(options.output)
    refuse_repeated(options.sources)
    gazetteer = merge([read_gazetteer(str(path)) for path in options.sources])
    gazetteer.save(options.output)
    print_lines([sizes_line(gazetteer, options.output)])


def refuse_repeated(paths: Sequence[Path]) -> None:
    """Raise an `InputError` if a file is named twice: its counts would be doubled."""
    seen: set[Path] = set()
    for path in paths:
        found = path.resolve()
        if found in seen:
            raise InputError(f"{shown(path)} is named twice; expected different files")
        seen.add(found)


def sizes_line(gazetteer: Gazetteer, path: Path) -> str:
    """Return the numbers of terms and occurrences of each class."""
    sizes = ", ".join(
        f"{shown(each.name)} {each.terms:,} ({each.count:,} in all)" for each in gazetteer.sizes()
    )
    terms = "1 term is" if len(gazetteer) == 1 else f"{len(gazetteer):,} terms are"
    return f"{terms} in {shown(path)}: {sizes}"
