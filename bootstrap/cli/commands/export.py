"""``bootstrap export``: export of a model with fewer words of its training notes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import (
    Commands,
    add_columns,
    add_command,
    add_model,
    add_renamed,
    add_rules,
    positive,
)

if TYPE_CHECKING:
    from bootstrap.export import Exported


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "export", main, "export a model with fewer words of its training notes"
    )
    add_model(parser)
    parser.add_argument("target", type=Path, metavar="OUT", help="a new folder")
    parser.add_argument(
        "--min-documents",
        type=positive,
        default=1,
        metavar="N",
        help="drop feature values that occur in fewer than N training documents (default: 1)",
    )
    add_renamed(parser, "--rare", "--min-documents")
    parser.add_argument(
        "--hash-names", action="store_true", help="replace feature values, such as words, by hashes"
    )
    add_renamed(parser, "--hash", "--hash-names")
    parser.add_argument(
        "--gold",
        metavar="NOTES",
        help="annotated notes to score the model on before and after (default: the validation "
        "notes of the run)",
    )
    add_columns(parser)
    add_rules(parser)


def main(options: argparse.Namespace) -> None:
    """Export a model and report its size and F1."""
    from bootstrap.cli.console import print_lines, report_problems
    from bootstrap.cli.inputs import columns_of, problems_of
    from bootstrap.export import export_model
    from corpus.corpora import read_corpus

    problems = problems_of(options)
    gold = None
    if options.gold:
        gold = read_corpus(options.gold, columns=columns_of(options), problems=problems)
    exported = export_model(
        options.model,
        options.target,
        min_document_frequency=options.min_documents,
        hash_names=options.hash_names,
        gold=gold,
    )
    report_problems(problems)
    print_lines(_lines(exported, options))


def _lines(exported: Exported, options: argparse.Namespace) -> list[str]:
    values = exported.values
    lines = [
        f"{options.target}: {values[1]:,} of {values[0]:,} feature values, "
        f"{exported.bytes / 1e6:.1f} MB",
    ]
    if options.hash_names:
        lines.append(
            "words are stored as hashes only; whether a given word occurred can still be tested"
        )
    if exported.f1 is None:
        lines.append("F1 was not measured; name annotated notes with --gold")
    else:
        before, after = exported.f1
        lines.append(
            f"F1 on {exported.documents:,} annotated documents: {before:.4f} before, "
            f"{after:.4f} after"
        )
    return lines
