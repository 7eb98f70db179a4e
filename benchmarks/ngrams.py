"""The n-grams that may be entities (paper 000): how many of MEDDOCAN's dev are found, by filter.

python benchmarks/ngrams.py
"""

from __future__ import annotations

import argparse

from meddocan_lines import units_of

from corpus.batch import make_batch
from corpus.tags import find_entities
from taggers.annotators import PartsOfSpeech
from taggers.ngrams.ngram_filter import NGramFilter
from taggers.ngrams.tccnn_options import TCCNNOptions


def compare_filters() -> None:
    """Print how many entities are among the n-grams that are left, and their number."""
    train, dev = (
        make_batch(units_of(split, None, "document"), labelled=True) for split in ("train", "dev")
    )
    entities = find_entities(dev.tags, dev.document_offsets, dev.labels)
    gold = set(zip(entities.first.tolist(), entities.last.tolist(), strict=True))
    length = TCCNNOptions().length
    pos = PartsOfSpeech(TCCNNOptions().analysers).annotate(dev)
    rows = [(f"words, from {least} occurrences on", least, None) for least in (1, 2, 3, 5, 10)]
    rows.append(("parts of speech, and words from 5 on", 5, pos))
    print("| what leaves n-grams out | recall | n-grams of a note |\n|---|---|---|")
    for name, least, stream in rows:
        first, last = NGramFilter.from_training(train, least).find(dev, length, stream)
        among = gold & set(zip(first.tolist(), last.tolist(), strict=True))
        print(
            f"| {name} | {len(among) / len(gold):.4f} | {len(first) / len(dev):.0f} |", flush=True
        )


def main() -> None:
    """Print a table."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    compare_filters()


if __name__ == "__main__":
    main()
