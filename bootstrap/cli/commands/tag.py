"""``bootstrap tag``: notes with the spans that a model finds in them."""

from __future__ import annotations

import argparse

from bootstrap.cli.arguments import columns_of, problems_of
from bootstrap.cli.commands.convert import written_lines
from bootstrap.cli.console import ProgressLine, report_problems, say, tell_of_compiling, warn
from bootstrap.execution.processes import default_jobs
from bootstrap.inference import tag_corpus
from corpus.formats.files import is_standard


def main(options: argparse.Namespace) -> None:
    """Tag a corpus and write it."""
    problems = problems_of(options)
    with ProgressLine() as line:
        written = tag_corpus(
            options.model,
            options.source,
            options.target,
            source_format=options.source_format,
            target_format=options.target_format,
            columns=columns_of(options),
            measure=options.measure,
            scored_spans=options.span_confidence,
            repeated=options.repeated,
            problems=problems,
            jobs=options.jobs or default_jobs(),
            report=line.report,
            tell=tell_of_compiling,
        )
    report_problems(problems)
    tell = warn if is_standard(options.target) else say
    tell(written_lines(written, options.target, problems))
