"""Run folders: complete at every moment, private, and read back as they were written."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bootstrap.runs.folder import Run
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.records import DocumentCounts, RunError
from bootstrap.runs.resume import new_folder
from bootstrap.selection.proportional import ChosenDocuments
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.storage.atomic import folder_lock
from tests.bootstrap.changed_runs import rewrite_manifests
from tests.bootstrap.runs.conftest import same

DATA = pa.table({"split": ["seed"], "file": ["/x"], "bytes": [3], "blake2b": ["00"]})
CLASSES = ("LOCATION", "PERSON")
Close = Callable[..., None]

PARTIAL = "partial-0123456789abcdef"  # how the name of an incomplete file ends


COUNTS = DocumentCounts(
    ("a", "b"), (None, "p"), {"PERSON": np.array([[1, 0, 1], [2, 1, 0]], np.int64)}
)


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """Whatever the umask is, what a run writes itself is private."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def begun(folder: Path) -> Run:
    run = new_folder(folder)
    run.begin("[loop]\n", DATA)
    return run


@pytest.fixture(scope="session")
def close(make_metrics: Callable[..., IterationMetrics]) -> Close:
    """Close iterations of a run: `close(run, 0.5, 0.7)`."""

    def close_iterations(
        run: Run, *f1: float, selected: ChosenDocuments | None = None, **values: Any
    ) -> None:
        for number, value in enumerate(f1, start=len(run.metrics())):
            run.iteration(number).model_folder.mkdir(parents=True)
            (run.iteration(number).model_folder / "model.json").write_text(str(number))
            metrics = make_metrics(iteration=number, f1=value, **values)
            run.close_iteration(number, selected, metrics, COUNTS, [])

    return close_iterations


# Folders


def test_a_new_folder_is_private(tmp_path: Path) -> None:
    run = begun(tmp_path / "deep" / "run")
    assert mode(run.folder) == mode(run.folder / "iterations") == 0o700
    files = [path for path in run.folder.iterdir() if path.is_file()]
    assert {path.name for path in files} == {"config.toml", "data.parquet", "environment.json"}
    assert {mode(path) for path in files} == {0o600}
    assert run.has_begun()
    assert run.data().equals(DATA)
    assert json.loads((run.folder / "environment.json").read_text())["packages"]["numpy"]


def test_an_empty_folder_becomes_a_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o755)
    run = begun(tmp_path / "run")
    assert mode(run.folder) == 0o755  # it is the user's
    assert mode(run.folder / "iterations") == 0o700 and mode(run.config_file) == 0o600


@pytest.mark.parametrize(
    "names",
    [
        ["iterations/"],
        [".lock", "iterations/", "environment.json", f".data.parquet.{PARTIAL}"],
        ["iterations/", "environment.json", "data.parquet", f".config.toml.{PARTIAL}"],
    ],
)
def test_what_a_run_killed_at_its_beginning_left_is_no_obstacle(tmp_path, names) -> None:
    fill(tmp_path / "run", names)
    assert begun(tmp_path / "run").has_begun()


@pytest.mark.parametrize(
    "names",
    [
        ["notes.txt"],
        [".git/"],
        [".profile"],
        ["config.toml"],
        ["iterations/", "environment.json", "mine.json"],
    ],
)
def test_a_folder_with_anything_else_in_it_is_left_alone(tmp_path: Path, names: list[str]) -> None:
    """``config.toml`` alone is what `bootstrap init` writes."""
    folder = tmp_path / "run"
    fill(folder, names)
    folder.chmod(0o755)
    before = sorted(folder.rglob("*"))
    with pytest.raises(
        RunError, match="exists already and is not a run; name another folder with --out"
    ):
        new_folder(folder)
    assert sorted(folder.rglob("*")) == before
    assert mode(folder) == 0o755
    assert not Run(folder).has_begun()


def fill(folder: Path, names: list[str]) -> None:
    folder.mkdir()
    for name in names:
        if name.endswith("/"):
            (folder / name).mkdir()
        else:
            (folder / name).write_text("mine")


def test_a_file_or_a_run_is_no_new_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RunError, match="file exists already and is not a run"):
        new_folder(tmp_path / "file")
    with pytest.raises(InputError, match=r"cannot be created: Not a directory"):
        new_folder(tmp_path / "file" / "run")
    begun(tmp_path / "run")
    with pytest.raises(RunError, match="is a run already; continue with --resume"):
        new_folder(tmp_path / "run")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    run = begun(tmp_path / "run")
    refused = pytest.raises(InputError, match="another process works on this run")
    with folder_lock(run.folder, "run"), refused, folder_lock(run.folder, "run"):
        raise AssertionError("two at a time")
    with folder_lock(run.folder, "run"):
        assert mode(run.folder / ".lock") == 0o600
    with pytest.raises(ZeroDivisionError), folder_lock(run.folder, "run"):
        raise ZeroDivisionError
    with folder_lock(run.folder, "run"):
        pass


# Iterations


