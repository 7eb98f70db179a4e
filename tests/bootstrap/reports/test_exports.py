"""Runs for TensorBoard and MLflow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.reports.exports import folder_name
from bootstrap.runs.folder import Run
from tests.bootstrap.refusals import refusal

Command = Callable[..., Any]


def read_values(folder: Path) -> dict[tuple[str, int], float]:
    """Read the events of a folder with TensorFlow."""
    from tensorflow import make_ndarray
    from tensorflow.python.summary.summary_iterator import summary_iterator

    (path,) = folder.iterdir()
    return {
        (value.tag, event.step): float(make_ndarray(value.tensor))
        for event in summary_iterator(str(path))
        for value in event.summary.value
    }


def test_events_have_the_figures_of_the_iterations(finished, tmp_path, command) -> None:
    pytest.importorskip("tensorflow")
    folder = tmp_path / "logs"
    runs = (finished, f"a/b={finished}", f"a:b={finished}")
    for _ in range(2):  # another export replaces the files
        done = command("report", *runs, "-o", tmp_path / "page.html", "--tensorboard", folder)
        assert done.code == 0, done
    assert sorted(path.name for path in folder.iterdir()) == ["a_b", "a_b-2", "run"]
    values = read_values(folder / "a_b-2")
    for row in Run(finished).metrics():
        assert values["validation/f1", row.iteration] == pytest.approx(row.f1)
        recall = row.classes["PERSON"].recall
        assert values["class/recall PERSON", row.iteration] == pytest.approx(recall)
        assert values["documents/selected", row.iteration] == row.selected
    missed = sum(error.kind == "missed" for error in Run(finished).errors(1))
    assert values["errors/missed", 1] == missed
    assert ("stability/kappa", 0) not in values


@pytest.mark.parametrize("name", ["..", ".", "../../x", "a\nb", "/etc", "", "a b", "C:\\x"])
def test_a_name_is_no_path(name: str) -> None:
    folder = folder_name(name)
    assert folder and folder not in (".", "..") and folder.isprintable()
    assert Path(folder).name == folder


@pytest.mark.parametrize(("option", "name"), [("mlflow", "MLflow"), ("tensorboard", "TensorFlow")])
def test_without_the_library_one_line_names_it(
    finished, tmp_path, command, monkeypatch, option, name
) -> None:
    monkeypatch.setattr("bootstrap.reports.exports.find_spec", lambda name: None)
    page = tmp_path / "page.html"
    refused = command("report", finished, f"--{option}", tmp_path / "store", "-o", page)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    expected = f"needs {name}, which is not installed: pip install {name.lower()}"
    assert expected in refused.err
    assert not page.exists() and not (tmp_path / "store").exists()


def test_mlflow_has_the_runs(finished: Path, tmp_path: Path, command: Command) -> None:
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    folder = tmp_path / "store"
    done = command("report", finished, "--mlflow", folder, "-o", tmp_path / "page.html")
    assert done.code == 0, done
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("bootstrap")
    (run,) = client.search_runs([experiment.experiment_id])
    rows = Run(finished).metrics()
    history = client.get_metric_history(run.info.run_id, "validation/f1")
    assert [(metric.step, metric.value) for metric in history] == [
        (r.iteration, r.f1) for r in rows
    ]
    assert run.data.params["loop.patience"] == "5"
    assert run.info.status == "FINISHED"
    (folder / "mlflow.db").write_bytes(b"no database")
    message = refusal(command, "report", finished, "--mlflow", folder, "-o", tmp_path / "page.html")
    assert "mlflow.db cannot be used" in message
