"""The confidence of entities as a predictor of errors: the figures of docs/explanation/crf.md.

The probability of the span is compared with the lowest marginal of its tokens, on the lines of
MEDDOCAN's development split, with models trained on the seeds of `meddocan.py`.

    python benchmarks/entities.py --states 0 1 2
"""

from __future__ import annotations

import argparse

import numpy as np
from meddocan_lines import MERGED, SEEDS, lines_of, plain
from scipy.stats import mannwhitneyu

from corpus.batch import Batch, make_batch
from corpus.tags import find_entities
from taggers import CRFOptions, CRFTagger

THRESHOLD = 0.85


def confidences(tagger: CRFTagger, gold: Batch) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Compute the confidence of each entity that a tagger finds, and whether it is correct."""
    tagging = tagger.tag(gold, detail="entity")
    assert tagging.labels == gold.labels
    assert tagging.token_confidence is not None
    found = find_entities(tagging.tags, gold.document_offsets, gold.labels)
    true = find_entities(gold.tags, gold.document_offsets, gold.labels)
    known = set(zip(true.first, true.last, true.classes, strict=True))
    every = zip(found.first, found.last, found.classes, strict=True)
    correct = np.array([entity in known for entity in every])
    pieces = zip(found.first, found.last, strict=True)
    lowest = np.array([tagging.token_confidence[first : last + 1].min() for first, last in pieces])
    return {"lowest marginal": lowest, "entity": tagging.entity_confidence(found)}, correct


def figures(confidence: np.ndarray, correct: np.ndarray) -> list[float]:
    """Compute ROC AUC, Brier score, mean, and the precision and number of confident entities."""
    above = mannwhitneyu(confidence[correct], confidence[~correct]).statistic
    area = above / (correct.sum() * (~correct).sum())
    kept = confidence >= THRESHOLD
    brier = ((confidence - correct) ** 2).mean()
    return [area, brier, confidence.mean(), correct[kept].mean(), kept.sum()]


def main() -> None:
    """Print means over seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    states = parser.parse_args().states
    train, gold = lines_of("train", MERGED), make_batch(lines_of("dev", MERGED), labelled=True)
    for kind, seed in SEEDS.items():
        rows: dict[str, list[list[float]]] = {}
        shares = []
        for state in states:
            lines = [train[index] for index in seed(train, np.random.default_rng(state))]
            tagger = CRFTagger(plain(CRFOptions))
            tagger.fit(make_batch(lines, labelled=True), rng=np.random.default_rng(0))
            found, correct = confidences(tagger, gold)
            shares.append(correct.mean())
            for name, values in found.items():
                rows.setdefault(name, []).append(figures(values, correct))
        print(f"{kind}: {np.mean(shares):.4f} of the entities found are correct")
        for name, values in rows.items():
            area, brier, mean, correct_kept, kept = np.mean(values, axis=0)
            print(
                f"  {name:16} area {area:.4f}, Brier {brier:.4f}, mean {mean:.4f}; "
                f"of {THRESHOLD} or more: {kept:.0f}, correct {correct_kept:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
