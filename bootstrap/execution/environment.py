"""The versions of what determines results: this package, Python and libraries."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import platform
from pathlib import Path
from typing import Any

PACKAGES = (
    "bootstrap-ner",
    "gensim",
    "joblib",
    "numba",
    "numpy",
    "pyarrow",
    "python-crfsuite",
    "scikit-learn",
    "scipy",
    "simplemma",
)

#: The packages of this project.
_OWN = ("corpus", "gazetteers", "taggers", "anonymizers", "bootstrap")


@functools.cache
def environment() -> dict[str, Any]:
    """Return the versions of Python and of the packages that results are made with."""
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": versions,
    }


@functools.cache
def versions() -> dict[str, str]:
    """Return what must be the same on all machines that work together, by name."""
    return {
        "Python": platform.python_version(),
        "the processor": platform.machine(),
        **environment()["packages"],
        "the code of bootstrap": _digest_of_code(),
    }


def _digest_of_code() -> str:
    digest = hashlib.blake2b(digest_size=4)  # which a person can compare
    for name in _OWN:
        spec = importlib.util.find_spec(name)
        folder = Path(spec.origin).parent if spec and spec.origin else Path()
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
