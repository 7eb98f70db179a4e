"""Packages with a tagger, installed in a folder."""

import shutil
from pathlib import Path


def install(site: Path, module: Path, entry_point: str) -> None:
    """Install a module as pip would, without its record of files."""
    information = site / f"{module.stem}-1.0.dist-info"
    information.mkdir(parents=True)
    shutil.copy(module, site)
    metadata = f"Metadata-Version: 2.1\nName: {module.stem}\nVersion: 1.0\n"
    (information / "METADATA").write_text(metadata)
    (information / "entry_points.txt").write_text(f"[bootstrap.taggers]\n{entry_point}\n")
