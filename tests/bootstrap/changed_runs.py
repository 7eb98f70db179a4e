"""Runs whose files tests have changed, with metrics as if they had been written so."""

import json
from pathlib import Path

from bootstrap.runs.folder import Run
from corpus.storage.manifest import DIGEST, FILES, digest_of_file, manifest_bytes


def rewrite_manifests(run: Path) -> None:
    """Write the digests in the metrics of a run for the files that its iterations have now."""
    for metrics in (run / "iterations").glob("*/metrics.json"):
        folder, record = metrics.parent, json.loads(metrics.read_bytes())
        names = [path.name for path in folder.glob("*.parquet") if path.name != "test.parquet"]
        digests = {name: digest_of_file(folder / name) for name in (*names, "model/model.json")}
        rest = {name: value for name, value in record.items() if name not in (DIGEST, FILES)}
        metrics.write_bytes(manifest_bytes(rest, digests))
    (run / "metrics.parquet").unlink()
    Run(run).summarise()
