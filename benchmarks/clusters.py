"""Initialisations and algorithms of k-means on many word vectors: inertia and duration.

The words are prefixes of MEDDOCAN's words joined with suffixes of others. FastText, trained on the
same notes, computes their vectors: there are as many as in a large corpus, and they are distributed
like word vectors. "Passes" are iterations of Lloyd's algorithm from randomly sampled words.
"Mini-batches" are iterations of MiniBatchKMeans.

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

from corpus.errors import Problems
from corpus.formats import read
from corpus.tokens import tokenize
from taggers.threads import one_thread

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "meddocan"


def vectors_of_words(number: int) -> np.ndarray:
    """Compute unit vectors of a number of words, shape (number, 100)."""
    notes = read(DATA / "train", problems=Problems())
    lines = [line.lower() for note in notes for line in note.text.splitlines()]
    tokens = tokenize(lines)
    bounds = zip(tokens.document_offsets[:-1], tokens.document_offsets[1:], strict=True)
    sentences = [[tokens.vocabulary[word] for word in tokens.word_ids[a:b]] for a, b in bounds]
    model = FastText(
        sentences, vector_size=100, window=5, min_count=2, sg=1, epochs=5, workers=1, bucket=200_000
    )
    rng = np.random.default_rng(0)
    types = [word for word in tokens.vocabulary if len(word) > 4 and word.isalpha()]
    words: dict[str, None] = dict.fromkeys(tokens.vocabulary)
    while len(words) < number:
        head, tail = (types[index] for index in rng.integers(0, len(types), 2))
        words[head[: rng.integers(3, len(head))] + tail[rng.integers(1, len(tail) - 2) :]] = None
    vectors = np.stack([model.wv.get_vector(word) for word in list(words)[:number]])
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


class Stopwatch:
    """Prints the mean squared distance of clusters and the total duration."""

    def __init__(self, vectors: np.ndarray) -> None:
        self._vectors = vectors
        self._seconds = 0.0

    def measure(self, name: str, cluster: Callable[[], KMeans | MiniBatchKMeans]) -> np.ndarray:
        """Cluster, print the mean squared distance from the centres, and return the centres."""
        begin = time.perf_counter()
        found = cluster()
        self._seconds += time.perf_counter() - begin
        distance = -found.score(self._vectors) / len(self._vectors)
        empty = found.n_clusters - len(np.unique(found.labels_))
        print(f"  {name:22} {distance:.4f}  {self._seconds:7.1f} s  {empty} empty", flush=True)
        return found.cluster_centers_


def compare(vectors: np.ndarray, k: int, plus_plus: bool) -> None:
    """Print the results of different initialisations and algorithms."""
    print(f"K = {k:,}, {len(vectors):,} vectors, one thread", flush=True)
    shared = {"n_clusters": k, "n_init": 1, "random_state": 0}
    watch, start, done = Stopwatch(vectors), "random", 0
    for passes in (5, 10, 20):
        lloyd = KMeans(init=start, max_iter=passes - done, tol=0.0, **shared)
        start = watch.measure(f"{passes} passes", lambda lloyd=lloyd: lloyd.fit(vectors))  # type: ignore[misc]
        done = passes
    batches = MiniBatchKMeans(init="random", batch_size=max(4096, 3 * k), max_iter=3, **shared)
    Stopwatch(vectors).measure("mini-batches", lambda: batches.fit(vectors))
    if plus_plus:
        plus = KMeans(max_iter=20, tol=0.0, **shared)
        Stopwatch(vectors).measure("k-means++, 20 passes", lambda: plus.fit(vectors))


def main() -> None:
    """Print a table for each number of clusters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=580_000)
    parser.add_argument("--k", type=int, nargs="+", default=[128, 1024, 8192])
    parser.add_argument("--plus-plus", action="store_true", help="run k-means++ as well")
    options = parser.parse_args()
    vectors = vectors_of_words(options.words)
    with one_thread():
        for k in options.k:
            compare(vectors, k, options.plus_plus)


if __name__ == "__main__":
    main()
