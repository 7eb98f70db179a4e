"""Decoding against brute force over all paths, with weights of any size."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from taggers.crf import lattice
from taggers.crf.lattice import forward_backward
from taggers.crf.linear_chain import LinearChain
from taggers.crf.weights import empty_table
from tests.taggers.crf.conftest import Case, every_path

REALS = pytest.mark.parametrize("real", [np.float32, np.float64])
CLOSE = {np.float32: 2e-5, np.float64: 1e-10}


#: Steps between scores: of 8 of them, 1.25 and 10.5 make about the largest transitions that
#: are safe in single and in double, and the exponential of 125 is 0. Sums of scores are exact.
STEPS = [0.0, 0.125, 1.25, 10.5]
SCORES = st.sampled_from([*STEPS, 125.0])
LONGEST = {1: 5, 2: 6, 3: 5, 4: 4, 8: 2, 9: 2}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    labels = draw(st.sampled_from(list(LONGEST)))
    lengths = draw(st.lists(st.integers(0, LONGEST[labels]), max_size=6))
    numbers = st.integers(-8, 8)
    scores = draw(hnp.arrays(np.int64, (sum(lengths), labels), elements=numbers))
    transition = draw(hnp.arrays(np.int64, (labels, labels), elements=numbers))
    return Case(lengths, scores * draw(SCORES), transition * draw(st.sampled_from(STEPS)))


@dataclass(frozen=True)
class Brute:
    """All paths of a document: the best one, its probability, and the marginals."""

    best: list[int]
    log_probability: float
    marginals: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, transition: np.ndarray) -> "Brute":
        number, labels = scores.shape
        paths, values = every_path(scores, transition)
        log_z = np.logaddexp.reduce(values)
        probabilities = np.exp(values - log_z)
        marginals = np.zeros((number, labels))
        for place in range(number):
            marginals[place] = np.bincount(paths[:, place], probabilities, labels)
        # Of equally good paths, the one with the lowest label at its end, then before that.
        best = min(paths[values == values.max()].tolist(), key=lambda path: path[::-1])
        return cls(best, float(values.max() - log_z), marginals)


def brute_of(case: Case) -> list[Brute | None]:
    return [
        Brute.of(case.scores[start:stop], case.transition) if stop > start else None
        for start, stop in itertools.pairwise(case.documents)
    ]


@REALS
@given(case=cases())
@example(case=Case([], np.zeros((0, 3)), np.zeros((3, 3))))
@example(case=Case([0, 0], np.zeros((0, 3)), np.zeros((3, 3))))
@example(case=Case([2, 0, 1], np.zeros((3, 1)), np.full((1, 1), -1e3)))
@example(case=Case([4], np.full((4, 2), -1e3), np.array([[80, -80], [-80, 80]])))
@example(case=Case([3, 3], np.array([[1e3, -1e3]] * 6), np.array([[-80, 80], [0, 0]])))
def test_paths_probabilities_and_marginals_are_those_of_brute_force(case: Case, real: type) -> None:
    actual = case.decoded(real, "labels")
    close = CLOSE[real]
    assert np.isfinite(actual.log_probability).all()
    for row, brute in enumerate(brute_of(case)):
        tokens = slice(case.documents[row], case.documents[row + 1])
        if brute is None:
            assert actual.log_probability[row] == 0
            continue
        assert actual.labels[tokens].tolist() == brute.best
        assert actual.log_probability[row] == pytest.approx(brute.log_probability, abs=close)
        assert actual.log_probability[row] <= 0
        assert actual.marginals[tokens] == pytest.approx(brute.marginals, abs=close)


@REALS
@given(case=cases())
def test_what_is_asked_for_beside_the_paths_changes_nothing_else(case: Case, real: type) -> None:
    plain, token, labels = (
        case.decoded(real, detail) for detail in ("document", "token", "labels")
    )
    assert (plain.chosen, plain.marginals, token.marginals, labels.chosen) == (None,) * 4
    for other in (token, labels):
        assert other.labels.tolist() == plain.labels.tolist()
        assert other.log_probability.tolist() == plain.log_probability.tolist()
    of_path = labels.marginals[np.arange(len(plain.labels)), plain.labels]
    assert token.chosen.tolist() == of_path.tolist()
    tags = case.decoded(real, "tags")
    assert tags.labels.tolist() == plain.labels.tolist()
    assert not tags.log_probability.any()


@REALS
@pytest.mark.parametrize("packed", [1, 5, 40])
@pytest.mark.parametrize("step", [1.0, 30.0])
def test_how_many_tokens_are_packed_makes_no_difference(real, packed, step) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 12, 30).tolist()
    scores, transition = rng.normal(size=(sum(lengths), 5)), rng.normal(size=(5, 5))
    case = Case(lengths, scores, step * transition)
    expected = case.decoded(real, "labels")
    actual = case.decoded(real, "labels", packed=packed)
    assert actual.labels.tolist() == expected.labels.tolist()
    assert actual.log_probability == pytest.approx(expected.log_probability, abs=CLOSE[real])
    assert expected.marginals is not None
    assert actual.marginals == pytest.approx(expected.marginals, abs=CLOSE[real])


def log_forward_backward(
    scores: np.ndarray, transition: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the logarithms of the forward and backward sums of a document, and log Z."""
    alpha, beta = scores.astype(np.float64), np.zeros(scores.shape)
    for token in range(1, len(scores)):
        alpha[token] += np.logaddexp.reduce(alpha[token - 1][:, None] + transition, axis=0)
    for token in range(len(scores) - 2, -1, -1):
        after = transition + scores[token + 1] + beta[token + 1]
        beta[token] = np.logaddexp.reduce(after, axis=1)
    return alpha, beta, float(np.logaddexp.reduce(alpha[-1]))


