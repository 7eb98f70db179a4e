"""Self-training on MEDDOCAN by line: the figures of docs/results.md.

Every line of the training split is a document. A seed is sampled from them, and the rest is the
unlabeled pool. The development split is divided into two halves by document. The stopping criterion
and the best iteration are computed on one half, and scores on the other, and vice versa.

    python benchmarks/meddocan.py supervised
    python benchmarks/meddocan.py small --states 0 1 2
    python benchmarks/meddocan.py biased --states 0 1 2 --set select.confidence=0.5
    python benchmarks/meddocan.py hundred --set tagger.clusters=FOLDER
    python benchmarks/meddocan.py hundred --set tagger.clusters=auto
    python benchmarks/meddocan.py small --preset auto
    python benchmarks/meddocan.py small --preset auto --set loop.iterations=0   # the seed alone
    python benchmarks/meddocan.py census --set initial_model.kind=dictionary
    python benchmarks/meddocan.py places --set 'loop.propagate=["PERSON"]'

The last two commands have no seed: their initial models use the names of the builtin list
`census-es`, and the second also those of `places-es`. The first finds PERSON only.
Clusters that are trained automatically are of the words of both splits.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from meddocan_lines import MERGED, PERSON, SEEDS, lines_of, no_seed
from word_counts import counted

from bootstrap.config.configuration import Configuration, parse_configuration
from bootstrap.config.overrides import Source
from bootstrap.config.tagger_sections import TaggerSection
from bootstrap.data.splits import proportional_batch
from bootstrap.execution.processes import default_jobs
from bootstrap.runs.augmentation import augmentation_of
from bootstrap.runs.embeddings import trained_embeddings
from bootstrap.runs.lists import list_options_for, uses_lists
from bootstrap.selection import initial_strategy_for, portfolio
from bootstrap.selection.proportions import content_of, measured_reference
from bootstrap.self_training import best_iteration, self_train
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.evaluation import ConfusionCounts, GoldBatch, score, score_batches
from corpus.scores import Scores
from corpus.tags import classes_of
from gazetteers.builtin import CENSUS
from taggers import make_tagger
from taggers.base import Tagger
from taggers.name_propagation import note_numbers, propagate_names

#: The pool has 10,000 lines: five batches, of which at most half of the lines are selected.
LOOP = {"loop": {"preset": "paper", "batch": 2000}, "select": {"max_selected": 1000}}

#: The initial models of the experiments without a seed.
NO_SEED = {"census": "divergence", "places": "lists"}


Section = TypeVar("Section", bound=TaggerSection | None)


class Lines:
    """A pool of lines in memory."""

    def __init__(self, lines: Sequence[Document], size: int) -> None:
        self.documents = lines
        self._size = size

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield the batches from number `start` on."""
        for first in range(start * self._size, len(self.documents), self._size):
            yield make_batch(self.documents[first : first + self._size], labelled=False)


def tagged(tagger: Tagger, batch: Batch, propagate: Sequence[str] = ()) -> Batch:
    """Tag lines, and propagate the names of some classes within their notes."""
    tagging = tagger.tag(batch, detail="entity" if propagate else "document")
    if propagate:
        tagging = propagate_names(tagging, batch, note_numbers(batch), propagate)
    return batch.with_tags(tagging.tags, tagging.labels)


def gold_batch(lines: Sequence[Document]) -> GoldBatch:
    """Tokenize annotated lines and keep their annotations."""
    return GoldBatch.from_documents(lines, make_batch(lines, labelled=True))


def supervised(options: Configuration) -> None:
    """Print the scores of supervised training, with all classes and with merged ones."""
    for name, classes in (("22 types", None), ("merged", MERGED)):
        train, dev = lines_of("train", classes), lines_of("dev", classes)
        tagger = make_tagger(options.kind, options.tagger)
        tagger.fit(make_batch(train, labelled=True), rng=np.random.default_rng(0))
        found = score(dev, tagged(tagger, make_batch(dev, labelled=False)).to_documents())
        for measure in ("ner", "span", "span_merged", "covered"):
            counts = found.counts(measure)
            low, high = found.interval(measure, np.random.default_rng(0))
            print(
                f"{name:10} {measure:12} P {counts.precision:.4f} R {counts.recall:.4f} "
                f"F1 {counts.f1:.4f} ({low:.4f}-{high:.4f})",
                flush=True,
            )
        print(f"{name:10} leak {found.leak:.4f}; {tagger.training}", flush=True)


def seeds_alone(kind: str, states: Sequence[int], options: Configuration) -> None:
    """Print the scores of supervised training on seeds, on each half of the development split."""
    train, halves = splits(MERGED)
    rows = []
    for state in states:
        chosen = SEEDS[kind](train, np.random.default_rng(state))
        seed = make_batch([train[index] for index in chosen], labelled=True)
        tagger = make_tagger(options.kind, options.tagger)
        tagger.fit(seed, rng=np.random.default_rng(state))
        found = [score_batches(half, tagged(tagger, half.batch)) for half in halves]
        print(f"{kind} state {state}: {found[0].counts().f1:.4f}, {found[1].counts().f1:.4f}")
        rows += found
    _print_table(kind, {"seed alone": rows}, MERGED)


