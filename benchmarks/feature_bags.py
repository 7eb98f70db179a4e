"""Words and clusters trained apart, or together: a table of docs/explanation/crf.md.

CRFs are trained on seeds of lines of MEDDOCAN's train. All have clusters of the text of train and
dev. By default, a fifth of train's notes is scored, from which no seed is drawn: it chose the
features. With --dev, seeds are drawn from all of train, and dev is scored.

    python benchmarks/feature_bags.py
    python benchmarks/feature_bags.py --dev --states 0 1 2 3 4
    python benchmarks/feature_bags.py --dev --seeds all --states 0
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ensembles import configuration, trained
from meddocan_lines import MERGED, SEEDS, headers_seed, lines_of, scores_of

from corpus.batch import make_batch
from corpus.document import Document
from taggers.crf.crf_options import FEATURES, FEATURES_APART

CLASSES = {"PERSON and LOCATION": MERGED, "22 classes": None}

WORDS = FEATURES_APART[:-1]  # without the capitalization
APART = {"cluster_features": ("capitalization",)}
VARIANTS: dict[str, dict[str, Any]] = {
    "one CRF, the default": {},
    "one CRF, fewer features": {"features": FEATURES_APART},
    "words alone": {"features": WORDS, "clusters": ""},
    "clusters alone": {"features": ("capitalization",)},
    "all features of words, and clusters apart": {"features": FEATURES, **APART},
    "words and clusters apart": APART,
}

DRAWS: dict[str, Callable[[Sequence[Document], np.random.Generator], np.ndarray]] = {
    **{name: SEEDS[name] for name in ("small", "hundred", "biased")},
    "headers": headers_seed,
    "all": lambda lines, rng: np.arange(len(lines)),
}


def main() -> None:
    """Print a table for each set of classes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dev", action="store_true", help="score dev, not a fifth of train")
    parser.add_argument("--seeds", nargs="+", choices=DRAWS, default=[*DRAWS][:-1])
    parser.add_argument("--states", type=int, nargs="+", default=[20, 21, 22])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options = {
            name: configuration("crf", Path(folder) / "embeddings", ("train", "dev"), **values)
            for name, values in VARIANTS.items()
        }
        for title, merged in CLASSES.items():
            lines, scored = lines_of("train", merged), lines_of("dev", merged)
            if not arguments.dev:
                held = {*sorted({str(line.group) for line in lines})[::5]}
                scored = [line for line in lines if line.group in held]
                lines = [line for line in lines if line.group not in held]
            print(f"\n| {title} | {' | '.join(arguments.seeds)} |")
            print("|---|" + "---|" * len(arguments.seeds))
            classes = sorted({span.label for line in lines for span in line.spans})
            for name, chosen in options.items():
                means = []
                for seed in arguments.seeds:
                    values = []
                    for state in arguments.states:
                        rows = DRAWS[seed](lines, np.random.default_rng(state))
                        drawn = [lines[row] for row in rows.tolist()]
                        train = make_batch(drawn, labelled=True, classes=classes)
                        tagger, _ = trained(chosen, train, 0)
                        values.append(scores_of(tagger, scored).counts().f1)
                    means.append(f"{np.mean(values):.4f}")
                print(f"| {name} | {' | '.join(means)} |", flush=True)


if __name__ == "__main__":
    main()
