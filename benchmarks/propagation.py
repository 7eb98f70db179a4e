"""Precision, recall and F1 of name propagation: a table of docs/results.md.

Models trained on a few lines of MEDDOCAN's training split tag one half of the development documents
by line, PERSON only. Settings are chosen on the first half and reported on the second.

    python benchmarks/propagation.py --half 0
    python benchmarks/propagation.py --half 1
"""

from __future__ import annotations

import argparse

import numpy as np
from meddocan_lines import PERSON, SEEDS, lines_of, plain

from corpus.batch import make_batch
from corpus.evaluation.scoring import score
from taggers import make_tagger
from taggers.crf import CRFOptions
from taggers.name_propagation import propagate_names


def main() -> None:
    """Print scores without and with name propagation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", type=int, choices=(0, 1), default=0)
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    train, dev = lines_of("train", PERSON), lines_of("dev", PERSON)
    number = {name: index for index, name in enumerate(dict.fromkeys(line.group for line in dev))}
    dev = [line for line in dev if number[line.group] % 2 == arguments.half]
    batch = make_batch(dev, labelled=False)
    notes = np.array([number[line.group] for line in dev])
    for kind, draw in SEEDS.items():
        rows = []
        for state in arguments.states:
            chosen = draw(train, np.random.default_rng(state))
            seed = make_batch([train[index] for index in chosen], labelled=True)
            tagger = make_tagger("crf", plain(CRFOptions)).fit(seed, rng=np.random.default_rng(0))
            own = tagger.tag(batch, detail="entity")
            for found in (own, propagate_names(own, batch, notes, ["PERSON"])):
                documents = batch.with_tags(found.tags, found.labels).to_documents()
                rows.append(score(dev, documents).counts("ner"))
        for name, part in (("without", rows[::2]), ("propagated", rows[1::2])):
            means = np.mean([(each.precision, each.recall, each.f1) for each in part], axis=0)
            print(
                f"{kind:8} {name:13} P {means[0]:.4f} R {means[1]:.4f} F1 {means[2]:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
