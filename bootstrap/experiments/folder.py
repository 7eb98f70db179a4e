"""The folder of an experiment: its plan, the documents of its runs, and the runs themselves."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomli_w

from bootstrap.config.configuration import as_toml
from bootstrap.config.overrides import ConfigurationError
from bootstrap.data.preparation import fingerprint
from bootstrap.experiments.plan import Plan
from bootstrap.runs.folder import Run
from bootstrap.runs.records import RunError, read_settings, read_table
from bootstrap.runs.resume import refuse_different, refuse_other_data
from corpus.errors import InputError
from corpus.storage.atomic import (
    create_folder,
    folder_lock,
    is_partial,
    remove_partial,
    write_atomically,
)
from corpus.storage.fields import with_digest
from corpus.storage.opening import refuse_links
from corpus.storage.tables import table_bytes

_LONGEST = 60  # characters of the name of a folder
_UNSAFE = re.compile(r"[^\w.=-]+")
_LOCK = ".lock"
#: The content of an experiment's folder. A user's files may have these names, except for the lock.
_OWN = ("documents", "runs", "tables", "report.html", "data.parquet", "experiment.toml", _LOCK)
#: The keys of the plan of an experiment.
_PLAN = ("documents", "splits", "experiment", "data", "variants")


@dataclass(frozen=True, slots=True)
class ExperimentFolder:
    """The folder of an experiment.

    Parameters
    ----------
    folder : Path
        It contains ``experiment.toml``, ``data.parquet``, ``documents/``, ``runs/``, ``tables/``
        and ``report.html``.
    """

    folder: Path

    @property
    def plan_file(self) -> Path:
        """The complete plan of the experiment."""
        return self.folder / "experiment.toml"

    @property
    def data_file(self) -> Path:
        """The files that the experiment reads, and their digests."""
        return self.folder / "data.parquet"

    @property
    def documents_folder(self) -> Path:
        """The documents of the runs."""
        return self.folder / "documents"

    def embeddings_folder(self, split: str) -> Path:
        """Return the folder of the embeddings that all runs of a split share."""
        return self.documents_folder / split / "embeddings"

    def run(self, variant: str, split: str, random_state: int) -> Run:
        """Return the run of a variant on a split with a random state."""
        return Run(self.folder / "runs" / folder_name(variant) / f"{random_state}-{split}")

    def has_begun(self) -> bool:
        """Return whether the folder contains an experiment."""
        return self.plan_file.is_file() and self.data_file.is_file()

    def plan(self) -> dict[str, Any]:
        """Read the plan of the experiment, as it was when a process last worked on it.

        Raises
        ------
        RunError
            If the folder is not an experiment, or the file is damaged or was not written by one.
        """
        if not self.has_begun():
            raise RunError(
                f"{self.folder} is not the folder of an experiment: it has no experiment.toml and "
                "data.parquet"
            )
        tables = read_settings(self.plan_file)
        if lacking := [key for key in _PLAN if key not in tables]:
            raise RunError(
                f"{self.plan_file} is damaged, or is not the plan of an experiment that was begun "
                f"here: it lacks {' and '.join(lacking)}; name another folder"
            )
        return tables

    def save_plan(self, plan: Plan) -> None:
        """Write the plan of the experiment, when its documents and settings have been checked."""
        tables = {"documents": str(self.documents_folder.absolute()), **_described(plan)}
        write_atomically(self.plan_file, with_digest(tomli_w.dumps(tables)))

    def runs(self) -> Iterator[tuple[str, str, int, Run]]:
        """Yield the variant, the split, the random state and the run of each planned run."""
        tables = self.plan()
        for variant in tables["variants"]:
            for state in tables["experiment"]["random_states"]:
                for split in tables["splits"]:
                    run = self.run(variant, split, state)
                    refuse_links(run.folder, self.folder)
                    yield variant, split, state, run


def folder_name(variant: str) -> str:
    """Return the name of the folder of a variant's runs."""
    plain = _UNSAFE.sub("-", variant).strip("-.")
    if plain and len(plain) <= _LONGEST:
        return plain
    digest = hashlib.blake2b(variant.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return f"{plain[:_LONGEST]}-{digest}".lstrip("-")


@contextlib.contextmanager
def read_run(run: Run) -> Iterator[None]:
    """Add to the error of a damaged run how it is carried out again.

    Raises
    ------
    RunError
        If a file of the run is damaged or missing.
    """
    try:
        yield
    except InputError as error:
        raise RunError(f"{error}; remove {run.folder} to carry the run out again") from None


def is_scored(run: Run) -> bool:
    """Return whether a run has ended and its last model has been scored on the test documents."""
    if not run.has_begun() or not run.is_finished():
        return False
    return run.test_counts(len(run.metrics()) - 1) is not None


def _refuse_shared_folders(plan: Plan) -> None:
    """Refuse variants whose folders would have the same name on some file systems."""
    names: dict[str, str] = {}
    for variant in plan.variants:
        other = names.setdefault(folder_name(variant.name).casefold(), variant.name)
        if other != variant.name:
            raise ConfigurationError(
                f"{plan.source.file}: variants {other} and {variant.name} would have "
                "the same folder; rename one of them"
            )


@contextlib.contextmanager
def opened_experiment(folder: Path, plan: Plan) -> Iterator[ExperimentFolder]:
    """Create the folder of an experiment, or open it to continue, and lock it.

    Variants, random states and points of the grid may be added to an experiment, or removed from
    it. The plan is not written: see `ExperimentFolder.save_plan`.

    Yields
    ------
    ExperimentFolder

    Raises
    ------
    RunError
        If the folder contains something else, if the experiment divides its documents in another
        way, or if they have changed.
    InputError
        If another process works on it.
    ConfigurationError
        If two variants would have the same folder.
    """
    _refuse_shared_folders(plan)
    experiment = ExperimentFolder(folder)
    data = fingerprint(plan.data)
    _create(experiment)
    with folder_lock(folder, "experiment"):
        remove_partial(folder)
        if experiment.has_begun():
            _refuse_other_plan(experiment, plan)
            refuse_other_data(folder, read_table(experiment.data_file), data, what="experiment")
        else:  # the leftovers of a refused attempt are of no use
            shutil.rmtree(experiment.documents_folder, ignore_errors=True)
            write_atomically(experiment.data_file, table_bytes(data))
        yield experiment


def _create(experiment: ExperimentFolder) -> None:
    folder = experiment.folder
    if folder.exists() and not experiment.has_begun():
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else [folder.name]
        others = any(name not in _OWN and not is_partial(Path(name)) for name in names)
        if others or (names and _LOCK not in names):
            raise RunError(
                f"{folder} exists already and is not an experiment; name another folder with --out"
            )
    create_folder(folder)


def _described(plan: Plan) -> dict[str, Any]:
    """Return the plan as tables of TOML."""
    variants = {
        variant.name: {
            "method": variant.method,
            **({"seed": asdict(variant.seed)} if variant.seed else {}),
            **variant.tables,
        }
        for variant in plan.variants
    }
    tables = {
        "splits": list(plan.splits),
        "experiment": asdict(plan.options),
        "data": asdict(plan.data),
        **({} if plan.labels is None else {"labels": dict(plan.labels)}),
        "variants": variants,
    }
    return {name: as_toml(value) for name, value in tables.items()}


def _refuse_other_plan(experiment: ExperimentFolder, plan: Plan) -> None:
    """Refuse a plan with another division of documents, or that changes a variant with runs."""
    # The runs themselves name other settings of their variants.
    before, now = experiment.plan(), _described(plan)
    where = f"{experiment.folder}"
    refuse_different(_common(before), _common(now), where)
    for name in dict.fromkeys(name for name, _, _, run in experiment.runs() if run.has_begun()):
        if name in now["variants"]:
            old, new = (
                {key: tables["variants"][name].get(key, {}) for key in ("method", "seed")}
                for tables in (before, now)
            )
            remedy = "give the variant another name, or "
            refuse_different(old, new, f"{where}: variant {name}", remedy)


def _common(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a plan that determine how documents are divided."""
    options = {key: tables["experiment"].get(key) for key in ("folds", "test_text")}
    return {"labels": tables.get("labels", {}), "experiment": options, "data": tables["data"]}
