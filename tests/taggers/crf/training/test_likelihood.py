"""The likelihood against brute force, weight by weight, and its gradient against differences."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from taggers.crf.training import likelihood
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.training_set import TrainingSet
from taggers.crf.weights import Weights
from taggers.features.templates import Templates
from taggers.features.words import BEGIN, END, Words, feature
from tests.streams import stream_of
from tests.taggers.crf.conftest import batch_of_words, every_path

TYPES = ("a", "A", "Aa", "b", "unused")
SAID = ("x", "y")
STREAMS = ("header", "patterns")

#: A word, a label that is negative where it is not known, and what two streams say.
Token = tuple[int, int, str | None, str | None]
Key = tuple[str, int, int]  # such as lower=a, the place, the label


def said(token: Token, name: str) -> str | None:
    value = token[2 + STREAMS.index(name)]
    assert not isinstance(value, int)
    return value


@dataclass(frozen=True)
class Corpus:
    documents: tuple[tuple[Token, ...], ...]
    weights: tuple[float, ...]
    labels: int
    templates: Templates

    def training(self, **options: Any) -> TrainingSet:
        tokens = [token for document in self.documents for token in document]
        streams = {
            stream.name: stream_of([said(token, stream.name) for token in tokens])
            for stream in self.templates.streams
        }
        batch = batch_of_words(
            [[TYPES[token[0]] for token in document] for document in self.documents],
            TYPES,
            tags=np.array([token[1] for token in tokens], np.int16),
            labels=("O", "B-A", "I-A")[: self.labels],
            weights=np.array(self.weights, np.float32),
            streams=streams,
        )
        training, labels = TrainingSet.from_batch(batch, self.templates, **options)
        assert labels == batch.labels
        return training

    def looked_at(self, document: Sequence[Token], place: int) -> Iterator[tuple[str, int]]:
        """Return the values around a token, and their places."""
        size = len(document)
        for template in self.templates.features:
            for offset in template.offsets:
                if 0 <= place + offset < size:
                    (value,) = feature(template.name)(Words([TYPES[document[place + offset][0]]]))
                    yield f"{template.name}={value}", offset
        for offset in range(-self.templates.window, self.templates.window + 1):
            if not 0 <= place + offset < size:
                yield BEGIN if offset < 0 else END, offset
        for stream in self.templates.streams:
            for offset in stream.offsets:
                if 0 <= place + offset < size:
                    value_said = said(document[place + offset], stream.name)
                    if value_said is not None:
                        yield f"{stream.name}={value_said}", offset


@st.composite
def templates(draw: st.DrawFn) -> Templates:
    def written(name: str) -> str:
        first, last = sorted(draw(st.tuples(st.integers(-2, 2), st.integers(-2, 2))))
        return draw(st.sampled_from([name, f"{name}[{first}..{last}]"]))

    features = draw(
        st.lists(st.sampled_from(["form", "lower", "capitalization"]), min_size=1, unique=True)
    )
    streams = draw(st.lists(st.sampled_from(STREAMS), unique=True))
    window = draw(st.integers(0, 2))
    return Templates.parse([*map(written, features)], window, [*map(written, streams)])


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    labels = draw(st.integers(1, 3))
    lowest = draw(st.sampled_from([-1, 0]))  # with unknown labels or without
    value = st.none() | st.sampled_from(SAID)
    word = st.integers(0, len(TYPES) - 2)
    token = st.tuples(word, st.integers(lowest, labels - 1), value, value)
    documents = draw(st.lists(st.lists(token, max_size=4).map(tuple), min_size=1, max_size=4))
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=4, max_size=4))
    seen = {label for document in documents for _, label, *_ in document}
    assume({*range(labels)} <= seen)
    return Corpus(tuple(documents), tuple(weights[: len(documents)]), labels, draw(templates()))


PARTIAL = Corpus(
    (
        ((0, -1, "x", None), (1, 0, None, "y"), (2, 1, "x", "y"), (3, -1, None, None)),
        (),
        ((3, 1, "y", "x"), (0, 0, "y", None)),
        ((1, 1, None, "x"),),
    ),
    (1.0, 1.0, 2.0, 0.5),
    2,
    Templates.parse(["form[0]", "lower"], 1, ["header", "patterns[-2..2]"]),
)
SILENT = Corpus(
    (((0, 0, None, None), (1, 1, None, None)),),
    (1.0,),
    2,
    Templates.parse(["form[1]"], 0, ["header", "patterns[-3]"]),
)
SEEDS = st.integers(0, 2**32 - 1)


def of_words(*documents: Sequence[tuple[int, int]], window: int = 1) -> Corpus:
    """Make a corpus of words and of two labels, without streams."""
    tokens = tuple(tuple((*token, None, None) for token in document) for document in documents)
    templates = Templates.parse(["form", "lower", "capitalization"], window)
    return Corpus(tokens, (1.0,) * len(tokens), 2, templates)


def by_name(training: TrainingSet, weights: Weights | None = None) -> dict[Key, float]:
    """Return every state weight, or how often its value occurs with its label."""
    names = training.values.names.strings()
    assert len(set(names)) == len(names) == len(training.values.hashes)
    numbers = training.state.counts if weights is None else weights.state
    result: dict[Key, float] = {}
    for row, (begin, end) in enumerate(itertools.pairwise(training.state.offsets.tolist())):
        value, place = divmod(row, training.offsets)
        for pair in range(begin, end):
            label = int(training.state.labels[pair])
            result[names[value], place - training.reach, label] = float(numbers[pair])
    assert len(result) == len(numbers)
    return result


def random_weights(training: TrainingSet, step: float, seed: int) -> np.ndarray:
    size = len(training.state.labels) + training.labels**2
    return step * np.random.default_rng(seed).normal(size=size)


def brute_objective(corpus: Corpus, training: TrainingSet, x: np.ndarray, c2: float) -> float:
    """Sum over all sequences, and over those that have the known labels."""
    weights = training.weights_of(x)
    named = by_name(training, weights)
    value = c2 * float(x @ x)
    for document, counts in zip(corpus.documents, corpus.weights, strict=True):
        if not document:
            continue
        scores = np.zeros((len(document), corpus.labels))
        for place, label in np.ndindex(*scores.shape):
            looked_at = corpus.looked_at(document, place)
            scores[place, label] = sum(named.get((*key, label), 0.0) for key in looked_at)
        paths, values = every_path(scores, weights.transition)
        labels = np.array([token[1] for token in document])
        right = ((labels < 0) | (paths == labels)).all(axis=1)
        value += counts * (np.logaddexp.reduce(values) - np.logaddexp.reduce(values[right]))
    return float(value)


@settings(max_examples=60)
@given(corpus=corpora(), step=st.sampled_from([1.0, 30.0]), seed=SEEDS)
@example(corpus=PARTIAL, step=1.0, seed=0)
@example(corpus=PARTIAL, step=30.0, seed=0)
@example(corpus=SILENT, step=1.0, seed=0)
def test_the_objective_is_that_of_brute_force(corpus: Corpus, step: float, seed: int) -> None:
    training = corpus.training()
    x = random_weights(training, step, seed)
    value, _ = Likelihood(training, 0.1, np.float64)(x)
    expected = brute_objective(corpus, training, x, 0.1)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=50)
@given(corpus=corpora(), step=st.sampled_from([1.0, 30.0]), seed=SEEDS)
@example(corpus=PARTIAL, step=1.0, seed=0)
@example(corpus=SILENT, step=1.0, seed=0)
def test_the_gradient_is_that_of_finite_differences(corpus: Corpus, step: float, seed: int) -> None:
    training = corpus.training()
    evaluate = Likelihood(training, 0.1, np.float64)
    x = random_weights(training, step, seed)
    _, gradient = evaluate(x)
    width = 1e-4
    chosen = np.random.default_rng(seed).integers(0, len(x), 10).tolist()
    # The last weights of values are those of streams.
    streams = range(max(len(x) - corpus.labels**2 - 6, 0), len(x))
    for place in {*chosen, *streams}:
        change = np.zeros(len(x))
        change[place] = width
        difference = (evaluate(x + change)[0] - evaluate(x - change)[0]) / (2 * width)
        assert gradient[place] == pytest.approx(difference, abs=1e-4 * max(1.0, step))


@settings(max_examples=40)
@given(corpus=corpora(), step=st.sampled_from([0.3, 3.0]), seed=SEEDS)
@example(corpus=PARTIAL, step=1.0, seed=0)
def test_in_single_precision_it_is_nearly_the_same(corpus: Corpus, step: float, seed: int) -> None:
    training = corpus.training()
    x = random_weights(training, step, seed)
    single, single_gradient = Likelihood(training, 0.1, np.float32)(x)
    double, double_gradient = Likelihood(training, 0.1, np.float64)(x)
    assert single == pytest.approx(double, rel=1e-3, abs=1e-3)
    assert single_gradient == pytest.approx(double_gradient, rel=1e-3, abs=1e-3)


@settings(max_examples=60)
@given(corpus=corpora(), least=st.sampled_from([0.0, 0.5, 1.0, 2.0]))
@example(corpus=PARTIAL, least=0.0)
@example(corpus=SILENT, least=0.0)
def test_what_is_looked_at_around_a_known_label_has_a_weight_and_nothing_else(
    corpus: Corpus, least: float
) -> None:
    counts: dict[Key, float] = {}
    for document in corpus.documents:
        for place, token in enumerate(document):
            for value in corpus.looked_at(document, place):
                if token[1] >= 0:
                    key = (*value, token[1])
                    counts[key] = counts.get(key, 0.0) + 1
    expected = {key: count for key, count in counts.items() if count >= least}
    assert by_name(corpus.training(min_frequency=least)) == pytest.approx(expected)


@given(corpus=corpora())
@example(corpus=PARTIAL)
def test_a_value_is_seen_in_the_documents_that_have_it(corpus: Corpus) -> None:
    """Wherever it is looked at; the ends of documents are in all that have tokens."""
    seen: Counter[str] = Counter()
    for document in corpus.documents:
        values = {BEGIN, END} if document else set()
        for token in document:
            word = Words([TYPES[token[0]]])
            features = [template.name for template in corpus.templates.features]
            values |= {f"{name}={feature(name)(word)[0]}" for name in features}
            streams = {stream.name: said(token, stream.name) for stream in corpus.templates.streams}
            values |= {f"{name}={value}" for name, value in streams.items() if value is not None}
        seen.update(values)
    own = corpus.training().values
    actual = dict(zip(own.names.strings(), own.patients.tolist(), strict=True))
    assert {name: number for name, number in actual.items() if number} == dict(seen)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1e3, -1e3])
@pytest.mark.parametrize("corpus", [PARTIAL, of_words(((0, 0), (1, 1), (0, 0)))])
def test_huge_weights_give_numbers(corpus: Corpus, step: float, real: type) -> None:
    training = corpus.training()
    for seed in range(5):
        value, gradient = Likelihood(training, 0.1, real)(random_weights(training, step, seed))
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@given(seed=SEEDS)
def test_of_documents_of_one_token_the_curvature_is_that_of_finite_differences(seed: int) -> None:
    """There what is taken token by token is all there is; what is unknown adds nothing."""
    documents = [((word, label),) for word, label in ((0, 0), (0, 1), (1, 0), (3, 2), (2, -1))]
    corpus = of_words(*documents, window=0)
    training = replace(corpus, weights=(1.0, 2.0, 0.5, 3.0, 1.0), labels=3).training()
    evaluate = Likelihood(training, 0.5, np.float64)
    x = random_weights(training, 0.5, seed)
    number = len(training.state.labels)
    step = 1e-5 * np.eye(evaluate.size)[:number]
    second = np.array(
        [
            (evaluate(x + change)[1] - evaluate(x - change)[1]) @ change / (2 * 1e-10)
            for change in step
        ]
    )
    assert evaluate.curvature(x)[:number] == pytest.approx(
        np.maximum(second - 1, 0) ** 0.7 + 1, abs=1e-4
    )


@given(corpus=corpora(), step=st.sampled_from([0.0, 1.0, 30.0, 1000.0]), seed=SEEDS)
@example(corpus=PARTIAL, step=1000.0, seed=0)
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_the_curvature_is_positive_and_finite(real, corpus, step, seed) -> None:
    training = corpus.training()
    curvature = Likelihood(training, 0.0, real).curvature(random_weights(training, step, seed))
    assert np.isfinite(curvature).all()
    assert (curvature > 0).all()


# With three tokens packed at a time, the partial documents are packed to more than all are.
LARGER = of_words(((0, 0), (0, 0)), ((0, -1),), ((0, 0), (1, 1), (0, 0), (0, 0), (0, -1)))


@given(corpus=corpora(), seed=SEEDS, step=st.sampled_from([1.0, 1000.0]))
@example(corpus=LARGER, seed=0, step=1.0)
def test_how_many_tokens_are_packed_makes_no_difference(corpus, seed, step) -> None:
    training = corpus.training()
    x = random_weights(training, step, seed)
    left = Likelihood(training, 0.1, np.float64)(x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likelihood, "_PACKED", 3)
        right = Likelihood(training, 0.1, np.float64)(x)
    assert left[0] == pytest.approx(right[0], rel=1e-12, abs=1e-9)
    assert left[1] == pytest.approx(right[1], rel=1e-9, abs=1e-9)


def test_an_evaluation_leaves_nothing_behind() -> None:
    training = PARTIAL.training()
    evaluate = Likelihood(training, 0.1, np.float64)
    x, y = (random_weights(training, step, 0) for step in (1.0, 1000.0))
    before = x.copy()
    first = evaluate(x)
    kept = first[1].copy()
    evaluate(y)
    again = evaluate(x)
    assert again[0] == first[0]
    assert again[1].tolist() == first[1].tolist() == kept.tolist()
    assert x.tolist() == before.tolist()
