"""Opening of run folders: new ones, and existing ones with the same configuration and data.

A run is locked against other processes while it is open.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomli_w

from bootstrap.config.configuration import Configuration
from bootstrap.data.preparation import fingerprint
from bootstrap.runs.folder import Run
from bootstrap.runs.records import RunError
from corpus.storage.atomic import create_folder, folder_lock, is_partial, write_atomically
from corpus.storage.fields import flattened
from corpus.storage.tables import table_bytes


@contextlib.contextmanager
def opened_run(folder: Path, configuration: Configuration, *, resume: bool) -> Iterator[Run]:
    """Create a run folder, or open one to resume, and lock it against other processes.

    With `resume`, the run in the folder is continued; without one, a new run is started.

    Yields
    ------
    Run
        The run, without the incomplete files of an interrupted process.

    Raises
    ------
    RunError
        If the run exists and `resume` is false, or if its configuration or data differ.
    InputError
        If the data cannot be read, or if another process works on the run.
    """
    run = Run(folder)
    data = fingerprint(configuration.data, configuration.training_files())
    if not (resume and run.has_begun()):
        run = new_folder(folder)
    with folder_lock(folder, "run"):
        if run.has_begun() and not resume:  # by another process, a moment ago
            raise RunError(f"{folder} is a run already; continue with --resume")
        if run.has_begun():
            refuse_other_configuration(run, configuration)
            refuse_other_data(folder, run.data(), data)
            run.verify(to_resume=True)
            run.discard_open()
            _update_rules(run, configuration)
            run.summarise()  # the process may have been killed before it did so
        else:
            run.begin(configuration.to_toml(), data)
        yield run


def new_folder(folder: Path) -> Run:
    """Create a run folder that only its owner can access, or reuse an empty one.

    Raises
    ------
    RunError
        If the folder contains a run or other files.
    """
    run = Run(folder)
    if folder.exists() and (not folder.is_dir() or run.has_begun() or _foreign_files(folder)):
        what = (
            "is a run already; continue with --resume, or"
            if folder.is_dir() and run.has_begun()
            else "exists already and is not a run;"
        )
        raise RunError(f"{folder} {what} name another folder with --out")
    create_folder(folder)
    return run


def _foreign_files(folder: Path) -> list[Path]:
    """Return the files of a folder that do not belong to a run interrupted at its start."""
    own = ("iterations", "environment.json", "data.parquet", ".lock")
    return [path for path in folder.iterdir() if path.name not in own and not is_partial(path)]


def refuse_other_configuration(run: Run, configuration: Configuration) -> None:
    """Check that a run was started with a configuration.

    Raises
    ------
    RunError
        If it was started with another one; the message names the first setting that differs.
    """
    tables = run.configuration()
    if ("active" in tables) != (configuration.active is not None):
        command = "active" if "active" in tables else "run"
        raise RunError(
            f"{run.folder} was started by `bootstrap {command}`; resume it with that command, or "
            "name another folder with --out"
        )
    remedy = "resume it with the same configuration, or "
    refuse_different(tables, configuration.as_dict(), f"{run.folder}", remedy, _may_change)


def refuse_different(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    where: str,
    remedy: str = "",
    may_change: Callable[[str, Any], bool] = lambda name, before: False,
) -> None:
    """Raise a `RunError` that names the first setting of tables that differs, unless it may."""
    old, new = flattened(before), flattened(now)
    for name in {**old, **new}:
        if old.get(name) != new.get(name) and not may_change(name, old.get(name)):
            raise RunError(
                f"{where} was started with {name} = {_shown(old, name)}, not "
                f"{_shown(new, name)}; {remedy}name another folder with --out"
            )


def rename_files(run: Run, before: Path, now: Path) -> None:
    """Write the description of a run whose files have been moved to another folder with it."""

    def renamed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: renamed(item) for key, item in value.items()}
        if isinstance(value, str) and Path(value).is_relative_to(before):
            return str(now / Path(value).relative_to(before))
        return value

    if before == now:
        return
    table = run.data()
    files = pa.array(map(renamed, table["file"].to_pylist()), pa.string())
    column = table.schema.get_field_index("file")
    table = table.set_column(column, table.schema.field(column), files)
    # Killed between the two, the run is renamed again.
    write_atomically(run.data_file, table_bytes(table))
    run.save_configuration(tomli_w.dumps(renamed(run.configuration())))


def _shown(settings: Mapping[str, Any], name: str) -> str:
    return repr(settings[name]) if name in settings else "nothing"


def _update_rules(run: Run, configuration: Configuration) -> None:
    """Update the configuration of a run that is resumed with other rules for invalid input."""
    if not run.is_finished() and flattened(run.configuration()) != flattened(
        configuration.as_dict()
    ):
        run.save_configuration(configuration.to_toml())


def _may_change(name: str, before: Any) -> bool:
    """Return whether a setting may change: one without an effect on what was done before."""
    if name == "execution.cluster":
        return True
    return name in ("data.conflicts", "data.invalid") and before == "stop"


def refuse_other_data(
    folder: Path,
    before: pa.Table,
    now: pa.Table,
    *,
    what: str = "run",
    remedy: str = "resume it with the same files, or name another folder with --out",
) -> None:
    """Compare tables of `bootstrap.data.preparation.fingerprint`, before and now.

    `what` was started in the folder, and `remedy` is what to do.

    Raises
    ------
    RunError
        If a file has changed; the message names the first one.
    """
    earlier, present = (
        {(row["split"], row["file"]): row["blake2b"] for row in table.to_pylist()}
        for table in (before, now)
    )
    for split, file in {**earlier, **present}:
        old, new = earlier.get((split, file)), present.get((split, file))
        if old != new:
            change = "is gone" if new is None else "is new" if old is None else "has changed"
            raise RunError(
                f"{folder}: {split} file {file} {change} since the {what} was started; {remedy}"
            )
