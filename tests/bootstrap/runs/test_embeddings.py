"""Embeddings that a run trains by itself: once, of all its text, the same after interruptions."""

from __future__ import annotations

import glob
import itertools
import json
import logging
import random
import shutil
import signal
import stat
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bootstrap
from bootstrap import embedding_training
from bootstrap.active_learning.queries import ActiveOptions
from bootstrap.config.options import SPLITS, DataOptions
from bootstrap.data.splits import Notes, read_notes
from bootstrap.runs import embeddings
from bootstrap.runs.embeddings import embeddings_of_notes
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.formats import write
from taggers.embeddings import automatic
from taggers.embeddings.embedding import Embedding
from tests.bootstrap.work_here import in_processes_here

Contents = Callable[[Path], dict[str, Any]]

AUTO = ("--set", "tagger.clusters=auto", "--set", "loop.iterations=1", "--jobs", 1)

#: Of the vocabulary of the project `rich`, which is too small for more clusters.
CLUSTERINGS = [f"digits-w{window}-k{k}" for window in (1, 5) for k in (16, 64, 256)]


def made_up_words(number: int) -> list[str]:
    draw = random.Random(1)
    words = {"".join(draw.choices("abcdefghijklmnop", k=6)) for _ in range(number)}
    return sorted(words)


