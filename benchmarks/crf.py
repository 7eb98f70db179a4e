"""Speed and memory of the CRF beside python-crfsuite: the tables of docs/performance.md.

The notes are lines of MEDDOCAN's training split, sampled with replacement, in which one word in
twenty is replaced by an unknown one. Both alternate on the same notes. The attributes of
each word are cached for python-crfsuite, which is its fastest mode.

    python benchmarks/crf.py tag              # one core; 42 and 5 labels
    python benchmarks/crf.py train            # 10,311 lines, an evaluation of the objective
    python benchmarks/crf.py train --words    # without streams and conjunctions
    python benchmarks/crf.py train --notes 200000
    python benchmarks/crf.py warm             # a warm start after 10 % more notes
    python benchmarks/crf.py warm --merged --tagged --iterations 100
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pycrfsuite
from meddocan_lines import MERGED, lines_of, plain

from corpus.batch import Batch, batch_of_texts, make_batch
from corpus.document import Document
from corpus.kernels.compiled import warm_up
from taggers import ANNOTATORS, CRFOptions, CRFTagger
from taggers.annotators import annotated
from taggers.crf.training import trainers
from taggers.crf.training.crfsuite_trainer import attributes_of, crfsuite_model
from taggers.crf.training.lbfgs import StoppingCriteria, Vector, minimise
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.training_set import TrainingSet
from taggers.threads import one_thread

NOVEL = 0.05
CLASSES = {42: None, 5: MERGED}


def sampled(lines: Sequence[Document], number: int, rng: np.random.Generator) -> list[Document]:
    """Sample lines with replacement."""
    picks = rng.integers(0, len(lines), number).tolist()
    return [replace(lines[pick], id=str(row)) for row, pick in enumerate(picks)]


def with_novel_words(notes: Sequence[Document], rng: np.random.Generator) -> list[Document]:
    """Replace one token in twenty by an unknown word: its letters and others, in random order."""
    batch = make_batch([replace(note, spans=()) for note in notes], labelled=False)
    new = rng.random(batch.n_tokens) < NOVEL
    found = []
    for row, note in enumerate(notes):
        text, spans, grown, spanned = "", [], 0, iter(note.spans)
        first, last = batch.document_offsets[row : row + 2]
        place = 0
        moves = []
        for token in (first + np.flatnonzero(new[first:last])).tolist():
            start, end = int(batch.starts[token]), int(batch.ends[token])
            letters = np.array([*note.text[start:end], *"aeiou"[: int(rng.integers(1, 5))]])
            word = "".join(letters[rng.permutation(len(letters))])
            text += note.text[place:start] + word
            place = end
            grown += len(word) - (end - start)
            moves.append((end, grown))
        text += note.text[place:]
        ends = np.array([end for end, _ in moves], int)
        by = np.array([0, *(grown for _, grown in moves)])
        spans = [
            replace(
                span,
                start=span.start + int(by[np.searchsorted(ends, span.start, side="right")]),
                end=span.end + int(by[np.searchsorted(ends, span.end, side="right")]),
            )
            for span in spanned
        ]
        found.append(replace(note, text=text, spans=tuple(spans)))
    return found


class TaggingComparison:
    """Both taggers with the same weights, which tag the same notes with their confidence."""

    def __init__(self, classes: dict[str, str] | None, number: int, folder: Path) -> None:
        lines = lines_of("train", classes)
        rng = np.random.default_rng(0)
        self.options = plain(CRFOptions, trainer="crfsuite", max_iterations=30)
        train = make_batch(lines, labelled=True)
        CRFTagger(self.options).fit(train, rng=rng).save(folder)
        self.folder = folder
        self.trained = prepared_set(train, self.options)
        # python-crfsuite reads the bytes of the model as long as it tags.
        self.model, _ = crfsuite_model(self.trained, self.options, self.options.templates())
        self.crfsuite = pycrfsuite.Tagger()
        self.crfsuite.open_inmemory(self.model)
        self.notes = with_novel_words(sampled(lines, number, rng), rng)
        self.batch = make_batch(self.notes, labelled=True)
        self.few = make_batch(self.notes[:2000], labelled=True)
        self.fresh().tag(self.few)

    def fresh(self) -> CRFTagger:
        """Load a tagger with an empty cache of words."""
        return CRFTagger.load(self.folder)

    def tag_by_crfsuite(self, batch: Batch) -> None:
        """Tag by python-crfsuite, with attributes that are numbered as in its training set."""
        own = prepared_set(batch, self.options)
        number = {name: code for code, name in enumerate(self.trained.values.names.strings())}
        codes = np.array(
            [*(number.get(name, -1) for name in own.values.names.strings()), -1], np.int32
        )
        streams = tuple(replace(stream, codes=codes[stream.codes]) for stream in own.streams)
        own = replace(own, codes=codes[own.codes], streams=streams)
        for _, _, attributes in attributes_of(own, self.options.templates()):
            self.crfsuite.set(attributes)
            self.crfsuite.probability(self.crfsuite.tag())

    def seconds(self) -> dict[tuple[str, str], float]:
        """Measure one round, in processor seconds per token."""
        found = {}
        for name, batch in (("wordtype", self.batch), ("crfsuite", self.few)):
            for source in ("batch", "text"):
                tag = self.fresh().tag if name == "wordtype" else self.tag_by_crfsuite
                begin = time.process_time()
                tag(batch if source == "batch" else batch_of_texts(batch.texts, batch.ids))
                found[name, source] = (time.process_time() - begin) / batch.n_tokens
        return found


def tagging(number: int, rounds: int) -> None:
    """Compare the speed of tagging batches and texts, which are columns of Arrow."""
    print("| labels | from | wordtype, tokens/s | crfsuite, tokens/s | ratio |")
    print("|---|---|---|---|---|")
    for labels, classes in CLASSES.items():
        with tempfile.TemporaryDirectory() as folder:
            comparison = TaggingComparison(classes, number, Path(folder))
            found = [comparison.seconds() for _ in range(rounds)]
        for source in ("batch", "text"):
            own, other = (
                1 / float(np.median([seconds[name, source] for seconds in found]))
                for name in ("wordtype", "crfsuite")
            )
            print(f"| {labels} | {source} | {own:,.0f} | {other:,.0f} | {own / other:.1f} |")


def training(arguments: Sequence[str]) -> None:
    """Compare the preparation, an evaluation of the objective, and memory."""
    for trainer in ("wordtype", "crfsuite"):
        command = [sys.executable, __file__, "one", trainer, *arguments]
        print(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout,
            end="",
            flush=True,
        )


def one_training(options: CRFOptions, number: int, classes: dict[str, str] | None) -> None:
    """Train with one trainer in this process and print the durations and memory."""
    lines = lines_of("train", classes)
    rng = np.random.default_rng(0)
    notes = with_novel_words(sampled(lines, number, rng), rng) if number else lines
    batch = make_batch(notes, labelled=True)
    del lines, notes
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if options.trainer == "wordtype":
        warm_up(*CRFTagger(options).kernels)
        prepare, evaluation, value = _own(batch, options)
    else:
        prepare, evaluation, value = _crfsuite(batch, options)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{options.trainer}: {len(batch):,} notes, {batch.n_tokens:,} tokens, "
        f"{len(batch.vocabulary):,} types, {len(batch.labels)} labels: "
        f"preparation {prepare:.2f} s, "
        f"an evaluation {evaluation:.3f} s, memory {peak / 1e6:.2f} GB "
        f"({(peak - before) / 1e6:.2f} GB more than the notes), objective {value:.1f}"
    )


def prepared_set(batch: Batch, options: CRFOptions) -> TrainingSet:
    """Prepare the training set of a batch."""
    templates = options.templates()
    annotators = {name: ANNOTATORS[name]() for name in templates.needed}
    training_set, _ = TrainingSet.from_batch(
        annotated(batch, templates.needed, annotators), templates
    )
    return training_set


def _own(batch: Batch, options: CRFOptions) -> tuple[float, float, float]:
    begin = time.process_time()
    training_set = prepared_set(batch, options)
    prepared = time.process_time() - begin
    real = np.float32 if options.precision == "single" else np.float64
    likelihood = Traced(training_set, options.c2, real)
    begin = time.process_time()
    with one_thread():
        _, training = minimise(
            likelihood,
            np.zeros(likelihood.size),
            curvature=likelihood.curvature,
            criteria=StoppingCriteria(most=10),
        )
    return prepared, (time.process_time() - begin) / len(Traced.values), training.loss


def _crfsuite(batch: Batch, options: CRFOptions) -> tuple[float, float, float]:
    begin = time.process_time()
    marks: list[float] = []
    _, trained = crfsuite_model(
        prepared_set(batch, options),
        replace(options, max_iterations=10),
        options.templates(),
        progress=lambda *_: marks.append(time.process_time()),
    )
    whole = time.process_time() - begin
    evaluation = float(np.median(np.diff(marks)))
    return whole - evaluation * (trained.iterations + 1), evaluation, trained.loss


class Traced(Likelihood):
    """Records the value of each evaluation; an estimate of the curvature counts as one."""

    values: ClassVar[list[float]] = []

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        """Compute the objective and its gradient."""
        value, gradient = super().__call__(x)
        self.values.append(value)
        return value, gradient

    def curvature(self, x: Vector) -> Vector:
        """Estimate the diagonal of the Hessian."""
        self.values.append(np.inf)
        return super().curvature(x)


def warm_start(classes: dict[str, str] | None, most: int, *, tagged: bool) -> None:
    """Train again with ten percent more notes, from zero and from the previous weights.

    With `tagged`, the additional notes are pseudo-labelled by the first model, as in a run.
    """
    lines = lines_of("train", classes)
    order = np.random.default_rng(0).permutation(len(lines)).tolist()
    number = int(len(order) / 1.1)
    before, more = [lines[row] for row in order[:number]], [lines[row] for row in order[number:]]
    options = plain(CRFOptions, max_iterations=most)
    rng = np.random.default_rng(0)
    first = CRFTagger(options).fit(make_batch(before, labelled=True), rng=rng)
    if tagged:
        batch = make_batch(more, labelled=False)
        tagging = first.tag(batch)
        more = batch.with_tags(tagging.tags, tagging.labels).to_documents()
    everything = make_batch([*before, *more], labelled=True)
    trainers.Likelihood = Traced  # type: ignore[misc]
    cold = np.inf
    for name, start in (("cold", None), ("warm", first)):
        Traced.values.clear()
        begin = time.process_time()
        training = CRFTagger(options).fit(everything, warm_start=start, rng=rng).training
        seconds = time.process_time() - begin
        assert training is not None
        cold = training.loss if start is None else cold
        near = int(np.argmax(np.array(Traced.values) <= 1.001 * cold)) + 1
        print(
            f"{name}: {len(Traced.values)} evaluations, {seconds:.1f} s, objective "
            f"{training.loss:.2f}; within 0.1 % of the cold objective after {near} evaluations"
        )


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["tag", "train", "warm", "one"])
    parser.add_argument("trainer", nargs="?")
    parser.add_argument("--notes", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--merged", action="store_true")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--tagged", action="store_true")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--precision", choices=["single", "double"], default="single")
    options = parser.parse_args()
    classes = MERGED if options.merged else None
    if options.what == "tag":
        tagging(options.notes or 50_000, options.rounds)
    elif options.what == "train":
        training(sys.argv[2:])
    elif options.what == "one":
        simpler = {"streams": (), "conjunctions": ()} if options.words else {}
        crf = plain(CRFOptions, trainer=options.trainer, precision=options.precision, **simpler)
        one_training(crf, options.notes, classes)
    else:
        warm_start(classes, options.iterations, tagged=options.tagged)


if __name__ == "__main__":
    main()
