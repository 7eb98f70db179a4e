"""Patterns before the CRF: strict F1 on dev with them and without, from several seeds; 22 classes.

    python benchmarks/patterns_first.py                         # all seeds, three states
    python benchmarks/patterns_first.py --seeds small --trust 0.8 0.85 0.9

A tenth of the training notes are the validation documents, which decide with the seed which
patterns are trusted. They are in no seed.
"""

from __future__ import annotations

import argparse

import numpy as np
from meddocan_lines import SEEDS, lines_of, scores_of

from bootstrap.config.options import TrustedPatternOptions
from bootstrap.data.pattern_trust import trusted_patterns
from corpus.batch import make_batch
from taggers import CRFOptions, CRFTagger
from taggers.patterns.first import PatternsFirst


def main() -> None:
    """Print a row for each seed and state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs="+", default=["hundred", "small", "biased", "all"])
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--trust", type=float, nargs="+", default=[TrustedPatternOptions().trust])
    options = parser.parse_args()
    train, dev = (lines_of(split, None) for split in ("train", "dev"))
    classes = sorted({span.label for line in train for span in line.spans})
    notes = np.unique([line.id.rpartition("#")[0] for line in train])
    print("| seed | state | trust | patterns | validation, without | with | dev, without | with |")
    print("|---|---|---|---|---|---|---|---|")
    for seed in options.seeds:
        for state in options.states:
            rng = np.random.default_rng(state)
            held = set(rng.choice(notes, len(notes) // 10, replace=False).tolist())
            validation = [line for line in train if line.id.rpartition("#")[0] in held]
            others = [line for line in train if line.id.rpartition("#")[0] not in held]
            chosen = range(len(others)) if seed == "all" else SEEDS[seed](others, rng).tolist()
            lines = [others[number] for number in chosen]
            batches = [
                make_batch(part, labelled=True, classes=classes) for part in (lines, validation)
            ]
            crf = CRFTagger(CRFOptions()).fit(batches[0], rng=np.random.default_rng(state))
            without = [scores_of(crf, part).counts("ner").f1 for part in (validation, dev)]
            for trust in options.trust:
                found = trusted_patterns(TrustedPatternOptions(trust=trust), *batches)
                tagger = PatternsFirst(crf, found.patterns) if found.patterns else crf
                first = [scores_of(tagger, part).counts("ner").f1 for part in (validation, dev)]
                number = sum(decision.is_trusted for decision in found.decisions)
                print(
                    f"| {seed} | {state} | {trust} | {number} | {without[0]:.4f} | {first[0]:.4f} "
                    f"| {without[1]:.4f} | {first[1]:.4f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
