"""The folder of an iteration: its model, its tables, and the metrics that close it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.records import DocumentCounts, RunError
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import (
    digest_of_content,
    digest_of_file,
    manifest_bytes,
    read_manifest,
)
from corpus.storage.tables import table_bytes
from taggers.model_folder import verify_model

#: The documents that were selected.
SELECTED = "selected.parquet"
#: The documents that were annotated, in active learning.
QUERIED = "queried.parquet"
#: The counts in each validation document.
VALIDATION = "validation.parquet"
#: The counts of the seed alone on validation and test documents, in the folder of iteration 0.
BASELINE, BASELINE_TEST = "validation-seed-alone.parquet", "test-seed-alone.parquet"
#: The counts in each test document. They are written later, and have their own digest.
TEST = "test.parquet"
#: The errors on the validation documents.
ERRORS = "errors.parquet"

_MODEL = "model/model.json"
#: The beginning of the names of the folders in which alternatives are trained.
_ALTERNATIVE = "alternative-"


@dataclass(frozen=True, slots=True)
class IterationFolder:
    """The folder of an iteration, or of the final model."""

    folder: Path

    @property
    def model_folder(self) -> Path:
        """The folder of the model."""
        return self.folder / "model"

    @property
    def second_folder(self) -> Path:
        """The folder of the model of the second view."""
        return self.folder / "second"

    def alternative(self, number: int) -> Path:
        """Make a folder for another model, and return the folder of the model in it."""
        folder = self.folder / f"{_ALTERNATIVE}{number}"
        for path in (self.folder, folder):
            path.mkdir(mode=0o700, exist_ok=True)
        return folder / "model"

    def remove_alternatives(self) -> None:
        """Remove the models that lost the comparison."""
        for folder in self.folder.glob(f"{_ALTERNATIVE}*"):
            shutil.rmtree(folder)

    def discard(self) -> None:
        """Remove the folder but for the models of alternatives, which may be trained."""
        for path in self.folder.glob("*"):
            if path.is_file():
                path.unlink()
            elif not path.name.startswith(_ALTERNATIVE):
                shutil.rmtree(path)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    @property
    def metrics_file(self) -> Path:
        """The file that closes the iteration, with its metrics and the digests of its files."""
        return self.folder / "metrics.json"

    def is_closed(self) -> bool:
        """Return whether the iteration is closed."""
        return self.metrics_file.is_file()

    def close(
        self, tables: Mapping[str, pa.Table | None], description: Mapping[str, object]
    ) -> None:
        """Write the tables of the iteration by their names, and its metrics."""
        digests = {_MODEL: digest_of_file(self.folder / _MODEL)}
        for name, table in tables.items():
            if table is not None:
                content = table_bytes(table)
                write_atomically(self.folder / name, content)
                digests[name] = digest_of_content(content)
        write_atomically(self.metrics_file, manifest_bytes(description, digests))

    def metrics(self) -> IterationMetrics:
        """Read the metrics of the closed iteration.

        Raises
        ------
        InputError
            If the file is damaged or missing.
        """
        try:
            metrics = IterationMetrics.from_dict(read_manifest(self.metrics_file).description)
        except ValueError:  # whose message may quote the file
            raise RunError(f"{self.metrics_file} is not a metrics file") from None
        if metrics.iteration != int(self.folder.name):
            raise RunError(f"{self.metrics_file} belongs to another iteration")
        return metrics

    def file(self, name: str) -> Path | None:
        """Return a file; None if the iteration has none of this name.

        Raises
        ------
        RunError
            If it had one when it was closed.
        """
        path = self.folder / name
        if path.exists():
            return path
        if self.is_closed() and name in read_manifest(self.metrics_file).names:
            raise RunError(f"{path} is damaged or missing")
        return None

    def test_counts(self) -> DocumentCounts | None:
        """Read the counts of the model in each test document, if it has any."""
        path = self.file(TEST)
        return DocumentCounts.load(path) if path else None

    def save_test_counts(self, counts: DocumentCounts) -> None:
        """Write the counts of the model in each test document."""
        write_atomically(self.folder / TEST, table_bytes(counts.to_table()))

    def verify_description_of_model(self) -> None:
        """Check that the model belongs to the closed iteration; see `verify` for errors."""
        read_manifest(self.metrics_file).verify([_MODEL])

    def verify(self, *, with_model: bool) -> int:
        """Compare the files of the closed iteration with their digests, and return their number.

        Raises
        ------
        InputError
            If one of them is missing, or has changed since it was written.
        """
        manifest = read_manifest(self.metrics_file)
        names = [name for name in manifest.names if with_model or name != _MODEL]
        manifest.verify(names)
        return 1 + len(names) + (verify_model(self.model_folder) - 1 if with_model else 0)
