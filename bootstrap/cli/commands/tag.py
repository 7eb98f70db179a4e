"""``bootstrap tag``: notes with the spans that a model finds."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterable, Iterator
from itertools import chain

import pyarrow as pa

from bootstrap.cli.commands.convert import written_lines
from bootstrap.cli.console import (
    StageProgress,
    print_report,
    report_compiling,
    report_problems,
)
from bootstrap.cli.inputs import columns_of, problems_of, read_note_batches
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.execution.processes import default_jobs
from bootstrap.inference import find_model, read_unit_file
from bootstrap.tagging import TagOptions, TagSummary, tagged_batches
from corpus.errors import InputError
from corpus.formats import FORMATS, count_records, target_of
from corpus.formats.batches import SCHEMA
from corpus.kernels.compiled import warm_up
from taggers.base import Detail
from taggers.name_propagation import refuse_unknown


def main(options: argparse.Namespace) -> None:
    """Tag a corpus and write it."""
    problems, summary = problems_of(options), TagSummary()
    folder, jobs = find_model(options.model), options.jobs or default_jobs()
    tagger = ParallelTagger.load(folder, trust=options.trust, jobs=jobs)
    of_run = read_unit_file(folder)
    columns = columns_of(options, of_run.columns)
    target = target_of(options.target, format=options.target_format, columns=columns)
    detail: Detail = "entity" if options.span_confidence else "document"
    if options.span_confidence and "span confidences" not in FORMATS[target.format].keeps:
        raise InputError(
            f"the format {target.format} cannot store the confidence of spans: write JSONL or "
            "Parquet"
        )
    propagate = tuple(options.propagate or of_run.propagate)
    refuse_unknown(propagate, tagger.labels)  # before the target is created
    warm_up(*tagger.kernels, announce=report_compiling)
    how = TagOptions(of_run.unit, options.measure, detail, propagate)
    total = count_records(options.source, format=options.source_format)
    notes = read_note_batches(
        options,
        problems,
        columns=columns,
        # The target has the column of the annotations: the source need not have it.
        labelled=False,
        carry=FORMATS[target.format].carry,
    )
    gc.freeze()  # what is loaded stays, and need not be searched for garbage again and again
    with StageProgress("notes") as bar:
        tagged = _reported(tagged_batches(notes, tagger, how, summary), summary, bar, total)
        first = next(tagged, None)
        schema, tagged = (first.schema, chain([first], tagged)) if first else (SCHEMA, tagged)
        written = target.write(tagged, schema)
    report_problems(problems)
    report_problems(summary.unusual)
    lines = [*written_lines(written, options.target, problems), *summary.lines()]
    print_report(lines, options.target)


def _reported(
    batches: Iterable[pa.RecordBatch], summary: TagSummary, bar: StageProgress, total: int
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        bar.report("tagging", summary.notes, total, note=f"{summary.tokens:,} tokens")
        yield batch
