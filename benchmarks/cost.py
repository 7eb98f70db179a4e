"""What a run with the defaults costs beside training alone: processor time and memory.

    python benchmarks/cost.py lines                  # 331 annotated lines, 9,980 unlabeled ones
    python benchmarks/cost.py notes                  # 500 annotated notes, 22 types, no iterations
    python benchmarks/cost.py pool                   # 331 annotated lines, 1,000,000 unlabeled ones
    python benchmarks/cost.py pool --lines 100000

Training alone is one training of embeddings, and one of a CRF on all annotated documents. All
documents are MEDDOCAN's. A large pool repeats the lines of train, with an unknown word in place of
one in twenty.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from crf import sampled, with_novel_words
from meddocan_lines import DATA, MERGED, lines_of, small_seed

from bootstrap.runs.folder import Run
from corpus.document import Document
from corpus.formats import write

_PART = 50_000  # lines of a pool that are made at once

CONFIGURATION = """
[data]
seed = "{seed}"
validation = "{validation}"
unlabeled = "{unlabeled}"

[tagger]
clusters = "auto"
"""

COLUMNS = (
    "run",
    "iterations",
    "documents of the last training set",
    "processor time, s",
    "minutes",
    "GB of the largest process",
    "validation F1",
)
ALONE = ("augment.copies=0", "loop.iterations=0", "loop.refit=false")


def measure(out: Path, jobs: int, settings: Sequence[str], **data: Path) -> None:
    """Carry out a run, and print a row of what it used."""
    config = out.with_suffix(".toml")
    config.write_text(CONFIGURATION.format(**data))
    arguments = ["--quiet", "run", config, "--out", out, "--jobs", jobs]
    for setting in settings:
        arguments += ["--set", setting]
    start = time.perf_counter()
    program = Path(sys.executable).with_name("bootstrap")
    process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit("the run failed")
    minutes = (time.perf_counter() - start) / 60
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20
    run = Run(out)
    metrics = run.metrics()
    best, last = metrics[run.best_iteration()], metrics[-1]
    print(
        f"| {out.name} | {last.iteration} | {last.training_documents:,} | {seconds:,.0f} | "
        f"{minutes:.1f} | {memory:.2f} | {best.f1:.3f} |",
        flush=True,
    )


def drawn(lines: Sequence[Document], number: int) -> Iterator[Document]:
    """Yield lines drawn with replacement, with unknown words and identifiers of their own."""
    for start in range(0, number, _PART):
        rng = np.random.default_rng(start)
        part = with_novel_words(sampled(lines, min(_PART, number - start), rng), rng)
        for index, line in enumerate(part, start):
            yield replace(line, id=f"line-{index}")


def main() -> None:
    """Print a table of the run with the defaults, and of training alone."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("lines", "notes", "pool"))
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    train, dev = DATA / "train", DATA / "dev"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
        if options.what == "notes":
            notes = {"seed": train, "validation": dev, "unlabeled": train}
            measure(folder / "alone", options.jobs, ALONE, **notes)
            measure(folder / "defaults", options.jobs, ["loop.iterations=0"], **notes)
            return
        lines = lines_of("train", MERGED)
        write(lines_of("dev", MERGED), folder / "dev.jsonl")
        write(lines, folder / "train.jsonl")
        chosen = set(small_seed(lines, np.random.default_rng(0)).tolist())
        write((lines[index] for index in sorted(chosen)), folder / "seed.jsonl")
        others = [line for index, line in enumerate(lines) if index not in chosen]
        if options.what == "pool":
            write(drawn(others, options.lines), folder / "pool.parquet")
        else:
            write(others, folder / "pool.parquet")
        paths = {"validation": folder / "dev.jsonl", "unlabeled": folder / "pool.parquet"}
        if options.what == "lines":
            measure(folder / "alone", options.jobs, ALONE, seed=folder / "train.jsonl", **paths)
        measure(folder / "defaults", options.jobs, (), seed=folder / "seed.jsonl", **paths)


if __name__ == "__main__":
    main()
