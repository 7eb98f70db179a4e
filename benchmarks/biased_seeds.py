"""How well seeds of MEDDOCAN are told apart from its validation lines, and which are warned of.

The seeds: the ones in ``docs/results.md`` and a random one. Prints, for each random state, the AUC
of the classifier two-sample test and the estimated number of lines that resemble validation.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from meddocan_lines import MERGED, SEEDS, lines_of

from bootstrap.data.representativeness import compare
from bootstrap.data.samples import sample_of
from corpus.batch import make_batch
from corpus.document import Document


def random_seed(lines: Sequence[Document], rng: np.random.Generator) -> np.ndarray:
    """Sample 300 lines."""
    return rng.choice(len(lines), 300, replace=False)


def main() -> None:
    """Compare each seed with a sample of the validation lines, in several random states."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    states = parser.parse_args().states
    train, dev = (lines_of(split, MERGED) for split in ("train", "dev"))
    classes = sorted(set(MERGED.values()))
    validation = sample_of(make_batch(dev, labelled=True, classes=classes))
    for name, seed_of in {**SEEDS, "random": random_seed}.items():
        for state in states:
            chosen = seed_of(train, np.random.default_rng(state))
            seed = make_batch([train[i] for i in chosen.tolist()], labelled=True, classes=classes)
            found = compare({"seed": seed, "validation": validation})
            if found.seed:
                print(
                    f"{name:15} state {state}  AUC {found.seed.auc:.3f}  "
                    f"like validation: {found.seed.alike:4.0f} of {len(seed)}"
                    f"{'  biased' * found.seed_is_biased}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
