"""The engine that works on word types against python-crfsuite, on real lines."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pycrfsuite
import pytest

from corpus.batch import Batch, make_batch
from corpus.formats import read
from corpus.problems import Problems
from corpus.units import split_documents
from taggers import CRFOptions, CRFTagger
from taggers.annotators import ANNOTATORS, annotated
from taggers.crf.attributes import WindowAttributes
from taggers.crf.channels import Channels
from taggers.crf.crfsuite import CRFsuiteEngine
from taggers.crf.crfsuite_file import read_crfsuite, weights_of
from taggers.crf.decoding import Decoded
from taggers.crf.training.lbfgs import minimise
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.weights import Weights
from taggers.crf.wordtype import WordTypeEngine
from taggers.threads import one_thread

Named = dict[tuple[int, int, int], float]
NamedWeights = Callable[[Weights], Named]

OPTIONS = {
    "words": CRFOptions("crfsuite", max_iterations=40, streams=(), conjunctions=()),
    # Streams wider than the window of words, and features narrower and wider than it.
    "streams": CRFOptions(
        "crfsuite",
        features=("form", "lower", "suffix3", "capitalization", "shape[0]", "has_digit[-2..-1]"),
        window=1,
        streams=("header", "colon[-1..0]", "rules[-3..2]"),
        conjunctions=(
            "capitalization[-1] capitalization[0]",
            "rules[-1] short_shape[0] rules[1]",
            "header lower",
        ),
        max_iterations=40,
    ),
}


def lines(folder: Path, number: int) -> Batch:
    """Read about so many lines, from all over the notes."""
    documents = split_documents(read(folder, problems=Problems()), "line", Problems())
    batch = make_batch(documents, labelled=True)
    batch = batch.take(np.arange(0, len(batch), len(batch) // number)[:number])
    return annotated(batch, list(ANNOTATORS), {name: kind() for name, kind in ANNOTATORS.items()})


@pytest.fixture(scope="module")
def train(meddocan: Path) -> Batch:
    return lines(meddocan / "train", 800)


@pytest.fixture(scope="module")
def dev(meddocan: Path) -> Batch:
    return lines(meddocan / "dev", 1500)


@pytest.fixture(scope="module", params=OPTIONS)
def options(request: pytest.FixtureRequest) -> CRFOptions:
    return OPTIONS[request.param]


@pytest.fixture(scope="module")
def reference(train: Batch, options: CRFOptions) -> CRFTagger:
    return CRFTagger(options).fit(train, rng=np.random.default_rng(0))


class Both(NamedTuple):
    """What both engines find; labels are those of the tagger."""

    expected: Decoded
    found: Decoded
    labels: np.ndarray
    marginals: np.ndarray | None


def decoded(reference: CRFTagger, batch: Batch, real: type, detail: Any) -> Both:
    engine, other = reference._engine, reference.wordtype()
    assert isinstance(engine, CRFsuiteEngine)
    expected = engine.decode(batch, detail=detail)
    other = WordTypeEngine(other.templates, other.labels, other.weights, real)
    found = other.decode(batch, detail=detail)
    number = np.array([reference.labels.index(name) for name in other.labels])
    marginals = None
    if found.marginals is not None:
        marginals = np.zeros((batch.n_tokens, len(reference.labels)))
        marginals[:, number] = found.marginals
    return Both(expected, found, number[found.labels], marginals)


CLOSE = pytest.mark.parametrize(("real", "close"), [(np.float64, 1e-9), (np.float32, 1e-4)])


@CLOSE
def test_every_path_is_that_of_the_reference(
    reference: CRFTagger, dev: Batch, real: type, close: float
) -> None:
    both = decoded(reference, dev, real, "token")
    assert len(dev) == 1500
    assert both.labels.tolist() == both.expected.labels.tolist()
    assert len(np.unique(both.labels)) > 20
    expected = np.exp(both.expected.log_probability)
    assert np.exp(both.found.log_probability) == pytest.approx(expected, abs=close)
    assert both.found.chosen == pytest.approx(both.expected.chosen, abs=close)


@CLOSE
def test_every_marginal_is_that_of_the_reference(
    reference: CRFTagger, dev: Batch, real: type, close: float
) -> None:
    both = decoded(reference, dev.slice(0, 200), real, "labels")
    assert both.marginals == pytest.approx(both.expected.marginals, abs=close)


def test_what_the_tagger_says_is_the_same(reference: CRFTagger, dev: Batch) -> None:
    """Of the model of the reference, read by the other engine."""
    other = CRFTagger(replace(reference.options, engine="wordtype", precision="double"))
    other.labels, other._engine = reference.labels, reference.wordtype()
    some = dev.slice(0, 300)
    for measure in ("probability", "normalised", "min_marginal"):
        left, right = (each.tag(some, measure=measure) for each in (reference, other))
        assert left.tags.tolist() == right.tags.tolist()
        assert left.confidence == pytest.approx(right.confidence, abs=1e-9)


def training_set(batch: Batch, labels: tuple[str, ...], options: CRFOptions) -> TrainingSet:
    templates = options.templates()
    number = np.array([*(labels.index(name) if name in labels else -1 for name in batch.labels)])
    return TrainingSet.of(
        batch.word_ids,
        batch.vocabulary,
        batch.document_offsets,
        number[batch.tags].astype(np.int16),
        np.ones(len(batch)),
        templates=templates,
        channels=Channels(templates).of(batch),
        labels=len(labels),
    )


def test_the_objective_is_that_of_the_reference(
    reference: CRFTagger, train: Batch, named_weights: NamedWeights
) -> None:
    """At its weights: all digits that its log has. So it has the same attributes as well."""
    engine = reference.wordtype()
    training = training_set(train, engine.labels, reference.options)
    size = len(training.state.labels)
    # The places of the weights, from weights that are their places.
    places = named_weights(
        training.weights_of(np.arange(size + len(engine.labels) ** 2, dtype=float))
    )
    theirs = named_weights(engine.weights)
    assert set(theirs) <= set(places)
    assert size - len(theirs) < size / 1000  # it leaves out what is 0
    x = np.zeros(size + len(engine.labels) ** 2)
    for key, weight in theirs.items():
        x[int(places[key])] = weight
    x[size:] = engine.weights.transition.reshape(-1)
    assert reference.training is not None
    loss = reference.training.loss
    assert loss > 100  # nine digits
    c2 = reference.options.c2
    value, _ = Likelihood(training, c2, np.float64)(x)
    assert value == pytest.approx(loss, abs=1e-6)
    value, _ = Likelihood(training, c2, np.float32)(x)
    assert value == pytest.approx(loss, rel=1e-5)


@pytest.mark.slow
def test_trained_to_the_end_the_weights_are_those_of_the_reference(
    meddocan: Path, tmp_path: Path, named_weights: NamedWeights, options: CRFOptions
) -> None:
    batch = lines(meddocan / "train", 150)
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": 1.0,
            "max_iterations": 3000,
            "epsilon": 1e-9,
            "delta": 1e-15,
            "feature.possible_transitions": True,
        }
    )
    tags = batch.tags.astype(str).tolist()
    attributes = WindowAttributes(options.templates())
    for row, document in enumerate(attributes.of_documents(batch)):
        if document:
            trainer.append(
                document, tags[batch.document_offsets[row] : batch.document_offsets[row + 1]]
            )
    path = tmp_path / "model"
    trainer.train(str(path))
    model = read_crfsuite(path.read_bytes())
    _, theirs = weights_of(model, options.templates())
    labels = tuple(batch.labels[int(name)] for name in model.labels)
    training = training_set(batch, labels, options)
    start = np.zeros(len(training.state.labels) + training.labels**2)
    likelihood = Likelihood(training, 1.0, np.float64)
    with one_thread():
        found = minimise(likelihood, start, most=3000, epsilon=1e-9, delta=1e-15)
    assert found.converged
    ours = training.weights_of(found.x)
    expected, state = named_weights(theirs), named_weights(ours)
    assert state == pytest.approx({key: expected.get(key, 0.0) for key in state}, abs=1e-4)
    assert set(expected) <= set(state)
    assert ours.transition == pytest.approx(theirs.transition, abs=1e-4)


@pytest.mark.slow
def test_trained_by_either_engine_taggers_find_the_same(
    train: Batch, dev: Batch, options: CRFOptions
) -> None:
    some, judge = train.slice(0, 300), dev.slice(0, 300)
    reference = replace(options, c2=1.0, max_iterations=300)
    taggers = [
        CRFTagger(each).fit(some, rng=np.random.default_rng(0))
        for each in (reference, replace(reference, engine="wordtype"))
    ]
    assert all(tagger.training is not None and tagger.training.converged for tagger in taggers)
    left, right = (tagger.tag(judge) for tagger in taggers)
    assert (left.tags == right.tags).mean() > 0.999
    assert left.confidence == pytest.approx(right.confidence, abs=0.02)