def self_trained(kind: str, states: Sequence[int], options: Configuration) -> None:
    """Print the scores of self-training from a seed, on each half of the development split."""
    classes = PERSON if kind == "census" else MERGED
    train, halves = splits(classes)
    rows = []
    for state in states:
        chosen = SEEDS.get(kind, no_seed)(train, np.random.default_rng(state))
        rest = np.setdiff1d(np.arange(len(train)), chosen)
        seed = [train[index] for index in chosen]
        size = options.loop.batch or proportional_batch(len(rest))
        pool = Lines([train[index] for index in rest], size)
        for validation, test in ((0, 1), (1, 0)):
            rows.append(_one_run(seed, pool, halves[validation], halves[test], options))
            before, after, steps, selected, right = rows[-1]
            print(
                f"{kind} state {state} scored on half {test}: seed {before.counts().f1:.4f}, "
                f"self-trained {after.counts().f1:.4f} (iteration {steps}); selected {selected}, "
                f"share of these without an error {right:.3f}",
                flush=True,
            )
    before, after = [row[0] for row in rows], [row[1] for row in rows]
    _print_table(kind, {"seed": before, "self-trained": after}, classes)
    if kind in SEEDS:
        _print_gain(kind, rows, _full_supervision(train, halves, options))


def splits(classes: dict[str, str]) -> tuple[list[Document], list[GoldBatch]]:
    """Return the lines of the training split, and the halves of the development split."""
    train, dev = lines_of("train", classes), lines_of("dev", classes)
    sides = np.arange(len({line.group for line in dev})) % 2
    side_of = dict(zip(dict.fromkeys(line.group for line in dev), sides, strict=True))
    halves = [gold_batch([line for line in dev if side_of[line.group] == side]) for side in (0, 1)]
    return train, halves


def _print_table(kind: str, columns: dict[str, Sequence[Scores]], classes: dict[str, str]) -> None:
    """Print the scores of taggers, with all classes and for each."""
    for name, scores in columns.items():
        for part in ("all", *sorted(set(classes.values()))):
            found = [_part(each, part) for each in scores]
            f1 = np.array([counts.f1 for counts in found])
            total = ConfusionCounts(*np.sum(found, axis=0).tolist())
            print(
                f"{kind} {name:13} {part:8} mean F1 {f1.mean():.4f} (lowest {f1.min():.4f}, "
                f"highest {f1.max():.4f}); P {total.precision:.4f} R {total.recall:.4f}"
            )


def _full_supervision(
    train: Sequence[Document], halves: Sequence[GoldBatch], options: Configuration
) -> list[float]:
    """Return the F1 of the tagger that is trained on all annotations, on each half."""
    tagger = make_tagger(options.kind, options.tagger)
    tagger.fit(make_batch(train, labelled=True), rng=np.random.default_rng(0))
    return [score_batches(half, tagged(tagger, half.batch)).counts().f1 for half in halves]


