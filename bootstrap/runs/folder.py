"""Run folders: private, locked, and consistent at every moment.

Every file is written under a temporary name and then renamed. ``metrics.json`` is written last and
closes an iteration, with the digests of its files; an iteration that is not closed is repeated.
The files beside the iterations have their own digests.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pyarrow as pa

from bootstrap.advice.words import Missed, most_missed
from bootstrap.config.tagger_sections import SEED
from bootstrap.data.pattern_trust import PatternTrust
from bootstrap.execution.environment import environment
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.runs.iteration_folder import (
    BASELINE,
    BASELINE_TEST,
    ERRORS,
    QUERIED,
    SELECTED,
    VALIDATION,
    IterationFolder,
)
from bootstrap.runs.metrics import IterationMetrics, f1_of, flat_row
from bootstrap.runs.outcome import Outcome, final_lines, outcome_of, outcome_on_test
from bootstrap.runs.records import (
    DocumentCounts,
    RunError,
    documents_table,
    errors_table,
    load_documents,
    load_errors,
    read_settings,
    read_table,
)
from bootstrap.selection.proportional import ChosenDocuments
from bootstrap.self_training.stopping import best_iteration
from corpus.errors import InputError
from corpus.evaluation.error_analysis import EntityError
from corpus.storage.atomic import remove_partial, write_atomically, write_link
from corpus.storage.fields import with_digest
from corpus.storage.manifest import manifest_bytes, read_manifest
from corpus.storage.opening import RUN, check_folder
from corpus.storage.tables import table_bytes

#: What the description of the final model has, as `final_lines` takes it.
_OF_FINAL = ("iteration", "documents", "pseudo_labelled")


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder.

    Parameters
    ----------
    folder : Path
        It contains ``config.toml``, ``environment.json``, ``data.parquet``, ``patterns.json``,
        ``iterations/NNN``, ``final``, ``metrics.parquet``, ``advice.json``, ``annotate.txt``,
        ``report.html`` and ``best``, a link to the best iteration (where links are not allowed, a
        text file with its path).
    """

    folder: Path

    @property
    def config_file(self) -> Path:
        """The complete configuration of the run."""
        return self.folder / "config.toml"

    @property
    def data_file(self) -> Path:
        """The files that the run reads, and their digests."""
        return self.folder / "data.parquet"

    @property
    def environment_file(self) -> Path:
        """The versions of Python and of the packages that the run was started with."""
        return self.folder / "environment.json"

    @property
    def metrics_file(self) -> Path:
        """The metrics of all closed iterations as a table."""
        return self.folder / "metrics.parquet"

    @property
    def counts_file(self) -> Path:
        """The counts of all words of the unlabeled notes, if an initial model needs them."""
        return self.folder / "words.parquet"

    @property
    def embeddings_folder(self) -> Path:
        """The embeddings and clusters that the run trains, if a tagger needs them."""
        return self.folder / "embeddings"

    @property
    def batches_folder(self) -> Path:
        """The tokenized batches of a run that relabels; removed when the run is finished."""
        return self.folder / "batches"

    def iteration(self, iteration: int) -> IterationFolder:
        """Return the files of an iteration."""
        return IterationFolder(self.folder / "iterations" / f"{iteration:03d}")

    @property
    def patterns_file(self) -> Path:
        """What was decided about the patterns before the taggers."""
        return self.folder / "patterns.json"

    def save_patterns(self, decisions: Sequence[PatternTrust]) -> None:
        """Write what was decided about patterns."""
        rows = msgspec.to_builtins(list(decisions))
        write_atomically(self.patterns_file, manifest_bytes({"patterns": rows}))

    def patterns(self) -> list[PatternTrust]:
        """Read what was decided about patterns.

        Raises
        ------
        RunError
            If the file is damaged.
        """
        if not self.patterns_file.exists():
            return []
        try:
            rows = read_manifest(self.patterns_file).fields.value("patterns")
            return msgspec.convert(rows, list[PatternTrust])
        except (InputError, ValueError):
            raise RunError(f"{self.patterns_file} is damaged") from None

    @property
    def ended_file(self) -> Path:
        """The file that ends a run, with the reason."""
        return self.folder / "ended.json"

    @property
    def lists_folder(self) -> Path:
        """The folder of the tagger of lists, a view of some strategies."""
        return self.folder / "lists"

    @property
    def list_model_folder(self) -> Path:
        """The model of lists whose tags are features, if a tagger needs it."""
        return self.folder / "list-model"

    def begin(self, configuration: str, data: pa.Table) -> None:
        """Write the description of a run; the configuration, written last, completes it."""
        remove_partial(self.folder)
        (self.folder / "iterations").mkdir(mode=0o700, exist_ok=True)
        write_atomically(self.environment_file, manifest_bytes(environment()))
        write_atomically(self.data_file, table_bytes(data))
        self.save_configuration(configuration)

    def save_configuration(self, configuration: str) -> None:
        """Write the complete configuration, in TOML."""
        write_atomically(self.config_file, with_digest(configuration))

    def has_begun(self) -> bool:
        """Return whether the folder contains a run, when all of it has been checked.

        Raises
        ------
        InputError
            If it contains links and the like, or exceeds its budget; see `check_folder`.
        """
        # A configuration alone is what `bootstrap init` writes.
        begun = self.config_file.is_file() and self.data_file.is_file()
        if begun:
            check_folder(self.folder, RUN)
        return begun

    def configuration(self) -> dict[str, Any]:
        """Read the tables of the configuration of the run.

        Raises
        ------
        RunError
            If the file is damaged or has changed.
        """
        return read_settings(self.config_file)

    @property
    def start(self) -> str:
        """What self-training is compared with, in words."""
        kind = self.configuration().get("initial_model", {}).get("kind", SEED)
        return "the seed alone" if kind == SEED else f"the {kind} model alone"

    def data(self) -> pa.Table:
        """Read the table of the data files, from `bootstrap.data.preparation.fingerprint`."""
        return read_table(self.data_file)

    def metrics(self) -> list[IterationMetrics]:
        """Read the metrics of the closed iterations, in order.

        Raises
        ------
        RunError
            If the folder is not a run, or a file is damaged.
        """
        if not self.has_begun():
            raise RunError(
                f"{self.folder} is not the folder of a run: it has no config.toml and data.parquet"
            )
        self.configuration()  # refuses a file that has changed
        rows: list[IterationMetrics] = []
        while (iteration := self.iteration(len(rows))).is_closed():
            rows.append(iteration.metrics())
        return rows

    def verify(self, *, to_resume: bool = False) -> int:
        """Compare the files of the run with their digests.

        Parameters
        ----------
        to_resume : bool
            Whether to compare only what a resumed run reads: of the models, the last and the best
            one. A last iteration whose metrics are missing is repeated.

        Returns
        -------
        int
            The number of files.

        Raises
        ------
        InputError
            If a file is missing, or has changed since it was written.
        """
        rows = self.metrics()  # which reads the configuration
        self.data()
        read_manifest(self.environment_file)
        own = 3 + (self.stopped() is not None) + bool(self.patterns())
        if self.metrics_file.exists():
            own += 1
            if not to_resume and len(read_table(self.metrics_file)) > len(rows):
                raise RunError(f"{self.iteration(len(rows)).metrics_file} is missing")
        used = {len(rows) - 1, best_iteration(f1_of(rows))} if rows else set()
        checked = [
            self.iteration(row.iteration).verify(with_model=not to_resume or row.iteration in used)
            for row in rows
        ]
        if self.final.is_closed():
            checked.append(self.final.verify(with_model=True))
        return own + sum(checked)

    def is_finished(self) -> bool:
        """Return whether the run has ended."""
        return self.stopped() is not None

    def stopped(self) -> str | None:
        """Return why the run has ended: a key of `STOPPED`; None if it has not."""
        if not self.ended_file.exists():
            return None
        record = read_manifest(self.ended_file).description
        is_last = record.get("iterations") == len(self.metrics())
        return str(record.get("reason")) if is_last else None

    def end(self, reason: str) -> None:
        """Write why the run has ended, and remove what only further iterations need."""
        record = {"reason": reason, "iterations": len(self.metrics())}
        write_atomically(self.ended_file, manifest_bytes(record))
        self.remove_unneeded()

    def remove_unneeded(self) -> None:
        """Remove what only further iterations need, such as the notes of batches."""
        shutil.rmtree(self.batches_folder, ignore_errors=True)
        self._remove_second(len(self.metrics()) - 1)

    def discard_open(self) -> None:
        """Remove the temporary files of an interrupted run, and its open iteration but for models.

        Raises
        ------
        RunError
            If later iterations follow the open one, which no interrupted run leaves.
        """
        still_open = len(self.metrics())
        folder = self.iteration(still_open).folder
        if self.iteration(still_open + 1).folder.exists():
            raise RunError(
                f"{folder} has no metrics.json, and later iterations exist; restore the file, or "
                "remove this and all later iterations to repeat them"
            )
        remove_partial(self.folder)
        self.iteration(still_open).discard()
        if self.is_finished():  # the process may have been killed before it did so
            self.remove_unneeded()

    def close_iteration(
        self,
        iteration: int,
        selected: ChosenDocuments | None,
        metrics: IterationMetrics,
        validation: DocumentCounts,
        errors: Sequence[EntityError],
        *,
        baseline: Mapping[str, DocumentCounts] = MappingProxyType({}),
        queried: ChosenDocuments | None = None,
    ) -> None:
        """Write the documents, counts and metrics of an iteration, which close it.

        Parameters
        ----------
        iteration, selected, metrics
            The number of the iteration, the documents that it selected, and its metrics.
        validation, errors
            The counts of strict entities in each validation document, and the errors in all.
        baseline : mapping of str to DocumentCounts, optional
            The counts of the seed alone by the names of their files, if this is iteration 0 with
            another model.
        queried : ChosenDocuments, optional
            The documents that were annotated in this iteration.
        """
        folder = self.iteration(iteration)
        tables = {
            SELECTED: documents_table(selected, iteration),
            VALIDATION: validation.to_table(),
            ERRORS: errors_table(errors, validation.ids),
            QUERIED: documents_table(queried, iteration) if queried is not None else None,
            **{name: counts.to_table() for name, counts in baseline.items()},
        }
        folder.close(tables, metrics.to_dict())
        if iteration:  # only the last iteration is continued
            self._remove_second(iteration - 1)
        self.summarise()

    def _remove_second(self, iteration: int) -> None:
        """Remove the model of the second view of an iteration that is not continued."""
        shutil.rmtree(self.iteration(iteration).second_folder, ignore_errors=True)

    def summarise(self) -> None:
        """Write ``metrics.parquet`` and ``best`` from the closed iterations, if there are any."""
        rows = self.metrics()
        if not rows:
            self.metrics_file.unlink(missing_ok=True)  # of an iteration that is repeated
            return
        flat = [flat_row(row.to_dict()) for row in rows]
        names = list(dict.fromkeys(name for row in flat for name in row))
        table = pa.table({name: [row.get(name) for row in flat] for name in names})
        write_atomically(self.metrics_file, table_bytes(table))
        best = best_iteration(f1_of(rows))
        write_link(self.folder / "best", Path("iterations") / f"{best:03d}")

    def outcome(self) -> Outcome:
        """Compute the gain of the closed iterations on the validation documents."""
        baseline, stopped = self._seed_alone(BASELINE), self.stopped()
        return outcome_of(self.metrics(), self.validation_counts, baseline, stopped=stopped)

    def headline(self) -> Outcome:
        """Compute the gain on the test documents if they are scored, and else on validation."""
        on_test = outcome_on_test(
            self.metrics(),
            self.test_counts,
            self._seed_alone(BASELINE_TEST),
            self.final.test_counts(),
            stopped=self.stopped(),
        )
        return on_test or self.outcome()

    def _seed_alone(self, name: str) -> DocumentCounts | None:
        path = self.iteration(0).file(name)
        return DocumentCounts.load(path) if path else None

    def validation_counts(self, iteration: int) -> DocumentCounts:
        """Read the counts of an iteration in each validation document."""
        return DocumentCounts.load(self.iteration(iteration).folder / VALIDATION)

    def test_counts(self, iteration: int) -> DocumentCounts | None:
        """Read the counts of an iteration in each test document, if it has any."""
        return self.iteration(iteration).test_counts()

    def errors(self, iteration: int) -> list[EntityError]:
        """Read the errors of an iteration on the validation documents."""
        return load_errors(self.iteration(iteration).folder / ERRORS)

    def missed(self) -> list[Missed]:
        """Return the classes whose entities the best iteration misses most."""
        best = self.best_iteration()
        return most_missed(self.validation_counts(best).class_counts(), self.errors(best))

    def best_iteration(self) -> int:
        """Return the number of the best iteration.

        Raises
        ------
        RunError
            If no iteration is closed yet.
        """
        rows = self.metrics()
        if not rows:
            raise RunError(f"{self.folder} has no model yet: its first iteration is not closed")
        return best_iteration(f1_of(rows))

    def best_model(self) -> Path:
        """Return the model folder of the best iteration.

        Raises
        ------
        RunError
            If no iteration is closed yet, or the model belongs to another one.
        """
        best = self.best_iteration()
        self.iteration(best).verify_description_of_model()
        return self.iteration(best).model_folder

    @property
    def final(self) -> IterationFolder:
        """The files of the final model."""
        return IterationFolder(self.folder / "final")

    def save_final_model(
        self, tagger: ParallelTagger, iteration: int, documents: int, pseudo_labelled: int
    ) -> None:
        """Move a model to its place as the final one.

        Parameters
        ----------
        tagger : ParallelTagger
            The model.
        iteration : int
            The iteration whose model was trained once more.
        documents, pseudo_labelled : int
            The number of training documents, and how many of them are pseudo-labelled.
        """
        final = self.final
        shutil.rmtree(final.folder, ignore_errors=True)  # of a process that was killed meanwhile
        final.folder.mkdir(mode=0o700)
        tagger.move(final.model_folder)
        numbers = (iteration, documents, pseudo_labelled)
        final.close({}, dict(zip(_OF_FINAL, numbers, strict=True)))

    def final_model(self) -> Path | None:
        """Return the folder of the final model, if the run has one.

        Raises
        ------
        RunError
            If it has changed since it was written.
        """
        if not self.final.is_closed():
            return None
        self.final.verify_description_of_model()
        return self.final.model_folder

    def final_lines(self) -> list[str]:
        """Describe the final model; no lines if the run has none."""
        if not self.final.is_closed():
            return []
        record = read_manifest(self.final.metrics_file).fields
        numbers = (record.integer(key, least=0, most=2**53) for key in _OF_FINAL)
        return final_lines(*numbers)

    def model(self) -> Path:
        """Return the folder of the model to tag with: the final one, or that of `best_model`."""
        return self.final_model() or self.best_model()

    def queried(self, classes: Sequence[str]) -> list[ChosenDocuments]:
        """Read the documents that were annotated in each round of the closed iterations."""
        rows = self.metrics()
        return [self._documents(row.iteration, QUERIED, classes) for row in rows if row.queried]

    def selected(self, iterations: Iterable[int], classes: Sequence[str]) -> list[ChosenDocuments]:
        """Read the documents that were selected in iterations, where there were any."""
        parts = [self._documents(iteration, SELECTED, classes) for iteration in iterations]
        return [part for part in parts if len(part)]

    def _documents(self, iteration: int, name: str, classes: Sequence[str]) -> ChosenDocuments:
        return load_documents(self.iteration(iteration).folder / name, classes)
