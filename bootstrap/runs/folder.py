"""Runs on disk: a folder that says all of a run, private, locked and complete at every moment.

Every file is written beside its name and then renamed. ``metrics.json`` comes last and closes an
iteration; an iteration that is not closed is made anew.
"""

from __future__ import annotations

import contextlib
import json
import math
import platform
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.runs.outcome import Outcome, outcome_of
from bootstrap.runs.report import report_page
from bootstrap.runs.selected import selected_of, table_of
from bootstrap.self_training import History, Selected, best_iteration
from corpus.errors import InputError
from corpus.storage import folder_lock, is_partial, remove_partial, write_atomically, write_link

_PACKAGES = (
    "bootstrap-ner",
    "gensim",
    "joblib",
    "numba",
    "numpy",
    "pyarrow",
    "python-crfsuite",
    "scikit-learn",
    "scipy",
    "simplemma",
)


class RunError(InputError):
    """A run folder is not what it should be for what is asked of it."""


def _json(value: Any) -> bytes:
    text = json.dumps(_finite(value), ensure_ascii=False, indent=1, allow_nan=False)
    return f"{text}\n".encode()


def _finite(value: Any) -> Any:
    """Put null where JSON has no number: for NaN and infinity."""
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder.

    Parameters
    ----------
    folder : Path
        It holds ``config.toml``, ``environment.json``, ``data.parquet``, ``iterations/NNN``,
        ``metrics.parquet``, ``report.html`` and ``best``, a link to the best iteration (where
        links are not allowed, a text file with its path).
    """

    folder: Path

    @property
    def config_file(self) -> Path:
        """The complete configuration, as used."""
        return self.folder / "config.toml"

    @property
    def data_file(self) -> Path:
        """The files that the run reads, and their digests."""
        return self.folder / "data.parquet"

    @property
    def counts_file(self) -> Path:
        """The counts of all words of the unlabeled notes, where the run starts from them."""
        return self.folder / "words.parquet"

    def iteration_folder(self, iteration: int) -> Path:
        """Give the folder of an iteration."""
        return self.folder / "iterations" / f"{iteration:03d}"

    def model_folder(self, iteration: int) -> Path:
        """Give the folder of an iteration's model."""
        return self.iteration_folder(iteration) / "model"

    def begin(self, configuration: str, data: pa.Table) -> None:
        """Write what a run is of; the configuration comes last and makes the folder a run."""
        remove_partial(self.folder)
        (self.folder / "iterations").mkdir(mode=0o700, exist_ok=True)
        write_atomically(self.folder / "environment.json", _json(_environment()))
        write_atomically(self.data_file, _parquet(data))
        write_atomically(self.config_file, configuration.encode())

    def has_begun(self) -> bool:
        """Say whether the folder is that of a run."""
        # A configuration alone is what `bootstrap init` writes.
        return self.config_file.is_file() and self.data_file.is_file()

    def configuration(self) -> dict[str, Any]:
        """Give the tables of the configuration that the run was begun with."""
        try:
            return tomllib.loads(self.config_file.read_text(encoding="utf-8"))
        except ValueError:
            raise RunError(f"{self.config_file} is damaged: it is not TOML") from None

    @property
    def start_kind(self) -> str:
        """What the run started from: the kind of ``[start]``."""
        kind: str = self.configuration().get("start", {}).get("kind", "seed")
        return kind

    def data(self) -> pa.Table:
        """Give the table of the files that the run reads, as `notes.fingerprint` makes it."""
        return _table(self.data_file)

    def metrics(self) -> list[dict[str, Any]]:
        """Give the metrics of the closed iterations, in order.

        Raises
        ------
        RunError
            If there is no run in the folder.
        """
        if not self.has_begun():
            raise RunError(
                f"{self.folder} is not the folder of a run: it has no config.toml and data.parquet"
            )
        rows = []
        for iteration in range(10**9):
            path = self.iteration_folder(iteration) / "metrics.json"
            if not path.is_file():
                break
            try:
                rows.append(json.loads(path.read_text(encoding="utf-8")))
            except ValueError:
                raise RunError(f"{path} is damaged: it is not JSON") from None
        return rows

    def is_finished(self) -> bool:
        """Say whether the last closed iteration says why it is the last."""
        rows = self.metrics()
        return bool(rows) and rows[-1]["stopped"] is not None

    def discard_open(self) -> None:
        """Remove what a run that was killed left: an open iteration, and files without a name.

        Raises
        ------
        RunError
            If closed iterations come after the open one: no run that was killed leaves them.
        """
        self._refuse_gap()
        remove_partial(self.folder)
        folder = self.iteration_folder(len(self.metrics()))
        if folder.exists():
            shutil.rmtree(folder)

    def _refuse_gap(self) -> None:
        """Raise a `RunError` if iterations are there that come after one that is not closed."""
        still_open = len(self.metrics())
        if self.iteration_folder(still_open + 1).exists():
            raise RunError(
                f"{self.iteration_folder(still_open)} has no metrics.json, and later iterations "
                "are there: put it back, or remove this iteration and all later ones to have them "
                "made again"
            )

    def close_iteration(
        self, iteration: int, selected: Selected | None, metrics: Mapping[str, Any]
    ) -> None:
        """Write what an iteration selected and its metrics, which close it; then the summaries."""
        folder = self.iteration_folder(iteration)
        if not folder.is_dir():  # nothing was selected: the model is that of before
            shutil.copytree(self.model_folder(iteration - 1), folder / "model")
        table = table_of(selected, iteration)
        write_atomically(folder / "selected.parquet", _parquet(table))
        write_atomically(folder / "metrics.json", _json(metrics))
        self.summarise()

    def summarise(self) -> None:
        """Write ``metrics.parquet`` and ``best`` from the closed iterations, if there are any."""
        rows = self.metrics()
        if not rows:
            return
        flat = [flat_row(row) for row in rows]
        names = list(dict.fromkeys(name for row in flat for name in row))
        table = pa.table({name: [row.get(name) for row in flat] for name in names})
        write_atomically(self.folder / "metrics.parquet", _parquet(table))
        best = best_iteration([row["f1"] for row in rows])
        write_link(self.folder / "best", Path("iterations") / f"{best:03d}")

    def write_report(self) -> None:
        """Write ``report.html``."""
        page = report_page(
            self.folder.resolve().name,
            self.metrics(),
            self.outcome(),
            self.config_file.read_text(encoding="utf-8"),
        )
        write_atomically(self.folder / "report.html", page.encode())

    def outcome(self) -> Outcome:
        """Say what the closed iterations gained."""
        return outcome_of(self.metrics())

    def best_model(self) -> Path:
        """Give the model folder of the best iteration.

        Raises
        ------
        RunError
            If no iteration is closed yet.
        """
        rows = self.metrics()
        if not rows:
            raise RunError(f"{self.folder} has no model yet: its first iteration is not closed")
        return self.model_folder(best_iteration([row["f1"] for row in rows]))

    def history(self, keep: str, tagger: ParallelTagger, classes: Sequence[str]) -> History:
        """Read back what the loop must know to go on after the closed iterations.

        Parameters
        ----------
        keep : str
            As in ``[loop] keep``: all iterations' selected documents, or the last ones.
        tagger : ParallelTagger
            The model of the last closed iteration.
        classes : sequence of str
            The classes of the tagger.
        """
        rows = self.metrics()
        wanted = range(len(rows)) if keep == "accumulate" else [len(rows) - 1]
        found = [self._selected(iteration, classes) for iteration in wanted]
        return History(
            f1=tuple(row["f1"] for row in rows),
            tagger=tagger,
            selected=tuple(selected for selected in found if selected is not None),
        )

    def _selected(self, iteration: int, classes: Sequence[str]) -> Selected | None:
        table = _table(self.iteration_folder(iteration) / "selected.parquet")
        if not len(table):
            return None
        return selected_of(table, classes)


