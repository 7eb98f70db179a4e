"""``bootstrap tag``: notes with the spans that a model finds."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import tee

from bootstrap.cli.commands.convert import written_lines
from bootstrap.cli.console import StageProgress, print_report, report_compiling, report_problems
from bootstrap.cli.inputs import columns_of, problems_of, read_notes
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.execution.processes import default_jobs
from bootstrap.inference import TaggedDocument, find_model, read_unit_file, tag_documents
from corpus.formats import WriteReport, write
from corpus.kernels.compiled import warm_up
from corpus.tokens.normalisation import UnusualCharacters
from taggers.name_propagation import refuse_unknown


def main(options: argparse.Namespace) -> None:
    """Tag a corpus and write it."""
    problems, unusual = problems_of(options), UnusualCharacters()
    folder, jobs = find_model(options.model), options.jobs or default_jobs()
    tagger = ParallelTagger.load(folder, trust=options.trust, jobs=jobs)
    of_run = read_unit_file(folder)
    propagate = options.propagate or of_run.propagate
    refuse_unknown(propagate, tagger.labels)  # before the target is created
    warm_up(*tagger.kernels, announce=report_compiling)
    with StageProgress() as bar:
        tagged = tag_documents(
            # The target has the column of the annotations: the source need not have it.
            read_notes(options, problems, labelled=False),
            tagger,
            of_run.unit,
            options.measure,
            detail="entity" if options.span_confidence else "document",
            propagate=propagate,
            unusual=unusual,
        )
        written = _write(_counted(tagged, bar), options)
    report_problems(problems)
    report_problems(unusual)
    print_report(written_lines(written, options.target, problems), options.target)


def _counted(tagged: Iterable[TaggedDocument], bar: StageProgress) -> Iterator[TaggedDocument]:
    for number, item in enumerate(tagged, 1):
        if number % 500 == 0:
            bar.report("tagging", number, 0)
        yield item


def _write(tagged: Iterator[TaggedDocument], options: argparse.Namespace) -> WriteReport:
    # `tee` buffers items until every iterator has read them: an unused one would keep all.
    left, middle, *right = tee(tagged, 3 if options.span_confidence else 2)
    return write(
        (item.document for item in left),
        options.target,
        format=options.target_format,
        columns=columns_of(options),
        confidences=(item.confidence for item in middle),
        span_confidences=(item.span_confidences for item in right[0]) if right else None,
    )
