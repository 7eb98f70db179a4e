"""Runs in a local store of MLflow, where it is installed."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bootstrap.reports.formats.scalars import scalars_of, time_of
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.run_report import environment_of, settings_of
from corpus.errors import InputError, shown
from corpus.storage.atomic import open_new

#: The database in the folder of a store, and the experiment in it.
STORE, EXPERIMENT = "mlflow.db", "bootstrap"
# What MLflow does not allow in the name of a metric or a parameter, and the length of a value.
_OTHERS = re.compile(r"[^\w.\- /]", re.ASCII)
_LONGEST = 500
_AT_ONCE = 500  # metrics of a request


def require_mlflow() -> None:
    """Raise an `InputError` if MLflow is not installed."""
    # Its database needs SQLAlchemy, which mlflow-skinny lacks.
    if not (find_spec("mlflow") and find_spec("sqlalchemy")):
        raise InputError("--mlflow needs MLflow, which is not installed: pip install mlflow")


def save_runs(records: Iterable[RunRecord], folder: Path) -> None:
    """Add runs to a store of MLflow in a folder.

    Parameters
    ----------
    records : iterable of RunRecord
        The runs. Each becomes a new run of the experiment `EXPERIMENT`.
    folder : Path
        The folder of the store; it is made if necessary.

    Raises
    ------
    InputError
        If MLflow is not installed, or if the store cannot be written.
    """
    require_mlflow()
    # It would report its use to its makers.
    os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    from mlflow import MlflowClient  # noqa: PLC0415 - optional, and slow to load
    from mlflow.exceptions import MlflowException  # noqa: PLC0415

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    store = folder / STORE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            open_new(store).close()  # an empty database, which only its owner can read
        client = MlflowClient(tracking_uri=f"sqlite:///{store.resolve()}")
        for record in records:
            _save(client, record)
        store.chmod(0o600)
    except OSError as error:
        raise InputError(f"{shown(folder)} cannot be written: {error.strerror}") from None
    except MlflowException as error:
        raise InputError(f"{shown(store)} cannot be used: {type(error).__name__}") from None


def _save(client: Any, record: RunRecord) -> None:
    """Add a run to a store: its figures by iteration, its settings and versions."""
    from mlflow.entities import Metric  # noqa: PLC0415

    known = client.get_experiment_by_name(EXPERIMENT)
    experiment = known.experiment_id if known else client.create_experiment(EXPERIMENT)
    times = [int(1000 * time_of(record, row.iteration)) for row in record.rows]
    info = client.create_run(experiment, start_time=times[0], run_name=record.name).info
    metrics = [
        Metric(_name(each.name), each.value, times[each.iteration], each.iteration)
        for each in scalars_of(record)
    ]
    for first in range(0, len(metrics), _AT_ONCE):
        client.log_batch(info.run_id, metrics=metrics[first : first + _AT_ONCE])
    versions = {f"version/{name}": value for name, value in environment_of(record).items()}
    for name, value in {**settings_of(record), **versions}.items():
        client.log_param(info.run_id, _name(name), value[:_LONGEST])
    if record.is_finished:
        client.set_terminated(info.run_id, "FINISHED", times[-1])


def _name(name: str) -> str:
    """Return a name that MLflow accepts."""
    return _OTHERS.sub("_", name)
