"""Taggers in folders: trained in another process, tagging over processes, the same as ever."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from bootstrap.execution import parallel_tagger
from bootstrap.execution.parallel_tagger import ParallelTagger, fit_all
from bootstrap.execution.processes import Executor, KilledError, applying
from bootstrap.self_training.training import Fit
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.errors import InputError
from corpus.storage.manifest import digest_of
from corpus.tags import classes_of, find_entities
from taggers import CRFOptions, CRFTagger, TrainingError
from taggers.base import Detail
from tests.streams import stream_of
from tests.taggers.conftest import plain

pytestmark = pytest.mark.processes

DETAILS: tuple[Detail, ...] = get_args(Detail)
OPTIONS = plain(CRFOptions, features=("lower", "suffix3"), window=1, max_iterations=10)

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def labelled(notes: Callable[..., list[Document]]) -> Batch:
    return make_batch(notes(80, 1), labelled=True)


@pytest.fixture(scope="module")
def unlabelled(notes: Callable[..., list[Document]]) -> Batch:
    documents = notes(500, 2)
    documents[7] = documents[250] = Document("empty", "")
    return make_batch([*documents, Document("blank", " \n")], labelled=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, labelled: Batch) -> ParallelTagger:
    folder = tmp_path_factory.mktemp("trained") / "model"
    return ParallelTagger(folder, "crf", OPTIONS).fit(labelled, rng=np.random.default_rng(0))


def test_training_in_another_process_gives_the_same_model(trained, labelled, tmp_path) -> None:
    here = CRFTagger(OPTIONS).fit(labelled, rng=np.random.default_rng(0))
    here.save(tmp_path / "here")
    folders = (trained.folder, tmp_path / "here")
    left, right = ({path.name: path.read_bytes() for path in f.iterdir()} for f in folders)
    assert left == right
    assert (trained.labels, trained.training) == (here.labels, here.training)
    assert [path.name for path in trained.folder.parent.iterdir()] == ["model"]


def test_progress_is_told(labelled: Batch, unlabelled: Batch, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    steps: list[tuple[int, int]] = []
    tagger = ParallelTagger(
        tmp_path / "model", "crf", OPTIONS, report=lambda *report: told.append(report)
    )
    tagger.fit(labelled, rng=np.random.default_rng(0), progress=lambda *step: steps.append(step))
    assert steps == [(step, 10) for step in range(1, 11)]
    tagger.tag(unlabelled)
    stages = [stage for stage, _, _ in told]
    assert stages == sorted(stages, reverse=True)
    assert told[:10] == [("training", done, most) for done, most in steps]
    assert told[-1] == ("tagging", 501, 501)


def test_trainings_that_ended_are_kept_and_not_repeated(
    labelled: Batch, unlabelled: Batch, tmp_path: Path
) -> None:
    """Of two trainings, one fails; the other one is used by the next attempt, and only by it."""
    stages: list[str] = []

    def attempt(others: Batch, random_state: int = 0) -> bytes:
        fits = []
        for name, batch in {"good": labelled, "other": others}.items():
            (tmp_path / name).mkdir(exist_ok=True)
            tagger = ParallelTagger(tmp_path / name / "model", "crf", OPTIONS, keeps=True)
            rng = np.random.default_rng(random_state)
            fits.append(Fit(name, tagger, lambda batch=batch: batch, None, None, rng))
        fit_all(fits, jobs=1, report=lambda stage, *_: stages.append(stage))
        return (tmp_path / "good" / "model" / "model.json").read_bytes()

    with pytest.raises(TrainingError):
        attempt(unlabelled)  # without tags
    model = tmp_path / "good" / "model"
    before = (model.stat().st_mtime_ns, (model / "model.json").read_bytes())
    assert not any((tmp_path / "other").iterdir())
    stages.clear()
    assert attempt(labelled) == before[1] and model.stat().st_mtime_ns == before[0]
    assert {*stages} == {"training 1 of 2 done (good, other)"}
    attempt(labelled, random_state=1)  # another training
    assert model.stat().st_mtime_ns != before[0]


def test_any_number_of_processes_gives_the_same_details(trained, unlabelled, monkeypatch) -> None:
    whole = CRFTagger.load(trained.folder).tag(unlabelled, detail="entity")
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 64)
    two = ParallelTagger.load(trained.folder, jobs=2)
    classes = len(classes_of(trained.labels))
    for detail in DETAILS:
        alone, together = (tagger.tag(unlabelled, detail=detail) for tagger in (trained, two))
        for name in ("token_confidence", "marginals", "entity_probabilities"):
            left, right = getattr(alone, name), getattr(together, name)
            assert (left is None) == (right is None)
            assert left is None or np.array_equal(left, right)
        if detail == "entity":
            entities = find_entities(together.tags, unlabelled.document_offsets, together.labels)
            assert together.entity_probabilities.shape == (len(entities.first), classes)
            assert len(entities.first) > 100
            assert together.entity_probabilities == pytest.approx(
                whole.entity_probabilities, abs=1e-5
            )
        nothing = two.tag(unlabelled.slice(0, 0), detail=detail)
        assert nothing.entity_probabilities is None or nothing.entity_probabilities.shape == (
            0,
            classes,
        )


@pytest.mark.parametrize("brought", [True, False])
def test_streams_are_the_same_over_processes(
    labelled, unlabelled, tmp_path, monkeypatch, brought
) -> None:
    """Those that batches bring along, and those that annotators add by the patterns of training."""
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 64)
    options = replace(
        OPTIONS,
        streams=("header", "patterns[-1..1]"),
        conjunctions=("patterns[0] shape[1]",),
    )
    if brought:
        options = replace(options, streams=(*options.streams, "pos[-1..0]"))
        labelled, unlabelled = with_pos(labelled), with_pos(unlabelled)
    tagger = ParallelTagger(tmp_path / "model", "crf", options, jobs=2)
    tagger.fit(labelled, rng=np.random.default_rng(0))
    here = CRFTagger(options).fit(labelled, rng=np.random.default_rng(0))
    here.save(tmp_path / "here")
    for path in (tmp_path / "here").iterdir():
        assert (tagger.folder / path.name).read_bytes() == path.read_bytes()
    alone = ParallelTagger.load(tmp_path / "model").tag(unlabelled)
    together = tagger.tag(unlabelled)
    assert (together.tags == alone.tags).all()
    assert (together.confidence == alone.confidence).all()
    whole = here.tag(unlabelled)
    assert (together.tags == whole.tags).mean() > 0.999  # in other pieces, in single precision
    assert together.confidence == pytest.approx(whole.confidence, abs=1e-4)


def test_a_stream_that_the_batch_lacks_is_an_error_wherever_it_is_found(
    labelled: Batch, unlabelled: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 64)
    options = replace(OPTIONS, streams=("turn",))
    tagger = ParallelTagger(tmp_path / "model", "crf", options, jobs=2)
    with pytest.raises(InputError, match='the notes have no stream "turn"'):
        tagger.fit(labelled, rng=np.random.default_rng(0))
    tagger.fit(with_pos(labelled), rng=np.random.default_rng(0))
    with pytest.raises(InputError, match='the notes have no stream "turn"'):
        tagger.tag(unlabelled)


def with_pos(batch: Batch) -> Batch:
    """Add a stream that no annotator would, which depends on the words around a token."""
    before = np.concatenate([[0], batch.word_ids[:-1]])
    kinds = [str(sum(map(ord, batch.vocabulary[word])) % 5) for word in before.tolist()]
    return batch.with_streams(
        {"turn": stream_of([kind if kind != "0" else None for kind in kinds])}
    )


def test_a_later_model_in_the_same_folder_is_not_mistaken_for_the_earlier(
    labelled: Batch, unlabelled: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers keep the model that they used last."""
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 64)
    confidences = []
    for options in (OPTIONS, plain(CRFOptions, features=("shape",), window=0, max_iterations=10)):
        tagger = ParallelTagger(tmp_path / "model", "crf", options, jobs=2)
        tagger.fit(labelled, rng=np.random.default_rng(0))
        alone = CRFTagger.load(tmp_path / "model").tag(unlabelled)
        together = tagger.tag(unlabelled)
        # Linear algebra libraries may round a row by the number of rows beside it.
        np.testing.assert_allclose(alone.confidence, together.confidence, rtol=1e-5)
        confidences.append(together.confidence)
        (tmp_path / "model").rename(tmp_path / f"model{len(confidences)}")
    assert (confidences[0] != confidences[1]).any()