def test_metrics_close_an_iteration(tmp_path, close, make_metrics) -> None:
    run = begun(tmp_path / "run")
    assert run.metrics() == []
    assert not run.is_finished()
    close(run, 0.5, 0.7)
    run.iteration(2).model_folder.mkdir(parents=True)  # open
    close_later = run.iteration(3).folder
    close_later.mkdir()
    (close_later / "metrics.json").write_text(
        json.dumps(make_metrics(f1=0.9).to_dict())
    )  # not reached from before
    assert [row.f1 for row in run.metrics()] == [0.5, 0.7]
    assert not run.is_finished()


def test_only_what_was_not_closed_is_discarded(tmp_path: Path, close: Close) -> None:
    run = begun(tmp_path / "run")
    close(run, 0.5, 0.7)
    before = sorted(run.folder.rglob("*"))
    run.discard_open()
    assert sorted(run.folder.rglob("*")) == before
    run.iteration(2).model_folder.mkdir(parents=True)
    (run.iteration(2).folder / f".metrics.json.{PARTIAL}").write_text("half")
    run.discard_open()
    assert sorted(run.folder.rglob("*")) == before


def test_the_best_is_linked_and_the_table_is_complete(tmp_path: Path, close: Close) -> None:
    run = begun(tmp_path / "run")
    with pytest.raises(RunError, match="has no model yet"):
        run.best_model()
    best = []
    for f1 in (0.5, 0.7, 0.6, 0.7):
        close(run, f1)
        best.append((run.folder / "best").readlink().as_posix())
        assert run.best_model() == run.folder / best[-1] / "model"
        assert (run.folder / "best" / "metrics.json").is_file()
    assert best == [f"iterations/{number}" for number in ("000", "001", "001", "001")]
    table = pq.read_table(run.folder / "metrics.parquet")
    assert table["f1"].to_pylist() == [0.5, 0.7, 0.6, 0.7]
    assert table["seconds_tag"].to_pylist() == [1.0] * 4
    assert mode(run.folder / "metrics.parquet") == 0o600


def test_a_run_is_finished_when_its_end_is_written(tmp_path, close) -> None:
    run = begun(tmp_path / "run")
    close(run, 0.5)
    close(run, 0.6)
    assert not run.is_finished() and run.outcome().stopped is None
    run.end("stagnation")
    assert run.is_finished()
    assert run.outcome().stopped == "stagnation"
    shutil.rmtree(run.iteration(1).folder)  # to be repeated
    assert not run.is_finished()


@pytest.mark.parametrize("selects", [False, True])
def test_a_finished_run_has_no_model_of_a_second_view(
    tmp_path: Path, close: Close, selects: bool
) -> None:
    """A run that stops by stagnation has trained it for another iteration."""
    run = begun(tmp_path / "run")
    run.iteration(0).second_folder.mkdir(parents=True)
    close(run, 0.5)
    assert run.iteration(0).second_folder.is_dir()
    if selects:
        run.iteration(1).second_folder.mkdir(parents=True)
    close(run, 0.6)
    run.end("stagnation")
    assert (
        not run.iteration(0).second_folder.exists() and not run.iteration(1).second_folder.exists()
    )
    run.iteration(1).second_folder.mkdir()  # as if it had been killed before it removed it
    assert run.is_finished() and run.outcome().stopped == "stagnation"
    run.discard_open()
    assert run.is_finished() and not run.iteration(1).second_folder.exists()


def test_where_nothing_was_selected_the_table_is_empty(tmp_path, close) -> None:
    run = begun(tmp_path / "run")
    close(run, 0.5, 0.5)
    table = pq.read_table(run.iteration(1).folder / "selected.parquet")
    assert len(table) == 0
    assert "confidence" in table.column_names


@pytest.fixture(scope="module")
def selected(notes: Callable[..., list[Document]]) -> list[ChosenDocuments]:
    """What three iterations selected; the second one nothing."""
    odd = [
        Document("emoji", "Pac 😀 Ànna\u0301 \r\nVic", (Span(6, 11, "PERSON"),), "p1"),
        Document("n2", "\ufeffBOM", ()),
    ]
    batches = [make_batch(some, labelled=True, classes=CLASSES) for some in (notes(9, 5), odd)]
    return [ChosenDocuments(batch, np.linspace(0.85, 1, len(batch))) for batch in batches]


def test_what_was_selected_is_read_back(tmp_path, selected, close) -> None:
    run = begun(tmp_path / "run")
    close(run, 0.5)
    for some in (selected[0], None, selected[1]):
        close(run, 0.6, selected=some)
    for before, after in zip(selected, run.selected(range(4), CLASSES), strict=True):
        assert same(before.batch, after.batch)
        assert (before.confidence == after.confidence).all()
    (last,) = run.selected([3], CLASSES)
    assert same(last.batch, selected[1].batch)
    assert mode(run.iteration(1).folder / "selected.parquet") == 0o600


# Metrics


def test_other_metrics_are_refused_in_one_line(tmp_path: Path, close: Close) -> None:
    run = begun(tmp_path / "run")
    close(run, 0.5)
    path = run.iteration(0).folder / "metrics.json"
    path.write_text('{"f1": 0.5}')
    with pytest.raises(RunError) as refusal:
        rewrite_manifests(run.folder)
    assert str(refusal.value) == f"{path} is not a metrics file"
