"""``bootstrap convert``: notes in another format."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.console import print_report, report_problems
from bootstrap.cli.inputs import columns_of, label_map_of, problems_of, read_note_batches
from corpus.errors import InputError, Problems, number_of, quoted
from corpus.formats import FORMATS, WriteReport, target_of, write_batches
from corpus.formats.batches import relabelled, with_column
from taggers.morphology.languages import check_languages, find_languages

if TYPE_CHECKING:
    import pyarrow as pa

_NAMED = 20  # labels or columns that a line names


def main(options: argparse.Namespace) -> None:
    """Read a corpus and write it in another format."""
    problems, dropped = problems_of(options), Counter[str]()
    columns, labels = columns_of(options), label_map_of(options)
    target = target_of(options.target, format=options.target_format, columns=columns)
    row = FORMATS[target.format]
    if options.languages and "other columns" not in row.keeps:
        raise InputError(
            f"--languages adds a column, which {row.name} has not: write Parquet, CSV or JSONL"
        )
    batches = read_note_batches(options, problems, carry=row.carry)
    if options.languages:
        check_languages(options.languages)
        batches = (_with_languages(batch, options.languages) for batch in batches)
    written = write_batches(
        (relabelled(batch, labels, dropped) for batch in batches),
        target.path,
        format=target.format,
        columns=columns,
    )
    report_problems(problems)
    lines = [*written_lines(written, options.target, problems), *dropped_lines(dropped)]
    print_report(lines, options.target)


def _with_languages(batch: pa.RecordBatch, languages: Sequence[str]) -> pa.RecordBatch:
    """Add the language of each note as a column."""
    texts = batch.column("text").to_pylist()
    return with_column(batch, "language", find_languages(texts, languages))


def dropped_lines(dropped: Mapping[str, int]) -> list[str]:
    """Name the labels that were dropped, and count their spans."""
    line = f"left out, spans of labels that are not in [labels]: {_named(dropped)}"
    return [line] if dropped else []


def _named(counts: Mapping[str, int]) -> str:
    return _listed([f"{quoted(name)} ({count:,})" for name, count in sorted(counts.items())])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def written_lines(written: WriteReport, target: Path, problems: Problems) -> Sequence[str]:
    """Report the documents written, and annotations and columns that were left out."""
    unused = [quoted(name) for name in sorted(problems.unused)]
    lost = [f"{what} ({count:,})" for what, count in written.left_out.items()]
    others = written.other_columns
    documents, spans = number_of(written.documents, "document"), number_of(written.spans, "span")
    return [
        f"wrote {documents} with {spans} to {target}",
        *([f"left out, not supported by the format: {', '.join(lost)}"] if lost else []),
        *([f"left out, values of other columns: {_named(others)}"] if others else []),
        *([f"left out, columns or keys that are not carried: {_listed(unused)}"] if unused else []),
    ]
