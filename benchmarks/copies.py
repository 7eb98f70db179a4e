"""What copies in the pool do, and what leaving them out does: F1 and the notes that are used.

    python benchmarks/copies.py                     # of three random states, an hour of one core
    python benchmarks/copies.py --random-states 0   # of one
    python benchmarks/copies.py --speed             # beside rensa (pip install rensa)

The seed is 20 notes of MEDDOCAN's train, the pool the other 480, and half of dev chooses. To the
pool with copies, 144 copies of 14 of its notes are added: half of them with one word in twenty
replaced. F1 is of the other half of dev, at the best iteration.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from meddocan_lines import MERGED, units_of

import bootstrap
from bootstrap.data.splits import COPIES
from corpus.copies import Copies
from corpus.document import Document
from corpus.formats import write
from corpus.kernels.hashing import hash_values
from corpus.tokens import tokenize

SEED, COPIED, NEW = 20, 14, 144


def copies_of(notes: Sequence[Document], rng: np.random.Generator) -> Iterator[Document]:
    """Yield copies of a few notes, every second one with other words here and there."""
    chosen = rng.choice(len(notes), COPIED, replace=False)
    for number in range(NEW):
        note = notes[chosen[number % COPIED]]
        words = note.text.split(" ")
        if number // COPIED % 2:
            for place in np.flatnonzero(rng.random(len(words)) < 0.05).tolist():
                words[place] = f"w{rng.integers(10**6)}"
        yield replace(note, id=f"copy-{number}", text=" ".join(words), spans=())


def compare(state: int, folder: Path) -> None:
    """Print a row for each pool."""
    rng = np.random.default_rng(state)
    train, dev = (units_of(split, MERGED, "document") for split in ("train", "dev"))
    order = rng.permutation(len(train)).tolist()
    seed, pool = [train[n] for n in order[:SEED]], [train[n] for n in order[SEED:]]
    mixed = [*pool, *copies_of(pool, rng)]
    with_copies = [mixed[n] for n in rng.permutation(len(mixed)).tolist()]
    write(seed, folder / "seed.jsonl")
    write(dev[::2], folder / "validation.jsonl")
    write(dev[1::2], folder / "test.jsonl")
    write(pool, folder / "pool.parquet")
    write(with_copies, folder / "with copies.parquet")
    for name, kind in (("pool", "none"), *(("with copies", k) for k in ("none", "exact", "near"))):
        run = bootstrap.train(
            out=folder / f"{name}-{kind}",
            data={
                **{key: str(folder / f"{key}.jsonl") for key in ("seed", "validation", "test")},
                "unlabeled": str(folder / f"{name}.parquet"),
                "unit": "line",
                "deduplicate": kind,
            },
            tagger={"clusters": "auto"},
            loop={"refit": False, "random_state": state},
            jobs=1,
        )
        best = run.metrics()[run.best_iteration()]
        counts = run.test_counts(best.iteration)
        left_out = max(row.left_out.get(COPIES, 0) for row in run.metrics())
        print(
            f"| {state} | {name} | {kind} | {left_out:,} | {best.f1:.3f} | {counts.total.f1:.3f} |",
            flush=True,
        )


def measure_speed() -> None:
    """Print the notes per second of processor time, each as part of reading words from texts."""
    import rensa  # noqa: PLC0415 - it is no part of the development environment

    texts = [note.text for note in units_of("train", None, "document")] * 40
    parts = [pa.array(texts[n : n + 4096], pa.large_string()) for n in range(0, len(texts), 4096)]

    def with_rensa() -> None:
        index = rensa.RMinHashLSH(0.8, 80, 10)
        for number, part in enumerate(parts):
            tokens = tokenize(part)
            words = hash_values("word", [*map(str.lower, tokens.vocabulary)])[tokens.word_ids]
            offsets = tokens.document_offsets.astype(np.uint64)
            signatures = rensa.RMinHash.digest_matrix_from_flat_token_hashes(words, offsets, 80, 42)
            index.insert_matrix_and_query_duplicate_flags(signatures, number * 4096)

    def with_ours(kind: str) -> None:
        copies = Copies(kind)
        for part in parts:
            copies.find(part)

    works = {
        "tokenize": lambda: [tokenize(part) for part in parts],
        "exact": lambda: with_ours("exact"),
        "near": lambda: with_ours("near"),
        "rensa": with_rensa,
    }
    print("| | notes per second |\n|---|---|")
    for name, work in works.items():
        work()
        start = time.process_time()
        work()
        print(f"| {name} | {len(texts) / (time.process_time() - start):,.0f} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random-states", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        measure_speed()
        return
    print("| random state | pool | deduplicate | left out | validation F1 | F1 |")
    print("|---|---|---|---|---|---|")
    for state in options.random_states:
        with tempfile.TemporaryDirectory() as folder:
            compare(state, Path(folder))


if __name__ == "__main__":
    main()
