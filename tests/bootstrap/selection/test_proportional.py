"""Selection against brute force over all subsets, and what always holds of it."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap.config.options import InitialModelSelection
from bootstrap.selection.proportional import FLOOR, Selection, select_examples
from bootstrap.selection.proportions import (
    Reference,
    configured_reference,
    content_of,
    measured_reference,
    proportions_of,
)
from bootstrap.selection.strategies import SelectOptions, initial_strategy_for
from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document
from corpus.tags import bio_labels
from taggers.base import Tagging

CLOSE = 1e-6  # what is exactly at the tolerance may be on either side of it


@dataclass(frozen=True, slots=True)
class Tagged:
    """A batch, what a tagger says of it, and the classes it knows."""

    batch: Batch
    tagging: Tagging

    def reference(self, classes: str) -> Reference:
        content = content_of(self.batch, self.tagging.tags, self.tagging.labels, list(classes))
        return measured_reference(content, list(classes))


def tagged(documents: list[str], confidence: npt.ArrayLike, classes: str = "AB") -> Tagged:
    """Tag documents as their characters say.

    ``.`` is outside, ``A`` begins an entity of class A and ``a`` goes on with it.
    """
    lengths = np.array([len(document) for document in documents], np.int64)
    labels = bio_labels(classes)
    number = {
        label[2:] if label[0] == "B" else label[2:].lower(): tag
        for tag, label in enumerate(labels)
        if label != "O"
    }
    tags = np.array([number.get(each, 0) for each in "".join(documents)], np.int16)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    zeros = np.zeros(len(tags), np.int32)
    names = pa.array([str(row) for row in range(len(documents))], pa.large_string())
    batch = Batch(
        ids=names,
        texts=names,
        groups=pa.nulls(len(documents), pa.large_string()),
        words=Stream(("w",), zeros),
        starts=zeros,
        ends=zeros + 1,
        document_offsets=offsets,
        tags=np.full(len(tags), -1, np.int16),
        labels=(),
    )
    return Tagged(batch, Tagging(tags, labels, np.asarray(confidence, np.float64)))


def drawn(
    rng: np.random.Generator,
    number: int,
    density: float | dict[str, float],
    *,
    classes: str = "AB",
    tokens: int = 12,
    entity: int = 3,
) -> list[str]:
    """Draw documents with so many entities per token, of up to `entity` tokens each."""
    if isinstance(density, float):
        density = dict.fromkeys(classes, density)
    documents = []
    for length in rng.integers(1, tokens + 1, number).tolist():
        text = ""
        while len(text) < length:
            draw = rng.random()
            for name, share in density.items():
                if draw < share:
                    text += name + name.lower() * int(rng.integers(0, entity))
                    break
                draw -= share
            else:
                text += "."
        documents.append(text[:length])
    return documents


def select(
    pool: Tagged,
    reference: Reference | None,
    *,
    confidence: float = 0.0,
    most: int = 100_000,
    selectable: npt.NDArray[np.bool_] | None = None,
) -> Selection:
    return select_examples(
        pool.tagging,
        pool.batch,
        reference=reference,
        confidence=confidence,
        most=most,
        selectable=selectable,
    )


def deviation(pool: Tagged, rows: list[int], reference: Reference) -> float:
    """Measure the worst deviation of a choice with loops."""
    texts = np.array(pool.tagging.labels, object)[pool.tagging.tags]
    tokens, empty = 0, 0
    entities = dict.fromkeys(reference.proportions.classes, 0)
    lengths = dict.fromkeys(reference.proportions.classes, 0)
    for row in rows:
        labels = texts[
            pool.batch.document_offsets[row] : pool.batch.document_offsets[row + 1]
        ].tolist()
        tokens += len(labels)
        bare = True
        for before, label in itertools.pairwise(["O", *labels]):
            if label[2:] in entities:
                entities[label[2:]] += label[0] == "B" or before[2:] != label[2:]
                lengths[label[2:]] += 1
                bare = False
        empty += bare
    selection = [
        *(entities[name] / tokens for name in entities),
        *(lengths[name] / entities[name] if entities[name] else math.nan for name in entities),
        empty / len(rows),
    ]
    worst = 0.0
    for value, wanted, tolerated in zip(
        selection, reference.proportions.values, reference.tolerance(len(rows)), strict=True
    ):
        off = abs(value - wanted)
        if off > 0 and math.isfinite(tolerated):
            worst = max(worst, off / tolerated if tolerated else math.inf)
    return worst


class BruteForce:
    """Every subset of the confident documents of a small batch: its size, deviation, confidence."""

    def __init__(self, pool: Tagged, rows: npt.NDArray[np.int64], reference: Reference) -> None:
        names = reference.proportions.classes
        content = content_of(pool.batch, pool.tagging.tags, pool.tagging.labels, names).take(rows)
        number = len(rows)
        inside = ((np.arange(1, 2**number)[:, None] >> np.arange(number)) & 1).astype(float)
        self.size = inside.sum(axis=1).astype(int)
        self.confidence = inside @ pool.tagging.confidence[rows]
        entities, tokens = inside @ content.entities, inside @ content.tokens
        with np.errstate(all="ignore"):
            selection = np.column_stack(
                [
                    entities / tokens[:, None],
                    (inside @ content.lengths) / entities,
                    inside @ content.empty / self.size,
                ]
            )
            tolerated = np.array([reference.tolerance(size) for size in range(number + 1)])
            off = np.abs(selection - reference.proportions.values)
            ratio = np.where(off > 0, off / tolerated[self.size], 0.0)
        ratio[np.isnan(off) | ~np.isfinite(tolerated[self.size])] = 0.0
        self.deviation = ratio.max(axis=1)

    def best(self, most: int, worst: float) -> tuple[int, float]:
        """Return the largest size up to `most` that deviates no more, and its best confidence."""
        within = (self.size <= most) & (self.deviation <= worst)
        size = int(self.size[within].max(initial=0))
        return size, float(self.confidence[within & (self.size == size)].max(initial=0.0))

    def nearest(self, size: int) -> float:
        return float(self.deviation[self.size == size].min())


def random_case(seed: int) -> tuple[Tagged, Reference, float, int]:
    """Draw at most 12 documents, one or two classes, a threshold and the most to select."""
    rng = np.random.default_rng(seed)
    classes = "AB"[: int(rng.integers(1, 3))]
    if rng.random() < 0.7:
        number = int(rng.integers(3, 400))
        documents = drawn(rng, number, float(rng.uniform(0, 0.4)), classes=classes)
        reference = tagged(documents, np.ones(number), classes).reference(classes)
    else:
        reference = configured_reference(
            dict.fromkeys(classes, float(rng.integers(0, 20)) / 100),
            dict.fromkeys(classes, 1 + float(rng.integers(0, 10)) / 10),
            float(rng.integers(0, 11)) / 10,
            6.0,
        )
    number = 12 if seed % 15 == 0 else int(rng.integers(1, 11))
    documents = drawn(rng, number, float(rng.uniform(0, 0.5)), classes=classes)
    confidence = rng.integers(0, 101, number) / 100
    return (
        tagged(documents, confidence, classes),
        reference,
        float(rng.choice([0.0, 0.3])),
        int(rng.integers(1, 14)),
    )


@pytest.mark.parametrize("seeds", [range(start, start + 15) for start in range(0, 120, 15)])
def test_it_is_as_good_as_brute_force(seeds: range) -> None:
    """As many documents as possible, then as confident as possible; or as near as possible."""
    kinds = set()
    for seed in seeds:
        pool, reference, threshold, most = random_case(seed)
        selection = select(pool, reference, confidence=threshold, most=most)
        rows = np.flatnonzero(pool.tagging.confidence >= threshold)
        assert selection.confident == len(rows)
        if not len(rows):
            assert len(selection.indices) == selection.bound == 0
            continue
        brute = BruteForce(pool, rows, reference)
        floor = min(most, math.ceil(FLOOR * len(rows)))
        least, confidence = brute.best(most, 1 - CLOSE)
        largest, _ = brute.best(most, 1 + CLOSE)
        size = len(selection.indices)
        assert set(selection.indices.tolist()) <= set(rows.tolist())
        assert selection.deviation == pytest.approx(
            deviation(pool, selection.indices.tolist(), reference)
        )
        assert selection.bound >= least
        if least >= floor:
            kinds.add("within")
            assert least <= size <= largest
            assert selection.deviation <= 1 + CLOSE
            if size == least == largest:
                assert pool.tagging.confidence[selection.indices].sum() >= confidence - CLOSE
        elif largest < floor:
            kinds.add("floor")
            assert size == floor
            assert selection.deviation <= 1.011 * brute.nearest(floor) + 0.01
    assert kinds == {"within", "floor"}


# What always holds

DOCUMENTS = st.text(st.sampled_from("..AaBb"), max_size=6)
CONFIDENCE = st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.8, 0.99, 1.0])
REFERENCES = st.one_of(
    st.none(),
    st.builds(
        lambda documents, classes: tagged(documents, np.ones(len(documents))).reference(classes),
        st.lists(DOCUMENTS, max_size=20),
        st.sampled_from(["AB", "A", "B", "ABC", ""]),
    ),
    st.builds(
        lambda rates, lengths, empty: configured_reference(
            dict(zip("AB", rates, strict=True)), dict(zip("AB", lengths, strict=True)), empty, 4.0
        ),
        st.lists(st.sampled_from([0.0, 0.1, 0.2]), min_size=2, max_size=2),
        st.lists(st.sampled_from([1.0, 1.5, 3.0]), min_size=2, max_size=2),
        st.sampled_from([0.0, 0.3, 1.0]),
    ),
)


@settings(deadline=None, max_examples=60)
@given(
    documents=st.lists(st.tuples(DOCUMENTS, CONFIDENCE, st.booleans()), max_size=15),
    reference=REFERENCES,
    threshold=st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    most=st.integers(0, 16),
)
def test_what_holds_of_every_selection(documents, reference, threshold, most) -> None:
    pool = tagged([text for text, _, _ in documents], [each for _, each, _ in documents])
    selectable = np.array([each for _, _, each in documents], bool)
    selection = select(pool, reference, confidence=threshold, most=most, selectable=selectable)
    able = [
        row
        for row, (text, confidence, may) in enumerate(documents)
        if text and may and confidence >= threshold
    ]
    assert selection.confident == len(able)
    assert set(selection.indices.tolist()) <= set(able)
    assert selection.indices.tolist() == sorted(set(selection.indices.tolist()))
    floor = min(most, len(able) if reference is None else math.ceil(FLOOR * len(able)))
    assert floor <= len(selection.indices) <= min(most, len(able))
    assert selection.bound <= min(most, len(able))
    if selection.deviation <= 1:
        assert len(selection.indices) <= max(selection.bound, floor)
    else:
        assert len(selection.indices) == floor
    if reference and len(selection.indices):
        assert selection.proportions.classes == reference.proportions.classes
        assert selection.deviation == pytest.approx(
            deviation(pool, selection.indices.tolist(), reference)
        )
    else:
        assert selection.deviation == 0
    again = select(pool, reference, confidence=threshold, most=most, selectable=selectable)
    assert again.indices.tolist() == selection.indices.tolist()
    assert (again.bound, again.deviation) == (selection.bound, selection.deviation)


# Without proportions


def test_without_proportions_the_most_confident_are_selected_ties_to_the_earliest() -> None:
    pool = tagged([".A"] * 8, [0.9, 0.95, 0.9, 0.1, 1.0, 0.9, 0.95, 0.9])
    for most, expected in [
        (1, [4]),
        (2, [1, 4]),
        (3, [1, 4, 6]),
        (4, [0, 1, 4, 6]),
        (5, [0, 1, 2, 4, 6]),
        (7, [0, 1, 2, 4, 5, 6, 7]),
        (99, [0, 1, 2, 4, 5, 6, 7]),
    ]:
        selection = select(pool, None, confidence=0.5, most=most)
        assert selection.indices.tolist() == expected
        assert selection.bound == len(expected)
        assert selection.proportions is None
        assert selection.deviation == 0
        assert selection.confident == 7


def test_exactly_the_threshold_is_confident_enough() -> None:
    pool = tagged([".A", ".A", ".A"], [0.85, 0.85 - 1e-12, math.nan])
    for reference in (pool.reference("A"), None):
        assert select(pool, reference, confidence=0.85).indices.tolist() == [0]


def test_documents_without_tokens_are_never_selected() -> None:
    pool = tagged(["", "..", "", ".A", ""], np.ones(5))
    for reference in (pool.reference("A"), None):
        selection = select(pool, reference)
        assert selection.indices.tolist() == [1, 3]
        assert selection.confident == 2


# Particular cases


def test_among_documents_alike_the_most_confident_are_selected() -> None:
    """Half of each kind may come, and which ones is for confidence to say."""
    rng = np.random.default_rng(3)
    confidence = rng.permutation(np.linspace(0.5, 1, 400))
    pool = tagged(["...A", "....."] * 200, confidence)
    reference = tagged(["...A", "....."] * 5000, np.ones(10_000)).reference("A")
    selection = select(pool, reference, most=200)
    assert len(selection.indices) == selection.bound == 200
    for kind in (0, 1):
        chosen = selection.indices[selection.indices % 2 == kind]
        all_of_it = np.sort(confidence[kind::2])[::-1]
        assert np.sort(confidence[chosen])[::-1].tolist() == all_of_it[: len(chosen)].tolist()
    # No other split of the 200 that is within tolerance is more confident.
    best = 0.0
    firsts, seconds = (np.sort(confidence[kind::2])[::-1] for kind in (0, 1))
    for number in range(201):
        rows = [*range(0, 2 * number, 2), *range(1, 2 * (200 - number), 2)]
        if deviation(pool, rows, reference) <= 1:
            best = max(best, firsts[:number].sum() + seconds[: 200 - number].sum())
    assert confidence[selection.indices].sum() == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("number", [100, 4000])
@pytest.mark.parametrize("confidence", [(0.9, 0.9), (0.9, 1.0)], ids=["all alike", "two values"])
def test_ties_do_not_matter(number: int, confidence: tuple[float, float]) -> None:
    rng = np.random.default_rng(4)
    documents = drawn(rng, 300, 0.06)
    reference = tagged(documents, np.ones(300)).reference("AB")
    pool = tagged(drawn(rng, number, 0.1), rng.choice(confidence, number))
    most = number * 2 // 5
    selection = select(pool, reference, most=most)
    assert most - 1 <= len(selection.indices) <= selection.bound <= most
    assert selection.deviation <= 1 + CLOSE
    again = select(pool, reference, most=most)
    assert again.indices.tolist() == selection.indices.tolist()


def test_a_class_that_the_pool_lacks() -> None:
    """Its entities are missed, so that nothing is within tolerance, and that is reported."""
    reference = tagged(["..A....B"] * 500, np.ones(500)).reference("AB")
    for classes in ("AB", "A"):  # not selection, or not known to the tagger
        pool = tagged(["..A....."] * 200, np.full(200, 0.9), classes)
        selection = select(pool, reference)
        assert len(selection.indices) == 20
        assert selection.bound < 20
        assert selection.proportions.as_dict()["B per token"] == 0
        missing = 0.125 / reference.tolerance(20)[1]
        assert missing > 1
        assert selection.deviation == pytest.approx(missing)


def test_a_class_that_the_reference_lacks_does_not_count() -> None:
    reference = tagged(["..A.....", "........"] * 100, np.ones(200)).reference("A")
    pool = tagged(["..A..B..", "....Bb..", "BBBBBBBB", "...A...."] * 50, np.full(200, 0.9))
    selection = select(pool, reference)
    assert len(selection.indices) == 200  # half of them have none of the class that counts
    assert selection.deviation == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("rate", "empty", "expected"),
    [(0.0, 1.0, [0, 1]), (0.0, 0.0, None), (0.2, 0.0, [2, 3])],
    ids=["no entities", "impossible", "entities everywhere"],
)
def test_numbers_of_which_nothing_is_tolerated(rate, empty, expected) -> None:
    reference = configured_reference({"A": rate}, {"A": 1.0}, empty, 5.0)
    pool = tagged([".....", "...", "..A..", "....A"], [0.6, 0.9, 0.7, 0.8])
    selection = select(pool, reference)
    if expected is None:
        assert len(selection.indices) == 1
        assert selection.bound == 0
        assert selection.deviation == math.inf
    else:
        assert selection.indices.tolist() == expected
        assert selection.bound == 2
        assert selection.deviation <= 1


# Many documents


@pytest.mark.parametrize("kind", ["no empty ones", "hardly any entities", "one class only"])
def test_many_documents_of_which_nothing_is_within_tolerance(kind: str) -> None:
    """At the floor, nothing nearer is selection by exchanging a document for another."""
    rng = np.random.default_rng(6)
    documents = drawn(rng, 2000, {"A": 0.01, "B": 0.012}, tokens=40)
    reference = tagged(documents, np.ones(2000)).reference("AB")
    drawn_pool = drawn(rng, 20_000, {"A": 0.02, "B": 0.02}, tokens=40)
    keep = {
        "no empty ones": lambda text: "A" in text or "B" in text,
        "hardly any entities": lambda text: set(text) == {"."},
        "one class only": lambda text: "B" not in text,
    }[kind]
    texts = [text for text in drawn_pool if keep(text)]
    if kind == "hardly any entities":
        texts += ["...A....B.....Aa...." * 2] * 10
    pool = tagged(texts, rng.random(len(texts)))
    selection = select(pool, reference)
    floor = math.ceil(FLOOR * len(texts))
    assert len(selection.indices) == floor
    assert selection.bound < floor
    content = content_of(pool.batch, pool.tagging.tags, pool.tagging.labels, "AB")
    chosen = set(selection.indices.tolist())
    for _ in range(300):
        out = int(rng.choice(selection.indices))
        into = int(rng.integers(len(texts)))
        if into not in chosen:
            rows = np.array(sorted(chosen - {out} | {into}))
            other = reference.deviations(proportions_of(content.take(rows), "AB"), floor).max()
            assert other >= selection.deviation * 0.985


@pytest.mark.parametrize(
    ("density", "entity"),
    [
        ({"A": 0.003, "B": 0.004}, 3),
        ({"A": 0.05, "B": 0.06}, 3),
        ({"A": 0.03, "B": 0.002}, 3),
        ({"A": 0.012, "B": 0.012}, 2),
    ],
    ids=["few entities", "many entities", "too many of one", "too short"],
)
def test_a_biased_pool_is_balanced(density: dict[str, float], entity: int) -> None:
    rng = np.random.default_rng(11)
    documents = drawn(rng, 1500, {"A": 0.01, "B": 0.012}, tokens=40)
    reference = tagged(documents, np.ones(1500)).reference("AB")
    pool = tagged(drawn(rng, 20_000, density, tokens=40, entity=entity), rng.beta(8, 1, 20_000))
    everything = np.flatnonzero(pool.tagging.confidence >= 0.85)
    content = content_of(pool.batch, pool.tagging.tags, pool.tagging.labels, "AB")
    bias = proportions_of(content.take(everything), "AB")
    assert reference.deviations(bias, len(everything)).max() > 1.5
    for most in (500, 5000):
        selection = select(pool, reference, confidence=0.85, most=most)
        size = len(selection.indices)
        assert selection.confident == len(everything)
        assert size >= math.ceil(FLOOR * len(everything)) or size == most
        assert selection.deviation <= 1 + CLOSE
        assert deviation(pool, selection.indices.tolist(), reference) <= 1 + CLOSE
        assert 0.99 * selection.bound - 1 <= size <= selection.bound <= most
        assert (pool.tagging.confidence[selection.indices] >= 0.85).all()
        if most == 500:  # there is a choice: it is of the more confident
            chosen = pool.tagging.confidence[selection.indices].mean()
            assert chosen > pool.tagging.confidence[everything].mean()


@pytest.mark.parametrize("seed", range(6))
def test_more_documents_than_can_be_enumerated(seed: int) -> None:
    """Within tolerance and close to the bound, or else at the floor because of the bound."""
    rng = np.random.default_rng(seed)
    number = int(rng.choice([125, 300, 1000]))
    documents = drawn(rng, 400, 0.06, tokens=20)
    reference = tagged(documents, np.ones(400)).reference("AB")
    pool = tagged(
        drawn(rng, number, float(rng.choice([0.01, 0.03, 0.09, 0.2])), tokens=20),
        rng.random(number),
    )
    selection = select(pool, reference, confidence=0.2, most=int(rng.choice([50, 5000])))
    floor = math.ceil(FLOOR * selection.confident)
    assert selection.deviation == pytest.approx(
        deviation(pool, selection.indices.tolist(), reference)
    )
    if selection.deviation <= 1 + CLOSE:
        assert 0.95 * selection.bound - 2 <= len(selection.indices) <= selection.bound
    else:
        assert len(selection.indices) <= floor
        assert selection.bound < floor


def test_an_initial_model_may_select_only_documents_with_entities() -> None:
    texts = ["nada hoy", "el 2010", "2011 y 2012", "", "alta"]
    batch = make_batch([Document(str(i), text) for i, text in enumerate(texts)], labelled=False)
    tags = np.array([0, 0, 0, 1, 1, 0, 1, 0], np.int16)
    tagging = Tagging(tags, ("O", "B-A", "I-A"), np.array([1, 0.9, 0.4, 1, 1]))
    for documents, expected in (("all", [0, 1, 4]), ("with_entities", [1])):
        initial = InitialModelSelection(documents=documents)
        strategy = initial_strategy_for(initial, SelectOptions(proportions=False), None)
        selection = strategy.select(tagging, batch, np.random.default_rng(0))
        assert sorted(selection.indices.tolist()) == expected


def test_what_is_chosen_from_a_batch_shares_it_until_it_is_released() -> None:
    notes = tagged([".A", "A.", "..", "AB"], [0.1, 0.2, 0.3, 0.4])
    first, second = (
        Selection(np.array(indices)).chosen(notes.tagging, notes.batch)
        for indices in ([0, 1, 3], [1, 2])
    )
    assert first.tagged.starts is second.tagged.starts is notes.batch.starts
    part = first.take(np.array([1, 2]))
    for _ in range(2):
        assert part.batch.ids.to_pylist() == ["1", "3"]
        assert part.confidence.tolist() == [0.2, 0.4]
        assert len(part) == 2
        part.release()
    assert len(part.tagged) == 2
    assert len(first) == 3
