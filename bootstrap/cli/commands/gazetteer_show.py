"""``bootstrap gazetteer show``: what a gazetteer has, and what it says of a term."""

from __future__ import annotations

import argparse

import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

from bootstrap.cli.console import output, say
from corpus.errors import InputError, shown
from gazetteers.folding import fold
from gazetteers.gazetteer import Gazetteer

#: Terms that are listed of a class, and of those that a word is a part of.
_OF_CLASS, _OF_WORD = 10, 5


def main(options: argparse.Namespace) -> None:
    """Show the classes of a gazetteer, or what it has of a term."""
    gazetteer = Gazetteer.load(options.gazetteer)
    if options.term is None:
        _show_classes(gazetteer, options.number or _OF_CLASS)
        return
    term = " ".join(fold([" ".join(options.term.split())])[0].split())
    if not _show_term(gazetteer, term, options.number or _OF_WORD):
        raise InputError(
            f"{shown(options.gazetteer)}: it has no such term, and none with this word; "
            "bootstrap gazetteer show without a term says what it has"
        )


def _show_classes(gazetteer: Gazetteer, number: int) -> None:
    """Say how much there is of each class, and what is the most frequent."""
    for each in gazetteer.sizes():
        say([f"{shown(each.name)}: {each.terms:,} terms, {each.count:,} in all"])
        _list(gazetteer.table().filter(pc.equal(gazetteer.classes, each.name)), number)


def _show_term(gazetteer: Gazetteer, term: str, number: int) -> bool:
    """Say what a term counts in each class, and what terms it is a part of, if there are any."""
    sizes = {each.name: each.count for each in gazetteer.sizes()}
    found = gazetteer.rows_of_term(term).to_pylist()
    for row in found:
        share = row["count"] / max(sizes[row["class"]], 1)
        say([f"{shown(row['class'])}: {row['count']:,}, {share:.4%} of {sizes[row['class']]:,}"])
    parts = gazetteer.rows_with_word(term) if term and " " not in term else None
    if parts is None or not len(parts):
        return bool(found)
    if not found:
        say(["no term of its own"])
    for name in sizes:
        of_class = parts.filter(pc.equal(parts["class"], name))
        if len(of_class):
            total = pc.sum(of_class["count"]).as_py()
            say([f"{shown(name)}: part of {len(of_class):,} terms, {total:,} in all"])
            _list(of_class, number)
    return True


def _list(rows: pa.Table, number: int) -> None:
    """List the first terms: they are the most frequent."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 1))
    table.add_column()
    table.add_column(justify="right")
    for row in rows.slice(0, number).to_pylist():
        table.add_row(shown(row["term"]), f"{row['count']:,}")
    output.print(table)
