"""Precision, recall and F1 of propagation: a table of docs/results.md.

CRFs trained on a few lines of MEDDOCAN's training split tag one half of the development documents
by line. The smallest probability was chosen on the first half.

    python benchmarks/propagation.py --half 0
    python benchmarks/propagation.py --half 1
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np
from meddocan_lines import MERGED, SEEDS, lines_of, plain

from corpus.batch import make_batch
from corpus.evaluation.scoring import GoldBatch, score_batches
from taggers import make_tagger
from taggers.crf import CRFOptions
from taggers.options import Reach
from taggers.propagation import propagate

REACHES: Mapping[str, Mapping[str, Reach]] = {
    "nothing": {},
    "text": {"PERSON": "text", "LOCATION": "text"},
    "words of PERSON": {"PERSON": "words", "LOCATION": "text"},
}


def main() -> None:
    """Print scores with and without propagation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", type=int, choices=(0, 1), default=0)
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    train, dev = lines_of("train", MERGED), lines_of("dev", MERGED)
    number = {name: index for index, name in enumerate(dict.fromkeys(line.group for line in dev))}
    dev = [line for line in dev if number[line.group] % 2 == arguments.half]
    gold = GoldBatch.from_documents(dev, make_batch(dev, labelled=True))
    notes = np.array([number[line.group] for line in dev])
    print("| seed | propagated | PERSON | LOCATION |\n|---|---|---|---|")
    for kind, draw in SEEDS.items():
        scores: dict[str, list[list[list[float]]]] = {name: [] for name in REACHES}
        for state in arguments.states:
            chosen = draw(train, np.random.default_rng(state))
            seed = make_batch([train[index] for index in chosen], labelled=True)
            tagger = make_tagger("crf", plain(CRFOptions)).fit(seed, rng=np.random.default_rng(0))
            tagging = tagger.tag(gold.batch, detail="entity")
            for name, reaches in REACHES.items():
                tags = propagate(tagging, gold.batch, notes, reaches).tags
                scored = score_batches(gold, gold.batch.with_tags(tags, tagging.labels))
                counts = [scored.class_counts(label) for label in ("PERSON", "LOCATION")]
                scores[name].append([[c.f1, c.precision, c.recall] for c in counts])
        for name, rows in scores.items():
            means = np.mean(rows, axis=0).tolist()
            cells = (f"{f1:.3f}, P {p:.3f} R {r:.3f}" for f1, p, r in means)
            print(f"| {kind} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
