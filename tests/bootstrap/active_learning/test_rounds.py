"""Rounds: what is annotated, what that costs, and when they end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.active_learning import rounds as rounds_module
from bootstrap.active_learning.cost import estimate_cost
from bootstrap.active_learning.queries import ActiveOptions
from bootstrap.active_learning.rounds import STABLE_ROUNDS, GoldOracle, Rounds
from bootstrap.selection.proportional import ChosenDocuments
from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document, Span
from corpus.tags import UNKNOWN
from taggers import Tagging

LABELS = ("O", "B-PERSON", "I-PERSON")
SEED = make_batch([Document("s", "Ve Anna", (Span(3, 7, "PERSON"),))], labelled=True)


def options(**others: object) -> ActiveOptions:
    return ActiveOptions(**{"gold": "", "budget": 1000, "near_duplicate": 2.0, **others})  # type: ignore[arg-type]


def gold_of(lengths: Sequence[int]) -> Batch:
    documents = [
        Document(f"g{i}", " ".join(["Anna", *"x" * (n - 1)]), (Span(0, 4, "PERSON"),))
        if n
        else Document(f"g{i}", "")
        for i, n in enumerate(lengths)
    ]
    return make_batch(documents, labelled=True)


def unlabelled(batch: Batch) -> Batch:
    return batch.with_tags(np.full(batch.n_tokens, UNKNOWN, np.int16), ())


def rounds_of(
    gold: Batch, settings: ActiveOptions, queried: Sequence[ChosenDocuments] = ()
) -> Rounds:
    return Rounds(SEED, unlabelled(gold), GoldOracle(gold), settings, queried=queried)


def tag(batch: Batch) -> Tagging:
    """Tag documents with a confidence that depends on their id alone."""
    sure = [int(name[1:]) * 37 % 101 / 101 for name in batch.ids.to_pylist()]
    return Tagging(np.zeros(batch.n_tokens, np.int16), LABELS, np.array(sure))


def ids(batch: Batch) -> list[str]:
    return batch.ids.to_pylist()


@given(
    st.lists(st.integers(0, 6), max_size=25),
    st.integers(1, 7),
    st.integers(2, 30),
    st.integers(0, 40),
    st.integers(1, 30),
)
def test_rounds_end_when_nothing_more_can_be_annotated(lengths, size, budget, tokens, most) -> None:
    gold = gold_of(lengths)
    settings = options(round=size, budget=budget, budget_tokens=tokens, candidates=max(most, size))
    rounds = rounds_of(gold, settings)
    asked: list[str] = []
    while not rounds.ended():
        queried = rounds.ask(tag)
        assert 0 < len(queried.batch) <= size
        asked += ids(queried.batch)
        np.testing.assert_array_equal(queried.confidence, tag(queried.batch).confidence)
    annotated = rounds.gold(rounds.number)
    assert len(set(asked)) == len(asked)
    assert ids(annotated) == ["s", *asked]
    assert len(annotated) <= budget or not asked
    assert not tokens or annotated.n_tokens <= tokens or not asked
    left = [n for i, n in enumerate(lengths) if n and f"g{i}" not in asked]
    if not left:
        assert rounds.ended() == "candidates"
    else:
        assert rounds.ended() == "budget"
        room = tokens - annotated.n_tokens if tokens else 99
        assert len(annotated) >= budget or min(left) > room


def test_the_least_confident_are_first_and_have_their_gold_tags() -> None:
    rounds = rounds_of(gold_of([2] * 20), options(round=3))
    found = rounds.ask(tag)
    expected = sorted(range(20), key=lambda i: i * 37 % 101)[:3]
    assert ids(found.batch) == [f"g{i}" for i in expected]
    assert found.batch.labels == LABELS
    assert found.batch.tags.tolist() == [1, 0] * 3


def test_candidates_that_are_annotated_are_not_asked_again() -> None:
    gold = gold_of([2] * 6)
    first = rounds_of(gold, options(round=2))
    queried = [first.ask(tag)]
    again = rounds_of(gold, options(round=2), queried)
    assert again.number == 1
    assert ids(again.gold(1)) == ids(first.gold(1))
    assert ids(again.ask(tag).batch) == ids(first.ask(tag).batch)
    assert again.annotated(gold).sum() == 4
    assert ids(again.gold(0)) == ["s"]


def test_a_document_of_the_seed_is_no_candidate_but_its_id_alone_is() -> None:
    gold = make_batch(
        [Document("s", "Ve Anna", (Span(3, 7, "PERSON"),)), Document("s", "otra nota")],
        labelled=True,
    )
    rounds = Rounds(SEED, unlabelled(gold), GoldOracle(gold), options())
    sure = Tagging(np.zeros(2, np.int16), LABELS, np.ones(1))
    assert rounds.ask(lambda batch: sure).batch.texts.to_pylist() == ["otra nota"]
    assert rounds.ended() == "candidates"


@pytest.mark.parametrize(
    ("f1", "kappas", "reason"),
    [
        (0.9, [], "target"),
        (0.89, [], None),
        (0.5, [0.9, 0.99, 0.995, 0.99], "stable"),
        (0.5, [0.5, 0.99, 0.99, 0.98], None),
        (0.5, [1.0] * (STABLE_ROUNDS - 1), None),
        (0.5, [1.0, 1.0, None, 1.0, 1.0], None),
        (0.5, [None, 1.0, 1.0, 1.0], "stable"),
    ],
)
def test_goals(f1: float, kappas: list[float | None], reason: str | None) -> None:
    rounds = rounds_of(gold_of([1]), options(target_f1=0.9, stable_kappa=0.99))
    assert rounds.goal(f1, kappas) == reason
    assert rounds_of(gold_of([1]), options()).goal(1.0, [1.0] * 9) is None


def test_a_document_that_is_twice_in_gold_is_annotated_once() -> None:
    gold = concatenate([gold_of([2, 3, 2]), gold_of([2, 3, 2])])
    rounds = rounds_of(gold, options(round=2))
    first, second = rounds.ask(tag), rounds.ask(tag)
    assert sorted([*ids(first.batch), *ids(second.batch)]) == ["g0", "g1", "g2"]
    assert rounds.ended() == "candidates"


def test_candidates_are_tagged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = gold_of([3] * 20)
    whole = rounds_of(gold, options(round=7)).ask(tag)
    sizes: list[int] = []

    def tag_part(batch: Batch) -> Tagging:
        sizes.append(len(batch))
        return tag(batch)

    monkeypatch.setattr(rounds_module, "_TOKENS", 12)
    assert ids(rounds_of(gold, options(round=7)).ask(tag_part).batch) == ids(whole.batch)
    assert sizes == [4] * 5


def test_the_cost_of_a_round() -> None:
    """Long documents are the least confident ones."""
    rng = np.random.default_rng(0)
    words = ["ve", "Anna", "Pere", "en", "Vic", "tos"]
    documents = []
    for i in range(300):
        drawn = rng.choice(words, rng.integers(2, 30)).tolist()
        starts = np.cumsum([0, *(len(word) + 1 for word in drawn)])
        spans = tuple(
            Span(int(start), int(start) + 4, "PERSON")
            for word, start in zip(drawn, starts, strict=False)
            if word in ("Anna", "Pere")
        )
        documents.append(Document(f"g{i}", " ".join(drawn), spans))
    batch = make_batch(documents, labelled=True)
    seed, gold = batch.slice(0, 30), batch
    cost = estimate_cost(seed, gold, options(round=20, budget=95))
    assert (cost.rounds, cost.documents) == (4, 20)
    assert cost.at_random == pytest.approx(20 * batch.slice(30, 300).lengths.mean())
    assert cost.chosen is not None
    assert cost.chosen > 1.2 * cost.at_random
    (line,) = cost.lines()
    assert f"about {cost.chosen:,} in documents chosen by least_confident" in line
    assert line.endswith("the budget is enough for 4 rounds")
    at_random = estimate_cost(seed, gold, options(round=20, budget=95, query="random"))
    assert "chosen" not in at_random.lines()[0]
    tokens = seed.n_tokens + int(2.5 * cost.chosen)
    limited = estimate_cost(seed, gold, options(round=20, budget=95, budget_tokens=tokens))
    assert limited.rounds == 3
    committee = estimate_cost(seed, gold, options(round=20, budget=95, query="committee"))
    assert "chosen by entropy" in committee.lines()[0]
    without = estimate_cost(seed.with_tags(np.zeros_like(seed.tags), seed.labels), gold, options())
    assert without.chosen is None
