"""``bootstrap evaluate``: predicted against gold annotations."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.table import Table

from bootstrap.cli.arguments import columns_of, problems_of
from bootstrap.cli.commands.convert import (
    dropped_lines,
    labels_of,
    with_labels,
)
from bootstrap.cli.console import output, report_problems, say, write_file
from corpus.corpora import read_corpus
from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.evaluation import MEASURES, score
from corpus.formats import Columns


def main(options: argparse.Namespace) -> None:
    """Score a corpus and show all figures, or write them as JSON too."""
    labels, dropped = labels_of(options), Counter[str]()
    # What was tagged has classes already, which stay what they are.
    classes = None if labels is None else {name: name for name in labels.values()} | dict(labels)
    sides = []
    for source, columns, names in (
        (options.gold, _gold_columns(options), labels),
        (options.predicted, columns_of(options), classes),
    ):
        problems = problems_of(options)
        documents = read_corpus(source, columns=columns, problems=problems)
        sides.append(list(with_labels(documents, names, dropped)))
        report_problems(problems)
    gold, predicted = sides
    # The interval draws documents: the same draws for the same corpus.
    report = score(gold, predicted).report(np.random.default_rng(0))
    _refuse_unannotated(gold, options.gold)
    if options.json:
        text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        write_file(options.json, text.encode())
    output.print(_table(report))
    missing = len({d.id for d in gold} - {d.id for d in predicted})
    extra = len({d.id for d in predicted} - {d.id for d in gold})
    say(
        [
            f"leak: {report['leak']:.4f} entities missed per gold line that is not blank",
            f"{len(gold):,} gold and {len(predicted):,} predicted documents; {missing:,} are only "
            f"gold (all missed), {extra:,} only predicted (all spurious)",
            *dropped_lines(dropped),
        ]
    )


def _gold_columns(options: argparse.Namespace) -> Columns:
    """Give the names of columns on the gold side, which may have others."""
    names = asdict(columns_of(options))
    own = {part: getattr(options, f"gold_{part}_column") for part in names}
    return Columns(**(names | {part: name for part, name in own.items() if name is not None}))


def _refuse_unannotated(gold: Sequence[Document], source: str) -> None:
    """Nothing leaks from notes in which nothing is annotated: the figures would reassure."""
    if not any(document.spans for document in gold):
        raise InputError(
            f"{shown(source)}: {len(gold):,} gold documents and not one entity; expected annotated "
            "notes (is --gold-label-column the name of their annotations?)"
        )


def _table(report: dict[str, Any]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("", overflow="fold")
    titles = ("precision", "recall", "F1", "95 % interval", "true", "false", "missed")
    for title in titles:
        table.add_column(title, justify="right")
    for measure, meaning in MEASURES.items():
        table.add_row(meaning, *_cells(report[measure]))
    for name, figures in report["per_label"].items():
        table.add_row(f"  {shown(name)}", *_cells(figures))
    return table


def _cells(figures: dict[str, Any]) -> list[str]:
    interval = figures.get("f1_interval")
    return [
        f"{figures['precision']:.4f}",
        f"{figures['recall']:.4f}",
        f"{figures['f1']:.4f}",
        f"{interval[0]:.4f}-{interval[1]:.4f}" if interval else "",
        *(
            f"{figures[f'{kind}s']:,}"
            for kind in ("true_positive", "false_positive", "false_negative")
        ),
    ]
