"""Speed and memory of `bootstrap tag` from file to file, beside the engine and other taggers.

The notes are lines of MEDDOCAN's training split, sampled with replacement, in which one word in
twenty is replaced by an unknown one, with a date and a ward as other columns. A command is measured
as a whole: starting, loading the model, reading, tagging and writing. Everything but the last
command runs on one core.

    python benchmarks/files.py                     # 300,000 lines, 42 and 5 labels
    python benchmarks/files.py --notes 1000000
    python benchmarks/files.py profile             # where the time of one process is spent
    python benchmarks/files.py jobs                # one and two processes
    python benchmarks/files.py lists               # a CRF without and with tags of lists
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from crf import CLASSES, TaggingComparison, sampled, with_novel_words
from meddocan_lines import lines_of, plain

from bootstrap.cli.main import main as bootstrap
from corpus.batch import batch_of_texts, make_batch
from corpus.document import Document
from corpus.formats import write_batches
from corpus.formats.batches import batches_of, schema_with
from taggers import CRFOptions, CRFTagger, make_tagger
from taggers.dictionaries.dictionary_options import ListOptions
from taggers.threads import one_thread

_DISTINCT = 50_000  # notes that are sampled; further ones repeat them


def rows_of(notes: Sequence[Document], number: int) -> list[pa.RecordBatch]:
    """Return a number of notes as record batches with two other columns."""
    names = ["id", "text", "date", "ward"]
    others = [pa.field("date", pa.string()), pa.field("ward", pa.int32())]
    schema = schema_with(names, others)
    batches = []
    for start in range(0, number, len(notes)):
        for batch in batches_of(notes[: number - start]):
            values = [pa.array(["2024-05-01"] * len(batch)), pa.array([3] * len(batch), pa.int32())]
            rest = pa.StructArray.from_arrays(values, fields=others)
            batches.append(pa.record_batch([*batch.columns, rest], schema=schema))
    return batches


#: Runs a command, and prints the largest part of the memory that its process has used, in KiB.
_MEASURED = """
import re, sys
from pathlib import Path
from bootstrap.cli.main import main
main(sys.argv[1:])
print(re.search(r"VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1])
"""


def run(command: Sequence[str]) -> tuple[float, float, float]:
    """Run a command; return its seconds of processor time, those that passed, and its peak MiB."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    arguments = [sys.executable, "-c", _MEASURED, *command]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    passed, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, passed, int(done.stdout.split()[-1]) / 1024


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a function."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(folder: Path, notes: int) -> None:
    """Print tokens per second of the engine, of the command by format, and of other taggers."""
    print(f"{'labels':>6} {'what':<22} {'tokens/s':>10} {'MiB':>6}", flush=True)
    for labels in CLASSES:
        for what, rate, memory in rates(folder, notes, labels):
            print(f"{labels:6} {what:<22} {rate:10,.0f} {memory:6.0f}", flush=True)


def rates(folder: Path, notes: int, labels: int) -> Iterator[tuple[str, float, float]]:
    """Yield what was measured, its tokens per second, and its peak MiB."""
    model = folder / f"model-{labels}"
    comparison = TaggingComparison(CLASSES[labels], _DISTINCT, model)
    batch, few = comparison.batch, comparison.few
    tagging = seconds(lambda: comparison.fresh().tag(batch))
    yield "engine, ready batches", batch.n_tokens / tagging, np.nan
    texts = pa.array([note.text for note in comparison.notes], pa.large_string())
    tagging += seconds(lambda: batch_of_texts(texts, batch.ids))
    yield "engine, texts", batch.n_tokens / tagging, np.nan
    for suffix in ("parquet", "jsonl", "csv"):
        file, out = folder / f"{labels}.{suffix}", folder / f"out.{suffix}"
        write_batches(rows_of(comparison.notes, notes), file)
        used, _, memory = run(["tag", *map(str, (model, file, out)), "--jobs", "1"])
        yield f"{suffix} to {suffix}", batch.n_tokens / len(batch) * notes / used, memory
        out.unlink()
    crfsuite = seconds(lambda: comparison.tag_by_crfsuite(few))
    yield "python-crfsuite", few.n_tokens / crfsuite, np.nan
    spacy = seconds_of_spacy(few.texts.to_pylist(), labels)
    yield "spaCy", few.n_tokens / spacy, np.nan


def seconds_of_spacy(texts: Sequence[str], labels: int) -> float:
    """Return the processor time of a spaCy entity recogniser; NaN without spaCy."""
    try:
        import spacy  # noqa: PLC0415 - may be absent
    except ImportError:
        return np.nan
    nlp = spacy.blank("es")
    recogniser = nlp.add_pipe("ner")
    for number in range(labels // 2):
        recogniser.add_label(f"CLASS{number}")
    nlp.initialize()
    list(nlp.pipe(texts[:100]))
    return seconds(lambda: list(nlp.pipe(texts)))


def profile(folder: Path, notes: int) -> None:
    """Print the functions in which one process spends its time."""
    comparison = TaggingComparison(CLASSES[5], _DISTINCT, folder / "model")
    write_batches(rows_of(comparison.notes, notes), folder / "n.parquet")
    names = [str(folder / name) for name in ("model", "n.parquet", "out.parquet")]
    profiler = cProfile.Profile()
    profiler.runcall(bootstrap, ["tag", *names, "--jobs", "1"])
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def jobs(folder: Path, notes: int) -> None:
    """Print the seconds of one and of two processes, and check that their results are equal."""
    comparison = TaggingComparison(CLASSES[5], _DISTINCT, folder / "model")
    write_batches(rows_of(comparison.notes, notes), folder / "n.parquet")
    for number in (1, 2):
        out = folder / f"{number}.parquet"
        command = ["tag", str(folder / "model"), str(folder / "n.parquet"), str(out)]
        used, passed, memory = run([*command, "--jobs", str(number)])
        print(f"{number} processes: {passed:.1f} s, processor time {used:.1f} s, {memory:.0f} MiB")
    contents = [(folder / f"{number}.parquet").read_bytes() for number in (1, 2)]
    print("equal" if contents[0] == contents[1] else "DIFFERENT")


def lists(folder: Path, notes: int) -> None:
    """Print tokens per second of a CRF without and with tags of lists."""
    rng = np.random.default_rng(0)
    lines = lines_of("train", CLASSES[5])
    train, drawn = make_batch(lines, labelled=True), sampled(lines, _DISTINCT, rng)
    novel = with_novel_words(drawn, rng)
    write_batches(rows_of(novel, notes), folder / "n.parquet")
    tokens = make_batch(novel, labelled=True).n_tokens / len(novel) * notes
    make_tagger("lists", ListOptions()).fit(train, rng=rng).save(folder / "lists")
    for what, list_model in (("without", ""), ("with", str(folder / "lists"))):
        options = plain(CRFOptions, max_iterations=30, list_model=list_model)
        CRFTagger(options).fit(train, rng=rng).save(folder / what)
        names = [str(folder / name) for name in (what, "n.parquet", f"{what}.parquet")]
        used, _, memory = run(["tag", *names, "--jobs", "1"])
        print(f"{what}: {tokens / used:,.0f} tokens/s, {memory:.0f} MiB", flush=True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    work = {"compare": compare, "profile": profile, "jobs": jobs, "lists": lists}
    parser.add_argument("work", nargs="?", choices=work, default="compare")
    parser.add_argument("--notes", type=int, default=300_000)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder, one_thread():
        work[options.work](Path(folder), options.notes)


if __name__ == "__main__":
    main()
