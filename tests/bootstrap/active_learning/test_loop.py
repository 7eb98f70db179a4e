"""Active learning in the loop, with taggers that follow a script, and as a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import cohen_kappa_score

import bootstrap
from bootstrap.active_learning.queries import ActiveOptions
from bootstrap.active_learning.rounds import GoldOracle, Rounds
from bootstrap.config.options import LoopOptions
from bootstrap.runs.loop_parts import NO_SELECTION, RoundLimits
from bootstrap.runs.observer import agreement, kappa_of
from bootstrap.selection.proportional import ChosenDocuments, Selection
from bootstrap.selection.strategies import SelectionFunction, Strategy, strategy_for
from bootstrap.self_training.candidates import ANNOTATED_ALONE
from bootstrap.self_training.state import State, Trial
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.formats import write
from corpus.tags import UNKNOWN
from taggers import Tagging, Training
from tests.bootstrap.self_training.looping import Iteration, loop_options, run_loop, select_options

LABELS = ("O", "B-PERSON", "I-PERSON")
SEED = make_batch([Document("s0", "Pac Joan", (Span(4, 8, "PERSON"),))], labelled=True)
VALIDATION = make_batch(
    [Document(f"v{i}", "Ana ve", (Span(0, 3, "PERSON"),)) for i in range(10)], labelled=True
)
#: The documents that the loop may ask for; the pool has the same ones.
GOLD = make_batch(
    [Document(f"u{i}", f"Ana {i}", (Span(0, 3, "PERSON"),)) for i in range(12)], labelled=True
)


UNUSED: Any = None


class Learner:
    """A tagger that finds as many validation names as it has gold documents, up to a number.

    It is less sure of an unlabeled document the lower its number is.
    """

    kind = "learner"
    training: Training | None = None

    def __init__(self, trained: list[Batch], most: int = 10) -> None:
        self.labels: tuple[str, ...] = LABELS
        self._trained = trained
        self._most = most
        self._found = 0

    def fit(self, train: Batch, validation: Batch | None = None, **others: Any) -> Self:
        self._trained.append(train)
        self._found = min(len(train), self._most)
        return self

    def tag(self, batch: Batch, *, detail: str = "document", **others: Any) -> Tagging:
        tags, confidence = np.zeros(batch.n_tokens, np.int16), np.ones(len(batch))
        for row, name in enumerate(batch.ids.to_pylist()):
            first = batch.document_offsets[row]
            tags[first] = 1 if name[0] == "u" or int(name[1:]) < self._found else 0
            if name[0] == "u":
                confidence[row] = 0.5 + int(name[1:]) / 100
        marginals = np.eye(3)[tags] if detail == "labels" else None
        return Tagging(tags, LABELS, confidence, None, marginals)


class Pool:
    """Batches of four of the unlabeled documents, which counts how often it is read."""

    def __init__(self) -> None:
        self.reads = 0
        self._all = GOLD.with_tags(np.full(GOLD.n_tokens, UNKNOWN, np.int16), ())

    def batches(self, start: int = 0) -> Iterator[Batch]:
        self.reads += 1
        return (self._all.slice(4 * i, 4 * i + 4) for i in range(start, 3))


def rounds_of(queried: Sequence[ChosenDocuments] = (), **options: Any) -> Rounds:
    settings = {"gold": "", "budget": 7, "round": 2, "near_duplicate": 2.0, **options}
    candidates = GOLD.with_tags(np.full(GOLD.n_tokens, UNKNOWN, np.int16), ())
    active = ActiveOptions(**settings)
    return Rounds(SEED, candidates, GoldOracle(GOLD), active, queried=queried)


def learn(
    rounds: Rounds,
    *,
    pool: Any = None,
    trained: list[Batch] | None = None,
    after: State | None = None,
    kappas: Sequence[float | None] = (),
    loop: LoopOptions | None = None,
    most: int = 10,
    strategy: Any = None,
    learner: type[Learner] = Learner,
    **others: Any,
) -> Iterator[Iteration]:
    trained = [] if trained is None else trained
    default = strategy_for(select_options(confidence=0.5, proportions=False), None)
    loop = loop or loop_options(patience=2)
    hybrid = rounds.options.hybrid
    return run_loop(
        SEED,
        pool or Pool(),
        VALIDATION,
        lambda iteration: learner(trained, most),
        (strategy or default) if hybrid else NO_SELECTION,
        loop,
        limits=RoundLimits(loop, rounds=rounds, kappas=list(kappas)),
        after=after,
        **others,
    )


def ids(batch: Batch | None) -> list[str]:
    return [] if batch is None else batch.ids.to_pylist()


def test_each_round_adds_the_least_confident_documents_and_nothing_else() -> None:
    pool, trained = Pool(), list[Batch]()
    steps = list(learn(rounds_of(), pool=pool, trained=trained))
    assert [step.human_documents for step in steps] == [1, 3, 5, 7]
    assert [ids(step.queried.batch) for step in steps[1:] if step.queried] == [
        ["u0", "u1"],
        ["u2", "u3"],
        ["u4", "u5"],
    ]
    assert [ids(batch) for batch in trained][-1] == ["s0", *(f"u{i}" for i in range(6))]
    assert (trained[-1].tags[trained[-1].document_offsets[1:-1]] == 1).all()
    assert [step.stopped for step in steps] == [None, None, None, "budget"]
    assert [(step.selected, step.tagged, step.quality) for step in steps] == [(0, 0, None)] * 4
    assert pool.reads == 0
    tokens = [step.human_tokens for step in steps]
    assert tokens == [2, 6, 10, 14]


def test_a_hybrid_round_selects_documents_that_nobody_has_annotated() -> None:
    """With pseudo-labels that accumulate: those of a document annotated later are dropped."""
    trained: list[Batch] = []
    loop = loop_options(iterations=3, patience=9)
    steps = list(learn(rounds_of(hybrid=True, budget=5), trained=trained, loop=loop))
    # In a round, the annotated documents are tried without pseudo-labels, too.
    assert [ids(batch) for batch in trained] == [
        ["s0"],
        ["s0", "u0", "u1", "u2", "u3"],
        ["s0", "u0", "u1"],
        ["s0", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7"],
        ["s0", "u0", "u1", "u2", "u3"],
        ["s0", *(f"u{i}" for i in range(12))],
    ]
    assert [step.training_documents for step in steps] == [1, 5, 9, 13]
    assert [ids(step.chosen.batch) for step in steps[1:3] if step.chosen] == [
        ["u2", "u3"],
        ["u4", "u5", "u6", "u7"],
    ]
    assert [step.human_documents for step in steps] == [1, 3, 5, 5]
    assert (steps[-1].queried, steps[-1].stopped) == (None, "exhausted")


class MisledLearner(Learner):
    """A tagger that finds nothing if it learns from documents with a lower weight."""

    def fit(self, train: Batch, *others: Any, **options: Any) -> Self:
        super().fit(train, *others, **options)
        if train.weights is not None and (train.weights < 1).any():
            self._found = 0
        return self


@pytest.mark.parametrize("keep", ["accumulate", "relabel"])
def test_a_hybrid_round_is_not_worse_than_the_annotated_documents_alone(keep: str) -> None:
    loop = loop_options(iterations=3, patience=9, pseudo_weight=0.5, keep=keep)
    steps = list(learn(rounds_of(hybrid=True, budget=7), loop=loop, learner=MisledLearner))
    alone = list(learn(rounds_of(budget=7)))
    rounds = len(alone)
    assert [step.f1 for step in steps[:rounds]] == [step.f1 for step in alone]
    for step in steps[1:rounds]:
        names = {trial.name: trial for trial in step.trials}
        assert set(names) == {step.strategy, ANNOTATED_ALONE}
        assert names[ANNOTATED_ALONE].chosen
        assert step.training_documents == step.human_documents
        assert (names[ANNOTATED_ALONE].selected, names[step.strategy].selected) == (
            0,
            step.selected,
        )


def test_hybrid_rounds_with_relabelling_go_on_when_the_pool_is_used_up() -> None:
    loop = loop_options(iterations=1, patience=9, keep="relabel")
    steps = list(learn(rounds_of(hybrid=True, budget=11), loop=loop))
    assert [step.human_documents for step in steps] == [1, 3, 5, 7, 9, 11]
    assert [step.tagged for step in steps] == [0, 2, 4, 6, 4, 2]  # nobody has annotated them
    assert steps[-1].stopped == "exhausted"


def test_after_the_last_hybrid_round_the_limits_of_the_loop_count() -> None:
    steps = list(learn(rounds_of(hybrid=True, budget=3), loop=loop_options(iterations=1)))
    assert [step.stopped for step in steps] == [None, None, "maximum"]
    loop = loop_options(iterations=9, patience=1)
    steps = list(learn(rounds_of(hybrid=True, budget=3), loop=loop, most=1))
    assert [step.stopped for step in steps] == [None, None, "stagnation"]


def test_a_strategy_that_selects_nothing_is_not_chosen_because_of_annotations() -> None:
    real = strategy_for(select_options(confidence=0.5, proportions=False), None)
    nothing = Strategy(lambda tagging, batch, rng: Selection(np.zeros(0, np.int64)), name="none")
    late = Strategy(_not_before(2, real), name="late")
    loop = loop_options(iterations=2, patience=9)
    for strategies in ([nothing, real], [nothing, late]):
        rounds = rounds_of(hybrid=True, budget=7, round=2)
        steps = list(learn(rounds, loop=loop, strategy=strategies))
        named = [step.strategy for step in steps if step.selected]
        assert named == [strategies[1].name] * (3 if late not in strategies else 2)
        assert [step.human_documents for step in steps] == [1, 3, 5, 7]


def _not_before(iteration: int, strategy: Strategy) -> SelectionFunction:
    """Return a function that selects nothing from the batches before the one of an iteration."""
    calls = iter(range(1, 99))

    def select(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
        number = next(calls) if batch.ids[0].as_py()[0] == "u" else 0
        chosen = strategy.select(tagging, batch, rng)
        return chosen if number >= iteration else replace(chosen, indices=chosen.indices[:0])

    return select


def test_models_that_find_nothing_are_not_stable() -> None:
    steps = list(learn(rounds_of(budget=13, stable_kappa=0.9), most=0))
    assert [step.kappa for step in steps] == [None] * len(steps)
    assert steps[-1].stopped == "candidates"


@pytest.mark.parametrize(
    ("options", "reason", "documents"),
    [
        ({"budget": 99}, "candidates", 13),
        ({"budget": 99, "budget_tokens": 11}, "budget", 5),
        ({"budget": 99, "target_f1": 0.6}, "target", 5),
        ({"budget": 99, "stable_kappa": 0.9}, "stable", 11),
    ],
)
def test_reasons_for_stopping(options: dict[str, Any], reason: str, documents: int) -> None:
    steps = list(learn(rounds_of(**options, round=2), most=5))
    assert (steps[-1].stopped, steps[-1].human_documents) == (reason, documents)


def test_continued_it_ends_as_if_it_had_not_been_interrupted() -> None:
    whole = list(learn(rounds_of(budget=9, query="random")))
    for stop in range(1, len(whole)):
        done = whole[:stop]
        queried = [step.queried for step in done if step.queried]
        kappas = [step.kappa for step in done[1:]]
        rounds = rounds_of(queried, budget=9, query="random")
        rest = list(learn(rounds, after=done[-1].step.state, kappas=kappas))
        assert [
            (step.iteration, ids(step.queried.batch), step.f1, step.kappa, step.stopped)
            for step in rest
            if step.queried
        ] == [
            (step.iteration, ids(step.queried.batch), step.f1, step.kappa, step.stopped)
            for step in whole[stop:]
            if step.queried
        ]


def test_a_committee_is_the_tagger_and_the_second_view() -> None:
    seconds: list[Batch] = []
    made: list[int] = []

    def second(iteration: int) -> Learner:
        made.append(iteration)
        return Learner(seconds)

    steps = list(learn(rounds_of(query="committee", budget=5), fresh_second=second))
    assert [step.human_documents for step in steps] == [1, 3, 5]
    assert made == [0, 1]  # the last model is not asked
    assert [step.second is not None for step in steps] == [True, True, False]


def test_agreement_compares_labels_and_not_their_numbers() -> None:
    rng = np.random.default_rng(0)
    other = ("O", "I-PERSON", "B-PERSON")
    for _ in range(20):
        left, right = rng.choice(3, (2, 40), p=[0.7, 0.2, 0.1]).astype(np.int16)
        previous = Tagging(left, LABELS, np.ones(1))
        tagging = Tagging(np.array([0, 2, 1], np.int16)[right], other, np.ones(1))
        kappa = kappa_of(*(Trial(UNUSED, object(), tags, UNUSED) for tags in (previous, tagging)))
        assert kappa == pytest.approx(cohen_kappa_score(left, right))
        assert agreement(previous, tagging) == pytest.approx((left == right).mean())
    nothing = Tagging(np.zeros(0, np.int16), LABELS, np.ones(0))
    assert agreement(nothing, nothing) == 1.0


# Runs

ACTIVE = ("--set", "active.budget=100", "--set", "active.round=20")
Command = Callable[..., Any]


@pytest.fixture
def settings(project: Path) -> tuple[str, ...]:
    return (*ACTIVE, "--set", f"active.gold={project / 'gold.jsonl'}")


def test_a_run_keeps_the_documents_of_its_rounds(project, tmp_path, command, settings) -> None:
    out = tmp_path / "run"
    done = command("active", project / "config.toml", "--out", out, "--jobs", 1, *settings)
    assert done.code == 0, done
    assert "Stopped: the budget of annotation is used up." in done.out
    assert "annotated" in done.out.splitlines()[1]
    rows = json.loads(command("show", out, "--json").out)
    assert [row["human_documents"] for row in rows] == [60, 80, 100]
    assert [row["queried"] for row in rows] == [0, 20, 20]
    assert [row["selected"] for row in rows] == [0, 0, 0]
    tables = [pq.read_table(out / f"iterations/00{i}/queried.parquet").to_pylist() for i in (1, 2)]
    gold = {note.id: note for note in bootstrap.read(project / "gold.jsonl")}
    for row in (row for table in tables for row in table):
        spans = tuple(Span(**span) for span in row["label"])
        assert (row["text"], spans) == (gold[row["id"]].text, gold[row["id"]].spans)
    assert not (out / "iterations/000/queried.parquet").exists()
    added = sum(len(row["text"].split()) for table in tables for row in table)
    assert rows[2]["human_tokens"] - rows[0]["human_tokens"] >= added
    assert '<th scope="col">annotated</th>' in (out / "report.html").read_text(encoding="utf-8")
    annotate = (out / "annotate.txt").read_text().splitlines()
    assert annotate
    assert not {row["id"] for table in tables for row in table} & set(annotate)
    again = command("active", project / "config.toml", "--out", out, "--resume", *settings)
    assert f"{out} is finished." in again.out


def test_a_class_that_the_seed_lacks_is_learned_from_rounds(
    project, tmp_path, notes, without_advice
) -> None:
    seed = [
        replace(note, spans=tuple(span for span in note.spans if span.label == "PERSON"))
        for note in notes(60, 1, narrow=True, prefix="s")
        if not any(span.label == "LOCATION" for span in note.spans)
    ]
    write(seed, tmp_path / "seed.jsonl")
    run = bootstrap.active(
        project / "config.toml",
        out=tmp_path / "run",
        jobs=1,
        seed=str(tmp_path / "seed.jsonl"),
        active={"gold": str(project / "gold.jsonl"), "budget": len(seed) + 40},
    )
    first, *_, last = run.metrics()
    assert first.classes["LOCATION"].f1 == 0
    assert last.classes["LOCATION"].f1 > 0.5


def test_notes_of_validation_are_not_asked_for(
    project: Path, tmp_path: Path, without_advice
) -> None:
    """Neither those of the same text nor those of the same patient."""
    gold = list(bootstrap.read(project / "gold.jsonl"))
    validation = [
        *(replace(note, id=f"same{i}") for i, note in enumerate(gold[:50])),
        *(
            replace(note, id=f"p{i}", text=f"{note.text} ( {i} )", group=f"p{i}")
            for i, note in enumerate(gold[50:100])
        ),
    ]
    patients = [
        replace(note, group=f"p{i - 50}" if 50 <= i < 100 else None) for i, note in enumerate(gold)
    ]
    write(validation, tmp_path / "validation.jsonl")
    write(patients, tmp_path / "gold.jsonl")
    texts = {note.text for note in gold[:50]}
    left = [note.id for note in gold[100:] if note.text not in texts]
    seed = [note for note in bootstrap.read(project / "seed.jsonl") if note.text not in texts]
    run = bootstrap.active(
        project / "config.toml",
        out=tmp_path / "run",
        jobs=1,
        validation=str(tmp_path / "validation.jsonl"),
        active={
            "gold": str(tmp_path / "gold.jsonl"),
            "budget": len(seed) + len(left),
            "near_duplicate": 2,
            "round": 100,
        },
    )
    asked = [row for round_ in run.queried(["LOCATION", "PERSON"]) for row in ids(round_.batch)]
    assert sorted(asked) == sorted(left)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("active.budget=60", "budget = 60 includes the seed, which has"),
        ("active.budget=5000", "expected at most 260"),
        ("active.budget_tokens=50", "budget_tokens = 50 includes the seed"),
        ("active.candidates=3", "expected at least a round, 20"),
        ("active.gold_columns={ nota = 'x' }", 'gold_columns names a "nota"'),
        ("active.gold=nowhere.jsonl", "nowhere.jsonl"),
    ],
)
def test_mistakes(project, tmp_path, command, settings, setting, message) -> None:
    for name in ("active", "check"):
        where = ("--out", tmp_path / "run") if name == "active" else ()
        done = command(name, project / "config.toml", *where, *settings, "--set", setting)
        assert done.code == 2, done
        assert message in done.err
        assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_gold_without_annotations_is_refused(project, tmp_path, command) -> None:
    arguments = ("--set", f"active.gold={project / 'unlabeled.jsonl'}", *ACTIVE)
    done = command("active", project / "config.toml", "--out", tmp_path / "run", *arguments)
    assert done.code == 2
    assert "[active] gold" in done.err
    assert "without any entity; expected annotated documents" in done.err


def test_without_the_section_there_is_no_active_learning(project, tmp_path, command) -> None:
    done = command("active", project / "config.toml", "--out", tmp_path / "run")
    assert done.code == 2
    assert "there is no section [active]" in done.err
    with pytest.raises(bootstrap.InputError, match=r"no section \[active\]"):
        bootstrap.active(project / "config.toml", out=tmp_path / "run")


def test_a_self_training_run_does_not_use_the_section(project, tmp_path, command, settings) -> None:
    arguments = ("--jobs", 1, "--set", "loop.iterations=0", *settings)
    done = command("run", project / "config.toml", "--out", tmp_path / "run", *arguments)
    assert done.code == 0
    assert "[active] is not used; `bootstrap active` uses it" in done.err
    assert "active" not in (tmp_path / "run" / "config.toml").read_text()


def test_a_check_says_what_a_round_costs(project, command, settings) -> None:
    done = command("check", project / "config.toml", *settings)
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("a round of")]
    assert line.startswith("a round of 20 documents: about 1")
    assert line.endswith("the budget is enough for 2 rounds")


def test_a_committee_of_two_kinds_of_taggers(
    project, tmp_path, command, settings, without_advice
) -> None:
    config = project / "config.toml"
    members = ("--set", "second_tagger.kind=crf", "--set", "second_tagger.window=0")
    out = ("--out", tmp_path / "run", "--jobs", 1)
    committee = ("--set", "active.query=committee")
    done = command("active", config, *out, *settings, *members, *committee)
    assert done.code == 0, done
    done = command("run", config, "--out", tmp_path / "other", *settings, *members, *committee)
    assert done.code == 2
    assert "[second_tagger] has no effect" in done.err


def test_a_run_is_resumed_by_the_command_that_started_it(
    project: Path, tmp_path: Path, command: Command, settings: tuple[str, ...], without_advice
) -> None:
    config, out = project / "config.toml", ("--out", tmp_path / "run")
    assert command("active", config, *out, "--jobs", 1, *settings).code == 0
    done = command("run", config, *out, "--resume", *settings)
    assert done.code == 2
    assert "was started by `bootstrap active`; resume it with that command" in done.err


def test_gold_that_is_held_out_or_repeated_is_counted(
    project, tmp_path, command, without_advice
) -> None:
    gold = list(bootstrap.read(project / "gold.jsonl"))
    validation = list(bootstrap.read(project / "validation.jsonl"))
    active = ("--set", f"active.gold={tmp_path / 'gold.jsonl'}", "--set", "active.budget=70")
    write([*gold, *gold[:3], *validation[:2]], tmp_path / "gold.jsonl")
    done = command("active", project / "config.toml", "--out", tmp_path / "run", *active)
    assert done.code == 0
    assert "notes left out because they are repeated: 3" in done.err
    assert "notes held out because a validation or test note has the same text: 2" in done.err
    (tmp_path / "gold.jsonl").unlink()
    write(validation, tmp_path / "gold.jsonl")
    done = command("active", project / "config.toml", "--out", tmp_path / "other", *active)
    assert done.code == 2
    assert "no document is left to annotate" in done.err


def test_a_committee_needs_a_seed(project: Path, tmp_path: Path, command: Command) -> None:
    arguments = ("--set", "active.query=committee", "--set", "initial_model.kind=lists", *ACTIVE)
    arguments += ("--set", 'initial_model.names=["census-es"]')
    done = command(
        *("active", project / "config.toml", "--out", tmp_path / "run", *arguments),
        *("--set", "active.gold=gold.jsonl"),
    )
    assert done.code == 2
    assert 'active.query = "committee" compares two taggers of the seed' in done.err
