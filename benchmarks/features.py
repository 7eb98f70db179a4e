"""Comparison of features, windows and regularization: the table of docs/explanation/crf.md.

A quarter of MEDDOCAN's training documents is held out for scoring. Models are trained on the others
by line, with the classes merged to PERSON and LOCATION. The development split is not used.

    python benchmarks/features.py
    python benchmarks/features.py --clusters FOLDER

The second command prints the table of docs/explanation/word-embeddings.md, for a folder with
clusters of all normalisations.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from meddocan_lines import MERGED, SEEDS, lines_of, plain, scores_of

from corpus.batch import make_batch
from corpus.document import Document
from taggers import CRFOptions, CRFTagger
from taggers.crf.crf_options import FEATURES

DEFAULT = plain(CRFOptions)
SHORT = ("prefix1", "prefix2", "suffix1", "suffix2")
SHORT_SHAPES = DEFAULT.conjunctions
CAPITALIZATIONS = (
    "capitalization[-1] capitalization[0]",
    "capitalization[0] capitalization[1]",
    "capitalization[-1] capitalization[0] capitalization[1]",
)

VARIANTS = {
    "default": DEFAULT,
    "window 1": plain(CRFOptions, window=1),
    "window 3": plain(CRFOptions, window=3),
    "c2 = 1": plain(CRFOptions, c2=1.0),
    "c1 = 0.1": plain(CRFOptions, c1=0.1),
    "without shape": plain(CRFOptions, features=FEATURES[:-1]),
    "with affixes of 1 and 2": plain(CRFOptions, features=(*FEATURES, *SHORT)),
    "with lemma": plain(CRFOptions, features=(*FEATURES, "lemma")),
    "with three capitalizations": plain(CRFOptions, conjunctions=(*SHORT_SHAPES, *CAPITALIZATIONS)),
    "without short shapes together": plain(CRFOptions, conjunctions=()),
    "without header": plain(CRFOptions, streams=("colon",)),
    "without colon": plain(CRFOptions, streams=("header",)),
    "with patterns": plain(CRFOptions, streams=("header", "colon", "patterns[-1..1]")),
    "words alone": plain(CRFOptions, streams=(), conjunctions=()),
}


def f1_of(train: Sequence[Document], held_out: Sequence[Document], options: CRFOptions) -> float:
    """Train on lines and compute F1 on held-out ones."""
    tagger = CRFTagger(options).fit(make_batch(train, labelled=True), rng=np.random.default_rng(0))
    return scores_of(tagger, held_out).counts().f1


def cluster_variants(folder: Path) -> dict[str, CRFOptions]:
    """Return options with different clusters as features."""

    def with_clusters(normalisation: str, windows: Sequence[int], ks: Sequence[int]) -> CRFOptions:
        names = tuple(f"{normalisation}-w{window}-k{k}" for window in windows for k in ks)
        return replace(DEFAULT, clusters=str(folder), clusterings=names)

    several = (16, 64, 256, 1024)
    return {
        "no clusters": DEFAULT,
        **{
            f"lower, window 5, K = {k}": with_clusters("lower", (5,), (k,))
            for k in (*several, 8192)
        },
        "lower, window 5, K = 16 to 1024": with_clusters("lower", (5,), several),
        "lower, window 1, K = 16 to 1024": with_clusters("lower", (1,), several),
        "lower, windows 1 and 5, K = 64 to 1024": with_clusters("lower", (1, 5), several[1:]),
        **{
            f"{name}, windows 1 and 5, K = 16 to 1024": with_clusters(name, (1, 5), several)
            for name in ("none", "lower", "unaccented", "digits")
        },
    }


def split_train() -> tuple[list[Document], list[Document]]:
    """Return the lines for training and the held-out lines."""
    lines = lines_of("train", MERGED)
    sources = list(dict.fromkeys(line.group for line in lines))
    held_out_groups = set(np.random.default_rng(0).permutation(sources)[: len(sources) // 4])
    train = [line for line in lines if line.group not in held_out_groups]
    return train, [line for line in lines if line.group in held_out_groups]


def seeds_of(kind: str, train: Sequence[Document]) -> list[list[Document]]:
    """Sample three seeds."""
    draw = SEEDS[kind]
    return [[train[index] for index in draw(train, np.random.default_rng(n))] for n in range(3)]


def print_table(variants: Mapping[str, CRFOptions], kinds: Sequence[str], whole: bool) -> None:
    """Print a row for each variant: mean F1 over seeds, and F1 of training on all lines."""
    train, held_out = split_train()
    seeds = {kind: seeds_of(kind, train) for kind in kinds}
    columns = [*kinds, *(["all"] if whole else [])]
    print(f"| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for name, options in variants.items():
        cells = [
            np.mean([f1_of(seed, held_out, options) for seed in seeds[kind]]) for kind in kinds
        ]
        cells += [f1_of(train, held_out, options)] if whole else []
        print(f"| {name} | {' | '.join(f'{cell:.4f}' for cell in cells)} |", flush=True)


def main() -> None:
    """Print the table of features, or the table of clusters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clusters", type=Path, help="a folder of embeddings with clusters")
    folder = parser.parse_args().clusters
    if folder:
        print_table(cluster_variants(folder), ("small", "hundred", "biased"), whole=False)
    else:
        print_table(VARIANTS, ("small",), whole=True)


if __name__ == "__main__":
    main()
