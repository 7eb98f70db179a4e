"""The figures of iterations for TensorBoard and MLflow, where they are installed."""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bootstrap.reports.content import numbered
from bootstrap.reports.estimates import ALL
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.parts.errors import kinds_of
from bootstrap.reports.run_report import environment_of, settings_of
from corpus.errors import InputError, quoted
from corpus.storage.atomic import create_folder, open_new, write_atomically

#: The database in the folder of a store, and the experiment in it.
STORE, EXPERIMENT = "mlflow.db", "bootstrap"
# What MLflow does not allow in the name of a metric or a parameter, and the length of a value.
_OTHERS = re.compile(r"[^\w.\- /]", re.ASCII)
_LONGEST = 500
_AT_ONCE = 500  # metrics of a request

#: The file of events in the folder of each run, by which TensorBoard knows them.
EVENTS = "events.out.tfevents.0.bootstrap"


class Scalar(NamedTuple):
    """A number of an iteration; its name is a group, a slash and what it is."""

    name: str
    iteration: int
    value: float


def scalars_of(record: RunRecord) -> Iterator[Scalar]:
    """Yield the numbers of the iterations of a run, in order."""
    for row in record.rows:
        numbers: dict[str, float | None] = {}
        for number, (name, scores) in enumerate(record.estimates(row.iteration).items()):
            shown = quoted(name, f"number {number}")
            group, end = ("validation", "") if name == ALL else ("class", f" {shown}")
            for measure in ("f1", "precision", "recall"):
                numbers[f"{group}/{measure}{end}"] = getattr(scores, measure).value
        numbers |= {
            "documents/selected": row.selected,
            "documents/annotated": row.human_documents,
            "documents/training": row.training_documents,
            "stability/agreement": row.agreement,
            "stability/kappa": row.kappa,
        }
        numbers |= {f"seconds/{stage}": seconds for stage, seconds in row.seconds.items()}
        kinds = kinds_of(record.errors[row.iteration])
        numbers |= {f"errors/{kind}": number for kind, number in kinds.items()}
        for name, value in numbers.items():
            if value is not None:
                yield Scalar(name, row.iteration, float(value))


def require_tensorflow() -> None:
    """Raise an `InputError` if TensorFlow is not installed."""
    if not find_spec("tensorflow"):
        raise InputError(
            "--tensorboard needs TensorFlow, which is not installed: pip install tensorflow"
        )


def write_events(records: Iterable[RunRecord], folder: Path) -> None:
    """Write the numbers of runs as events of TensorBoard: a folder for each run.

    The folder is made if necessary. Events of an earlier export of a run of the same name are
    replaced.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    import tensorflow as tf  # noqa: PLC0415 - optional, and slow to load

    # `tf.summary.scalar` would need TensorBoard, too.
    metadata = tf.compat.v1.SummaryMetadata(plugin_data={"plugin_name": "scalars"})
    try:
        for name, record in numbered(
            (folder_name(record.name), record) for record in records
        ).items():
            create_folder(folder / name)
            with TemporaryDirectory() as written:  # TensorFlow names its file after the machine
                writer = tf.summary.create_file_writer(written)
                with writer.as_default():
                    for scalar in scalars_of(record):
                        value = tf.constant(scalar.value, tf.float32)
                        tf.summary.write(scalar.name, value, scalar.iteration, metadata)
                writer.close()
                (file,) = Path(written).iterdir()
                write_atomically(folder / name / EVENTS, file.read_bytes())
    except (OSError, tf.errors.OpError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        raise InputError(f"{folder} cannot be written") from None


def folder_name(name: str) -> str:
    """Return a name for a folder: without separators, and not hidden."""
    plain = "".join(
        character if character.isprintable() and character not in '/\\:*?"<>|' else "_"
        for character in name
    )
    return plain.lstrip(".") or "_"


def require_mlflow() -> None:
    """Raise an `InputError` if MLflow is not installed."""
    # Its database needs SQLAlchemy, which mlflow-skinny lacks.
    if not (find_spec("mlflow") and find_spec("sqlalchemy")):
        raise InputError("--mlflow needs MLflow, which is not installed: pip install mlflow")


def save_runs(records: Iterable[RunRecord], folder: Path) -> None:
    """Add runs to a store of MLflow in a folder, which is made if necessary.

    Each becomes a new run of the experiment `EXPERIMENT`.

    Raises
    ------
    InputError
        If the store cannot be written.
    """
    # It would report its use to its makers.
    os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    from mlflow import MlflowClient  # noqa: PLC0415 - optional, and slow to load
    from mlflow.exceptions import MlflowException  # noqa: PLC0415

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    store = folder / STORE
    try:
        create_folder(folder)
        with suppress(FileExistsError):
            open_new(store).close()  # an empty database, which only its owner can read
        client = MlflowClient(tracking_uri=f"sqlite:///{store.resolve()}")
        for record in records:
            _save(client, record)
        store.chmod(0o600)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None
    except MlflowException as error:
        raise InputError(f"{store} cannot be used: {type(error).__name__}") from None


def _save(client: Any, record: RunRecord) -> None:
    """Add a run to a store: its figures by iteration, its settings and versions."""
    from mlflow.entities import Metric  # noqa: PLC0415

    known = client.get_experiment_by_name(EXPERIMENT)
    experiment = known.experiment_id if known else client.create_experiment(EXPERIMENT)
    files = (record.run.iteration(row.iteration).folder / "metrics.json" for row in record.rows)
    times = [int(1000 * file.stat().st_mtime) for file in files]  # when they were closed
    info = client.create_run(experiment, start_time=times[0], run_name=record.name).info
    metrics = [
        Metric(_name(scalar.name), scalar.value, times[scalar.iteration], scalar.iteration)
        for scalar in scalars_of(record)
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
