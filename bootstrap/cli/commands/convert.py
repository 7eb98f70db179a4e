"""``bootstrap convert``: notes in another format."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.cli.console import print_report, report_problems
from bootstrap.cli.inputs import (
    columns_of,
    label_map_of,
    problems_of,
    read_notes,
    with_label_map,
)
from corpus.errors import Problems, quoted
from corpus.formats import WriteReport, write

_NAMED = 20  # labels that a line names


def main(options: argparse.Namespace) -> None:
    """Read a corpus and write it in another format."""
    problems, dropped = problems_of(options), Counter[str]()
    documents = with_label_map(read_notes(options, problems), label_map_of(options), dropped)
    written = write(
        documents, options.target, format=options.target_format, columns=columns_of(options)
    )
    report_problems(problems)
    lines = [*written_lines(written, options.target, problems), *dropped_lines(dropped)]
    print_report(lines, options.target)


def dropped_lines(dropped: Mapping[str, int]) -> list[str]:
    """Name the labels that were dropped, and count their spans."""
    if not dropped:
        return []
    named = [f"{quoted(name)} ({count:,})" for name, count in sorted(dropped.items())]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    labels = f"{', '.join(named[:_NAMED])}{more}"
    return [f"left out, spans of labels that are not in [labels]: {labels}"]


def written_lines(written: WriteReport, target: Path, problems: Problems) -> Sequence[str]:
    """Report the documents written, and annotations and columns that were left out."""
    unused = len(problems.unused)
    lost = [f"{count:,} {what}" for what, count in written.left_out.items()]
    return [
        f"{written.documents:,} documents with {written.spans:,} spans are in {target}",
        *([f"left out, not supported by the format: {', '.join(lost)}"] if lost else []),
        *([f"left out, not part of a note: {unused:,} columns or keys"] if unused else []),
    ]
