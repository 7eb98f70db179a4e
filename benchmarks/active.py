"""Active learning on MEDDOCAN: F1 by the number of annotated documents and tokens.

The documents of the training split are the candidates, and their gold annotations answer. The
development split is divided into two halves by note: one is validation, and the other is scored,
and vice versa. Nothing but the stopping rule of hybrid rounds depends on validation.

    python benchmarks/active.py
    python benchmarks/active.py --preset auto --queries least_confident --set active.hybrid=true
    python benchmarks/active.py --unit document --seed 10 --budget 50 --round 5
    python benchmarks/active.py --queries least_confident --set active.near_duplicate=2

With lines, the seed is 100 lines, 80 of which have entities; with whole notes, random notes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from meddocan import (
    LOOP,
    Lines,
    embeddings_of_all_lines,
    gold_batch,
    list_tagger_of,
    tagged,
    value_of,
    with_embeddings,
)
from meddocan_lines import DATA, MERGED, hundred_seed, lines_of

from bootstrap.active_learning.oracle import GoldOracle
from bootstrap.active_learning.queries import QUERIES
from bootstrap.active_learning.rounds import Rounds
from bootstrap.config.configuration import Configuration, parse_configuration
from bootstrap.config.overrides import Source
from bootstrap.data.splits import proportional_batch
from bootstrap.runs.augmentation import augmentation_of
from bootstrap.selection import portfolio
from bootstrap.selection.proportions import content_of, measured_reference
from bootstrap.self_training import self_train
from corpus.batch import make_batch
from corpus.corpora import with_classes
from corpus.document import Document
from corpus.evaluation import GoldBatch, score_batches
from corpus.formats import read
from corpus.problems import Problems
from corpus.tags import classes_of
from taggers import make_tagger
from taggers.base import Tagger

#: Annotated documents, annotated tokens and F1 after each iteration of a run.
Curve = list[tuple[int, int, float]]


def documents_of(split: str, unit: str) -> list[Document]:
    """Read the lines or the notes of a split, with two classes."""
    if unit == "line":
        return lines_of(split, MERGED)
    return [with_classes(each, MERGED) for each in read(DATA / split, problems=Problems())]


def seed_of(documents: Sequence[Document], number: int, state: int) -> np.ndarray:
    """Draw the seed; with `number` 0, 100 lines, of which 80 have entities."""
    rng = np.random.default_rng(state)
    if number:
        return rng.choice(len(documents), number, replace=False)
    return hundred_seed(documents, rng)


def halves_of(documents: Sequence[Document], unit: str) -> list[GoldBatch]:
    """Divide documents into two halves by note."""
    notes = [each.group if unit == "line" else each.id for each in documents]
    side = {note: number % 2 for number, note in enumerate(dict.fromkeys(notes))}
    sides: tuple[list[Document], ...] = ([], [])
    for each, note in zip(documents, notes, strict=True):
        sides[side[note]].append(each)
    return [gold_batch(each) for each in sides]


def run(
    seed: Sequence[Document],
    others: Sequence[Document],
    halves: tuple[GoldBatch, GoldBatch],
    options: Configuration,
    random_state: int,
) -> Curve:
    """Return the curve of one run, validated on the first half and scored on the second."""
    validation, test = halves
    assert options.active is not None
    batch, seed_batch = validation.batch, make_batch(seed, labelled=True)
    classes = classes_of(batch.labels)
    reference = measured_reference(content_of(batch, batch.tags, batch.labels, classes), classes)
    pool = Lines(others, options.loop.batch or proportional_batch(len(others)))
    list_tagger = list_tagger_of(seed_batch, pool, options) if options.self_trains else None

    def made(section: Any) -> Tagger:
        return make_tagger(section.kind, section.options)

    curve: Curve = []
    for step in self_train(
        seed_batch,
        pool,
        validation,
        lambda iteration: made(options.tagger_of(iteration)),
        strategy=portfolio(
            options.select, reference, options.capabilities, lists=list_tagger is not None
        ),
        augment=augmentation_of(options.augment, options.loop.random_state),
        second_tagger_for=lambda iteration: made(options.second_tagger_of(iteration)),
        list_tagger=list_tagger,
        loop=options.loop,
        rounds=Rounds(
            seed_batch,
            make_batch(others, labelled=False),
            GoldOracle(make_batch(others, labelled=True)),
            options.active,
            random_state=random_state,
        ),
    ):
        f1 = score_batches(test, tagged(step.tagger, test.batch)).counts().f1
        curve.append((step.human_documents, step.human_tokens, f1))
    return curve


def print_curve(name: str, curves: Sequence[Curve]) -> None:
    """Print the mean of several runs at each number of annotated documents."""
    for number in sorted({row[0] for curve in curves for row in curve}):
        found = [[row for row in curve if row[0] <= number][-1] for curve in curves]
        f1 = np.array([row[2] for row in found])
        tokens = np.mean([row[1] for row in found])
        print(
            f"{name:26} {number:6,} documents {tokens:9,.0f} tokens  F1 {f1.mean():.4f} "
            f"({f1.min():.4f}-{f1.max():.4f})",
            flush=True,
        )


def configuration(arguments: argparse.Namespace, query: str) -> Configuration:
    """Return the configuration of a query."""
    paper = arguments.preset == "paper"
    tables: dict[str, Any] = {name: dict(table) for name, table in LOOP.items() if paper}
    tables["active"] = {
        **{"gold": "synthetic:1", "query": query},  # the documents are passed to the rounds
        **{"budget": arguments.budget, "round": arguments.round},
    }
    for override in arguments.overrides:
        section, _, rest = override.partition(".")
        key, _, text = rest.partition("=")
        tables.setdefault(section, {})[key] = value_of(text)
    return parse_configuration(tables, Source("benchmark", Path()))


def embedded(options: Configuration, folder: Path) -> Configuration:
    """Return a configuration whose taggers refer to embeddings, trained if they need them."""
    return with_embeddings(options, lambda: embeddings_of_all_lines(folder, options))


def main() -> None:
    """Print the curve of each query."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", nargs="+", choices=tuple(QUERIES), default=tuple(QUERIES))
    parser.add_argument("--unit", choices=("line", "document"), default="line")
    parser.add_argument("--seed", type=int, default=0, help="number of random documents")
    parser.add_argument("--budget", type=int, default=350)
    parser.add_argument("--round", type=int, default=25)
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--preset", choices=("auto", "paper"), default="paper")
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    arguments = parser.parse_args()
    train, dev = (documents_of(split, arguments.unit) for split in ("train", "dev"))
    left, right = halves_of(dev, arguments.unit)
    with tempfile.TemporaryDirectory() as folder:
        for query in arguments.queries:
            options = embedded(configuration(arguments, query), Path(folder))
            curves = []
            for state in arguments.states:
                chosen = seed_of(train, arguments.seed, state)
                seed = [train[index] for index in chosen]
                others = [train[index] for index in np.setdiff1d(np.arange(len(train)), chosen)]
                for halves in ((left, right), (right, left)):
                    curves.append(run(seed, others, halves, options, state))
            print_curve(query, curves)


if __name__ == "__main__":
    main()