def test_processes_make_no_folder_elsewhere(trained, unlabelled, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 64)
    trained.save(tmp_path / "copy")
    made: list[str] = []
    mkdir = os.mkdir

    def noted(path: Any, *arguments: Any, **options: Any) -> None:
        made.append(os.fspath(path))
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(os, "mkdir", noted)
    before = sorted((tmp_path / "copy").iterdir())
    ParallelTagger.load(tmp_path / "copy", jobs=2).tag(unlabelled)
    assert made == []
    assert sorted((tmp_path / "copy").iterdir()) == before


class PicklingExecutor(Executor):
    """Runs functions in this process after a journey of all values as bytes, as on a cluster."""

    shares_memory = False

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def map(self, function: Any, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.sent.append(pickle.dumps((function, item)))
            loaded, argument = pickle.loads(self.sent[-1])
            yield pickle.loads(pickle.dumps(loaded(argument)))


def test_any_executor_gives_the_same_tags(trained, unlabelled, monkeypatch) -> None:
    """Models travel by path: what is sent is little more than the documents."""
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 64)
    executor = PicklingExecutor()
    with applying(executor):
        elsewhere = ParallelTagger.load(trained.folder).tag(unlabelled)
    here = trained.tag(unlabelled)
    assert (elsewhere.tags == here.tags).all()
    assert (elsewhere.confidence == here.confidence).all()
    assert len(executor.sent) == 8
    documents = sum(len(unlabelled.slice(at, at + 64).to_bytes()) for at in range(0, 501, 64))
    assert sum(map(len, executor.sent)) < documents + 8 * 1000


