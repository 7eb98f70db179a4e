"""Self-training of sequence taggers that find protected health information in clinical notes.

The public functions and classes are listed in ``bootstrap.__all__``. They are imported at their
first use, so that the command line starts fast.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bootstrap.api import (
        Model,
        active,
        evaluate,
        experiment,
        load,
        open_run,
        read,
        train,
        write,
    )
    from bootstrap.inference import TaggedDocument
    from bootstrap.reports.comparison import compare
    from corpus.document import Document, Span
    from corpus.errors import InputError

__all__ = [
    "Document",
    "InputError",
    "Model",
    "Span",
    "TaggedDocument",
    "active",
    "compare",
    "evaluate",
    "experiment",
    "load",
    "open_run",
    "read",
    "train",
    "write",
]

#: The modules of public names outside `bootstrap.api`.
_MODULES = {
    "compare": "bootstrap.reports.comparison",
    "TaggedDocument": "bootstrap.inference",
    "Document": "corpus.document",
    "Span": "corpus.document",
    "InputError": "corpus.errors",
}


def _refuse_shadows() -> None:
    """Raise an ImportError if a user's module shadows a package of this project."""
    root = Path(__file__).resolve().parents[1]
    for name in ("corpus", "gazetteers", "taggers"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue  # its import fails with an error of its own
        if Path(spec.origin).resolve() != root / name / "__init__.py":
            raise ImportError(
                f"{spec.origin} hides the package {name} of bootstrap: rename it, or move the "
                "script to another folder",
                name=name,
                path=spec.origin,
            )


_refuse_shadows()


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES.get(name, "bootstrap.api")), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*globals(), *__all__})
