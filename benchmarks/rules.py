"""Rules that are learned from lines of MEDDOCAN's train, on dev: tables of docs/results.md.

F1 is strict, over the 22 types.

    python benchmarks/rules.py alone            # the rules as a tagger
    python benchmarks/rules.py alone --held     # trained on three quarters of train, on the others
    python benchmarks/rules.py stream           # what they find as a feature of the CRF (ReCRF)

The stream of the training lines is that of rules learned from the same lines ("simple"), or from
the four fifths of the patients that a line is not of ("cross-fitted").
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from ensembles import configuration
from meddocan_lines import SEEDS, lines_of, scores_of

from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document
from corpus.evaluation.measures import Scores
from corpus.evaluation.scoring import score
from corpus.patients import patient_numbers
from corpus.tags import bio_labels, classes_of
from taggers import CRFTagger
from taggers.base import Tagger
from taggers.patterns.first import PatternsFirst
from taggers.patterns.labelled import LabelledPatterns
from taggers.patterns.learning import learn, rules_table
from taggers.patterns.pattern_options import PatternOptions
from taggers.patterns.pattern_tagger import PatternTagger
from taggers.patterns.tables import read_patterns

FOLDS = 5
MEASURES = ("ner", "span", "span_merged")
STREAMS = ("header", "colon", "patterns[-1..1]")


def lines_to_use(held: bool) -> tuple[list[Document], list[Document]]:
    """Return the lines to train on and those to score on."""
    train = lines_of("train", None)
    if not held:
        return train, lines_of("dev", None)
    notes = list(dict.fromkeys(line.group for line in train))
    chosen = {*np.random.default_rng(0).permutation(notes)[: len(notes) // 4].tolist()}
    parts = ([line for line in train if (line.group in chosen) == is_held] for is_held in (0, 1))
    return next(parts), next(parts)


def seed_of(kind: str, train: Sequence[Document], state: int) -> Batch:
    """Return the lines of a seed, or all lines, with all classes."""
    numbers = range(len(train)) if kind == "all" else SEEDS[kind](train, _rng(state)).tolist()
    classes = {span.label for line in train for span in line.spans}
    return make_batch([train[number] for number in numbers], labelled=True, classes=classes)


def _rng(state: int) -> np.random.Generator:
    return np.random.default_rng(state)


def table_of(batch: Batch, folder: str) -> str:
    """Learn rules, and return the path of their table."""
    path = Path(tempfile.mkdtemp(dir=folder)) / "rules.toml"
    path.write_text(rules_table(learn(batch)), encoding="utf-8")
    return str(path)


def alone(seeds: Sequence[str], states: Sequence[int], held: bool) -> None:
    """Print the scores of rules as a tagger, the number of rules and the time to learn them."""
    train, others = lines_to_use(held)
    print("| seed | state | rules | F1 | precision | recall | processor seconds |")
    print("|---|---|---|---|---|---|---|")
    for seed in seeds:
        rows = []
        for state in states[: 1 if seed == "all" else None]:
            batch = seed_of(seed, train, state)
            with tempfile.TemporaryDirectory() as folder:
                begin = time.process_time()
                path = table_of(batch, folder)
                seconds = time.process_time() - begin
                tagger = PatternTagger(PatternOptions(files=(path,)))
            counts = scores_of(tagger, others).counts("ner")
            number = len(tagger.patterns.patterns)
            rows.append((number, counts.f1, counts.precision, counts.recall, seconds))
            _print_row(seed, str(state), rows[-1])
        _print_row(seed, "mean", np.mean(rows, axis=0))


def _print_row(seed: str, state: str, row: Sequence[float]) -> None:
    number, f1, precision, recall, seconds = row
    print(
        f"| {seed} | {state} | {number:.0f} | {f1:.4f} | {precision:.4f} | {recall:.4f} "
        f"| {seconds:.1f} |",
        flush=True,
    )


def cross_fitted(batch: Batch, folder: str) -> Stream:
    """Return what rules find in each fold of the patients, learned from the others."""
    labels = bio_labels(classes_of(batch.labels))
    values = np.full(batch.n_tokens, -1, np.int32)
    folds = patient_numbers(batch) % FOLDS
    for fold in range(FOLDS):
        rest, own = (batch.take(np.flatnonzero((folds == fold) == is_own)) for is_own in (0, 1))
        tagger = PatternTagger(PatternOptions(files=(table_of(rest, folder),)))
        tagging = tagger.tag(own)
        numbers = np.array([labels.index(label) - 1 for label in tagging.labels], np.int32)
        values[np.repeat(folds == fold, batch.lengths)] = numbers[tagging.tags]
    return Stream(labels[1:], values)


def stream(seeds: Sequence[str], states: Sequence[int], held: bool) -> None:
    """Print the scores of the CRF alone, with each stream, and after rules that tag first.

    Each cell has F1 of entities, of spans whatever their class, and of merged spans.
    """
    train, others = lines_to_use(held)
    print("| seed | state | CRF | simple | cross-fitted | rules first |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        text = ["train"] if held else ["train", "dev"]
        # As in a run with the preset "auto", without augmentation and other patterns.
        options = configuration("crf", Path(folder) / "embeddings", text).tagger.options
        for seed in seeds:
            rows = []
            for state in states[: 1 if seed == "all" else None]:
                batch = seed_of(seed, train, state)
                path = table_of(batch, folder)
                own = replace(options, streams=STREAMS, patterns=(path,))
                fitted = batch.with_streams({"patterns": cross_fitted(batch, folder)})
                taggers: list[Tagger] = [
                    CRFTagger(chosen).fit(part, rng=_rng(state))
                    for chosen, part in ((options, batch), (own, batch), (own, fitted))
                ]
                rules = LabelledPatterns(read_patterns((path,)))
                taggers.append(PatternsFirst(taggers[0], rules))
                scores = [_all_scores_of(tagger, others) for tagger in taggers]
                rows.append([[of.counts(measure).f1 for measure in MEASURES] for of in scores])
                _print_cells(seed, str(state), rows[-1])
            _print_cells(seed, "mean", np.mean(rows, axis=0))


def _all_scores_of(tagger: Tagger, lines: Sequence[Document]) -> Scores:
    batch = make_batch(lines, labelled=False)
    tagging = tagger.tag(batch)
    return score(lines, batch.with_tags(tagging.tags, tagging.labels).to_documents())


def _print_cells(seed: str, state: str, cells: Sequence[Sequence[float]]) -> None:
    texts = [", ".join(f"{f1:.4f}" for f1 in cell) for cell in cells]
    print(f"| {seed} | {state} | {' | '.join(texts)} |", flush=True)


def main() -> None:
    """Print the table that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("alone", "stream"))
    parser.add_argument("--seeds", nargs="+", default=["all", "small", "hundred", "biased"])
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--held", action="store_true")
    options = parser.parse_args()
    measure = alone if options.what == "alone" else stream
    measure(options.seeds, options.states, options.held)


if __name__ == "__main__":
    main()