def flat_row(metrics: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Write nested metrics as one row: ``seconds.tag`` becomes ``seconds_tag``."""
    row: dict[str, Any] = {}
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            row |= flat_row(value, f"{prefix}{name}_")
        elif not isinstance(value, list):
            row[f"{prefix}{name}"] = value
    return row


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _table(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (OSError, ValueError):  # Arrow's errors are among them
        raise RunError(f"{path} is damaged or not there") from None


def _environment() -> dict[str, Any]:
    versions = {}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": versions,
    }


def new_folder(folder: Path) -> Run:
    """Make a run folder that only its owner can enter; one that is there must not be a run.

    Raises
    ------
    RunError
        If something that is no unfinished beginning of a run is there.
    """
    run = Run(folder)
    if folder.exists() and (not folder.is_dir() or run.has_begun() or _strangers(folder)):
        what = (
            "is a run: go on with it by --resume, or"
            if folder.is_dir() and run.has_begun()
            else "exists already and is no run:"
        )
        raise RunError(f"{folder} {what} name another folder with --out")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise RunError(f"{folder} cannot be made: {error.strerror}") from None
    return run


def _strangers(folder: Path) -> list[Path]:
    """Give what is in a folder that no run killed at its very beginning leaves there."""
    own = ("iterations", "environment.json", "data.parquet", ".lock")
    return [path for path in folder.iterdir() if path.name not in own and not is_partial(path)]


@contextlib.contextmanager
def locked(run: Run) -> Iterator[None]:
    """Keep other processes from working on a run; a process that ends lets go of it.

    Raises
    ------
    RunError
        If another process works on it.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(folder_lock(run.folder))
        except BlockingIOError:
            raise RunError(f"{run.folder}: another process works on this run") from None
        yield
