"""Everything that learns or decides tags. Knows nothing of files of notes and of runs.

Nothing is imported here before it is used: training embeddings needs none of the rest, and has the
memory to itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taggers.annotators import ANNOTATORS
    from taggers.base import MEASURES, Tagger, Tagging, Training, TrainingError
    from taggers.crf import CRFOptions, CRFTagger
    from taggers.kinds import find_kind, load_tagger, make_tagger
    from taggers.options import TaggerOptions

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
    **dict.fromkeys(("find_kind", "load_tagger", "make_tagger"), "taggers.kinds"),
    **dict.fromkeys(("MEASURES", "Tagger", "Tagging", "Training", "TrainingError"), "taggers.base"),
}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
