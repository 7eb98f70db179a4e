"""Starts of k-means on the vectors of many words: how near the clusters are, and how long it takes.

The words are heads of words of MEDDOCAN joined with tails of others, and fastText, trained on the
same notes, gives each a vector: there are as many as in a large corpus, and they lie as vectors
of words do. "Passes" are of Lloyd's algorithm from words drawn at random, "mini-batches" of
MiniBatchKMeans.

    python benchmarks/clusters.py --words 580000 --k 128 1024
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from gensim.models import FastText
from sklearn.cluster import KMeans, MiniBatchKMeans

from corpus.formats import read
from corpus.problems import Problems
from corpus.tokens import tokenize
from taggers.threads import one_thread

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "meddocan"


def vectors_of_words(number: int) -> np.ndarray:
    """Give vectors of length 1 of so many words, shape (number, 100)."""
    notes = read(DATA / "train", problems=Problems())
    lines = [line.lower() for note in notes for line in note.text.splitlines()]
    tokens = tokenize(lines)
    bounds = zip(tokens.documents[:-1], tokens.documents[1:], strict=True)
    sentences = [[tokens.types[word] for word in tokens.words[a:b]] for a, b in bounds]
    model = FastText(
        sentences, vector_size=100, window=5, min_count=2, sg=1, epochs=5, workers=1, bucket=200_000
    )
    rng = np.random.default_rng(0)
    types = [word for word in tokens.types if len(word) > 4 and word.isalpha()]
    words: dict[str, None] = dict.fromkeys(tokens.types)
    while len(words) < number:
        head, tail = (types[index] for index in rng.integers(0, len(types), 2))
        words[head[: rng.integers(3, len(head))] + tail[rng.integers(1, len(tail) - 2) :]] = None
    vectors = np.stack([model.wv.get_vector(word) for word in list(words)[:number]])
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def timed(name: str, cluster: Callable[[], KMeans | MiniBatchKMeans], vectors: np.ndarray) -> None:
    """Print the mean squared distance from the centres, the time and the empty clusters."""
    begin = time.perf_counter()
    found = cluster()
    seconds = time.perf_counter() - begin
    distance = -found.score(vectors) / len(vectors)
    empty = found.n_clusters - len(np.unique(found.labels_))
    print(f"  {name:32} {distance:.4f}  {seconds:7.1f} s  {empty} empty", flush=True)


def main() -> None:
    """Print a table for each number of clusters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=580_000)
    parser.add_argument("--k", type=int, nargs="+", default=[128, 1024, 8192])
    parser.add_argument("--plus-plus", action="store_true", help="k-means++ too")
    options = parser.parse_args()
    vectors = vectors_of_words(options.words)
    with one_thread():
        for k in options.k:
            print(f"K = {k}, {len(vectors):,} vectors, one thread", flush=True)
            for passes in (5, 10, 20):
                lloyd = KMeans(k, init="random", n_init=1, max_iter=passes, tol=0.0, random_state=0)
                timed(f"{passes} passes", lambda lloyd=lloyd: lloyd.fit(vectors), vectors)  # type: ignore[misc]
            batches = MiniBatchKMeans(
                k, init="random", n_init=1, batch_size=max(4096, 3 * k), max_iter=3, random_state=0
            )
            timed("mini-batches", lambda batches=batches: batches.fit(vectors), vectors)  # type: ignore[misc]
            if options.plus_plus:
                plus = KMeans(k, n_init=1, max_iter=20, tol=0.0, random_state=0)
                timed("k-means++, 20 passes", lambda plus=plus: plus.fit(vectors), vectors)  # type: ignore[misc]


if __name__ == "__main__":
    main()
