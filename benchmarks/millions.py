"""Millions of notes through `tag`, `deidentify`, `count` and `embed`: speed, memory, and growth.

    python benchmarks/millions.py                    # 1,000,000 notes; processes, Dask workers
    python benchmarks/millions.py --notes 10000000   # hours
    python benchmarks/millions.py growth             # notes, their length, columns and labels

Notes are lines of MEDDOCAN's train, about as long as the notes of paper 003 (19 tokens), drawn with
replacement, with an unknown word in place of one in twenty. The first million differ, and repeat.
The model is a CRF of all lines. The times are of whole commands; `embed` trains one embedding for
one epoch.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from crf import CLASSES, sampled, with_novel_words
from meddocan_lines import lines_of

from corpus.batch import make_batch
from corpus.document import Document
from corpus.formats import write
from taggers import CRFOptions, CRFTagger

_PART, _DISTINCT = 50_000, 20  # notes that are made at once, and such parts that differ
_FILE = 5  # parts of a file

#: Carries out a command, and prints the processor time of this process and of others, and the peak
#: of each in KiB.
_MEASURED = """
import re, resource, sys
from pathlib import Path
from joblib.externals.loky import get_reusable_executor
from bootstrap.cli.main import main
code = main(sys.argv[1:])
get_reusable_executor().shutdown(wait=True)  # processes that have ended are counted
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
peak = re.search(r"VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1]
print(*(usage.ru_utime + usage.ru_stime for usage in used), peak, used[1].ru_maxrss)
sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class Used:
    """What a command has used: seconds, and KiB of the largest process of each kind."""

    passed: float
    own: float
    others: float
    own_peak: int
    other_peak: int


def run(*command: object, workers: Any = None) -> Used:
    """Carry out a command."""
    before = usage_of(workers)
    start = time.perf_counter()
    arguments = [sys.executable, "-c", _MEASURED, *map(str, command)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    passed, after = time.perf_counter() - start, usage_of(workers)
    own, others, own_peak, other_peak = done.stdout.split()[-4:]
    return Used(
        passed,
        float(own),
        float(others) + after[0] - before[0],
        int(own_peak),
        max(int(other_peak), after[1]),
    )


def usage_of(workers: Any) -> tuple[float, int]:
    """Return the processor seconds of Dask workers, and the peak of the largest in KiB."""
    if workers is None:
        return 0.0, 0
    seconds, peaks = 0.0, []
    for number in workers.run(os.getpid).values():
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        status = Path(f"/proc/{number}/status").read_text()
        peaks.append(int(re.search(r"VmHWM:\s+(\d+)", status)[1]))
    return seconds, max(peaks)


@contextmanager
def dask_workers(folder: Path, number: int) -> Iterator[tuple[Path, Any]]:
    """Start a scheduler and workers, and yield the file of the scheduler and a client."""
    from distributed import Client  # noqa: PLC0415 - an extra

    file, dask = folder / "scheduler.json", [sys.executable, "-m", "dask"]
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    workers = ["--nworkers", str(number), "--nthreads", "1", "--local-directory", str(folder)]
    started = [
        subprocess.Popen(
            [*dask, name, *more, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL
        )
        for name, more in (("scheduler", options), ("worker", workers))
    ]
    try:
        while not file.is_file():
            time.sleep(0.1)
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(number)
            yield file, client
    finally:
        for process in started:
            process.terminate()
            process.wait()


def make_notes(folder: Path, number: int, *, joined: int = 1, columns: int = 0) -> int:
    """Write a folder of Parquet files, and return the number of tokens.

    Notes are lines, or several of them `joined`; `columns` are added.
    """
    lines, sizes = lines_of("train", CLASSES[5]), list[int]()
    folder.mkdir()

    def path(part: int) -> Path:
        return folder / f"{part // _FILE:04d}-{part % _FILE}.parquet"

    for part in range(-(-number // _PART)):
        if part >= _DISTINCT:
            shutil.copy(path(part % _DISTINCT), path(part))
            sizes.append(sizes[part % _DISTINCT])
            continue
        rng, size = np.random.default_rng(part), min(_PART, number - part * _PART)
        drawn = with_novel_words(sampled(lines, size * joined, rng), rng)
        rows = [drawn[first : first + joined] for first in range(0, len(drawn), joined)]
        notes = [
            Document(f"{part}-{place}", " ".join(line.text for line in row))
            for place, row in enumerate(rows)
        ]
        write(notes, path(part))
        sizes.append(make_batch(notes, labelled=False).n_tokens)
        if columns:
            table = pq.read_table(path(part))
            for column in range(columns):
                values = pa.array(["a ward of the hospital"] * len(notes))
                table = table.append_column(f"column {column}", values)
            pq.write_table(table, path(part))
    return sum(sizes)


def model_of(folder: Path, labels: int) -> Path:
    """Train a CRF of all lines with a number of labels."""
    train = make_batch(lines_of("train", CLASSES[labels]), labelled=True)
    path = folder / f"model-{labels}"
    tagger = CRFTagger(CRFOptions(clusters="", names=(), phrases=()))
    tagger.fit(train, rng=np.random.default_rng(0)).save(path)
    return path


def compare(folder: Path, number: int) -> None:
    """Print what each command uses, with one process, two, and two workers."""
    model, notes, out = model_of(folder, 5), folder / "notes", folder / "out"
    tokens = make_notes(notes, number)
    commands = {
        "tag": ("tag", model, notes, out),
        "deidentify": ("deidentify", model, notes, out, "--policy", "placeholders"),
        "count": ("count", notes, "-o", out),
        "embed": ("embed", "train", notes, "-o", out, "--normalise", "lower", "--epochs", 1),
    }
    print(f"{number:,} notes, {tokens:,} tokens\n")
    columns = ["command", "with", "minutes", "notes/s", "tokens/s", "processor s: reads and writes"]
    columns += ["others", "GB", "GB of another"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")

    def measure(name: str, how: str, *options: object, workers: Any = None) -> None:
        used = run(*commands[name], *options, workers=workers)
        if out.is_dir():
            shutil.rmtree(out)
        else:
            out.unlink()
        row = [name, how, f"{used.passed / 60:.1f}"]
        row += [f"{value / used.passed:,.0f}" for value in (number, tokens)]
        row += [f"{value:,.0f}" for value in (used.own, used.others)]
        row += [f"{value / 2**20:.2f}" for value in (used.own_peak, used.other_peak)]
        print(f"| {' | '.join(row)} |", flush=True)

    for name in ("tag", "deidentify"):
        measure(name, "1 process", "--jobs", 1)
        measure(name, "2 processes", "--jobs", 2)
    measure("count", "1 process")
    for threads in (1, 2):
        measure("embed", f"1 process, --workers {threads}", "--workers", threads)
    with dask_workers(folder, 2) as (file, client):
        for name in ("tag", "deidentify", "count"):
            measure(name, "2 workers", "--cluster", file, workers=client)


def growth(folder: Path, number: int) -> None:
    """Print how the processor time of `tag` grows."""
    models = {labels: model_of(folder, labels) for labels in CLASSES}
    print("| notes | tokens | columns | labels | processor s | s per million tokens |")
    print("|---|---|---|---|---|---|")
    for size, joined, columns, labels in (
        (number, 1, 0, 5),
        (2 * number, 1, 0, 5),
        (number // 4, 4, 0, 5),
        (number, 1, 10, 5),
        (number, 1, 0, 42),
    ):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            notes = Path(name) / "notes"
            tokens = make_notes(notes, size, joined=joined, columns=columns)
            used = run("tag", models[labels], notes, Path(name) / "out", "--jobs", 1)
        row = [f"{size:,}", f"{tokens:,}", columns, labels, f"{used.own:,.1f}"]
        print(f"| {' | '.join(map(str, row))} | {used.own / tokens * 1e6:.2f} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", nargs="?", choices=("compare", "growth"), default="compare")
    parser.add_argument("--notes", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.what == "compare":
            compare(Path(name), options.notes or 1_000_000)
        else:
            growth(Path(name), options.notes or 200_000)


if __name__ == "__main__":
    main()
