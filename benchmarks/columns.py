"""Speed of splitting notes into units, and of replacing their spans, as columns and on one core.

python benchmarks/columns.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pyarrow as pa

from corpus.errors import Problems
from corpus.formats import read
from corpus.formats.batches import batches_of
from corpus.replacement import replace_spans
from corpus.tokens import tokenize
from corpus.units import split_batch

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "meddocan"
ROUNDS = 9


def main() -> None:
    """Print the median rate of each function."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--copies", type=int, default=5, help="number of copies of MEDDOCAN's train and dev notes"
    )
    copies = parser.parse_args().copies
    notes = chain.from_iterable(read(DATA / s, problems=Problems()) for s in ("train", "dev"))
    (batch,) = batches_of(notes * copies)
    tokens = tokenize(batch.column("text").to_pylist()).n_tokens
    megabytes = batch.column("text").nbytes / 1e6
    labels = batch.column("labels").flatten().cast(pa.large_string())
    print(f"{len(batch):,} notes, {tokens:,} tokens, {megabytes:.1f} MB, {len(labels):,} spans")
    for unit in ("line", "sentence"):
        seconds = _median(lambda unit=unit: split_batch(batch, unit, Problems()))
        print(f"split into {unit}s: {tokens / seconds / 1e6:.1f} million tokens per second")
    seconds = _median(lambda: replace_spans(batch, labels))
    print(f"replace spans by their labels: {megabytes / seconds:.0f} MB per second")


def _median(function: Callable[[], object]) -> float:
    """Return the median processor time in seconds."""
    seconds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        function()
        seconds.append(time.process_time() - begin)
    return sorted(seconds)[ROUNDS // 2]


if __name__ == "__main__":
    main()
