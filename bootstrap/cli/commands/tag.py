"""``bootstrap tag``: notes with the spans that a model finds."""

from __future__ import annotations

import argparse

from bootstrap.cli.commands.convert import written_lines
from bootstrap.cli.console import StageProgress, print_report, report_compiling, report_problems
from bootstrap.cli.inputs import columns_of, problems_of
from bootstrap.execution.processes import default_jobs
from bootstrap.inference import TagOptions, tag_corpus
from corpus.tokens.normalisation import UnusualCharacters


def main(options: argparse.Namespace) -> None:
    """Tag a corpus and write it."""
    problems, unusual = problems_of(options), UnusualCharacters()
    how = TagOptions(
        source_format=options.source_format,
        target_format=options.target_format,
        columns=columns_of(options),
        encoding=options.encoding,
        measure=options.measure,
        span_confidence=options.span_confidence,
        propagate=options.propagate or (),
        jobs=options.jobs or default_jobs(),
    )
    with StageProgress() as bar:
        written = tag_corpus(
            options.model,
            options.source,
            options.target,
            how,
            problems=problems,
            unusual=unusual,
            report=bar.report,
            announce=report_compiling,
        )
    report_problems(problems)
    report_problems(unusual)
    print_report(written_lines(written, options.target, problems), options.target)
