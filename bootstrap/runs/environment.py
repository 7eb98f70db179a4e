"""The versions of Python and of the packages that a run is made with."""

from __future__ import annotations

import contextlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = (
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


def environment() -> dict[str, Any]:
    """Return the versions, as in ``environment.json``."""
    versions = {}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": versions,
    }
