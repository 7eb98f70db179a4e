"""The part of the command line that is about gazetteers."""

from __future__ import annotations

import argparse
from pathlib import Path

from bootstrap.cli.parsing import command, positive


def add_gazetteer(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parsers of ``gazetteer import``, ``merge`` and ``show``."""
    _import(commands)

    merge = command(commands, "gazetteer merge", "put gazetteers together")
    merge.add_argument("sources", type=Path, nargs="+", metavar="FILE", help="gazetteers")
    _output(merge)

    show = command(commands, "gazetteer show", "show what a gazetteer has, or has of a term")
    show.add_argument("gazetteer", type=Path, metavar="FILE", help="a gazetteer")
    show.add_argument("term", nargs="?", metavar="TERM", help="whatever its case and accents")
    show.add_argument(
        "-n",
        "--number",
        type=positive,
        metavar="N",
        help="of terms listed (10 of a class, 5 of those that a word is a part of)",
    )


def _import(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = command(commands, "gazetteer import", "make a gazetteer of CSV or TSV files")
    parser.add_argument("sources", type=Path, nargs="+", metavar="FILE", help="CSV or TSV")
    _output(parser)
    classes = parser.add_mutually_exclusive_group()
    classes.add_argument(
        "--class",
        dest="class_name",
        metavar="CLASS",
        help="of all terms (the name of the column of terms)",
    )
    classes.add_argument("--class-column", metavar="COLUMN", help="has the class of each term")
    parser.add_argument(
        "--term",
        nargs="+",
        metavar="COLUMN",
        help="of terms; several are put together with a space (a well-known name, or the only "
        "column of text)",
    )
    parser.add_argument(
        "--count",
        nargs="*",
        metavar="COLUMN",
        help="of counts; several are added up, and with none each row counts 1 (a well-known "
        "name, or the only column of whole numbers)",
    )
    parser.add_argument(
        "--delimiter", metavar="D", help="between columns: a character, or tab (that of the header)"
    )
    parser.add_argument(
        "--encoding", help="of the files (by a byte-order mark; utf-8, or else cp1252)"
    )
    parser.add_argument(
        "--width",
        type=positive,
        metavar="N",
        help="digits of a term that is a number: zeros on its left (5 in columns of postal codes)",
    )
    parser.add_argument(
        "--invalid",
        choices=("stop", "skip"),
        default="stop",
        help="rows that cannot be used: stop, or leave them out and count them",
    )


def _output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="a new Parquet file"
    )
