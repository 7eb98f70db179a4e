"""The builtin table of patterns alone, on MEDDOCAN by note, and its speed: docs/results.md.

The class of MEDDOCAN of a class of patterns is the most frequent one of its spans. A span is right
if an annotation of that class begins and ends where it does; all annotations of the class count for
the recall, of TERRITORIO those of five digits. Rows were written while looking at train.

    python benchmarks/patterns.py alone train   # on which rows were chosen
    python benchmarks/patterns.py alone dev     # the reported scores
    python benchmarks/patterns.py rows train    # the spans and the precision of each row
    python benchmarks/patterns.py speed         # tokens per second, beside one row after the other,
                                                # and of a CRF with and without patterns before it
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from meddocan_lines import lines_of, units_of

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.tags import classes_of, find_entities
from taggers.crf.crf_options import CRFOptions
from taggers.crf.crf_tagger import CRFTagger
from taggers.patterns.first import PatternsFirst
from taggers.patterns.labelled import LabelledPatterns
from taggers.patterns.matcher import PatternMatcher
from taggers.patterns.merging import merged
from taggers.patterns.tables import IDENTIFIERS, read_patterns

LINES, TEXTS, TRAIN, ROUNDS = 40_000, 1_000, 2_000, 9
NO_CLASS = "-"
#: What spans of a class of MEDDOCAN are, where patterns find a part of them only.
FORMS = {"TERRITORIO": re.compile(r"[0-9]{5}")}


def scored(
    split: str, name: Callable[[int], str]
) -> tuple[dict[str, Counter[str]], Counter[str], dict[str, str]]:
    """Count the classes of the spans of each name that is given to a pattern, and of all entities.

    The third one is the class of MEDDOCAN of each name.
    """
    patterns = read_patterns((IDENTIFIERS,))
    batch = make_batch(units_of(split, None, "document"), labelled=True)
    gold, labels = _entities(batch)
    counts: dict[str, Counter[str]] = {name(index): Counter() for index in range(len(patterns))}
    classes: dict[str, Counter[str]] = {pattern.label: Counter() for pattern in patterns}
    hits = PatternMatcher(patterns).find(batch)
    hits = hits.take(merged(hits.first, hits.last, hits.confidences))
    for first, last, index in zip(hits.first, hits.last, hits.patterns.tolist(), strict=True):
        label = gold.get((first, last), NO_CLASS)
        counts[name(index)][label] += 1
        if label != NO_CLASS:
            classes[patterns[index].label][label] += 1
    own = {
        label: max(count, key=lambda key: count[key], default="")
        for label, count in classes.items()
    }
    return counts, labels, {name(index): own[row.label] for index, row in enumerate(patterns)}


def _entities(batch: Batch) -> tuple[dict[tuple[int, int], str], Counter[str]]:
    """Return the class of each entity by its tokens, and how many of each have its form."""
    entities, classes = (
        find_entities(batch.tags, batch.document_offsets, batch.labels),
        classes_of(batch.labels),
    )
    texts, counts, gold = batch.texts.to_pylist(), Counter[str](), {}
    rows = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    for row, first, last, kind in zip(
        rows, entities.first, entities.last, entities.classes, strict=True
    ):
        label = gold[first, last] = classes[kind]
        text = texts[row][batch.starts[first] : batch.ends[last]]
        counts[label] += label not in FORMS or FORMS[label].fullmatch(text) is not None
    return gold, counts


def alone(split: str) -> None:
    """Print precision and recall of each class of patterns."""
    patterns = read_patterns((IDENTIFIERS,))
    counts, every, own = scored(split, lambda index: patterns[index].label)
    print("| class | class of MEDDOCAN | annotated | found | precision | recall |")
    print("|---|---|---|---|---|---|")
    for name, count in counts.items():
        right, found = count[own[name]], count.total()
        if own[name]:
            precision, recall = right / found, right / every[own[name]]
            print(
                f"| {name} | {own[name]} | {every[own[name]]:,} | {found:,} | "
                f"{precision:.3f} | {recall:.3f} |"
            )
        else:
            print(f"| {name} | | | {found:,} | | |")


def rows(split: str) -> None:
    """Print the spans and the precision of each row, beside the confidence that it has."""
    patterns = read_patterns((IDENTIFIERS,))
    counts, _, own = scored(split, lambda index: f"{index + 1} {patterns[index].label}")
    for (name, count), pattern in zip(counts.items(), patterns, strict=True):
        precision = f"{count[own[name]] / count.total():.3f}" if own[name] and count else "  -  "
        print(f"{name:20} {count.total():5} spans, precision {precision}", end="")
        print(f", confidence {pattern.confidence}: {pattern.matches[0]!r}")


def speed() -> None:
    """Print tokens per second of the table, and of its expressions one by one in `re`."""
    patterns, rng = read_patterns((IDENTIFIERS,)), np.random.default_rng(0)
    lines = lines_of("train", None)
    rates: dict[str, list[float]] = {"all rows at once": [], "one row after the other": []}
    alone = [re.compile(pattern.regular_expression()) for pattern in patterns]
    for _ in range(ROUNDS):
        sample = [lines[index] for index in rng.integers(len(lines), size=LINES)]
        batch, few = (make_batch(part, labelled=False) for part in (sample, sample[:TEXTS]))
        matcher = PatternMatcher(patterns)  # which remembers the texts that it has checked
        begin = time.process_time()
        matcher.find(batch)
        middle = time.process_time()
        for text in few.texts.to_pylist():
            for expression in alone:
                for _match in expression.finditer(f"\n{text}\n"):
                    pass
        rates["all rows at once"].append(batch.n_tokens / (middle - begin) / 1e6)
        rates["one row after the other"].append(few.n_tokens / (time.process_time() - middle) / 1e6)
    print(f"{len(patterns)} rows; {LINES:,} lines, {batch.n_tokens:,} tokens in a batch")
    for name, values in rates.items():
        print(
            f"{name}: {np.median(values):.3f} million tokens per second, "
            f"best {max(values):.3f} of {ROUNDS}"
        )
    _speed_before_a_tagger(make_batch(lines[:TRAIN], labelled=True), sample)


def _speed_before_a_tagger(train: Batch, sample: list[Document]) -> None:
    """Print tokens per second of a CRF alone, and of one with the table before it."""
    crf = CRFTagger(CRFOptions(max_iterations=20)).fit(train, rng=np.random.default_rng(0))
    patterns = read_patterns((IDENTIFIERS,))
    labels = {pattern.label: pattern.label for pattern in patterns}
    taggers = {
        "the CRF alone": crf,
        "patterns before it": PatternsFirst(crf, LabelledPatterns(patterns, labels)),
    }
    for size in (4_096, 16_384):
        rates: dict[str, list[float]] = {name: [] for name in taggers}
        batch = make_batch(sample[:size], labelled=False)
        for _ in range(ROUNDS):
            for name, tagger in taggers.items():
                begin = time.process_time()
                tagger.tag(batch)
                rates[name].append(batch.n_tokens / (time.process_time() - begin) / 1e6)
        print(f"{size:,} lines at a time", end="")
        for name, values in rates.items():
            print(f", {name}: {np.median(values):.2f} million tokens per second", end="")
        print()


def main() -> None:
    """Print the results of an experiment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", choices=("alone", "rows", "speed"))
    parser.add_argument("split", choices=("train", "dev"), nargs="?", default="train")
    arguments = parser.parse_args()
    if arguments.experiment == "speed":
        speed()
    else:
        {"alone": alone, "rows": rows}[arguments.experiment](arguments.split)


if __name__ == "__main__":
    main()
