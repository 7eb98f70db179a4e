"""The confidence of entities as a predictor of errors: the figures of docs/explanation/crf.md.

The probability of the span beside that of its least sure token, on the lines of MEDDOCAN's
development split, by models of the seeds of `meddocan.py`.

    python benchmarks/entities.py --states 0 1 2
"""

from __future__ import annotations

import argparse

import numpy as np
from meddocan_lines import MERGED, SEEDS, lines_of
from scipy.stats import mannwhitneyu

from corpus.batch import Batch, make_batch
from corpus.tags import find_entities
from taggers import CRFOptions, CRFTagger

THRESHOLD = 0.85


def confidences(tagger: CRFTagger, gold: Batch) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Give how sure a tagger is of each entity that it finds, and whether it is right."""
    tagging = tagger.tag(gold, detail="entity")
    assert tagging.labels == gold.labels
    assert tagging.token_confidence is not None
    found = find_entities(tagging.tags, gold.document_offsets, gold.labels)
    true = find_entities(gold.tags, gold.document_offsets, gold.labels)
    known = set(zip(true.first, true.last, true.classes, strict=True))
    every = zip(found.first, found.last, found.classes, strict=True)
    right = np.array([entity in known for entity in every])
    pieces = zip(found.first, found.last, strict=True)
    least = np.array([tagging.token_confidence[first : last + 1].min() for first, last in pieces])
    return {"least sure token": least, "entity": tagging.entity_confidence(found)}, right


def figures(confidence: np.ndarray, right: np.ndarray) -> list[float]:
    """Give the area under the ROC curve, the Brier score, the mean, and what is above 0.85."""
    above = mannwhitneyu(confidence[right], confidence[~right]).statistic
    area = above / (right.sum() * (~right).sum())
    kept = confidence >= THRESHOLD
    brier = ((confidence - right) ** 2).mean()
    return [area, brier, confidence.mean(), right[kept].mean(), kept.sum()]


def main() -> None:
    """Print the means over seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    states = parser.parse_args().states
    train, gold = lines_of("train", MERGED), make_batch(lines_of("dev", MERGED), labelled=True)
    for kind, seed in SEEDS.items():
        rows: dict[str, list[list[float]]] = {}
        shares = []
        for state in states:
            lines = [train[index] for index in seed(train, np.random.default_rng(state))]
            tagger = CRFTagger(CRFOptions())
            tagger.fit(make_batch(lines, labelled=True), rng=np.random.default_rng(0))
            found, right = confidences(tagger, gold)
            shares.append(right.mean())
            for name, values in found.items():
                rows.setdefault(name, []).append(figures(values, right))
        print(f"{kind}: {np.mean(shares):.4f} of the entities found are right")
        for name, values in rows.items():
            area, brier, mean, right_kept, kept = np.mean(values, axis=0)
            print(
                f"  {name:16} area {area:.4f}, Brier {brier:.4f}, mean {mean:.4f}; "
                f"of {THRESHOLD} or more: {kept:.0f}, right {right_kept:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
