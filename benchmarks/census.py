"""Dictionary models of the Spanish census, on MEDDOCAN by line (paper 003, table 3.2).

The dictionaries are the given names and surnames of the builtin list `census-es`. The kind `lists`
also finds LOCATION, with the builtin lists of places; the other kinds find PERSON only. The words
are counted in train and dev. Annotations are only used to compute scores.

    python benchmarks/census.py train      # on which settings were chosen
    python benchmarks/census.py dev        # the reported scores
    python benchmarks/census.py speed      # tokens per second, compared with building batches
    python benchmarks/census.py contexts   # the counts of taggers/dictionaries/list_decoding.py
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from meddocan_lines import MERGED, PERSON, lines_of

from corpus.batch import Batch, make_batch
from corpus.counts import count_words
from corpus.document import Document
from corpus.evaluation.scoring import score
from corpus.formats.batches import batches_of
from gazetteers.builtin import CENSUS
from taggers import Tagger, make_tagger
from taggers.dictionaries.dictionary_options import (
    DictionaryOptions,
    DivergenceOptions,
    ListOptions,
)
from taggers.dictionaries.list_decoding import BEFORE, BEHIND, log_odds
from taggers.dictionaries.list_tagger import ListTagger

OPTIONS = {
    "divergence": DivergenceOptions,
    "dictionary": DictionaryOptions,
    "lists": ListOptions,
}
ROUNDS = 10  # of expectation maximization
CLASSES = {"divergence": PERSON, "dictionary": PERSON, "lists": MERGED}


def counted(folder: Path, lines: Sequence[Document]) -> str:
    """Write the counts of the words of lines, and return their path."""
    path = folder / "words.parquet"
    count_words(batches_of(lines)).save(path)
    return str(path)


def fitted(kind: str, counts: str) -> Tagger:
    """Fit a dictionary model to the census and the word counts."""
    options = OPTIONS[kind](names=(CENSUS,), counts=counts)
    empty = make_batch([], labelled=False)
    return make_tagger(kind, options).fit(empty, rng=np.random.default_rng(0))


def alone(split: str, folder: Path) -> None:
    """Print precision and recall with and without the confidence threshold."""
    counts = counted(folder, [line for name in ("train", "dev") for line in lines_of(name, {})])
    for kind, classes in CLASSES.items():
        lines = lines_of(split, classes)
        batch = make_batch(lines, labelled=False)
        tagging = fitted(kind, counts).tag(batch, measure="min_marginal")
        found = batch.with_tags(tagging.tags, tagging.labels).to_documents()
        for threshold in (0.0, 0.5):
            trusted = tagging.confidence >= threshold
            scores = score(_where(lines, trusted), _where(found, trusted))
            parts = {name: scores.class_counts(name) for name in sorted(set(classes.values()))}
            for name, part in {**parts, "all": scores.counts("ner")}.items():
                print(
                    f"{split} {kind:10} confidence {threshold}: {trusted.mean():.3f} of the lines, "
                    f"{name:8} P {part.precision:.3f} R {part.recall:.3f} F1 {part.f1:.3f}",
                    flush=True,
                )


def _where(documents: Sequence[Document], chosen: np.ndarray) -> list[Document]:
    return [each for each, kept in zip(documents, chosen, strict=True) if kept]


def speed(folder: Path) -> None:
    """Print the tokens per second of tagging, compared with building batches, in one process."""
    lines = lines_of("train", PERSON)
    counts = counted(folder, lines)
    begin = time.perf_counter()
    batches = [make_batch(lines[at : at + 2500], labelled=False) for at in range(0, 10_000, 2500)]
    tokens = sum(batch.n_tokens for batch in batches)
    made = time.perf_counter() - begin
    for kind in OPTIONS:
        tagger = fitted(kind, counts)
        _tag_all(tagger, batches)  # compiles the kernels
        begin = time.perf_counter()
        for _ in range(10):
            _tag_all(tagger, batches)
        taken = (time.perf_counter() - begin) / 10
        print(
            f"{kind:10} {tokens / taken / 1e6:.2f} million tokens per second, "
            f"{made / taken:.1f} times as fast as building the batches"
        )


def _tag_all(tagger: Tagger, batches: Sequence[Batch]) -> None:
    for batch in batches:
        tagger.tag(batch, measure="min_marginal")


def contexts(folder: Path) -> None:
    """Print what precedes and follows places and other words in lines without annotation.

    Each round weights the contexts by the odds of the round before; at first, they are all 0.
    """
    counts = counted(folder, [line for name in ("train", "dev") for line in lines_of(name, {})])
    tagger = fitted("lists", counts)
    assert isinstance(tagger, ListTagger)
    decoder = tagger.decoder(make_batch(lines_of("train", {}), labelled=False))
    certain = decoder.covered(decoder.places_of_rules())
    first, last, _, prior = decoder.candidates()
    chosen = (first == last) & ~certain[first]
    words, prior = first[chosen], prior[chosen]
    tables, odds = [BEFORE, BEHIND], prior
    for _ in range(ROUNDS):
        placed = certain.copy()
        placed[words[odds > 0]] = True
        placed |= decoder.covered(decoder.codes(placed))
        place, odds = 1 / (1 + np.exp(-odds)), prior
        for row, numbers in enumerate(decoder.contexts(words, words, placed)):
            names = list(tables[row])
            table = [
                np.rint(np.bincount(numbers, weights, len(names)) + 1).astype(int).tolist()
                for weights in (place, 1 - place)
            ]
            tables[row] = dict(zip(names, zip(*table, strict=True), strict=True))
            odds = odds + log_odds(tables[row])[numbers]
    for table in tables:
        for name, (places, others) in table.items():
            print(f"{name:22} {places:5} {others:5}")


def main() -> None:
    """Print the results of an experiment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", choices=("train", "dev", "speed", "contexts"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.experiment == "speed":
            speed(Path(folder))
        elif arguments.experiment == "contexts":
            contexts(Path(folder))
        else:
            alone(arguments.experiment, Path(folder))


if __name__ == "__main__":
    main()
