"""A tagger of one kind, trained on all of MEDDOCAN's train and scored on dev, with all 22 types.

    python benchmarks/one_tagger.py tccnn
    python benchmarks/one_tagger.py spacy --unit line
    python benchmarks/one_tagger.py tccnn --validate --set balance=0.5  # to choose, on train alone

Embeddings learn from the text of train and dev. With `--validate`, a fifth of train is scored
instead of dev.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from pathlib import Path

import numpy as np
from ensembles import configuration, trained
from meddocan_lines import scores_of, units_of

from corpus.batch import make_batch
from corpus.units import UNITS

_FOLD = 5


def main() -> None:
    """Print the scores of sub-tasks 1 and 2, and those of each class."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind")
    parser.add_argument("--unit", choices=UNITS, default="document")
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--random-states", type=int, nargs="+", default=[0])
    parser.add_argument("--set", dest="overrides", nargs="+", default=[])
    arguments = parser.parse_args()
    settings = tomllib.loads("\n".join(arguments.overrides))
    train, gold = (units_of(split, None, arguments.unit) for split in ("train", "dev"))
    if arguments.validate:
        names = sorted({note.id.partition("#")[0] for note in train})
        held = set(names[::_FOLD])
        train, gold = (
            [n for n in train if (n.id.partition("#")[0] in held) == own] for own in (0, 1)
        )
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "embeddings"
        options = configuration(arguments.kind, made, ["train", "dev"], **settings)
        for state in arguments.random_states:
            tagger, minutes = trained(options, make_batch(train, labelled=True), state)
            scores = scores_of(tagger, gold)
            print(f"random state {state}: trained in {minutes:.1f} minutes", flush=True)
            for task, measure in (
                ("entities", "ner"),
                ("spans", "span"),
                ("tokens covered", "covered"),
            ):
                counts = scores.counts(measure)
                low, high = scores.interval(measure, np.random.default_rng(0))
                row = f"{counts.precision:.4f} | {counts.recall:.4f} | {counts.f1:.4f}"
                print(f"| {task} | {row} ({low:.4f}-{high:.4f}) |", flush=True)
            for name in scores.classes:
                counts = scores.class_counts(name)
                row = f"{counts.precision:.3f} | {counts.recall:.3f} | {counts.f1:.3f}"
                print(f"| {name} | {row} |")


if __name__ == "__main__":
    main()
