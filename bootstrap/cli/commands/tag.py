"""``bootstrap tag``: notes with the spans that a model finds."""

from __future__ import annotations

import argparse
from pathlib import Path

from bootstrap.cli.arguments import (
    Commands,
    add_command,
    add_formats,
    add_jobs,
    add_list,
    add_model,
)
from bootstrap.cli.commands.convert import written_lines

#: `taggers.base.MEASURES`, which is slow to import.
_MEASURES = ("probability", "normalised", "min_marginal")


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "tag", main, "tag notes with the best model of a run")
    add_model(parser)
    parser.add_argument("source", metavar="IN", help="notes: a file, a folder or a glob pattern")
    parser.add_argument("target", type=Path, metavar="OUT", help="a new file or folder")
    parser.add_argument(
        "--measure",
        choices=_MEASURES,
        default=_MEASURES[0],
        help=f"confidence of a document (default: {_MEASURES[0]})",
    )
    parser.add_argument(
        "--span-confidence",
        action="store_true",
        help="write the confidence of each span as well (JSONL and Parquet)",
    )
    add_list(
        parser,
        "--propagate",
        "CLASS",
        "name propagation: tag the words of full names of these classes throughout a note "
        "(default: the classes of the run that trained the model)",
    )
    add_formats(parser)
    add_jobs(parser)


def main(options: argparse.Namespace) -> None:
    """Tag a corpus and write it."""
    from bootstrap.cli.console import (
        print_report,
        report_compiling,
        report_problems,
        report_unusual,
    )
    from bootstrap.cli.inputs import columns_of, problems_of
    from bootstrap.cli.progress import StageProgress
    from bootstrap.execution.processes import default_jobs
    from bootstrap.inference import TagOptions, tag_corpus
    from corpus.tokens.normalisation import UnusualCharacters

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
    report_unusual(unusual)
    print_report(written_lines(written, options.target, problems), options.target)
