"""``bootstrap convert``: notes in another format."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.commands.console import report_problems, say
from corpus.corpora import read_corpus
from corpus.errors import shown
from corpus.formats import Columns, WriteReport, write
from corpus.problems import Problems

_NAMED = 20  # columns or keys that a line names


def main(options: argparse.Namespace) -> None:
    """Read a corpus and write it in another format."""
    problems, columns = problems_of(options), columns_of(options)
    documents = read_corpus(
        options.source, format=options.source_format, columns=columns, problems=problems
    )
    written = write(documents, options.target, format=options.target_format, columns=columns)
    report_problems(problems)
    say(written_lines(written, options.target, problems))


def columns_of(options: argparse.Namespace) -> Columns:
    """Give the names of columns on the command line."""
    return Columns(
        options.id_column, options.text_column, options.label_column, options.group_column
    )


def problems_of(options: argparse.Namespace) -> Problems:
    """Give a list of problems with the rules on the command line."""
    return Problems(conflicts=options.conflicts, invalid=options.invalid)


def written_lines(written: WriteReport, target: Path, problems: Problems) -> Sequence[str]:
    """Say what was written, what the format could not hold and what of the source is not kept."""
    lost = [f"{count:,} {what}" for what, count in written.left_out.items()]
    return [
        f"{written.documents:,} documents with {written.spans:,} spans are in {target}",
        *([f"left out, since the format has no place for it: {', '.join(lost)}"] if lost else []),
        *_unused_lines(problems.unused),
    ]


def _unused_lines(unused: Mapping[str, int]) -> list[str]:
    """Name the columns or keys of the source that are not written."""
    if not unused:
        return []
    named = [f"{shown(name)} ({count:,})" for name, count in sorted(unused.items())]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return [
        f"left out, columns or keys that are no part of a note: {', '.join(named[:_NAMED])}{more}"
    ]
