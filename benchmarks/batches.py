"""Tokens per second from text to `Batch`, on one core, without reading the files.

python benchmarks/batches.py
"""

from __future__ import annotations

import argparse
import time
from itertools import chain
from pathlib import Path

from corpus.batch import make_batch
from corpus.document import Document
from corpus.errors import Problems
from corpus.formats import read
from corpus.tokens.expression import TOKEN
from corpus.units import split_documents

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "meddocan"
ROUNDS = 5


def main() -> None:
    """Time the regular expression alone and the building of a batch, in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--copies", type=int, default=3, help="number of copies of MEDDOCAN's train and dev lines"
    )
    copies = parser.parse_args().copies
    sources = chain.from_iterable(read(DATA / s, problems=Problems()) for s in ("train", "dev"))
    lines = [Document(d.id, d.text) for d in split_documents(sources, "line", Problems())] * copies
    expression, batch = [], []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for line in lines:
            TOKEN.findall(line.text)
        middle = time.process_time()
        built = make_batch(lines, labelled=False)
        expression.append(middle - begin)
        batch.append(time.process_time() - middle)
    tokens = built.n_tokens
    print(f"{len(lines):,} lines, {tokens:,} tokens, {len(built.vocabulary):,} word types")
    for name, seconds in (("expression alone, line by line", expression), ("batch", batch)):
        rates = sorted(tokens / second / 1e6 for second in seconds)
        print(
            f"{name}: {rates[len(rates) // 2]:.2f} million tokens per second (median of {ROUNDS})"
        )


if __name__ == "__main__":
    main()
