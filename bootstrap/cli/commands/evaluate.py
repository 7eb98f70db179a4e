"""``bootstrap evaluate``: predicted against gold annotations."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from bootstrap.cli.commands.convert import dropped_lines
from bootstrap.cli.console import print_figures, print_lines, report_problems, write_file
from bootstrap.cli.inputs import columns_of, label_map_of, problems_of
from bootstrap.data.representativeness import percent
from bootstrap.reports.estimates import ALL, share_interval
from corpus.errors import InputError, number_of, quoted
from corpus.evaluation.error_analysis import MISSED, WRONG_BORDER, WRONG_CLASS
from corpus.evaluation.measures import MEASURES
from corpus.evaluation.missed import find_missed
from corpus.evaluation.scoring import score
from corpus.formats import read_batches
from corpus.formats.batches import documents_of, relabelled
from corpus.tokens import tokenize

_TITLES = ("", "precision", "recall", "F1", "95 % interval", "TP", "FP", "FN")
_NOTES_TITLES = ("notes with a missed entity", "number", "of", "share", "95 % interval")
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
    scores, missed = score(gold, predicted), find_missed(gold, predicted)
    report = scores.report(np.random.default_rng(0))
    if not any(document.spans for document in gold):
        raise InputError(
            f"{options.gold}: {number_of(len(gold), 'gold document')} without any entity; expected "
            "annotated notes (is --gold-label-column the name of their annotations?)"
        )
    ids, predicted_ids = {d.id for d in gold}, {d.id for d in predicted}
    if gold and predicted and not ids & predicted_ids:
        raise InputError(
            f"{options.predicted}: none of its {number_of(len(predicted_ids), 'id')} is one of the "
            f"{len(ids):,} of {options.gold}; expected the same notes (is --id-column the name of "
            "their ids?)"
        )
    # Tokens outside of gold entities, and those of them that are in a predicted one.
    true, false, lost = scores.measures["covered"][: len(gold)].sum(axis=0).tolist()
    others = len(tokenize([document.text for document in gold]).starts) - true - lost
    report |= {"missed": dict(missed.kinds), "other_tokens": others, "other_tokens_tagged": false}
    report["notes_with_missed"] = {
        name: counts._asdict() | {"interval": share_interval(counts.missing, counts.notes)}
        for name, counts in {ALL: missed.all_notes, **missed.notes}.items()
    }
    if options.json:
        text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
        write_file(options.json, text.encode())
    print_figures(_TITLES, _rows(report))
    print_lines("")
    print_figures(_NOTES_TITLES, _note_rows(report["notes_with_missed"]))
    kinds, not_found = missed.kinds, sum(missed.kinds.values())
    print_lines(
        "",
        f"{not_found:,} gold entities are not found as they are: {kinds[MISSED]:,} missed (no "
        f"predicted entity overlaps them), {kinds[WRONG_BORDER]:,} with another border, "
        f"{kinds[WRONG_CLASS]:,} with another class",
        f"{false:,} of {others:,} tokens outside of gold entities are tagged "
        f"({percent(false / max(others, 1), 2)})",
        f"leak: {report['leak']:.4f} strict entities lost (FN) per gold line that is not "
        "blank, as MEDDOCAN reports it",
        f"{len(gold):,} gold and {number_of(len(predicted), 'predicted document')}; "
        f"{len(ids - predicted_ids):,} only gold (all missed), "
        f"{len(predicted_ids - ids):,} only predicted (all spurious)",
        *dropped_lines(dropped),
    )


def _rows(report: dict[str, Any]) -> Iterator[list[str]]:
    for measure, meaning in MEASURES.items():
        yield [meaning, *_cells(report[measure])]
    yield ["strict entities by class"]
    for name, figures in report["per_label"].items():
        yield [f"  {quoted(name)}", *_cells(figures)]


def _note_rows(notes: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, counts in notes.items():
        low, high = counts["interval"]
        share = percent(counts["missing"] / counts["notes"], 1)
        interval = f"{percent(low, 1)} to {percent(high, 1)}"
        label = "all classes" if name == ALL else f"  {quoted(name)}"
        yield [label, f"{counts['missing']:,}", f"{counts['notes']:,}", share, interval]


def _cells(figures: dict[str, Any]) -> list[str]:
    interval = figures.get("f1_interval")
    return [
        *(f"{figures[name]:.4f}" for name in ("precision", "recall", "f1")),
        f"{interval[0]:.4f}-{interval[1]:.4f}" if interval else "",
        *(f"{figures[f'{kind}s']:,}" for kind in _COUNTS),
    ]
