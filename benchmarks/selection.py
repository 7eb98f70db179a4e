"""Duration of selection from a batch of documents, and the size of selections against the bound.

python benchmarks/selection.py
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from bootstrap.selection.proportional import select_examples
from bootstrap.selection.proportions import Content, content_of, measured_reference, proportions_of
from corpus.batch import Batch, Stream
from corpus.tags import TokenSpans, bio_labels, classes_of, tags_of_entities
from taggers.base import Tagging


def generated_batch(documents: int, classes: int, rate: float, rng: np.random.Generator) -> Batch:
    """Generate documents of about 20 tokens; a few have entities."""
    lengths = rng.geometric(1 / 20, documents) + 2
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    intensity = np.repeat(rng.gamma(0.3, 1 / 0.3, documents), lengths)
    first = np.flatnonzero(rng.random(offsets[-1]) < rate * intensity)
    first = first[np.diff(first, prepend=-9) > 4]
    owner = np.searchsorted(offsets, first, side="right") - 1
    last = np.minimum(first + rng.integers(0, 3, len(first)), offsets[owner + 1] - 1)
    labels = bio_labels(f"CLASS{index:02d}" for index in range(classes))
    spans = TokenSpans(first, last, rng.integers(0, classes, len(first)))
    names = pa.array([str(index) for index in range(documents)], pa.large_string())
    zeros = np.zeros(offsets[-1], np.int32)
    return Batch(
        names, names, names, Stream(("word",), zeros), zeros, zeros + 1, offsets,
        tags_of_entities(spans, int(offsets[-1]), labels), labels,
    )  # fmt: skip


def content(batch: Batch) -> Content:
    """Count the tokens and the entities of each document of a batch."""
    return content_of(batch, batch.tags, batch.labels, classes_of(batch.labels))


def main() -> None:
    """Select from batches of 50,000 documents with as many or fewer entities than the reference."""
    for classes in (2, 22):
        for most in (5_000, 20_000):
            for rate in (0.014, 0.004):
                rng = np.random.default_rng(0)
                validation = generated_batch(5_000, classes, 0.014, rng)
                reference = measured_reference(content(validation), classes_of(validation.labels))
                batch = generated_batch(50_000, classes, rate, rng)
                entities = content(batch).entities.sum(axis=1)
                noise = rng.exponential(0.08, len(batch)) * (1 + entities)
                tagging = Tagging(batch.tags, batch.labels, np.clip(1 - noise, 0, 1))
                begin = time.process_time()
                chosen = select_examples(
                    tagging, batch, reference=reference, confidence=0.85, most=most
                )
                seconds = time.process_time() - begin
                empty = proportions_of(content(batch), reference.proportions.classes).values[-1]
                print(
                    f"{classes:2} classes, {empty:.2f} of the batch without entities: "
                    f"{len(chosen.indices):,} of at most {min(chosen.bound, most):,} selected "
                    f"from {chosen.confident:,}, deviation {chosen.deviation:.3f}, "
                    f"{seconds:.2f} s"
                )


if __name__ == "__main__":
    main()
