"""The likelihood against brute force over all paths, and its gradient against differences."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from taggers.crf import lattice
from taggers.crf.training import likelihood
from taggers.crf.training.likelihood import Likelihood
from taggers.crf.training.training_set import TrainingSet, partial
from taggers.crf.weights import Weights
from taggers.templates import Templates

TokenScores = Callable[[Weights, Sequence[str], Sequence[str]], np.ndarray]

FEATURES = ("form", "lower", "capitalization")
TYPES = ("a", "A", "Aa", "b")


@dataclass(frozen=True)
class Corpus:
    """Documents as pairs of a word and a label, which is negative where it is not known."""

    documents: tuple[tuple[tuple[int, int], ...], ...]
    weights: tuple[float, ...]
    labels: int
    window: int = 1

    def training(self, **options: Any) -> TrainingSet:
        tokens = [token for document in self.documents for token in document]
        return TrainingSet.from_arrays(
            np.array([word for word, _ in tokens], np.int32),
            TYPES,
            np.cumsum([0, *map(len, self.documents)], dtype=np.int64),
            np.array([label for _, label in tokens], np.int16),
            np.array(self.weights, np.float64),
            templates=Templates.parse(FEATURES, self.window),
            labels=self.labels,
            **options,
        )


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    labels = draw(st.integers(1, 3))
    lowest = draw(st.sampled_from([-1, 0]))  # with unknown labels or without
    token = st.tuples(st.integers(0, len(TYPES) - 1), st.integers(lowest, labels - 1))
    documents = draw(st.lists(st.lists(token, max_size=5).map(tuple), min_size=1, max_size=4))
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=4, max_size=4))
    corpus = Corpus(
        tuple(documents), tuple(weights[: len(documents)]), labels, draw(st.integers(0, 2))
    )
    assume(any(documents))
    return corpus


PARTIAL = Corpus((((0, -1), (1, 0), (2, -1)), (), ((3, 1),), ((1, -1), (1, -1))), (1, 1, 2, 1), 2)
STEPS = st.sampled_from([0.0, 1.0, 30.0, 1000.0])
SEEDS = st.integers(0, 2**32 - 1)


def random_weights(training: TrainingSet, step: float, seed: int) -> np.ndarray:
    size = len(training.state.labels) + training.labels**2
    return step * np.random.default_rng(seed).normal(size=size)


def brute_objective(
    corpus: Corpus, weights: Weights, x: np.ndarray, c2: float, token_scores: TokenScores
) -> float:
    """Sum over all sequences, and over those that have the known labels."""
    value = c2 * float(x @ x)
    for document, weight in zip(corpus.documents, corpus.weights, strict=True):
        if not document:
            continue
        number = len(document)
        scores = token_scores(weights, FEATURES, [TYPES[word] for word, _ in document])
        paths = np.array(list(itertools.product(range(corpus.labels), repeat=number)))
        values = scores[np.arange(number), paths].sum(axis=1)
        values += weights.transition[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        labels = np.array([label for _, label in document])
        right = ((labels < 0) | (paths == labels)).all(axis=1)
        value += weight * (np.logaddexp.reduce(values) - np.logaddexp.reduce(values[right]))
    return float(value)


@settings(max_examples=60)
@given(corpus=corpora(), step=STEPS, seed=SEEDS, c2=st.sampled_from([0.0, 0.1, 2.0]))
@example(corpus=PARTIAL, step=1.0, seed=0, c2=0.5)
@example(corpus=PARTIAL, step=1000.0, seed=0, c2=0.5)
def test_the_objective_is_that_of_brute_force(
    corpus: Corpus, step: float, seed: int, c2: float, token_scores: TokenScores
) -> None:
    """With documents that count more or less, unknown labels, and weights of any size."""
    training = corpus.training()
    x = random_weights(training, step, seed)
    value, _ = Likelihood(training, c2, np.float64)(x)
    expected = brute_objective(corpus, training.weights_of(x), x, c2, token_scores)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=40)
@given(corpus=corpora(), step=STEPS, seed=SEEDS, c2=st.sampled_from([0.0, 0.1, 2.0]))
@example(corpus=PARTIAL, step=1.0, seed=0, c2=0.5)
@example(corpus=PARTIAL, step=30.0, seed=0, c2=0.5)
def test_the_gradient_is_that_of_finite_differences(
    corpus: Corpus, step: float, seed: int, c2: float
) -> None:
    training = corpus.training()
    evaluate = Likelihood(training, c2, np.float64)
    x = random_weights(training, step, seed)
    _, gradient = evaluate(x)
    rng = np.random.default_rng(seed)
    close = 1e-4 * max(1.0, step)
    width = 1e-4
    places = {*rng.integers(0, len(x), 8).tolist(), *range(len(x) - corpus.labels**2, len(x))}
    for place in places:
        change = np.zeros(len(x))
        change[place] = width
        difference = (evaluate(x + change)[0] - evaluate(x - change)[0]) / (2 * width)
        assert gradient[place] == pytest.approx(difference, abs=close)


@settings(max_examples=40)
@given(corpus=corpora(), step=st.sampled_from([0.0, 0.3, 3.0, 1000.0]), seed=SEEDS)
@example(corpus=PARTIAL, step=1.0, seed=0)
def test_in_single_precision_it_is_nearly_the_same(corpus: Corpus, step: float, seed: int) -> None:
    training = corpus.training()
    x = random_weights(training, step, seed)
    single, single_gradient = Likelihood(training, 0.1, np.float32)(x)
    double, double_gradient = Likelihood(training, 0.1, np.float64)(x)
    assert single == pytest.approx(double, rel=1e-3, abs=1e-3)
    if step < 1000:  # where sequences are as probable as each other, digits are what decides
        assert single_gradient == pytest.approx(double_gradient, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1e3, -1e3])
@pytest.mark.parametrize("corpus", [PARTIAL, Corpus((((0, 0), (1, 1), (0, 0)),), (1.0,), 2)])
def test_huge_weights_give_numbers(corpus: Corpus, step: float, real: type) -> None:
    training = corpus.training()
    for seed in range(5):
        value, gradient = Likelihood(training, 0.1, real)(random_weights(training, step, seed))
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_at_zero_every_sequence_is_as_probable(real: type) -> None:
    corpus = Corpus((((0, 0), (1, 2)), ((2, 1),), ()), (1.0, 2.0, 5.0), 3)
    training = corpus.training()
    evaluate = Likelihood(training, 7.0, real)
    value, _ = evaluate(np.zeros(evaluate.size))
    assert value == pytest.approx((2 + 2 * 1) * np.log(3), rel=1e-6)


@given(corpus=corpora(), seed=SEEDS)
def test_the_l2_norm_adds_its_square_and_twice_the_weights(corpus: Corpus, seed: int) -> None:
    training = corpus.training()
    x = random_weights(training, 1.0, seed)
    plain, gradient = Likelihood(training, 0.0, np.float64)(x)
    value, regularized = Likelihood(training, 3.0, np.float64)(x)
    assert value == pytest.approx(plain + 3 * x @ x)
    assert regularized == pytest.approx(gradient + 6 * x)


@given(seed=SEEDS)
def test_of_documents_of_one_token_the_curvature_is_that_of_finite_differences(seed: int) -> None:
    """There what is taken token by token is all there is; what is unknown adds nothing."""
    documents = tuple(((word, label),) for word, label in ((0, 0), (0, 1), (1, 0), (3, 2), (2, -1)))
    training = Corpus(documents, (1.0, 2.0, 0.5, 3.0, 1.0), 3, 0).training()
    evaluate = Likelihood(training, 0.5, np.float64)
    x = random_weights(training, 0.5, seed)
    number = len(training.state.labels)
    step = 1e-5 * np.eye(evaluate.size)[:number]
    second = np.array(
        [(evaluate(x + each)[1] - evaluate(x - each)[1]) @ each / (2 * 1e-10) for each in step]
    )
    assert evaluate.curvature(x)[:number] == pytest.approx(
        np.maximum(second - 1, 0) ** 0.7 + 1, abs=1e-4
    )


@given(corpus=corpora(), step=STEPS, seed=SEEDS)
@example(corpus=PARTIAL, step=1000.0, seed=0)
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_the_curvature_is_positive_and_finite(
    real: type, corpus: Corpus, step: float, seed: int
) -> None:
    training = corpus.training()
    curvature = Likelihood(training, 0.0, real).curvature(random_weights(training, step, seed))
    assert np.isfinite(curvature).all()
    assert (curvature > 0).all()


def test_a_document_that_counts_2_is_a_document_twice() -> None:
    # Words are numbered by how often they occur: here in both the same.
    first, second = ((2, 0), (1, 1), (1, 1), (3, 0)), ((0, 1), (0, 1), (1, -1))
    weighted = Corpus((first, second), (2.0, 3.0), 2).training()
    repeated = Corpus((first, second, second, first, second), (1.0,) * 5, 2).training()
    assert len(weighted.state.labels) == len(repeated.state.labels)
    x = random_weights(weighted, 1.0, 0)
    left, right = (Likelihood(each, 0.1, np.float64)(x) for each in (weighted, repeated))
    assert left[0] == pytest.approx(right[0], rel=1e-12)
    assert left[1] == pytest.approx(right[1], rel=1e-9, abs=1e-12)


def test_a_document_that_counts_0_brings_its_pairs_and_no_more() -> None:
    first, second = ((0, 0), (1, 1), (3, 0)), ((2, 0), (2, 1))
    training = Corpus((first, second), (1.0, 0.0), 2).training()
    alone = Corpus((first,), (1.0,), 2).training()
    assert len(training.state.labels) > len(alone.state.labels)
    assert training.transition.tolist() == alone.transition.tolist()
    x = random_weights(training, 1.0, 0)
    # With the weights that it alone brings at 0, the rest is as if it were not there.
    mine = np.array([key not in _keys(alone) for key in _keys(training)])
    x[: len(mine)][mine] = 0
    value, gradient = Likelihood(training, 0.0, np.float64)(x)
    kept = np.flatnonzero(~mine)
    other = np.concatenate([_matched(alone, training, x, kept), x[len(mine) :]])
    expected, _ = Likelihood(alone, 0.0, np.float64)(other)
    assert value == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(gradient).all()


def _matched(
    alone: TrainingSet, training: TrainingSet, x: np.ndarray, kept: np.ndarray
) -> np.ndarray:
    """Return the state weights of another training set by their values, offsets and labels."""
    named = dict(zip(_keys(training), x[: len(training.state.labels)].tolist(), strict=True))
    return np.array([named[key] for key in _keys(alone)])


def _keys(training: TrainingSet) -> list[tuple[int, int, int]]:
    """Return the value, the offset and the label of each state weight."""
    begins = training.state.begins
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    values = training.hashes[rows // training.offsets].tolist()
    places = (rows % training.offsets).tolist()
    return list(zip(values, places, training.state.labels.tolist(), strict=True))


def test_a_document_without_known_labels_teaches_nothing() -> None:
    training = Corpus((((0, -1), (1, -1)),), (1.0,), 2).training()
    value, gradient = Likelihood(training, 0.0, np.float64)(random_weights(training, 1.0, 0))
    assert value == pytest.approx(0, abs=1e-12)
    assert gradient == pytest.approx(np.zeros(len(gradient)), abs=1e-12)


@given(
    corpus=corpora(),
    step=st.sampled_from([1.0, 1000.0]),
    seed=SEEDS,
    order=st.permutations(range(4)),
)
def test_the_order_of_documents_makes_no_difference(
    corpus: Corpus, step: float, seed: int, order: list[int]
) -> None:
    rows = [row for row in order if row < len(corpus.documents)]
    other = replace(
        corpus,
        documents=tuple(corpus.documents[row] for row in rows),
        weights=tuple(corpus.weights[row] for row in rows),
    )
    x = random_weights(corpus.training(), step, seed)
    left, right = (Likelihood(each.training(), 0.1, np.float64)(x) for each in (corpus, other))
    assert left[0] == pytest.approx(right[0], rel=1e-9, abs=1e-9)
    assert left[1] == pytest.approx(right[1], rel=1e-7, abs=1e-7)


# With three tokens packed at a time, the partial documents are packed to more than all are.
LARGER = Corpus(
    (((0, 0), (0, 0)), ((0, -1),), ((0, 0), (1, 1), (0, 0), (0, 0), (0, -1))), (1,) * 3, 2
)


@given(corpus=corpora(), seed=SEEDS, step=st.sampled_from([1.0, 1000.0]))
@example(corpus=LARGER, seed=0, step=1.0)
def test_how_many_tokens_are_packed_makes_no_difference(
    corpus: Corpus, seed: int, step: float
) -> None:
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


def test_transitions_that_differ_much_are_summed_as_logarithms() -> None:
    """Of both kinds, the values and the gradients are continuous where the kind changes."""
    training = PARTIAL.training()
    x = random_weights(training, 1.0, 0)
    at = []
    for difference in (349.9999, 350.0001):
        x[-4:] = [0, 0, 0, 0]
        x[-4] = difference / 2
        transition = training.weights_of(x).transition
        at.append(
            (
                lattice.safe(transition, np.dtype(np.float64)),
                *Likelihood(training, 0, np.float64)(x),
            )
        )
    assert [safe for safe, _, _ in at] == [True, False]
    assert at[0][1] == pytest.approx(at[1][1], rel=1e-5)
    assert at[0][2] == pytest.approx(at[1][2], rel=1e-5, abs=1e-9)


# The training set


@given(corpus=corpora())
def test_documents_with_an_unknown_label_are_partial(corpus: Corpus) -> None:
    training = corpus.training()
    expected = [any(label < 0 for _, label in document) for document in corpus.documents]
    assert partial(training.documents, training.tags).tolist() == expected


@given(corpus=corpora(), least=st.sampled_from([0.0, 1.0, 2.0]))
def test_pairs_of_values_and_labels_that_occur_have_a_weight(corpus: Corpus, least: float) -> None:
    training = corpus.training(min_frequency=least)
    counts: dict[tuple[str, int, int], float] = {}
    for document in corpus.documents:
        for place, (_, label) in enumerate(document):
            for offset in range(-corpus.window, corpus.window + 1):
                if label < 0:
                    continue
                other = place + offset
                if 0 <= other < len(document):
                    word = TYPES[document[other][0]]
                    values = [f"form={word}", f"lower={word.lower()}", f"kind={KINDS[word]}"]
                else:
                    values = ["begin" if other < 0 else "end"]
                for value in values:
                    key = value, offset, label
                    counts[key] = counts.get(key, 0.0) + 1
    kept = sorted(count for count in counts.values() if count >= least)
    assert sorted(training.state.counts.tolist()) == kept


KINDS = {"a": "lower", "A": "initial", "Aa": "first", "b": "lower"}
