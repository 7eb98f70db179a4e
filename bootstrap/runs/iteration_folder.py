"""The folder of an iteration: its model, its tables, and the manifest that describes them.

``metrics.json`` is written last and closes the iteration. ``manifest.json``, written just before,
has the digests of all files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.records import RunError
from corpus.errors import InputError
from corpus.storage.atomic import write_atomically
from corpus.storage.json_fields import Fields, parse_json
from corpus.storage.manifest import (
    Manifest,
    digest_of,
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
#: The counts of the seed alone, in the folder of iteration 0.
BASELINE = "validation-seed-alone.parquet"
#: The counts in each test document. They are written later, and have their own digest.
TEST = "test.parquet"
#: The errors on the validation documents.
ERRORS = "errors.parquet"

_METRICS = "metrics.json"
_MANIFEST = "manifest.json"
_MODEL = "model/model.json"


@dataclass(frozen=True, slots=True)
class IterationFolder:
    """The folder of an iteration.

    Parameters
    ----------
    folder : Path
        The folder.
    """

    folder: Path

    @property
    def model_folder(self) -> Path:
        """The folder of the model."""
        return self.folder / "model"

    @property
    def second_folder(self) -> Path:
        """The folder of the model of the second view."""
        return self.folder / "second"

    @property
    def metrics_file(self) -> Path:
        """The file that closes the iteration."""
        return self.folder / _METRICS

    def is_closed(self) -> bool:
        """Return whether the iteration is closed."""
        return self.metrics_file.is_file()

    def close(self, tables: Mapping[str, pa.Table | None], metrics: IterationMetrics) -> None:
        """Write the tables of the iteration by their names, its manifest and its metrics."""
        contents = {name: table_bytes(table) for name, table in tables.items() if table is not None}
        for name, content in contents.items():
            write_atomically(self.folder / name, content)
        digests = {name: digest_of_content(content) for name, content in contents.items()}
        digests[_MODEL] = digest_of_file(self.folder / _MODEL)
        text = json.dumps(metrics.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
        description = {"iteration": self.folder.name, "metrics": _digest_of(json.loads(text))}
        write_atomically(self.folder / _MANIFEST, manifest_bytes(description, digests))
        write_atomically(self.metrics_file, f"{text}\n".encode())

    def metrics(self) -> IterationMetrics:
        """Read the metrics of the closed iteration.

        Raises
        ------
        RunError
            If a file is damaged or missing.
        """
        manifest = self._manifest()
        try:
            record = Fields(parse_json(self.metrics_file.read_bytes(), "it"), "it").values
        except InputError as error:
            raise RunError(f"{self.metrics_file} is damaged: {error}") from None
        if _digest_of(record) != manifest.fields.text("metrics"):
            raise RunError(f"{self.metrics_file} is damaged: it is not the file that was saved")
        try:
            return IterationMetrics.from_dict(record)
        except ValueError as error:
            raise RunError(f"{self.metrics_file} is not a metrics file: {error}") from None

    def _manifest(self) -> Manifest:
        manifest = read_manifest(self.folder / _MANIFEST)
        if manifest.fields.text("iteration") != self.folder.name:
            raise RunError(f"{self.folder / _MANIFEST} is that of another iteration")
        return manifest

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
        if self.is_closed() and name in self._manifest().names:
            raise RunError(f"{path} is damaged or missing")
        return None

    def verify_description_of_model(self) -> None:
        """Check that the model is that of the closed iteration; see `verify` for errors."""
        self._manifest().verify([_MODEL])

    def verify(self, *, with_model: bool) -> int:
        """Compare the files of the closed iteration with their digests, and return their number.

        Raises
        ------
        InputError
            If one of them is missing, or has changed since it was written.
        """
        manifest = self._manifest()
        names = [name for name in manifest.names if with_model or name != _MODEL]
        manifest.verify(names)
        in_model = verify_model(self.model_folder) - 1 if with_model else 0
        return len((self.metrics_file, _MANIFEST)) + len(names) + in_model


def _digest_of(metrics: Mapping[str, Any]) -> str:
    """Compute the digest of metrics without the seconds, so that equal runs have equal digests."""
    return digest_of({name: value for name, value in metrics.items() if name != "seconds"})
