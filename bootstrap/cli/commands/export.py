"""``bootstrap export``: a model with fewer of the words that it was trained on."""

from __future__ import annotations

import argparse

from bootstrap.cli.arguments import columns_of, problems_of
from bootstrap.cli.console import report_problems, say
from bootstrap.export import Exported, export_model
from corpus.corpora import read_corpus


def main(options: argparse.Namespace) -> None:
    """Export a model and say what it costs."""
    problems = problems_of(options)
    gold = None
    if options.gold:
        gold = read_corpus(options.gold, columns=columns_of(options), problems=problems)
    exported = export_model(
        options.model,
        options.target,
        min_document_frequency=options.rare,
        hash_names=options.hash,
        gold=gold,
    )
    report_problems(problems)
    say(_lines(exported, options))


def _lines(exported: Exported, options: argparse.Namespace) -> list[str]:
    values = exported.values
    lines = [
        f"{options.target}: {values[1]:,} of {values[0]:,} values of features, "
        f"{exported.bytes / 1e6:.1f} MB",
    ]
    if options.hash:
        lines.append(
            "words are left as hashes only; who tries a word can still tell whether it is there"
        )
    if exported.f1 is None:
        lines.append("what it costs was not measured: name annotated notes with --gold")
    else:
        before, after = exported.f1
        lines.append(
            f"F1 on {exported.documents:,} annotated documents: {before:.4f} before, "
            f"{after:.4f} after"
        )
    return lines
