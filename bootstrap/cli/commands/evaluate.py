"""``bootstrap evaluate``: predicted against gold annotations."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bootstrap.cli.arguments import (
    PARTS,
    Commands,
    add_columns,
    add_command,
    add_label_map,
    add_rules,
)
from bootstrap.cli.commands.convert import dropped_lines
from corpus.document import Document
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from rich.table import Table

    from corpus.formats import Columns

_COUNTS = ("true_positive", "false_positive", "false_negative")


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "evaluate", main, "score predicted against gold annotations")
    parser.add_argument("gold", metavar="GOLD", help="annotated notes")
    parser.add_argument("predicted", metavar="PREDICTED", help="the same notes, tagged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures as JSON")
    add_label_map(parser)
    add_columns(parser)
    for name in PARTS:
        parser.add_argument(
            f"--gold-{name}-column",
            metavar="NAME",
            help=f"column or key of the {name} in GOLD (default: that of --{name}-column)",
        )
    add_rules(parser)


def main(options: argparse.Namespace) -> None:
    """Score a corpus and print all scores, and write them as JSON if requested."""
    import numpy as np

    from bootstrap.cli.console import output, print_lines, report_problems, write_file
    from bootstrap.cli.inputs import columns_of, label_map_of, problems_of, with_label_map
    from corpus.corpora import read_corpus
    from corpus.evaluation import score

    labels, dropped = label_map_of(options), Counter[str]()
    # The labels of tagged notes may be classes already, which are kept.
    classes = None if labels is None else {name: name for name in labels.values()} | dict(labels)
    sides = []
    for source, columns, names in (
        (options.gold, _gold_columns(options), labels),
        (options.predicted, columns_of(options), classes),
    ):
        problems = problems_of(options)
        documents = read_corpus(source, columns=columns, problems=problems)
        sides.append(list(with_label_map(documents, names, dropped)))
        report_problems(problems)
    gold, predicted = sides
    # The bootstrap interval samples documents with a fixed seed.
    report = score(gold, predicted).report(np.random.default_rng(0))
    _refuse_unannotated(gold, options.gold)
    if options.json:
        text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        write_file(options.json, text.encode())
    output.print(_table(report))
    missing = len({d.id for d in gold} - {d.id for d in predicted})
    extra = len({d.id for d in predicted} - {d.id for d in gold})
    print_lines(
        [
            f"leak: {report['leak']:.4f} entities missed per gold line that is not blank",
            f"{len(gold):,} gold and {len(predicted):,} predicted documents; {missing:,} only "
            f"gold (all missed), {extra:,} only predicted (all spurious)",
            *dropped_lines(dropped),
        ]
    )


def _gold_columns(options: argparse.Namespace) -> Columns:
    from bootstrap.cli.inputs import columns_of
    from corpus.formats import Columns

    names = asdict(columns_of(options))
    own = {part: getattr(options, f"gold_{part}_column") for part in names}
    return Columns(**(names | {part: name for part, name in own.items() if name is not None}))


def _refuse_unannotated(gold: Sequence[Document], source: str) -> None:
    if not any(document.spans for document in gold):
        raise InputError(
            f"{shown(source)}: {len(gold):,} gold documents without any entity; expected annotated "
            "notes (is --gold-label-column the name of their annotations?)"
        )


def _table(report: dict[str, Any]) -> Table:
    from bootstrap.cli.console import figures_table
    from corpus.evaluation import MEASURES

    table = figures_table(
        "", "precision", "recall", "F1", "95 % interval", "true", "false", "missed"
    )
    for measure, meaning in MEASURES.items():
        table.add_row(meaning, *_cells(report[measure]))
    for name, figures in report["per_label"].items():
        table.add_row(f"  {shown(name)}", *_cells(figures))
    return table


def _cells(figures: dict[str, Any]) -> list[str]:
    interval = figures.get("f1_interval")
    return [
        *(f"{figures[name]:.4f}" for name in ("precision", "recall", "f1")),
        f"{interval[0]:.4f}-{interval[1]:.4f}" if interval else "",
        *(f"{figures[f'{kind}s']:,}" for kind in _COUNTS),
    ]
