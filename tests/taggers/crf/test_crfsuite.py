"""The word-type CRF against python-crfsuite and a warm start against a cold one, on real lines."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pycrfsuite
import pytest

from corpus.batch import Batch, make_batch
from corpus.errors import Problems
from corpus.formats import read
from corpus.units import split_documents
from taggers import CRFOptions, CRFTagger
from taggers.annotators import annotated
from taggers.crf.training.crfsuite_trainer import attributes_of, crfsuite_model, weights_of_model
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.wordtype import WordTypeCRF
from tests.streams import PLAIN
from tests.taggers.conftest import plain

OPTIONS = {
    "words": plain(CRFOptions, trainer="crfsuite", max_iterations=40, streams=(), conjunctions=()),
    # Streams wider than the window of words, and features narrower and wider than it.
    "streams": plain(
        CRFOptions,
        trainer="crfsuite",
        features=("form", "lower", "suffix3", "capitalization", "shape[0]", "has_digit[-2..-1]"),
        window=1,
        streams=("header", "colon[-1..0]", "patterns[-3..2]"),
        conjunctions=(
            "capitalization[-1] capitalization[0]",
            "patterns[-1] short_shape[0] patterns[1]",
            "header lower",
        ),
        max_iterations=40,
        min_frequency=2,
    ),
}


def lines(folder: Path, number: int) -> Batch:
    """Read about so many lines, from all over the notes."""
    documents = split_documents(read(folder, problems=Problems()), "line", Problems())
    batch = make_batch(documents, labelled=True)
    batch = batch.take(np.arange(0, len(batch), len(batch) // number)[:number])
    return annotated(batch, list(PLAIN), PLAIN)


@pytest.fixture(scope="module")
def train(meddocan: Path) -> Batch:
    return lines(meddocan / "train", 800)


@pytest.fixture(scope="module")
def dev(meddocan: Path) -> Batch:
    return lines(meddocan / "dev", 1500)


class Reference(NamedTuple):
    """A model that CRFsuite trained: the tagger that read it, and what it was read from."""

    tagger: CRFTagger
    model: bytes
    training_set: TrainingSet
    x: np.ndarray


@pytest.fixture(scope="module", params=["streams", pytest.param("words", marks=pytest.mark.slow)])
def reference(request: pytest.FixtureRequest, train: Batch) -> Reference:
    options = OPTIONS[request.param]
    tagger = CRFTagger(options).fit(train, rng=np.random.default_rng(0))
    templates = options.templates()
    training_set, _ = TrainingSet.from_batch(train, templates, min_frequency=options.min_frequency)
    model, _ = crfsuite_model(training_set, options, templates)
    return Reference(tagger, model, training_set, weights_of_model(model, training_set))


def attributes_for(reference: Reference, batch: Batch) -> Any:
    """Yield the attributes of other documents, numbered as those of the training set."""
    templates = reference.tagger.options.templates()
    own, _ = TrainingSet.from_batch(batch, templates)
    number = {name: code for code, name in enumerate(reference.training_set.values.names.strings())}
    codes = np.array([*(number.get(name, -1) for name in own.values.names.strings()), -1], np.int32)
    streams = tuple(replace(stream, codes=codes[stream.codes]) for stream in own.streams)
    return attributes_of(replace(own, codes=codes[own.codes], streams=streams), templates)


@pytest.mark.parametrize(("real", "close"), [(np.float64, 1e-9), (np.float32, 1e-4)])
def test_tags_and_marginals_are_those_of_crfsuite(reference, dev, real, close) -> None:
    crf = reference.tagger._crf
    decoded = (
        WordTypeCRF(crf.templates, crf.labels, crf.weights, real).chain(dev).decode(detail="labels")
    )
    crfsuite = pycrfsuite.Tagger()
    crfsuite.open_inmemory(reference.model)
    names = [str(label) for label in range(len(crf.labels))]
    assert sorted(crfsuite.labels()) == sorted(names)
    tokens, labels = 0, set()
    for first, last, attributes in attributes_for(reference, dev):
        crfsuite.set(attributes)
        path = crfsuite.tag()
        assert [names[label] for label in decoded.labels[first:last]] == path
        row = np.searchsorted(dev.document_offsets, first, side="right") - 1
        probability = np.exp(decoded.log_probability[row])
        assert probability == pytest.approx(crfsuite.probability(path), abs=close)
        if tokens < 3000:
            expected = [
                [crfsuite.marginal(name, place) for name in names] for place in range(last - first)
            ]
            assert decoded.marginals[first:last] == pytest.approx(np.array(expected), abs=close)
        tokens += last - first
        labels.update(path)
    assert tokens == dev.n_tokens
    assert len(labels) > 20


def test_the_objective_is_that_of_crfsuite(reference: Reference) -> None:
    """At its weights, to all digits of its log."""
    loss = reference.tagger.training.loss
    assert loss > 100  # nine digits
    for real, close in ((np.float64, 1e-8), (np.float32, 1e-5)):
        likelihood = Likelihood(reference.training_set, reference.tagger.options.c2, real)
        value, _ = likelihood(reference.x)
        assert value == pytest.approx(loss, rel=close)
    assert np.count_nonzero(reference.x) > 0.9 * likelihood.size  # all but some transitions


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_every_algorithm_learns_and_repeats(train: Batch, algorithm: Any, tmp_path: Path) -> None:
    some = train.slice(0, 200)
    options = plain(CRFOptions, trainer="crfsuite", algorithm=algorithm, max_iterations=15)
    steps: list[tuple[int, int]] = []
    first, second = (
        CRFTagger(options).fit(
            some, rng=np.random.default_rng(0), progress=lambda *step: steps.append(step)
        )
        for _ in range(2)
    )
    assert (first.tag(some).tags == some.tags).mean() > 0.9
    assert 1 < first.training.iterations <= 15
    assert np.isfinite(first.training.loss)
    assert set(steps) == {(step, 15) for step in range(1, first.training.iterations + 1)}
    first.save(tmp_path / "first")
    second.save(tmp_path / "second")
    for file in (tmp_path / "first").iterdir():
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_trained_to_the_end_by_either_trainer_taggers_are_alike(train, dev, options) -> None:
    some, judge = train.slice(0, 300), dev.slice(0, 300)
    options = replace(options, c2=1.0, max_iterations=1000, tolerance=1e-9, precision="double")
    options = replace(options, min_frequency=0)  # CRFsuite leaves out rare transitions, too
    left, right = (
        CRFTagger(chosen).fit(some, rng=np.random.default_rng(0))
        for chosen in (options, replace(options, trainer="wordtype"))
    )
    assert left.training.loss == pytest.approx(right.training.loss, rel=1e-4)
    assert (left.tag(judge).tags == right.tag(judge).tags).mean() > 0.999
    assert left.tag(judge).confidence == pytest.approx(right.tag(judge).confidence, abs=0.02)


@pytest.mark.slow
def test_after_more_lines_training_ends_as_low_in_less_than_half_of_the_steps(meddocan) -> None:
    batch = lines(meddocan / "train", 1100)
    batch = batch.take(np.random.default_rng(0).permutation(len(batch)))

    def trained(part: Batch, start: CRFTagger | None = None) -> CRFTagger:
        tagger = CRFTagger(plain(CRFOptions, max_iterations=1000))
        return tagger.fit(part, warm_start=start, rng=np.random.default_rng(0))

    cold, warm = trained(batch).training, trained(batch, trained(batch.slice(0, 1000))).training
    assert cold.converged and warm.converged
    assert warm.loss < 1.001 * cold.loss
    assert warm.iterations < cold.iterations / 2
