"""``bootstrap evaluate``: predicted against gold annotations."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from bootstrap.cli.commands.convert import dropped_lines
from bootstrap.cli.console import print_figures, print_lines, report_problems, write_file
from bootstrap.cli.inputs import columns_of, label_map_of, problems_of
from corpus.errors import InputError, number_of, quoted
from corpus.evaluation.measures import MEASURES
from corpus.evaluation.scoring import score
from corpus.formats import read_batches
from corpus.formats.batches import documents_of, relabelled

_TITLES = ("", "precision", "recall", "F1", "95 % interval", "true", "false", "missed")
_COUNTS = ("true_positive", "false_positive", "false_negative")


def main(options: argparse.Namespace) -> None:
    """Score a corpus and print all scores, and write them as JSON if requested."""
    labels, dropped = label_map_of(options), Counter[str]()
    # Labels of tagged notes that already are classes are kept.
    classes = None if labels is None else {name: name for name in labels.values()} | dict(labels)
    sides, columns = [], columns_of(options)
    for source, own, names in (
        (options.gold, columns_of(options, columns, "gold_"), labels),
        (options.predicted, columns, classes),
    ):
        problems = problems_of(options)
        batches = read_batches(source, columns=own, problems=problems)
        renamed = (relabelled(batch, names, dropped) for batch in batches)
        sides.append(list(chain.from_iterable(map(documents_of, renamed))))
        report_problems(problems)
    gold, predicted = sides
    # The bootstrap interval samples documents with a fixed seed.
    report = score(gold, predicted).report(np.random.default_rng(0))
    if not any(document.spans for document in gold):
        raise InputError(
            f"{options.gold}: {number_of(len(gold), 'gold document')} without any entity; expected "
            "annotated notes (is --gold-label-column the name of their annotations?)"
        )
    if options.json:
        text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        write_file(options.json, text.encode())
    print_figures(_TITLES, _rows(report))
    missing = len({d.id for d in gold} - {d.id for d in predicted})
    extra = len({d.id for d in predicted} - {d.id for d in gold})
    print_lines(
        [
            f"leak: {report['leak']:.4f} entities missed per gold line that is not blank",
            f"{len(gold):,} gold and {number_of(len(predicted), 'predicted document')}; "
            f"{missing:,} only gold (all missed), {extra:,} only predicted (all spurious)",
            *dropped_lines(dropped),
        ]
    )


def _rows(report: dict[str, Any]) -> Iterator[list[str]]:
    for measure, meaning in MEASURES.items():
        yield [meaning, *_cells(report[measure])]
    for name, figures in report["per_label"].items():
        yield [f"  {quoted(name)}", *_cells(figures)]


def _cells(figures: dict[str, Any]) -> list[str]:
    interval = figures.get("f1_interval")
    return [
        *(f"{figures[name]:.4f}" for name in ("precision", "recall", "f1")),
        f"{interval[0]:.4f}-{interval[1]:.4f}" if interval else "",
        *(f"{figures[f'{kind}s']:,}" for kind in _COUNTS),
    ]
