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
from corpus.errors import Problems, shown
from corpus.formats import WriteReport, write

_NAMED = 20  # columns or labels that a line names


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
    """Name the labels that were dropped."""
    return _counted_line("spans of labels that are not in [labels]", dropped)


def written_lines(written: WriteReport, target: Path, problems: Problems) -> Sequence[str]:
    """Report the documents written, and annotations and columns that were left out."""
    lost = [f"{count:,} {what}" for what, count in written.left_out.items()]
    return [
        f"{written.documents:,} documents with {written.spans:,} spans are in {target}",
        *([f"left out, not supported by the format: {', '.join(lost)}"] if lost else []),
        *_counted_line("columns or keys that are not part of a note", problems.unused),
    ]


def _counted_line(what: str, counts: Mapping[str, int]) -> list[str]:
    """Return a line with names that are not written and their counts, if there are any."""
    if not counts:
        return []
    named = [f"{shown(name)} ({count:,})" for name, count in sorted(counts.items())]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return [f"left out, {what}: {', '.join(named[:_NAMED])}{more}"]
