"""F1 on MEDDOCAN of a CRF that is trained on a seed with and without augmentation.

python benchmarks/augmentation.py
"""

from __future__ import annotations

import time

import numpy as np
from meddocan_lines import MERGED, SEEDS, lines_of, plain

from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document
from corpus.evaluation.scoring import GoldBatch, score_batches
from taggers import CRFOptions, make_tagger
from taggers.augmentation import AugmentOptions, MentionReplacement

RANDOM_STATES = 3


def f1_of(train: Batch, gold: GoldBatch, random_state: int) -> float:
    """Train a CRF and return its F1."""
    tagger = make_tagger("crf", plain(CRFOptions))
    tagger.fit(train, rng=np.random.default_rng(random_state))
    tagging = tagger.tag(gold.batch)
    found = gold.batch.with_tags(tagging.tags, tagging.labels)
    return score_batches(gold, found).counts("ner").f1


def with_copies(seed: list[Document], random_state: int) -> tuple[Batch, Batch, float, float]:
    """Return a seed, the seed with its copies, and the seconds to prepare and to copy."""
    batch = make_batch(seed, labelled=True)
    options = AugmentOptions()
    begin = time.process_time()
    replacement = MentionReplacement(batch, options)
    prepared = time.process_time()
    copies = replacement.copies(np.random.default_rng(random_state))
    copied = time.process_time()
    return batch, concatenate([batch, copies]), prepared - begin, copied - prepared


def main() -> None:
    """Print the mean F1 on the development set for each kind of seed."""
    train, dev = (lines_of(split, MERGED) for split in ("train", "dev"))
    gold = GoldBatch.from_documents(dev, make_batch(dev, labelled=True))
    for name, sample in SEEDS.items():
        rows = []
        for random_state in range(RANDOM_STATES):
            chosen = sample(train, np.random.default_rng(random_state))
            seed = [train[row] for row in chosen.tolist()]
            alone, augmented, prepare, copy = with_copies(seed, random_state)
            scores = [f1_of(batch, gold, random_state) for batch in (alone, augmented)]
            rows.append([*scores, prepare, copy])
        alone_f1, augmented_f1, prepare, copy = np.mean(rows, axis=0).tolist()
        print(
            f"{name:8} {len(seed)} lines: F1 {alone_f1:.3f}, with copies {augmented_f1:.3f}; "
            f"prepared in {prepare:.2f} s, copied in {copy:.2f} s"
        )


if __name__ == "__main__":
    main()
