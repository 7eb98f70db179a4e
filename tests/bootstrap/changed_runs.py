"""Runs whose files tests have changed, with manifests as if they had been written so."""

import json
from pathlib import Path

from bootstrap.runs import iteration_folder
from bootstrap.runs.folder import Run
from corpus.storage.manifest import digest_of_file, manifest_bytes


def rewrite_manifests(run: Path) -> None:
    """Write the manifests of a run for the files that its iterations have now."""
    for folder in (run / "iterations").iterdir():
        metrics = folder / "metrics.json"
        if metrics.exists():
            names = [path.name for path in folder.glob("*.parquet") if path.name != "test.parquet"]
            digests = {name: digest_of_file(folder / name) for name in (*names, "model/model.json")}
            digest = iteration_folder._digest_of(json.loads(metrics.read_bytes()))
            description = {"iteration": folder.name, "metrics": digest}
            (folder / "manifest.json").write_bytes(manifest_bytes(description, digests))
    (run / "metrics.parquet").unlink()
    Run(run).summarise()