def _print_gain(kind: str, rows: Sequence[tuple[Any, ...]], full: Sequence[float]) -> None:
    """Print paired differences to the seed alone, and the share of the gap that they close."""
    before, after = (np.array([row[column].counts().f1 for row in rows]) for column in (0, 1))
    difference = after - before
    # The first row of each random state is scored on half 1.
    gap = np.array([full[1], full[0]] * (len(rows) // 2)) - before
    print(
        f"{kind} difference    mean {difference.mean():+.4f} (standard deviation "
        f"{difference.std(ddof=1):.4f}, lowest {difference.min():+.4f}, highest "
        f"{difference.max():+.4f}); all annotations {np.mean(full):.4f}; share of the gap closed "
        f"{difference.mean() / gap.mean():.2f}"
    )


def _part(scores: Scores, name: str) -> ConfusionCounts:
    """Return the counts of a class, or of all."""
    return scores.counts() if name == "all" else scores.class_counts(name)


def _one_run(
    seed: Sequence[Document],
    pool: Lines,
    validation: GoldBatch,
    test: GoldBatch,
    options: Configuration,
) -> tuple[Scores, Scores, str, list[int], float]:
    gold = {line.id: line for line in pool.documents}
    batch, initial = validation.batch, options.initial_model
    seed_batch = make_batch(seed, labelled=True, classes=initial.classes if initial else [])
    classes = classes_of(batch.labels)
    reference = measured_reference(content_of(batch, batch.tags, batch.labels, classes), classes)
    f1, reported, selected = [], [], []
    right = total = 0
    strategy = ""

    list_tagger = list_tagger_of(seed_batch, validation.batch, pool, options)

    def made(section: TaggerSection) -> Tagger:
        return make_tagger(section.kind, section.options)

    for step in self_train(
        seed_batch,
        pool,
        validation,
        lambda iteration: made(options.tagger_of(iteration)),
        strategy=portfolio(
            options.select,
            reference,
            options.capabilities,
            lists=list_tagger is not None,
        ),
        initial_strategy=initial_strategy_for(initial.selection, options.select, reference)
        if initial
        else None,
        augment=augmentation_of(options.augment, options.loop.random_state),
        second_tagger_for=lambda iteration: made(options.second_tagger_of(iteration)),
        list_tagger=list_tagger,
        not_before=options.later.start.iteration if options.later else 0,
        loop=options.loop,
    ):
        f1.append(step.f1)
        predicted = tagged(step.tagger, test.batch, options.loop.propagate)
        reported.append(score_batches(test, predicted))
        if step.selected:
            found = step.selected.batch.to_documents()
            selected.append(len(found))
            right += sum(document.spans == gold[document.id].spans for document in found)
            total += len(found)
        strategy = step.strategy or strategy
    best = best_iteration(f1)
    steps = f"{best} of {len(f1) - 1}, {strategy}"
    if step.augmented:  # iteration 0 is not the seed alone
        alone = make_tagger(options.kind, options.tagger)
        alone.fit(seed_batch, rng=np.random.default_rng([options.loop.random_state, 0]))
        predicted = tagged(alone, test.batch, options.loop.propagate)
        reported[0] = score_batches(test, predicted)
    return reported[0], reported[best], steps, selected, right / max(total, 1)


def list_tagger_of(
    seed: Batch, validation: Batch, pool: Lines, options: Configuration
) -> Callable[[], Tagger] | None:
    """Return the function that builds the tagger of lists, a view of some strategies."""
    if not uses_lists(options.select.strategy):
        return None
    lists = list_options_for(seed, options.augment, validation=validation)
    if lists is None:
        return None

    @functools.cache
    def list_tagger() -> Tagger:
        with tempfile.TemporaryDirectory() as folder:
            counts = counted(Path(folder), pool.documents)
            tagger = make_tagger("lists", replace(lists, counts=counts))
            return tagger.fit(seed, rng=np.random.default_rng(0))

    return list_tagger


def main() -> None:
    """Print the scores of an experiment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", choices=("supervised", *NO_SEED, *SEEDS))
    parser.add_argument("--states", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--preset", choices=("auto", "paper"), default="paper")
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    arguments = parser.parse_args()
    tables: dict[str, Any] = {}
    if arguments.preset == "paper":
        tables = {name: dict(table) for name, table in LOOP.items()}
    for override in arguments.overrides:
        section, _, rest = override.partition(".")
        key, _, text = rest.partition("=")
        tables.setdefault(section, {})[key] = value_of(text)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.experiment in NO_SEED:
            tables["initial_model"] = {
                "kind": NO_SEED[arguments.experiment],
                **_census(Path(folder)),
                **tables.get("initial_model", {}),
            }
        options = parse_configuration(tables, Source("benchmark", Path()))
        _run(
            arguments,
            with_embeddings(options, lambda: embeddings_of_all_lines(Path(folder), options)),
        )


def _census(folder: Path) -> dict[str, Any]:
    """Write the counts of all words, and return their path and the list of names."""
    lines = [line for split in ("train", "dev") for line in lines_of(split, {})]
    return {"names": [CENSUS], "counts": counted(folder, lines)}


def with_embeddings(options: Configuration, train: Callable[[], Path | None]) -> Configuration:
    """Return a configuration whose taggers refer to trained embeddings."""

    def completed(section: Section) -> Section:
        return section and replace(section, options=section.options.with_embeddings(train))

    return replace(
        options,
        tagger=options.tagger.with_embeddings(train),
        second=completed(options.second),
        later=completed(options.later),
    )


def embeddings_of_all_lines(folder: Path, options: Configuration) -> Path | None:
    """Train embeddings and clusters on all lines."""
    return trained_embeddings(
        folder / "embeddings",
        lambda: [line for split in ("train", "dev") for line in lines_of(split, {})],
        options.loop.random_state,
        jobs=default_jobs(),
        report=lambda stage, done, total: None,
    )


def _run(arguments: argparse.Namespace, options: Configuration) -> None:
    print(f"loop {asdict(options.loop)}\nselect {asdict(options.select)}", flush=True)
    if arguments.experiment == "supervised":
        supervised(options)
    elif arguments.experiment in SEEDS and not options.loop.iterations:
        seeds_alone(arguments.experiment, arguments.states, options)
    else:
        states = [0] if arguments.experiment in NO_SEED else arguments.states
        self_trained(arguments.experiment, states, options)


def value_of(text: str) -> Any:
    """Return the value that a setting names in TOML, or its text."""
    import tomllib  # noqa: PLC0415

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


if __name__ == "__main__":
    main()