def test_a_worker_refuses_a_model_with_another_digest(
    trained: ParallelTagger, labelled: Batch, unlabelled: Batch, tmp_path: Path
) -> None:
    trained.save(tmp_path / "model")
    with applying(PicklingExecutor()):
        tagger = ParallelTagger.load(tmp_path / "model")
    other = CRFTagger(replace(OPTIONS, window=0)).fit(labelled, rng=np.random.default_rng(0))
    other.save(tmp_path / "model")
    big = unlabelled.take(np.tile(np.arange(len(unlabelled)), 6))
    with pytest.raises(InputError, match="the model was replaced while it was in use"):
        tagger.tag(big)


def test_what_cannot_be_tagged_is_an_error(trained: ParallelTagger, unlabelled: Batch) -> None:
    with pytest.raises(InputError, match='no measure "entropy"'):
        trained.tag(unlabelled, measure="entropy")
    with pytest.raises(ValueError, match="has not been trained"):
        ParallelTagger(Path("nowhere"), "crf", OPTIONS).tag(unlabelled)
    with pytest.raises(InputError, match="nowhere is not the folder of a model"):
        ParallelTagger.load(Path("nowhere"))


def test_an_error_of_training_is_raised_here(unlabelled: Batch, tmp_path: Path) -> None:
    tagger = ParallelTagger(tmp_path / "model", "crf", OPTIONS)
    with pytest.raises(TrainingError, match="no training token has a known tag"):
        tagger.fit(unlabelled, rng=np.random.default_rng(0))
    nothing = make_batch([Document("a", " ")], labelled=True)
    with pytest.raises(TrainingError, match="contain no tokens"):
        tagger.fit(nothing, rng=np.random.default_rng(0))
    assert list(tmp_path.iterdir()) == []


def test_a_training_process_that_dies_is_an_error(labelled: Batch, tmp_path: Path) -> None:
    """As it does when the system is out of memory."""

    def kill(stage: str, done: int, total: int) -> None:
        for process in multiprocessing.active_children():
            os.kill(process.ident or 0, signal.SIGKILL)

    big = labelled.take(np.tile(np.arange(len(labelled)), 20))  # takes a while
    options = plain(CRFOptions, max_iterations=100_000, c2=0.0001)
    tagger = ParallelTagger(tmp_path / "model", "crf", options, report=kill)
    with pytest.raises(KilledError, match="killed before its work was done"):
        tagger.fit(big, rng=np.random.default_rng(0))
    assert list(tmp_path.iterdir()) == []


@linux
def test_a_tagging_process_that_dies_is_an_error(
    labelled: Batch, unlabelled: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does when the system is out of memory."""
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 50)
    ParallelTagger(tmp_path / "model", "crf", OPTIONS).fit(labelled, rng=np.random.default_rng(0))
    tagger = ParallelTagger.load(tmp_path / "model", jobs=2)
    # A model that takes seconds to read: who is killed is not just writing what it found.
    with (tmp_path / "model" / "long").open("wb") as file:
        file.truncate(1 << 33)
    path = tmp_path / "model" / "model.json"
    description = json.loads(path.read_bytes())
    description["files"]["long"] = "not computed"
    path.write_text(json.dumps({**description, "digest": digest_of(description)}))
    ended = threading.Event()

    def kill() -> None:
        while not ended.wait(0.5):
            for worker in children_of(b"popen_loky")[:1]:
                os.kill(worker, signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    try:
        with pytest.raises(KilledError, match="a worker process was killed"):
            tagger.tag(unlabelled)
    finally:
        ended.set()
        killing.join()


def children_of(command: bytes) -> list[int]:
    """Return the ids of the processes that this one started with a command like this."""
    children = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if int(parent) == os.getpid() and command in line:
                children.append(int(folder.name))
    return children
