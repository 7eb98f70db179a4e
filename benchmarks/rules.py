"""Rules that are learned from annotated lines of MEDDOCAN, alone: strict F1 on dev, 22 classes.

    python benchmarks/rules.py                  # 100 lines, 331 lines and all of train

Each row is a seed of train: its lines, the rules, the processor seconds of learning, and scores.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from meddocan_lines import SEEDS, lines_of, scores_of

from corpus.batch import make_batch
from corpus.kernels.compiled import warm_up
from taggers.patterns.learning import KERNELS, learn, rules_table
from taggers.patterns.pattern_options import PatternOptions
from taggers.patterns.pattern_tagger import PatternTagger


def main() -> None:
    """Print a row for each seed and state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs="+", default=["hundred", "small", "all"])
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    train, dev = (lines_of(split, None) for split in ("train", "dev"))
    warm_up(*KERNELS)
    print("| seed | state | lines | rules | s | precision | recall | F1 |")
    print("|---|---|---|---|---|---|---|---|")
    for seed in options.seeds:
        for state in options.states if seed != "all" else [0]:
            rng = np.random.default_rng(state)
            chosen = range(len(train)) if seed == "all" else SEEDS[seed](train, rng).tolist()
            batch = make_batch([train[number] for number in chosen], labelled=True)
            begin = time.process_time()
            rules = learn(batch)
            seconds = time.process_time() - begin
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rules.toml"
                path.write_text(rules_table(rules), encoding="utf-8")
                counts = scores_of(PatternTagger(PatternOptions((str(path),))), dev).counts("ner")
            print(
                f"| {seed} | {state} | {len(batch):,} | {len(rules)} | {seconds:.1f} | "
                f"{counts.precision:.3f} | {counts.recall:.3f} | {counts.f1:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