def brought_to(bound: float, transition: np.ndarray) -> np.ndarray:
    """Scale transitions so that they are the largest that are safe."""
    differences = np.ptp(transition, axis=0).max() + np.ptp(transition, axis=1).max()
    return transition * (0.9999 * bound / differences)


@REALS
@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_where_transitions_are_barely_safe(real: type, seed: int) -> None:
    """Paths that begin as the least probable ones become the best ones by one transition."""
    rng = np.random.default_rng(seed)
    bound = forward_backward._SAFE[np.dtype(real)]
    for _ in range(150):
        labels, number = rng.integers(2, 4), rng.integers(2, 20)
        own = rng.choice([0, 1, 2], labels)
        origins = np.repeat(own[:, None], labels, axis=1)  # as good to every label
        kind = rng.choice([origins, origins.T, rng.integers(0, 2, (labels, labels))])
        transition = brought_to(bound, kind + np.eye(labels, k=1) * 1e-3)
        step = rng.choice([1, bound / 2, bound, 2 * bound, 5 * bound])
        case = Case([int(number)], rng.integers(-2, 3, (number, labels)) * step, transition)
        actual = case.decoded(real, "labels")
        alpha, beta, log_z = log_forward_backward(case.scores, transition)
        assert actual.marginals == pytest.approx(np.exp(alpha + beta - log_z), abs=1e-5)


@REALS
@pytest.mark.parametrize("labels", [1, 2])
def test_rounding_makes_no_probability_greater_than_1(real: type, labels: int) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 200, 50).tolist()
    scores = rng.normal(size=(sum(lengths), labels))
    scores[:, 0] += 60
    case = Case(lengths, scores, rng.normal(size=(labels, labels)))
    actual = case.decoded(real)
    assert (actual.log_probability <= 0).all()
    assert actual.log_probability == pytest.approx(np.zeros(50), abs=2e-3)


def windowed_scores(table: np.ndarray, words: list[int], begin: int, end: int) -> np.ndarray:
    """Add up rows of the table of the words around each token."""
    offsets = table.shape[1]
    scores = np.zeros((len(words), table.shape[2]))
    for place in range(len(words)):
        for offset in range(offsets):
            other = place + offset - offsets // 2
            row = begin if other < 0 else end if other >= len(words) else words[other]
            scores[place] += table[row, offset]
    return scores


@REALS
@given(
    documents=st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=4),
    window=st.integers(0, 5),
    borders=st.permutations(range(6)),
    seed=st.integers(0, 2**32 - 1),
)
def test_words_score_the_tokens_around_them(documents, window, borders, seed, real) -> None:
    """Also where the window is wider than the documents."""
    rng = np.random.default_rng(seed)
    begin, end = borders[:2]
    table = empty_table(6, 2 * window + 1, 3, real)
    table[:, :, :3] = rng.integers(-8, 8, table[:, :, :3].shape) / 8
    transition = rng.integers(-8, 8, (3, 3)) / 8
    words = np.array([word for document in documents for word in document], np.int32)
    bounds = np.cumsum([0, *map(len, documents)], dtype=np.int64)

    def score(packing: lattice.Packing, scores: lattice.Reals) -> None:
        lattice.gather(words, packing.where, table, begin, end, scores)

    chain = LinearChain(("O", "B-A", "I-A"), bounds, score, transition, table.dtype)
    actual = chain.decode()
    for row, document in enumerate(documents):
        if document:
            scores = windowed_scores(table[:, :, :3].astype(np.float64), document, begin, end)
            brute = Brute.of(scores, transition)
            assert actual.labels[bounds[row] : bounds[row + 1]].tolist() == brute.best
            probability = pytest.approx(brute.log_probability, abs=CLOSE[real])
            assert actual.log_probability[row] == probability


@REALS
@pytest.mark.parametrize("step", [1.0, 0.0, 60.0])
def test_a_very_long_document_is_that_of_a_straightforward_computation(real, step) -> None:
    rng = np.random.default_rng(0)
    number, labels = 100_000, 3
    scores = rng.integers(-16, 16, (number, labels)) / 8
    transition = step * rng.integers(-8, 8, (labels, labels)) / 8
    transition[0, 2] = -step
    case = Case([3, number, 0], np.concatenate([scores[:3], scores]), transition)
    actual = case.decoded(real, "token")
    delta, origins = scores[0], []
    for own in scores[1:]:
        paths = delta[:, None] + transition
        origins.append(paths.argmax(axis=0))
        delta = paths.max(axis=0) + own
    path = [int(delta.argmax())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    assert actual.labels[3:].tolist() == path[::-1]
    log_probability = delta.max() - log_forward_backward(scores, transition)[2]
    relative = 1e-5 if real == np.float32 else 1e-10
    assert actual.log_probability[1] == pytest.approx(log_probability, rel=relative)
    assert np.isfinite(actual.chosen).all()
    assert ((actual.chosen > 0) & (actual.chosen <= 1 + 1e-5)).all()
