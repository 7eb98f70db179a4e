"""What several commands are told about notes."""

from __future__ import annotations

import argparse

from corpus.formats import Columns
from corpus.problems import Problems


def columns_of(options: argparse.Namespace) -> Columns:
    """Give the names of columns on the command line."""
    return Columns(
        options.id_column, options.text_column, options.label_column, options.group_column
    )


def problems_of(options: argparse.Namespace) -> Problems:
    """Give a list of problems with the rules on the command line."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)