@pytest.fixture(scope="module")
def rich(make_project: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose unlabeled notes have 1,300 more words, each of them several times."""
    folder = make_project(tmp_path_factory.mktemp("rich"), unlabeled=0)
    draw, words = random.Random(2), made_up_words(1300)
    pool = [
        Document(f"u{number}", f"Pac Anna ve de Vic .\n{' '.join(draw.choices(words, k=12))}")
        for number in range(700)
    ]
    (folder / "unlabeled.jsonl").unlink()
    write(pool, folder / "unlabeled.jsonl")
    return folder


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Train in this process, in two epochs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(automatic, "_MIN_EPOCHS", 2)
        patch.setattr(automatic, "_MAX_EPOCHS", 2)
        patch.setattr(embedding_training, "in_processes", in_processes_here)
        yield


def notes_of(project: Path) -> Notes:
    paths = {name: str(project / f"{name}.jsonl") for name in ("seed", "validation", "unlabeled")}
    return read_notes(DataOptions(**paths), batch_size=100)


class Stages:
    """A report of progress that keeps the names of stages, and interrupts one of them."""

    def __init__(self, interrupted: str = "") -> None:
        self.names: list[str] = []
        self._interrupted = interrupted

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.names.append(stage)
        assert not total or done <= total
        if stage == self._interrupted:
            raise KeyboardInterrupt


def train(
    folder: Path,
    documents: Notes,
    stages: Stages | None = None,
    random_state: int = 0,
    jobs: int = 1,
) -> Path | None:
    folder.mkdir(exist_ok=True)
    report = stages or Stages()
    return embeddings_of_notes(
        Run(folder).embeddings_folder, documents, random_state, jobs=1, report=report
    )


@pytest.fixture(scope="module")
def documents(rich: Path) -> Notes:
    return notes_of(rich)


@pytest.fixture(scope="module")
def trained(documents: Notes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = train(tmp_path_factory.mktemp("whole"), documents)
    assert folder is not None
    return folder


def test_embeddings_are_of_the_words_of_all_documents(trained, rich, tmp_path) -> None:
    texts = [
        document.text
        for split in ("seed", "validation", "unlabeled")
        for document in bootstrap.read(rich / f"{split}.jsonl")
    ]
    description = json.loads((trained / "trained.json").read_text())
    assert description["documents"] == sum(len(text.splitlines()) for text in texts)
    assert description["words"] == len(Embedding.load(trained / "digits-w5"))
    assert description["clusterings"] == [
        f"digits-w{w}-k{k}" for w in (1, 5) for k in (16, 64, 256)
    ]
    embedding = Embedding.load(trained / "digits-w1")
    counted = sum(" ".join(texts).lower().split().count(word) for word in ("anna", "núria"))
    assert sum(embedding.word_of(word)[1] for word in ("Anna", "Núria")) == counted  # type: ignore[index]
    assert sorted(path.name for path in trained.iterdir()) == [
        *(".lock", "digits-w1", "digits-w5", "trained.json")
    ]


def test_candidates_of_active_learning_are_read_once(rich: Path, tmp_path: Path) -> None:
    """Those that are unlabeled documents, too, and the others."""
    pool = list(bootstrap.read(rich / "unlabeled.jsonl"))[:2]
    gold = [*pool, Document("g", "Ve Anna", (Span(3, 7, "PERSON"),))]
    write(gold, tmp_path / "gold.jsonl")
    active = ActiveOptions(gold=str(tmp_path / "gold.jsonl"), budget=70)
    options = DataOptions(
        **{name: str(rich / f"{name}.jsonl") for name in SPLITS if name != "test"}
    )
    with_gold, without = (
        [
            text
            for lines in embeddings._lines(
                read_notes(options, batch_size=10, active=candidates),
                np.random.default_rng(0),
                lambda stage, done, total: None,
            )
            for text in lines.to_pylist()
        ]
        for candidates in (active, None)
    )
    assert with_gold == [*without, "Ve Anna"]


def test_they_are_trained_once(trained: Path, documents: Notes, tmp_path: Path) -> None:
    stages = Stages()
    assert train(trained.parent, documents, stages) == trained
    assert stages.names == []


@pytest.mark.parametrize(
    "stage", ["looking up words", "training 2 embeddings", "training clusters"]
)
def test_interrupted_they_are_the_same_in_the_end(
    stage: str, trained: Path, documents: Notes, tmp_path: Path, contents: Contents
) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", documents, Stages(interrupted=stage))
    assert not (tmp_path / "run" / "embeddings" / "trained.json").exists()
    again = Stages()
    again_trained = train(tmp_path / "run", documents, again)
    assert again_trained is not None
    assert contents(again_trained) == contents(trained)
    if stage == "training clusters":
        assert set(again.names) == {stage}


def test_the_seed_of_the_run_decides(trained: Path, documents: Notes, tmp_path: Path) -> None:
    def vectors(folder: Path | None) -> np.ndarray:
        assert folder is not None
        return np.array(Embedding.load(folder / "digits-w1").vectors)

    same, other = (train(tmp_path / f"r{state}", documents, random_state=state) for state in (0, 1))
    assert (vectors(same) == vectors(trained)).all()
    assert (vectors(other) != vectors(trained)).any()


def test_too_few_words_are_told_and_train_nothing(project, tmp_path, caplog) -> None:
    few = notes_of(project)
    with caplog.at_level(logging.WARNING):
        assert train(tmp_path / "run", few) is None
    (message,) = caplog.messages
    assert "distinct words that are frequent enough, and clusters need 1,000" in message
    stages = Stages()
    assert train(tmp_path / "run", few, stages) is None
    assert stages.names == []
    assert [path.name for path in (tmp_path / "run/embeddings").iterdir()] == [
        *(".lock", "trained.json")
    ]


def test_of_a_large_pool_a_sample_of_the_documents_is_used(
    documents: Notes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the annotated documents, and about half of the others."""
    texts = [batch.column("text").to_pylist() for batch in documents.unlabeled.units()]
    characters = len("".join(itertools.chain(*texts)))
    monkeypatch.setattr(automatic, "MAX_CHARACTERS", characters // 2)
    samples = []
    for name in ("one", "two"):
        assert train(tmp_path / name, documents) is not None
        samples.append((tmp_path / name / "embeddings/trained.json").read_bytes())
    assert samples[0] == samples[1]
    pool = (json.loads(samples[0])["documents"] - 60 - 120) / 2  # of two lines each
    assert abs(pool - 350) < 60


def test_problems_of_unlabeled_notes_are_left_to_the_iterations(rich: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(rich, tmp_path / "project"))
    with (folder / "unlabeled.jsonl").open("a") as file:
        file.write("{}\n")
    paths = {name: str(folder / f"{name}.jsonl") for name in ("seed", "validation", "unlabeled")}
    documents = read_notes(DataOptions(**paths, invalid="skip"), batch_size=100)
    before = dict(documents.unlabeled.problems.counts)
    train(tmp_path / "run", documents)
    assert dict(documents.unlabeled.problems.counts) == before


def test_a_run_trains_its_clusters_and_its_model_needs_them_no_more(
    rich: Path, tmp_path: Path, command: Any, monkeypatch: pytest.MonkeyPatch, without_advice
) -> None:
    checked = command("check", rich / "config.toml", *AUTO[:2])
    assert checked.code == 0, checked
    folder = tmp_path / "run"
    arguments = ("run", rich / "config.toml", "--out", folder, *AUTO)
    done = command(*arguments)
    assert done.code == 0, done
    settings = tomllib.loads((folder / "config.toml").read_text())
    assert settings["tagger"]["clusters"] == "auto"
    model = json.loads((folder / "iterations/001/model/model.json").read_text())
    assert [name for table in model["clusters"] for name in table["names"]] == CLUSTERINGS
    for path in folder.rglob("*"):
        if not path.is_symlink():
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    # A resumed run uses what is there.
    (folder / "iterations/001/metrics.json").unlink()
    monkeypatch.setattr(embeddings, "_train", None)
    before = (folder / "iterations/000/metrics.json").read_bytes()
    done = command(*arguments, "--resume")
    assert done.code == 0, done
    assert (folder / "iterations/000/metrics.json").read_bytes() == before
    texts = [document.text for document in bootstrap.read(rich / "validation.jsonl")]
    before = [tagged.spans for tagged in bootstrap.load(folder).tag(texts)]
    shutil.rmtree(folder / "embeddings")
    assert [tagged.spans for tagged in bootstrap.load(folder).tag(texts)] == before
    assert any(before)


def test_a_run_with_too_few_words_goes_on_without_clusters(
    project, tmp_path, command, without_advice
) -> None:
    done = command("run", project / "config.toml", "--out", tmp_path / "run", *AUTO)
    assert done.code == 0, done
    assert done.err.count('clusters = "auto" has no effect') == 1
    model = json.loads((tmp_path / "run/best/model/model.json").read_text())
    assert model["clusters"] == []


@pytest.mark.slow
def test_a_run_that_is_killed_ends_with_the_same_embeddings(
    rich: Path, tmp_path: Path, launch: Any, contents: Contents
) -> None:
    def start(folder: Path) -> Any:
        return launch.start("run", rich / "config.toml", "--out", folder, "--resume", *AUTO)

    assert launch.finish(start(tmp_path / "whole")).code == 0
    folder = tmp_path / "killed"
    for awaited in (
        ".notes/notes.json",
        ".digits-w1/checkpoint/*/*.json",
        "*/clusters-16.json",
    ):
        process = start(folder)
        # `Path.glob` fails where a folder is renamed while it looks.
        pattern = f"{folder}/embeddings/{awaited}"
        while not glob.glob(pattern, include_hidden=True) and process.poll() is None:  # noqa: PTH207
            time.sleep(0.002)
        process.kill()
        assert launch.finish(process).code in (0, -signal.SIGKILL)
    assert launch.finish(start(folder)).code == 0
    assert contents(folder) == contents(tmp_path / "whole")
