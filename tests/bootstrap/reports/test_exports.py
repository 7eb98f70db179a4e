"""Runs for TensorBoard and MLflow."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bootstrap.reports.formats.event_files import crc32c, event_files
from bootstrap.reports.formats.scalars import folder_name, scalars_of
from bootstrap.reports.groups import RunRecord
from bootstrap.runs.folder import Run

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("data", "checksum"),
    [(bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E)],
)
def test_the_checksum_is_that_of_the_standard(data: bytes, checksum: int) -> None:
    """The examples of RFC 3720, appendix B.4."""
    assert crc32c(data) == checksum


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Read the fields of a message of protocol buffers."""
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(data):
        key = varint()
        match key & 7:
            case 0:
                yield key >> 3, varint()
            case 1:
                yield key >> 3, struct.unpack_from("<d", data, place)[0]
                place += 8
            case 2:
                size = varint()
                yield key >> 3, data[place : place + size]
                place += size
            case 5:
                yield key >> 3, struct.unpack_from("<f", data, place)[0]
                place += 4


def masked(data: bytes) -> int:
    checksum = crc32c(data)
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def events(data: bytes) -> Iterator[dict[int, Any]]:
    """Read the records of an event file and verify their checksums."""
    while data:
        (size, of_size), rest = struct.unpack("<QI", data[:12]), data[12:]
        assert of_size == masked(data[:8])
        event, (of_event,) = rest[:size], struct.unpack("<I", rest[size : size + 4])
        assert of_event == masked(event)
        data = rest[size + 4 :]
        yield dict(fields(event))


def read_values(data: bytes) -> dict[tuple[str, int], float]:
    first, *others = events(data)
    assert first[3] == b"brain.Event:2"
    found = {}
    for event in others:
        for _, value in fields(event[5]):
            parts = dict(fields(value))
            found[parts[1].decode(), event[2]] = parts[2]
    return found


def test_events_have_the_figures_of_the_iterations(
    finished: Path, tmp_path: Path, command: Command
) -> None:
    folder = tmp_path / "logs"
    arguments = ("report", finished, f"a/b={finished}", "-o", tmp_path / "page.html")
    done = command(*arguments, "--tensorboard", folder)
    assert done.code == 0, done
    files = sorted(folder.rglob("events.out.tfevents.*"))
    assert [path.parent.name for path in files] == ["a_b", "run"]
    found = read_values(files[0].read_bytes())
    for row in Run(finished).metrics():
        assert found["validation/f1", row.iteration] == pytest.approx(row.f1)
        assert found["class/recall PERSON", row.iteration] == pytest.approx(
            row.classes["PERSON"].recall
        )
        assert found["documents/selected", row.iteration] == row.selected
    assert ("stability/kappa", 0) not in found
    # Another export replaces the files.
    before = [path.read_bytes() for path in files]
    assert command(*arguments, "--tensorboard", folder).code == 0
    assert [path.read_bytes() for path in sorted(folder.rglob("events.*"))] == before


def test_tensorboard_reads_them(finished: Path, tmp_path: Path) -> None:
    name = "tensorboard.backend.event_processing.event_accumulator"
    pytest.importorskip("tensorboard")
    record = RunRecord.load(Run(finished), "run")
    ((path, data),) = event_files([record]).items()
    target = tmp_path / path
    target.parent.mkdir()
    target.write_bytes(data)
    accumulator = importlib.import_module(name).EventAccumulator(str(target.parent))
    accumulator.Reload()
    shown = [(each.step, each.value) for each in accumulator.Scalars("validation/f1")]
    assert shown == [(row.iteration, pytest.approx(row.f1)) for row in record.rows]


def test_runs_of_alike_names_have_folders_of_their_own(finished: Path) -> None:
    records = [RunRecord.load(Run(finished), name) for name in ("a/b", "a_b", "a:b")]
    assert [path.partition("/")[0] for path in event_files(records)] == ["a_b", "a_b-2", "a_b-3"]


@pytest.mark.parametrize("name", ["..", ".", "../../x", "a\nb", "/etc", "", "a b", "C:\\x"])
def test_a_name_is_no_path(name: str) -> None:
    folder = folder_name(name)
    assert folder and folder not in (".", "..") and folder.isprintable()
    assert Path(folder).name == folder


def test_errors_and_seconds_are_among_the_figures(finished: Path) -> None:
    record = RunRecord.load(Run(finished), "run")
    found = {(each.name, each.iteration): each.value for each in scalars_of(record)}
    errors = record.run.errors(1) or []
    missed = sum(each.error.kind == "missed" for each in errors)
    assert found["errors/missed", 1] == missed
    assert found["seconds/train", 1] == record.rows[1].seconds["train"]


def test_without_mlflow_one_line_names_it(
    finished: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bootstrap.reports.formats.mlflow_store.find_spec", lambda name: None)
    page = tmp_path / "page.html"
    refused = command("report", finished, "--mlflow", tmp_path / "store", "-o", page)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "needs MLflow, which is not installed: pip install mlflow" in refused.err
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
    assert [(each.step, each.value) for each in history] == [(r.iteration, r.f1) for r in rows]
    assert run.data.params["loop.patience"] == "5"
    assert run.info.status == "FINISHED"
    (folder / "mlflow.db").write_bytes(b"no database")
    refused = command("report", finished, "--mlflow", folder, "-o", tmp_path / "page.html")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "mlflow.db cannot be used" in refused.err
