"""Cost of the CRF by the number of notes, word types and labels, and by the window.

The notes are lines of MEDDOCAN's training split, sampled with replacement, in which one word in
twenty is replaced by an unknown one. The times are processor times on one core.

    python benchmarks/growth.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from crf import CLASSES, prepared_set, sampled, with_novel_words
from meddocan_lines import lines_of, plain

from corpus.batch import Batch, make_batch
from taggers import CRFOptions, CRFTagger
from taggers.crf.training.likelihood import Likelihood
from taggers.threads import one_thread

OPTIONS = plain(CRFOptions, max_iterations=20)


def notes_of(labels: int, number: int) -> Batch:
    """Sample notes annotated with a number of labels."""
    lines = lines_of("train", CLASSES[labels])
    rng = np.random.default_rng(0)
    return make_batch(with_novel_words(sampled(lines, number, rng), rng), labelled=True)


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """Return the median processor time of a function."""
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return float(np.median(found))


def row(name: str, batch: Batch, options: CRFOptions) -> str:
    """Measure training and tagging of a batch, and return a row of the table."""
    begin = time.process_time()
    training = prepared_set(batch, options)
    prepared = time.process_time() - begin
    likelihood = Likelihood(training, options.c2, np.float32)
    x = np.zeros(likelihood.size)
    with one_thread():
        likelihood(x)
        evaluation = seconds(lambda: likelihood(x))
    tagger = CRFTagger(options).fit(batch.slice(0, 5000), rng=np.random.default_rng(0))
    tagger.tag(batch)
    tagged = seconds(lambda: tagger.tag(batch))
    tokens = batch.n_tokens
    return (
        f"| {name} | {tokens:,} | {len(batch.vocabulary):,} | {likelihood.size:,} | {prepared:.2f} "
        f"| {evaluation:.3f} | {1e9 * evaluation / tokens:.0f} | {1e9 * tagged / tokens:.0f} |"
    )


def memory_bandwidth() -> float:
    """Measure the bytes that one core reads and writes per second of copying."""
    source = np.ones(1 << 27, np.uint8)
    target = np.empty_like(source)
    return 2 * len(source) / seconds(lambda: np.copyto(target, source), 5)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--notes", type=int, default=50_000, help="number of notes of all rows but the first ones"
    )
    number = parser.parse_args().notes
    print(
        "| | tokens | word types | weights | preparation, s | an evaluation, s | per token, ns "
        "| tagging again, per token, ns |\n|---|---|---|---|---|---|---|---|"
    )
    for share in (4, 2, 1):
        few = number // share
        print(row(f"{few:,} notes, 42 labels", notes_of(42, few), OPTIONS), flush=True)
    print(row("5 labels", notes_of(5, number), OPTIONS), flush=True)
    batch = notes_of(42, number)
    for window in (0, 1, 4):
        print(row(f"window {window}", batch, replace(OPTIONS, window=window)), flush=True)
    alone = replace(OPTIONS, streams=(), conjunctions=())
    print(row("words alone", batch, alone), flush=True)
    print(f"\nmemory: {memory_bandwidth() / 1e9:.1f} GB/s copied by one core")


if __name__ == "__main__":
    main()
