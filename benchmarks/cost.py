"""What a run with the defaults costs beside training alone: processor time and memory.

    python benchmarks/cost.py lines                  # 331 annotated lines, 9,980 unlabeled ones
    python benchmarks/cost.py notes                  # 500 annotated notes, 22 types, no iterations
    python benchmarks/cost.py pool                   # 331 annotated lines, 1,000,000 unlabeled ones
    python benchmarks/cost.py pool --lines 100000

Training alone is one training of embeddings and one of a CRF. The CRF learns from the annotated
notes. For lines, it learns from the last training set of the loop (annotated lines, their copies,
and pseudo-labelled lines), and in another row from that of the final model (annotated lines, with
those of validation, and their copies).

All documents are MEDDOCAN's. A large pool repeats the lines of train, with an unknown word in place
of one in twenty.
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

from bootstrap.config.configuration import load_configuration
from bootstrap.data.preparation import prepare
from bootstrap.runs.embeddings import embeddings_of_notes
from bootstrap.runs.folder import Run
from bootstrap.runs.loop_parts import LoopParts
from bootstrap.runs.observer import Stopwatch
from bootstrap.self_training.state import TrainingSet
from corpus.batch import concatenate
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


def measure(out: Path, jobs: int, settings: Sequence[str] = (), **data: Path) -> None:
    """Carry out a run, and print a row of what it used."""
    config = out.with_suffix(".toml")
    config.write_text(CONFIGURATION.format(**data))
    arguments = ["--quiet", "run", config, "--out", out, "--jobs", jobs]
    for setting in settings:
        arguments += ["--set", setting]
    used = resources_of([Path(sys.executable).with_name("bootstrap"), *arguments])
    run = Run(out)
    metrics = run.metrics()
    best, last = metrics[run.best_iteration()], metrics[-1]
    print_row(out.name, last.iteration, f"{last.training_documents:,}", *used, f"{best.f1:.3f}")


def resources_of(command: Sequence[object]) -> tuple[str, str, str]:
    """Carry out a command, and return its processor time, its minutes, and its memory."""
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit("the command failed")
    minutes, seconds = (time.perf_counter() - start) / 60, used.ru_utime + used.ru_stime
    return f"{seconds:,.0f}", f"{minutes:.1f}", f"{used.ru_maxrss / 2**20:.2f}"


def train_alone(folder: Path, part: str) -> None:
    """Train embeddings on the notes of a run, and a CRF on the last training set of a part of it.

    The part is "loop" or "final"; the final model learns from annotated lines alone.
    """
    run = Run(folder)
    configuration = load_configuration(run.config_file)
    notes, _ = prepare(configuration)
    parts = LoopParts(run, configuration, notes, 1, lambda *_: None, Stopwatch())
    state = parts.state()
    embeddings_of_notes(folder / f"alone-{part}", notes, 0, jobs=1, report=parts.report)
    tagger, training = parts.trainer.tagger_for(state.iteration + 1), state.training
    if part == "final":
        gold = concatenate([notes.seed.batch, notes.validation.batch])
        augment = parts.augmentation(None, second=False)
        training = TrainingSet(gold, configuration.loop, augment(gold)[0] if augment else None)
    tagger.fit(training.documents(), rng=np.random.default_rng(0))


def print_row(*cells: object) -> None:
    """Print a row of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


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
    parser.add_argument("what", choices=("lines", "notes", "pool", "loop", "final"))
    parser.add_argument("run", nargs="?", type=Path, help="of `loop` and `final`, for `lines`")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.what in {"loop", "final"}:
        run = options.run or parser.error(f"{options.what} needs the folder of a run")
        train_alone(run, options.what)
        return
    train, dev = DATA / "train", DATA / "dev"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print_row(*COLUMNS)
        print("|---" * len(COLUMNS) + "|")
        if options.what == "notes":
            notes = {"seed": train, "validation": dev, "unlabeled": train}
            measure(folder / "alone", options.jobs, ALONE, **notes)
            measure(folder / "defaults", options.jobs, ["loop.iterations=0"], **notes)
            return
        lines = lines_of("train", MERGED)
        write(lines_of("dev", MERGED), folder / "dev.jsonl")
        chosen = set(small_seed(lines, np.random.default_rng(0)).tolist())
        write((lines[index] for index in sorted(chosen)), folder / "seed.jsonl")
        others = [line for index, line in enumerate(lines) if index not in chosen]
        if options.what == "pool":
            write(drawn(others, options.lines), folder / "pool.parquet")
        else:
            write(others, folder / "pool.parquet")
        paths = {"validation": folder / "dev.jsonl", "unlabeled": folder / "pool.parquet"}
        measure(folder / "defaults", options.jobs, seed=folder / "seed.jsonl", **paths)
        if options.what == "lines":
            for part in ("loop", "final"):
                command = [sys.executable, __file__, part, folder / "defaults"]
                print_row(f"alone, as in the {part}", "", "", *resources_of(command), "")


if __name__ == "__main__":
    main()
