"""Sequence taggers and their features, independent of corpus formats and of runs.

Names are imported at first use, so that the process that trains embeddings does not load the
libraries of the other taggers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taggers.annotators import ANNOTATORS
    from taggers.base import MEASURES, Tagger, Tagging, Training, TrainingError
    from taggers.crf import CRFOptions, CRFTagger
    from taggers.options import TaggerOptions
    from taggers.registry import find_kind, load_tagger, make_tagger

__all__ = [
    "ANNOTATORS",
    "MEASURES",
    "CRFOptions",
    "CRFTagger",
    "Tagger",
    "TaggerOptions",
    "Tagging",
    "Training",
    "TrainingError",
    "find_kind",
    "load_tagger",
    "make_tagger",
]

_HOMES = {
    "ANNOTATORS": "taggers.annotators",
    "CRFOptions": "taggers.crf",
    "CRFTagger": "taggers.crf",
    "TaggerOptions": "taggers.options",
    **dict.fromkeys(("find_kind", "load_tagger", "make_tagger"), "taggers.registry"),
    **dict.fromkeys(("MEASURES", "Tagger", "Tagging", "Training", "TrainingError"), "taggers.base"),
}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
