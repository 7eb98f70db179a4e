"""The loop with taggers that follow a script: what is trained on, when it stops, what is said."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.config.options import InitialModelSelection, LoopOptions
from bootstrap.runs.metrics import EntityScores
from bootstrap.selection.proportional import Selection
from bootstrap.selection.proportions import Reference
from bootstrap.selection.strategies import (
    SelectOptions,
    Strategy,
    initial_strategy_for,
    strategy_for,
)
from bootstrap.self_training.candidates import AUGMENTED, SEED_ALONE, WITH_BLANKS, Candidates
from bootstrap.self_training.loop import self_train
from bootstrap.self_training.state import UNCHANGED, State
from bootstrap.self_training.stopping import STOPPED, Limits, stagnates
from bootstrap.self_training.training import Trainer
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.evaluation.scoring import GoldBatch
from taggers import Tagging, Training
from tests.bootstrap.self_training.looping import Iteration, loop_options, run_loop, select_options

LABELS = ("O", "B-PERSON", "I-PERSON")
VALIDATION = [Document(f"v{i}", "Ana ve", (Span(0, 3, "PERSON"),)) for i in range(10)]
SEED = [Document("s0", "Pac Joan Puig", (Span(4, 13, "PERSON"),)), Document("s1", "sin fiebre")]


@dataclass
class Script:
    """What the model of each iteration does: how many validation notes it gets right, how sure
    it is of each unlabeled note, and which of their tokens it takes for a name; None is none."""

    hits: Sequence[int]
    confidence: Any = 1.0
    name_at: Any = 0
    trained: list[Batch] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)
    started: list[int | None] = field(default_factory=list)
    asked: list[tuple[int, str, str, str]] = field(default_factory=list)


class Actor:
    """A tagger that follows a script; its number is its iteration."""

    kind = "actor"
    training: Training | None = None

    def __init__(self, script: Script, number: int) -> None:
        self.labels: tuple[str, ...] = LABELS
        self.script = script
        self.number = number

    def fit(
        self, train: Batch, validation: Any = None, *, warm_start: Any = None, rng: Any
    ) -> Self:
        self.script.started.append(None if warm_start is None else warm_start.number)
        self.script.trained.append(train)
        self.script.states.append(rng.bit_generator.state)
        return self

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: str = "document"
    ) -> Tagging:
        tags, confidence = np.zeros(batch.n_tokens, np.int16), np.ones(len(batch))
        names = batch.ids.to_pylist()
        self.script.asked.append((self.number, names[0], measure, detail))
        for row, name in enumerate(names):
            first, last = batch.document_offsets[row : row + 2]
            if name.startswith("v"):
                right = (
                    int(name[1:]) < self.script.hits[min(self.number, len(self.script.hits) - 1)]
                )
                tags[first] = 1 if right else 0
            elif first < last:
                if (place := self._of(self.script.name_at, name)) is not None:
                    tags[first + place % (last - first)] = 1
                confidence[row] = self._of(self.script.confidence, name)
        return Tagging(tags, self.labels, confidence)

    def _of(self, rule: Any, name: str) -> Any:
        return rule(self.number, name) if callable(rule) else rule


class Pool:
    """Unlabeled notes in batches, which remembers what was asked of it."""

    def __init__(self, *sizes: int, groups: Sequence[str | None] = ()) -> None:
        self.starts: list[int] = []
        number = iter(range(sum(sizes)))
        self._batches = [
            make_batch(
                [
                    Document(f"u{i}", f"nota {i} hoy", (), groups[i] if groups else None)
                    for _, i in zip(range(size), number, strict=False)
                ],
                labelled=False,
            )
            for size in sizes
        ]

    def batches(self, start: int = 0) -> Iterator[Batch]:
        self.starts.append(start)
        return iter(self._batches[start:])


def train(
    script: Script,
    pool: Pool,
    *,
    loop: LoopOptions | None = None,
    select: SelectOptions | None = None,
    seed: Sequence[Document] = SEED,
    start: InitialModelSelection | None = None,
    reference: Reference | None = None,
    not_before: int = 0,
    **others: Any,
) -> list[Iteration]:
    """Run the loop with the strategies that options choose, or those given."""
    select = select or select_options(proportions=False)
    loop = loop or loop_options()
    others.setdefault("strategy", strategy_for(select, reference))
    if start:
        others["initial"] = initial_strategy_for(start, select, reference)
    if not_before:
        others["limits"] = Limits(loop, not_before)
    return list(
        run_loop(
            others.pop("gold", make_batch(seed, labelled=True, classes=["PERSON"])),
            pool,
            make_batch(VALIDATION, labelled=True),
            others.pop("tagger_for", lambda iteration: Actor(script, iteration)),
            loop=loop,
            **others,
        )
    )


def nothing(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
    """Select no document."""
    return Selection(np.zeros(0, np.int64))


def ids(batch: Batch) -> list[str]:
    return batch.ids.to_pylist()


def pseudo(script: Script) -> list[list[str]]:
    """Return the ids of the documents that each model was trained on beside the seed."""
    for batch in script.trained:
        assert batch.slice(0, len(SEED)).to_documents() == SEED
    return [ids(batch)[len(SEED) :] for batch in script.trained]


def test_zero_iterations_are_a_supervised_fit() -> None:
    script, pool = Script(hits=[4]), Pool(3, 3)
    (only,) = train(script, pool, loop=loop_options(iterations=0))
    assert (only.iteration, only.stopped, only.chosen, only.tagged) == (0, "maximum", None, 0)
    assert only.confidence == {} and only.agreement is None
    assert pseudo(script) == [[]]
    assert only.counts == (4, 0, 6)


def test_a_document_of_the_pool_that_is_in_the_seed_does_not_change_it() -> None:
    """The pool holds a seed note; the model tags it in another way."""
    script = Script(hits=[1, 2], name_at=1)
    twin = make_batch([Document("s0", SEED[0].text)], labelled=False)
    pool = Pool(1)
    pool._batches = [twin]
    train(script, pool)
    seed, selected = script.trained[1].slice(0, 2), script.trained[1].slice(2, 3)
    assert seed.to_documents() == SEED
    assert selected.to_documents() == [Document("s0", SEED[0].text, (Span(4, 8, "PERSON"),))]


def test_accumulate_keeps_what_was_selected() -> None:
    script = Script(hits=[1, 2, 3, 4], name_at=lambda number, name: number)
    steps = train(script, Pool(2, 2, 2), loop=loop_options(iterations=3))
    assert pseudo(script) == [
        [],
        ["u0", "u1"],
        ["u0", "u1", "u2", "u3"],
        [f"u{i}" for i in range(6)],
    ]
    # The tags of the first model stay with what it tagged.
    last = script.trained[3].to_documents()
    assert last[2].spans == (Span(0, 4, "PERSON"),)
    assert last[4].spans == (Span(5, 6, "PERSON"),)
    assert [step.training_documents for step in steps] == [2, 4, 6, 8]


@pytest.mark.parametrize(("warm", "started"), [(True, [None, 0, 1, 2]), (False, [None] * 4)])
def test_a_warm_start_begins_with_the_model_of_before(warm, started) -> None:
    script = Script([1, 2, 3, 4])
    train(script, Pool(1, 1, 1), loop=loop_options(iterations=3, warm_start=warm))
    assert script.started == started


def test_relabelling_selects_everything_so_far_again() -> None:
    """Model 0 trusts all notes, model 1 the even ones and model 2 the odd ones."""

    def confidence(number: int, name: str) -> float:
        even = int(name[1:]) % 2 == 0
        return 0.9 if number == 0 or even == (number == 1) else 0.1

    script = Script([1, 2, 3, 4], confidence, name_at=lambda number, name: number)
    pool = Pool(2, 2, 2)
    steps = train(script, pool, loop=loop_options(iterations=3, keep="relabel"))
    assert pseudo(script) == [[], ["u0", "u1"], ["u0", "u2"], ["u1", "u3", "u5"]]
    assert [step.tagged for step in steps] == [0, 2, 4, 6]
    assert [len(step.step.labelling.selections) for step in steps[1:]] == [1, 2, 3]
    assert [step.training_documents for step in steps] == [2, 4, 4, 5]
    # All tags are those of the model that selected last.
    assert all(d.spans == (Span(7, 10, "PERSON"),) for d in script.trained[3].to_documents()[2:])
    # Every batch in its turn is from the beginning of the notes.
    assert set(pool.starts) == {0}


def test_what_was_not_selected_takes_no_memory_in_the_next_iteration() -> None:
    columns: list[weakref.ref[Any]] = []
    in_memory: list[list[bool]] = []

    class FreshPool(Pool):
        def batches(self, start: int = 0) -> Iterator[Batch]:
            for batch in super().batches(start):
                starts = batch.starts.copy()
                columns.append(weakref.ref(starts))
                yield replace(batch, starts=starts)
                del starts, batch

    class Witness(Actor):
        def fit(self, *arguments: Any, **others: Any) -> Self:
            in_memory.append([column() is not None for column in columns])
            return super().fit(*arguments, **others)

    def first(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        return Selection(np.zeros(1, np.int64))

    script, loop = Script([1, 2, 3]), loop_options(iterations=2)
    validation = GoldBatch.from_tags(make_batch(VALIDATION, labelled=True))
    seed = make_batch(SEED, labelled=True, classes=["PERSON"])
    steps = self_train(
        lambda _: seed,
        FreshPool(3, 3),
        Candidates([Strategy(first, name="one"), Strategy(first, name="two")], loop),
        Trainer(lambda number: Witness(script, number), validation, loop),
        stop=Limits(loop),
    )
    for step in steps:
        del step
    # Two models are compared in iteration 1, which shares its batch; the next batch is read ahead.
    assert in_memory == [[True], [True, True], [True, True], [False, True]]


def test_relabelling_trains_again_even_where_nothing_is_left() -> None:
    script = Script([3, 4, 5], confidence=lambda number, name: 0.9 if number == 0 else 0.0)
    steps = train(script, Pool(2, 2), loop=loop_options(keep="relabel"))
    assert pseudo(script) == [[], ["u0", "u1"], []]
    assert [step.chosen is None for step in steps] == [True, False, True]


def test_where_nothing_is_selected_the_model_is_that_of_before() -> None:
    script = Script([5, 6, 7], confidence=lambda number, name: 0.0 if name in ("u0", "u1") else 1.0)
    steps = train(script, Pool(2, 2))
    assert [step.tagger.number for step in steps] == [0, 0, 2]
    assert steps[1].chosen is None and steps[1].training_documents == len(SEED)
    assert (steps[1].f1, steps[1].agreement) == (steps[0].f1, 1.0)
    assert pseudo(script) == [[], ["u2", "u3"]]


# Starting from a model that needs no seed


def pool_asked(script: Script) -> list[tuple[int, str, str, str]]:
    """Return how models were asked to tag the pool: their number, the first note, the measure."""
    return [asked for asked in script.asked if asked[1].startswith("u")]


def test_the_model_that_is_started_from_is_trusted_in_its_own_way() -> None:
    """The learned ones are trusted as selection says; validation is measured like that, too."""
    sure = {"u0": 0.3, "u1": 0.29, "u2": 0.3, "u3": 0.9, "u4": 0.89, "u5": 0.3}
    script = Script([1, 2, 3, 4], confidence=lambda number, name: sure[name])
    steps = train(
        script,
        Pool(2, 2, 2),
        loop=loop_options(iterations=3),
        select=select_options(confidence=0.9, measure="normalised", proportions=False),
        start=InitialModelSelection(confidence=0.3, measure="min_marginal"),
        seed=(),
    )
    assert pool_asked(script) == [
        (0, "u0", "min_marginal", "document"),
        (1, "u2", "normalised", "document"),
        (2, "u4", "normalised", "document"),
    ]
    # Validation is scored as selection says, and labelled as the pool to score what is selected.
    asked = [asked[2] for asked in script.asked if asked[1] == "v0"]
    assert asked.count("min_marginal") == 1 and {*asked} == {"min_marginal", "normalised"}
    assert [ids(batch) for batch in script.trained] == [[], ["u0"], ["u0", "u3"]]
    assert [step.training_documents for step in steps] == [0, 1, 2, 2]
    assert [step.human_tokens for step in steps] == [0, 0, 0, 0]
    # There is no weight to begin with in the first model.
    assert script.started == [None, None, 1]


def test_while_nothing_is_selected_the_model_that_is_started_from_stays() -> None:
    sure = {"u0": 0.4, "u1": 0.1, "u2": 0.5, "u3": 0.6, "u4": 0.6, "u5": 0.95}
    script = Script([1, 2, 3, 4, 5], confidence=lambda number, name: sure[name])
    steps = train(
        script,
        Pool(1, 1, 2, 1, 1),
        select=select_options(proportions=False, measure="normalised"),
        start=InitialModelSelection(confidence=0.5),
        loop=loop_options(patience=9),
        seed=(),
    )
    assert [step.tagger.number for step in steps] == [0, 0, 0, 3, 3, 5]
    assert [asked[0::2] for asked in pool_asked(script)] == [
        *(
            (0, "min_marginal"),
            (0, "min_marginal"),
            (0, "min_marginal"),
            (3, "normalised"),
            (3, "normalised"),
        )
    ]
    assert [ids(batch) for batch in script.trained] == [[], ["u2", "u3"], ["u2", "u3", "u5"]]
    assert script.started == [None, None, 3]


def test_whole_documents_of_the_model_that_is_started_from_are_selected() -> None:
    script = Script([1, 2])
    (_, step) = train(
        script,
        Pool(2),
        loop=loop_options(iterations=1),
        select=select_options(strategy="confident_spans", proportions=False),
        start=InitialModelSelection(),
        seed=(),
    )
    assert pool_asked(script) == [(0, "u0", "min_marginal", "document")]
    assert step.chosen is not None and (step.chosen.batch.tags >= 0).all()


def test_relabelling_without_a_seed_keeps_its_model_where_nothing_is_left() -> None:
    """There is nothing to train on then."""
    script = Script([1, 2, 3], confidence=lambda number, name: 0.9 if number == 0 else 0.0)
    steps = train(
        script,
        Pool(2, 2),
        loop=loop_options(keep="relabel"),
        start=InitialModelSelection(),
        seed=(),
    )
    assert [step.tagger.number for step in steps] == [0, 1, 1]
    assert [step.training_documents for step in steps] == [0, 2, 0]


@pytest.mark.parametrize("keep", ["accumulate", "relabel"])
@pytest.mark.parametrize("sure", [0.9, 0.1])
def test_a_start_that_finds_no_entity_in_the_first_batch_ends_the_run(keep, sure) -> None:
    """Whether documents without entities were selected or not, there is nothing to learn."""
    script = Script([5, 6], confidence=sure, name_at=None)
    pool = Pool(2, 2)
    steps = train(
        script,
        pool,
        loop=loop_options(keep=keep),
        start=InitialModelSelection(confidence=0.5),
        seed=(),
    )
    assert [step.stopped for step in steps] == [None, "no_entities"]
    assert [step.tagger.number for step in steps] == [0, 0]
    assert len(script.trained) == 1
    assert {asked[1] for asked in pool_asked(script)} == {"u0"}


def test_a_start_without_names_goes_on_from_a_seed_with_names() -> None:
    script = Script([5, 6, 7], name_at=None)
    steps = train(script, Pool(1, 1), start=InitialModelSelection(confidence=0.5))
    assert [step.stopped for step in steps] == [None, None, "exhausted"]
    assert pseudo(script) == [[], ["u0"], ["u0", "u1"]]


def test_stops_at_the_maximum_and_reads_no_further() -> None:
    pool = Pool(1, 1, 1, 1)
    steps = train(Script([1, 2, 3]), pool, loop=loop_options(iterations=2))
    assert [step.stopped for step in steps] == [None, None, "maximum"]


def test_stops_after_as_many_iterations_without_gain_as_patience_says() -> None:
    steps = train(Script([5, 6, 6, 4, 6, 9]), Pool(*[1] * 9), loop=loop_options(patience=3))
    assert [step.iteration for step in steps] == [0, 1, 2, 3, 4]
    assert [step.stopped for step in steps][-2:] == [None, "stagnation"]


def test_a_gain_must_exceed_min_delta() -> None:
    """F1 rises from 0.8235 to 0.8889 and 0.9474: by 0.0654, 0.0585, and together by 0.1239."""
    hits, pool = [7, 8, 9, 9, 9], [1] * 6
    stopped = {}
    for delta in (0.05, 0.06, 0.12, 0.13):
        options = loop_options(patience=2, min_delta=delta)
        stopped[delta] = train(Script(hits), Pool(*pool), loop=options)[-1].iteration
    assert stopped == {0.05: 4, 0.06: 3, 0.12: 4, 0.13: 2}


def of_kind(script: Script, kind: str, number: int) -> Actor:
    actor = Actor(script, number)
    actor.kind = kind
    return actor


def test_another_kind_of_tagger_starts_cold_and_warms_up_again() -> None:
    script = Script([1, 2, 3, 4, 5])
    kinds = ("actor", "actor", "other", "other", "other")
    train(
        script, Pool(1, 1, 1, 1), tagger_for=lambda number: of_kind(script, kinds[number], number)
    )
    assert script.started == [None, 0, None, 2, 3]


def test_another_kind_of_tagger_is_trained_where_nothing_is_selected() -> None:
    script = Script([1, 2, 3, 4])
    kinds = ("actor", "actor", "other", "other")
    steps = train(
        script,
        Pool(1, 1, 1),
        strategy=nothing,
        tagger_for=lambda number: of_kind(script, kinds[number], number),
    )
    assert [step.tagger.number for step in steps] == [0, 0, 2, 2]


def test_stagnation_is_counted_from_the_first_iteration_of_another_kind() -> None:
    hits = [5, 4, 4, 4, 4, 3, 3, 3]
    options = loop_options(patience=2)
    for not_before, last in ((0, 2), (1, 3), (4, 6), (5, 7)):
        steps = train(Script(hits), Pool(*[1] * 9), loop=options, not_before=not_before)
        assert (steps[-1].iteration, steps[-1].stopped) == (last, "stagnation")


def test_stops_when_the_notes_are_used_up() -> None:
    steps = train(Script([1, 2, 3, 4, 5]), Pool(4, 4, 1))
    assert [step.tagged for step in steps] == [0, 4, 4, 1]
    assert [step.stopped for step in steps] == [None, None, None, "exhausted"]


def test_without_notes_there_is_the_model_of_the_seed() -> None:
    (only,) = train(Script([1]), Pool())
    assert (only.iteration, only.stopped) == (0, "exhausted")


def test_every_reason_is_explained() -> None:
    reasons = {
        train(Script([1, 1, 1]), Pool(*sizes), loop=loop_options(iterations=n, patience=2))[
            -1
        ].stopped
        for sizes, n in [((1, 1, 1), 1), ((1, 1, 1), 9), ((1,), 9)]
    }
    (*_, untaught) = train(
        Script([1], name_at=None), Pool(1), start=InitialModelSelection(), seed=()
    )
    of_rounds = {"budget", "candidates", "target", "stable"}  # see tests/bootstrap/active_learning
    assert {*reasons, untaught.stopped} == set(STOPPED) - of_rounds


def test_takes_no_document_below_the_threshold_and_not_more_than_most() -> None:
    sure = {f"u{i}": value for i, value in enumerate([0.5, 0.84999, 0.85, 0.9, 0.95, 1.0, 0.2])}
    script = Script([1, 2], confidence=lambda number, name: sure[name])
    first = train(script, Pool(7))[1]
    assert ids(first.chosen.batch) == ["u2", "u3", "u4", "u5"]
    assert first.chosen.confidence.tolist() == [0.85, 0.9, 0.95, 1.0]
    assert first.confident == 4

    script = Script([1, 2], confidence=lambda number, name: sure[name])
    few = train(script, Pool(7), select=select_options(max_selected=2, proportions=False))[1]
    assert ids(few.chosen.batch) == ["u4", "u5"]


@pytest.mark.parametrize("keep", ["accumulate", "relabel"])
def test_patients_of_the_validation_notes_are_never_selected(keep: Any) -> None:
    groups = ["p1", "p2", None, "p1", "p3", None]
    script = Script([1, 2, 3])
    steps = train(
        script,
        Pool(3, 3, groups=groups),
        loop=loop_options(keep=keep),
        held_out=frozenset({"p1", "p3", "p9"}),
    )
    assert pseudo(script)[-1] == ["u1", "u2", "u5"]
    assert steps[-1].tagged == (1 if keep == "accumulate" else 3)


def test_an_iteration_says_what_it_did() -> None:
    sure = [0.1, 0.2, 0.3, 0.9, 1.0]
    script = Script([5, 10], confidence=lambda number, name: sure[int(name[1:])])
    first, second = train(script, Pool(5))
    assert second.tagged == 5
    assert second.confidence == pytest.approx(
        {f"q{q:02}": float(np.quantile(sure, q / 100)) for q in (5, 25, 50, 75, 95)}
    )
    # Model 0 misses 5 of 10 names: of 20 tokens, model 1 tags 15 as model 0 did.
    assert (first.agreement, second.agreement) == (None, 0.75)
    assert first.counts == (5, 0, 5) and first.f1 == pytest.approx(2 / 3)
    assert first.human_tokens == second.human_tokens == 5
    assert (first.training_documents, second.training_documents) == (2, 4)
    assert second.step.labelling.selections[0].indices.tolist() == [3, 4]


def test_each_iteration_draws_from_the_random_state_and_its_number() -> None:
    states = {}
    for state in (0, 1):
        script = Script([1, 2, 3])
        train(script, Pool(1, 1), loop=loop_options(random_state=state))
        states[state] = [generator["state"]["state"] for generator in script.states]
    again = Script([1, 2, 3])
    train(again, Pool(1, 1))
    assert [generator["state"]["state"] for generator in again.states] == states[0]
    assert len({*states[0], *states[1]}) == 6


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.25, 0.3]),
)
def test_stagnation_is_patience_iterations_without_a_new_best(f1, patience, delta) -> None:
    """A gain is counted from the value that was the last one to be a gain."""
    options = loop_options(patience=patience, min_delta=delta)
    gains = [0]
    for place, value in enumerate(f1):
        if value > f1[gains[-1]] + delta:
            gains.append(place)
    assert stagnates(f1, options) == (len(f1) - 1 - gains[-1] >= patience)


@st.composite
def scenarios(draw: st.DrawFn) -> tuple[list[int], dict[tuple[int, str], float], list[int]]:
    sizes = draw(st.lists(st.integers(1, 4), max_size=5))
    hits = draw(st.lists(st.integers(0, 10), min_size=len(sizes) + 1, max_size=len(sizes) + 1))
    levels = st.sampled_from([0.0, 0.5, 0.85, 0.9, 1.0])
    table = {
        (number, f"u{i}"): draw(levels) for number in range(len(hits)) for i in range(sum(sizes))
    }
    return hits, table, sizes


def record(step: Iteration) -> tuple[Any, ...]:
    """Return all that an iteration says, but for the seconds."""
    selected = step.chosen
    return (
        step.iteration,
        step.stopped,
        step.f1,
        step.agreement,
        step.tagged,
        step.training_documents,
        step.human_tokens,
        step.confidence,
        None if selected is None else (selected.batch.to_documents(), selected.confidence.tolist()),
    )


@given(
    scenarios(),
    st.sampled_from(["accumulate", "relabel"]),
    st.integers(1, 3),
    st.booleans(),
    st.data(),
)
def test_going_on_equals_not_having_stopped(scenario, keep, patience, seedless, data) -> None:
    """What a loop yields after k iterations follows from those iterations and the notes alone."""
    hits, table, sizes = scenario
    options = loop_options(keep=keep, patience=patience)

    def script() -> Script:
        return Script(hits, lambda number, name: table[number, name], lambda number, name: number)

    others: dict[str, Any] = {}
    if seedless:
        others = {"start": InitialModelSelection(confidence=0.5), "seed": ()}
    whole = script()
    steps = train(whole, Pool(*sizes), loop=options, **others)
    assert [step.iteration for step in steps] == list(range(len(steps)))
    assert [step.stopped is None for step in steps] == [True] * (len(steps) - 1) + [False]
    first = 0.5 if seedless else 0.85
    for before, step in itertools.pairwise(steps):
        if step.chosen is not None:
            least = 0.85 if before.tagger.number else first
            assert step.chosen.confidence.min() >= least
    if not seedless:
        pseudo(whole)
    if len(steps) == 1:
        return
    done = data.draw(st.integers(1, len(steps) - 1))
    closed = steps[:done]
    rest = script()
    tagger = Actor(rest, closed[-1].tagger.number)
    state = closed[-1].step.state
    again = train(rest, Pool(*sizes), loop=options, after=state, tagger=tagger, **others)
    assert list(map(record, again)) == list(map(record, steps[done:]))
    assert [batch.to_documents() for batch in rest.trained] == [
        batch.to_documents() for batch in whole.trained[len(whole.trained) - len(rest.trained) :]
    ]


# Strategies and gold documents of the caller


def test_any_function_is_a_strategy() -> None:
    """It selects documents and may change their tags."""

    def last_untagged(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        unknown = np.full(batch.n_tokens, -1, np.int16)
        kept = Tagging(unknown, tagging.labels, np.full(len(batch), 0.5))
        return Selection(np.array([len(batch) - 1]), tagging=kept)

    script = Script([1, 2, 3])
    steps = train(script, Pool(3, 2), strategy=last_untagged)
    assert pseudo(script) == [[], ["u2"], ["u2", "u4"]]
    assert (script.trained[2].slice(2, 4).tags == -1).all()
    assert steps[2].chosen is not None and steps[2].chosen.confidence.tolist() == [0.5]
    assert pool_asked(script) == [
        (0, "u0", "probability", "document"),
        (1, "u3", "probability", "document"),
    ]


def test_a_strategy_names_what_the_tagger_computes_for_it() -> None:
    script = Script([1, 2])
    train(script, Pool(2), strategy=Strategy(nothing, measure="lowest", detail="token"))
    assert pool_asked(script) == [(0, "u0", "lowest", "token")]


def test_a_strategy_sees_no_document_that_is_held_out() -> None:
    seen = []

    def first(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        if "v0" not in ids(batch):  # validation documents are selected from to score selection
            seen.append((ids(batch), tagging.confidence.tolist(), len(tagging.tags)))
        return Selection(np.arange(min(1, len(batch))))

    pool = Pool(3, 1, groups=["p1", None, "p2", "p1"])
    script = Script([1], confidence=lambda number, name: int(name[1:]) / 10)
    steps = train(script, pool, strategy=first, held_out=frozenset({"p1"}))
    assert seen == [(["u1", "u2"], [0.1, 0.2], 6)]
    assert pseudo(script) == [[], ["u1"]]
    assert [step.tagged for step in steps] == [0, 2, 0]


def test_a_strategy_draws_the_same_whenever_the_loop_continues() -> None:
    """Its generator follows from the random state and the iteration, and is not training's."""

    def drawn(random_state: int, after: State | None = None) -> list[float]:
        numbers = []

        def draw(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
            if "v0" not in ids(batch):
                numbers.append(rng.random())
            return Selection(np.arange(1))

        options = loop_options(random_state=random_state)
        steps = train(Script([1]), Pool(1, 1, 1), strategy=draw, loop=options, after=after)
        states.append(steps[0].step.state)
        return numbers

    states: list[State] = []
    numbers = drawn(7)
    after = replace(states[0], f1=(0.2, 0.2))
    assert drawn(7, after) == numbers[1:]
    assert len({*numbers, *drawn(8)}) == 6
    training = [np.random.default_rng([7, iteration]).random() for iteration in range(4)]
    assert not {*numbers} & {*training}


def test_gold_documents_may_be_added_in_an_iteration() -> None:
    """Model 2 is trained although nothing was selected; models 1 and 3 are not."""
    more = [*SEED, Document("s2", "Dr. Mas", (Span(4, 7, "PERSON"),))]
    rounds = [make_batch(notes, labelled=True) for notes in (SEED, more)]

    def gold(state: State | None) -> Batch:
        return rounds[state is not None and state.iteration >= 1]

    script = Script([1])
    steps = train(script, Pool(1, 1, 1), gold=gold, strategy=nothing, loop=loop_options(patience=9))
    assert [step.human_tokens for step in steps] == [5, 5, 8, 8]
    assert [step.training_documents for step in steps] == [2, 2, 3, 3]
    assert [ids(batch) for batch in script.trained] == [["s0", "s1"], ["s0", "s1", "s2"]]
    assert script.started == [None, 0]

    for done in (1, 2, 3):
        rest = Script([1])
        again = train(
            rest,
            Pool(1, 1, 1),
            gold=gold,
            strategy=nothing,
            loop=loop_options(patience=9),
            after=steps[done - 1].step.state,
            tagger=Actor(rest, steps[done - 1].tagger.number),
        )
        assert list(map(record, again)) == list(map(record, steps[done:]))
        assert len(rest.trained) == (1 if done < 3 else 0)


def test_validation_annotations_within_a_token_are_missed() -> None:
    """Model 0 tags the first token of each note, which is more than what is annotated."""
    notes = [Document(f"v{i}", "Annabel ve", (Span(0, 4, "PERSON"),)) for i in range(10)]
    validation = GoldBatch.from_documents(notes, make_batch(notes, labelled=True))
    (only,) = run_loop(
        make_batch(SEED, labelled=True),
        Pool(),
        validation,
        lambda iteration: Actor(Script([10]), iteration),
        nothing,
    )
    assert only.counts == (0, 10, 10)


# Comparison of alternatives


def named(name: str, *, views: int = 0, take: int = 1) -> Strategy:
    """Return a strategy with a name that selects the first documents of each batch."""

    def first(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        assert len(tagging.views) >= views
        return Selection(np.arange(min(take, len(batch))))

    return Strategy(first, views=views, name=name)


class Casting:
    """Creates actors whose number is the order of their creation, not the iteration."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.created: list[int] = []

    def __call__(self, iteration: int) -> Actor:
        self.created.append(iteration)
        return Actor(self.script, len(self.created) - 1)


def compared(script: Script, pool: Pool, **settings: Any) -> tuple[list[Iteration], Casting]:
    cast = Casting(script)
    steps = list(
        run_loop(
            make_batch(SEED, labelled=True),
            pool,
            make_batch(VALIDATION, labelled=True),
            cast,
            **({"loop": loop_options(patience=9, keep="relabel")} | settings),
        )
    )
    return steps, cast


def test_the_first_selection_compares_strategies_and_the_best_one_is_kept() -> None:
    """Actor 1 is trained on one document, actor 2 on two, and actor 3 follows the better one."""
    script = Script([3, 5, 6, 7])
    strategies = [named("one"), named("two", take=2)]
    steps, cast = compared(script, Pool(3, 3), strategy=strategies)
    assert cast.created == [0, 1, 1, 2]
    assert [step.strategy for step in steps] == ["", "two", "two"]
    assert [(x.name, x.selected, x.chosen) for x in steps[1].trials] == [
        ("one", 1, False),
        ("two", 2, True),
    ]
    assert [step.trials for step in (steps[0], steps[2])] == [[], []]
    assert [len(batch) - len(SEED) for batch in script.trained] == [0, 1, 2, 4]
    assert script.started == [None, 0, 0, 2]
    assert [trial.f1 for trial in steps[1].trials] == sorted(t.f1 for t in steps[1].trials)


def test_the_strategy_that_was_chosen_is_compared_with_its_variants_once() -> None:
    """Actor 4 is trained by the variant, which takes one document of each batch."""
    script = Script([3, 5, 6, 7, 8, 9])
    variant = named("two (fewer)")
    strategies = [
        replace(named("one"), variants=(named("one (none)", take=0),)),
        replace(named("two", take=2), variants=(variant,)),
    ]
    steps, cast = compared(script, Pool(3, 3, 3), strategy=strategies)
    assert cast.created == [0, 1, 1, 2, 2, 3]
    assert [step.strategy for step in steps] == ["", "two", "two (fewer)", "two (fewer)"]
    assert [[trial.name for trial in step.trials] for step in steps] == [
        [],
        ["one", "two"],
        ["two", "two (fewer)"],
        [],
    ]
    assert [len(batch) - len(SEED) for batch in script.trained] == [0, 1, 2, 4, 2, 3]


def test_a_single_strategy_has_no_variants_to_compare() -> None:
    """It was named by the user, with its options."""
    strategy = replace(named("one"), variants=(named("other", take=2),))
    steps, _ = compared(Script([3, 4, 5]), Pool(3, 3), strategy=strategy)
    assert [step.trials for step in steps] == [[], [], []]


def test_of_equal_strategies_the_first_is_kept() -> None:
    strategies = [named("paper"), named("other", take=2)]
    steps, _ = compared(Script([3, 5, 5]), Pool(3, 3), strategy=strategies)
    assert steps[1].strategy == "paper"


def test_many_documents_are_compared_on_a_sample_and_the_best_is_trained_on_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Actors 1 and 2 learn from samples, and actor 3 from all that actor 2 shares with it."""
    monkeypatch.setattr("bootstrap.self_training.training.COMPARED", 20)
    script = Script([3, 4, 6, 5, 7])
    strategies = [named("some", take=60), named("all", take=100)]
    steps, cast = compared(script, Pool(100), strategy=strategies)
    assert cast.created == [0, 1, 1, 1]
    assert script.started == [None, 0, 0, 2]
    some, every, whole = (set(ids(batch)[len(SEED) :]) for batch in script.trained[1:])
    assert some < every < whole and len(whole) == 100
    assert some == {name for name in every if int(name[1:]) < 60}
    assert 10 < len(every) < 30
    # The model of all is that of the iteration, although the one of the sample was better.
    assert steps[1].tagger.number == 3 and steps[1].training_documents == len(SEED) + 100
    assert [(x.name, x.chosen) for x in steps[1].trials] == [("all", True), ("some", False)]
    assert steps[1].step.state.chosen == ("all",)


@pytest.mark.parametrize("keep", ["relabel", "accumulate"])
def test_where_every_model_is_worse_the_previous_one_stays(keep: Any) -> None:
    """Actors 3 and 4 are worse than actor 2, which tags again for all strategies."""
    script = Script([3, 5, 6, 4, 5, 7, 8])
    two = replace(named("two", take=2), variants=(named("two (fewer)"),))
    steps, cast = compared(
        script,
        Pool(3, 3, 3),
        strategy=[named("one"), two],
        loop=loop_options(patience=9, keep=keep),
    )
    assert cast.created == [0, 1, 1, 2, 2, 3, 3]
    assert [step.tagger.number for step in steps] == [0, 2, 2, 6]
    assert [(x.name, x.selected, x.chosen) for x in steps[2].trials] == [
        (UNCHANGED, 0, True),
        ("two", 2 + 2 * (keep == "relabel"), False),
        ("two (fewer)", 1 + (keep == "relabel"), False),
    ]
    assert [trial.name for trial in steps[3].trials] == ["one", "two"]
    assert [len(batch) - len(SEED) for batch in script.trained[-2:]] == (
        [3, 6] if keep == "relabel" else [2 + 1, 2 + 2]
    )
    assert script.started[3:] == [2, 2, 2, 2]
    assert steps[2].training_documents == len(SEED) + 2


def test_with_new_annotations_the_previous_model_does_not_stay() -> None:
    more = make_batch([*SEED, Document("s2", "Pac Ada")], labelled=True)
    seed = make_batch(SEED, labelled=True)
    steps = train(
        Script([5, 4]),
        Pool(2),
        strategy=named("one"),
        gold=lambda state: more if state else seed,
    )
    assert UNCHANGED not in {trial.name for trial in steps[1].trials}


def test_while_nothing_is_selected_nothing_is_compared() -> None:
    """The strategies that select something are compared as soon as there are any."""

    def late(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        return Selection(np.arange(int("u3" in ids(batch))))

    strategies = [Strategy(late, name="late"), Strategy(late, name="later")]
    steps, _ = compared(Script([3, 4, 5]), Pool(3, 3, 3), strategy=strategies)
    assert [len(step.trials) for step in steps] == [0, 0, 2, 0]
    assert steps[1].tagger is steps[0].tagger


@pytest.mark.parametrize(("hits", "chosen"), [([5, 4], False), ([4, 5], True), ([4, 4], False)])
def test_augmentation_is_kept_if_validation_f1_rises(hits: list[int], chosen: bool) -> None:
    copies = make_batch([Document("s0+1", "Pac Eva Mas", (Span(4, 11, "PERSON"),))], labelled=True)
    script = Script([*hits, 6])
    augment = lambda gold: (copies, None, None)  # noqa: E731
    steps, _ = compared(script, Pool(2), strategy=named("one"), augment=augment)
    assert [step.augmented for step in steps] == [chosen, chosen]
    assert [(x.name, x.chosen) for x in steps[0].trials] == [
        (SEED_ALONE, not chosen),
        (AUGMENTED, chosen),
    ]
    assert [ids(batch) for batch in script.trained] == [
        ["s0", "s1"],
        ["s0", "s1", "s0+1"],
        ["s0", "s1", *(["s0+1"] if chosen else []), "u0"],
    ]
    assert steps[1].training_documents == 3  # copies are not counted
    assert steps[0].human_tokens == 5


@pytest.mark.parametrize(("hits", "chosen"), [([5, 4], False), ([4, 5], True)])
def test_pseudo_labelled_documents_are_copied_where_those_of_the_seed_are(hits, chosen) -> None:
    """They are copied for the tagger, and not for the second view."""
    seed = [Document("s0+1", "Pac Eva Mas", (Span(4, 11, "PERSON"),))]
    copies, second = make_batch(seed, labelled=True), Script([1, 1])
    script = Script([*hits, 6, 7])
    steps, _ = compared(
        script,
        Pool(2, 2),
        strategy=named("both", views=1),
        augment=lambda gold: (copies, None, None),
        copy=lambda batch: batch.take(np.arange(len(batch))[::-1]),
        fresh_second=Casting(second),
    )
    assert [step.augmented for step in steps] == [chosen] * 3
    selected = ids(script.trained[-1])[-2:]
    copied = ["s0+1", *reversed(selected)] if chosen else []
    assert ids(script.trained[-1]) == ["s0", "s1", *copied, *selected]
    assert ids(second.trained[-1])[-1] == selected[0]
    assert len(ids(second.trained[-1])) == len({*ids(second.trained[-1])})


@pytest.mark.parametrize(("hits", "chosen"), [([5, 4, 4], 0), ([4, 5, 4], 1), ([4, 5, 6], 2)])
def test_blank_documents_are_a_start_of_their_own(hits: list[int], chosen: int) -> None:
    """The tagger learns from them until there are pseudo-labels, some of which are blank."""
    copies = make_batch([Document("s0+1", "Pac Eva", (Span(4, 7, "PERSON"),))], labelled=True)
    blanks = make_batch([Document("b0", "sin fiebre")], labelled=True)
    script = Script([*hits, 6])
    augment = lambda gold: (copies, None, blanks)  # noqa: E731
    steps, _ = compared(script, Pool(2), strategy=named("one"), augment=augment)
    names = [SEED_ALONE, AUGMENTED, WITH_BLANKS]
    assert [trial.name for trial in steps[0].trials if trial.chosen] == [names[chosen]]
    assert [(step.augmented, step.with_blanks) for step in steps] == [(chosen > 0, chosen == 2)] * 2
    starts = [["s0", "s1"], ["s0", "s1", "s0+1"], ["s0", "s1", "s0+1", "b0"]]
    kept = ["s0", "s1", *(["s0+1"] if chosen else []), "u0"]
    assert [ids(batch) for batch in script.trained] == [*starts, kept]


def test_a_second_view_is_trained_on_mentions_too_and_tags_what_the_first_tags() -> None:
    mentions = make_batch([Document("joined+1", "Eva", (Span(0, 3, "PERSON"),))], labelled=True)
    blanks = make_batch([Document("b0", "sin fiebre")], labelled=True)
    # Actors 0 and 1 are those without and with augmentation, and 2 and 3 follow the strategies.
    script, second = Script([3, 3, 4, 5, 6]), Script([1])
    steps, _ = compared(
        script,
        Pool(2, 2),
        strategy=[named("one"), named("both", views=1, take=2)],
        augment=lambda gold: (None, mentions, blanks),
        fresh_second=Casting(second),
    )
    assert [ids(batch) for batch in second.trained] == [
        ["s0", "s1", "joined+1", "b0"],
        ["s0", "s1", "joined+1", "u0", "u1"],  # of which some are blank
    ]  # none after the last iteration
    assert steps[2].second is None
    assert steps[1].strategy == "both" and steps[1].second is not None
    assert {asked[1] for asked in second.asked} == {"u0", "u2", "v0"}


@pytest.mark.parametrize("views", [1, 2])
def test_the_tagger_of_lists_is_a_third_view_of_the_strategies_that_need_it(views: int) -> None:
    lists, asked, seen = Script([9]), [], []

    def list_tagger() -> Actor:
        asked.append(True)
        return Actor(lists, 0)

    def first(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        seen.append(len(tagging.views))
        return Selection(np.arange(1))

    compared(
        Script([3, 4]),
        Pool(2),
        strategy=Strategy(first, views=views, name="first"),
        fresh_second=Casting(Script([1])),
        list_tagger=list_tagger,
    )
    assert set(seen) == {views}
    assert bool(asked) == bool(lists.asked) == (views == 2)
    assert not lists.trained


@pytest.mark.parametrize(
    ("views", "second", "lists", "message"),
    [
        (1, False, False, "compares 2 views: expected a second tagger"),
        (1, False, True, "expected a second tagger"),
        (2, False, True, "expected a second tagger"),
        (2, True, False, "compares 3 views: expected a tagger of lists"),
    ],
)
def test_a_view_that_is_missing_is_not_taken_for_another(views, second, lists, message) -> None:
    with pytest.raises(ValueError, match=message):
        compared(
            Script([3, 4]),
            Pool(2),
            strategy=[named("none"), named("first", views=views)],
            fresh_second=Casting(Script([1])) if second else None,
            list_tagger=(lambda: Actor(Script([9]), 0)) if lists else None,
        )


def test_no_second_view_is_trained_for_a_strategy_that_needs_none() -> None:
    second = Casting(Script([1]))
    steps, _ = compared(Script([3, 4]), Pool(2), strategy=named("one"), fresh_second=second)
    assert second.created == [] and all(step.second is None for step in steps)


def test_what_is_selected_is_scored_on_validation_and_compared_with_what_is_known() -> None:
    """The first three validation names are found, and the strategy selects two documents."""
    script = Script([3, 4], name_at=1)
    steps, _ = compared(script, Pool(3), strategy=named("two", take=2))
    assert steps[0].quality is None
    assert steps[1].quality == EntityScores(1.0, 0.2, pytest.approx(1 / 3))
    assert steps[1].new_entities == 2  # "0" and "1", in "nota 0 hoy" and "nota 1 hoy"
    assert steps[1].unknown == 0


@pytest.mark.parametrize("done", [1, 2, 3])
def test_a_comparison_is_not_repeated_when_the_loop_continues(done: int) -> None:
    script = Script([3, 5, 6, 7, 8, 9])
    strategies = [named("one"), replace(named("two", take=2), variants=(named("fewer"),))]
    whole, _ = compared(script, Pool(3, 3, 3), strategy=strategies)
    again = Script(script.hits[{1: 1, 2: 3, 3: 5}[done] :])
    rest, cast = compared(
        again, Pool(3, 3, 3), strategy=strategies, after=whole[done - 1].step.state
    )
    assert [step.strategy for step in rest] == [step.strategy for step in whole[done:]]
    assert cast.created == {1: [1, 1, 2, 2, 3], 2: [2, 2, 3], 3: [3]}[done]
