"""Which features, window and regularization the CRF has by default: the table of docs/taggers.md.

A fourth of MEDDOCAN's training documents judges and the rest teaches, by line, with the classes
merged to PERSON and LOCATION. Nothing of the development split is looked at.

    python benchmarks/features.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from meddocan import MERGED, lines_of, scored, small_seed

from corpus.batch import make_batch
from corpus.document import Document
from taggers import CRFOptions, CRFTagger

DEFAULT = CRFOptions()
SHORT = ("prefix1", "prefix2", "suffix1", "suffix2")
SHORT_SHAPES = DEFAULT.conjunctions
CAPITALIZATIONS = (
    "capitalization[-1] capitalization[0]",
    "capitalization[0] capitalization[1]",
    "capitalization[-1] capitalization[0] capitalization[1]",
)

VARIANTS = {
    "default": DEFAULT,
    "window 1": CRFOptions(window=1),
    "window 3": CRFOptions(window=3),
    "c2 = 1": CRFOptions(c2=1.0),
    "c1 = 0.1": CRFOptions(c1=0.1),
    "without shape": CRFOptions(features=DEFAULT.features[:-1]),
    "with affixes of 1 and 2": CRFOptions(features=(*DEFAULT.features, *SHORT)),
    "with lemma": CRFOptions(features=(*DEFAULT.features, "lemma")),
    "with three capitalizations": CRFOptions(conjunctions=(*SHORT_SHAPES, *CAPITALIZATIONS)),
    "without short shapes together": CRFOptions(conjunctions=()),
    "without header": CRFOptions(streams=("colon",)),
    "without colon": CRFOptions(streams=("header",)),
    "with rules": CRFOptions(streams=("header", "colon", "rules[-1..1]")),
    "words alone": CRFOptions(streams=(), conjunctions=()),
}


def f1_of(train: Sequence[Document], judge: Sequence[Document], options: CRFOptions) -> float:
    """Train on lines and score others."""
    tagger = CRFTagger(options).fit(make_batch(train, labelled=True), rng=np.random.default_rng(0))
    return scored(tagger, judge, make_batch(judge, labelled=False)).counts("ner").f1


def main() -> None:
    """Print a row of the table for each variant."""
    lines = lines_of("train", MERGED)
    sources = list(dict.fromkeys(line.group for line in lines))
    judging = set(np.random.default_rng(0).permutation(sources)[: len(sources) // 4])
    train = [line for line in lines if line.group not in judging]
    judge = [line for line in lines if line.group in judging]
    seeds = [
        [train[index] for index in small_seed(train, np.random.default_rng(state))]
        for state in (0, 1, 2)
    ]
    print("| | small | all |\n|---|---|---|")
    for name, options in VARIANTS.items():
        small = np.mean([f1_of(seed, judge, options) for seed in seeds])
        print(f"| {name} | {small:.4f} | {f1_of(train, judge, options):.4f} |", flush=True)


if __name__ == "__main__":
    main()
