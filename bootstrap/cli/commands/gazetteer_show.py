"""``bootstrap gazetteer show``: the contents of a gazetteer, or its entries of a term."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import Commands, add_command, positive
from corpus.errors import InputError, shown
from gazetteers.builtin import BUILTIN_LISTS

if TYPE_CHECKING:
    import pyarrow as pa

    from gazetteers.gazetteer import Gazetteer

#: Number of terms listed of a class, and of those that contain a word.
_OF_CLASS, _OF_WORD = 10, 5


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "show", main, "show the classes of a gazetteer, or a term")
    parser.add_argument(
        "gazetteer",
        metavar="FILE",
        help=f"a gazetteer, or a builtin list: {', '.join(BUILTIN_LISTS)}",
    )
    parser.add_argument(
        "term", nargs="?", metavar="TERM", help="a term; case and accents are ignored"
    )
    parser.add_argument(
        "-n",
        "--number",
        type=positive,
        metavar="N",
        help=f"number of terms listed (default: {_OF_CLASS} of a class, {_OF_WORD} that contain a "
        "word)",
    )


def main(options: argparse.Namespace) -> None:
    """Print the classes of a gazetteer, or its entries of a term."""
    from gazetteers.builtin import read_gazetteer
    from gazetteers.folding import fold

    gazetteer = read_gazetteer(options.gazetteer)
    if options.term is None:
        _show_classes(gazetteer, options.number or _OF_CLASS)
        return
    term = " ".join(fold([" ".join(options.term.split())])[0].split())
    if not _show_term(gazetteer, term, options.number or _OF_WORD):
        raise InputError(
            f"{shown(options.gazetteer)}: no such term, and none that contains this word; "
            "bootstrap gazetteer show without a term lists the classes"
        )


def _show_classes(gazetteer: Gazetteer, number: int) -> None:
    """Print the size of each class and its most frequent terms."""
    import pyarrow.compute as pc

    from bootstrap.cli.console import print_lines

    for each in gazetteer.sizes():
        print_lines([f"{shown(each.name)}: {each.terms:,} terms, {each.count:,} in all"])
        _list(gazetteer.table().filter(pc.equal(gazetteer.classes, each.name)), number)


def _show_term(gazetteer: Gazetteer, term: str, number: int) -> bool:
    """Print the count of a term in each class and the terms that contain it, if there are any."""
    import pyarrow.compute as pc

    from bootstrap.cli.console import print_lines

    sizes = {each.name: each.count for each in gazetteer.sizes()}
    found = gazetteer.rows_of_term(term).to_pylist()
    for row in found:
        name, total = row["class"], sizes[row["class"]]
        share = row["count"] / max(total, 1)
        print_lines([f"{shown(name)}: {row['count']:,}, {share:.4%} of {total:,}"])
    parts = gazetteer.rows_with_word(term) if term and " " not in term else None
    if parts is None or not len(parts):
        return bool(found)
    if not found:
        print_lines(["not a term itself"])
    for name in sizes:
        of_class = parts.filter(pc.equal(parts["class"], name))
        if len(of_class):
            total = pc.sum(of_class["count"]).as_py()
            print_lines([f"{shown(name)}: part of {len(of_class):,} terms, {total:,} in all"])
            _list(of_class, number)
    return True


def _list(rows: pa.Table, number: int) -> None:
    """Print the first terms, which are the most frequent."""
    from bootstrap.cli.console import print_pairs

    first = rows.slice(0, number).to_pylist()
    print_pairs((shown(row["term"]), f"{row['count']:,}") for row in first)
