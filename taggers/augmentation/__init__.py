"""Augmentation: copies of gold documents in which mentions are replaced by others of their kind.

`MentionReplacement` is imported at first use, so that reading the options loads no further library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from taggers.augmentation.augment_options import AugmentOptions

if TYPE_CHECKING:
    from taggers.augmentation.replacement import MentionReplacement

__all__ = ["AugmentOptions", "MentionReplacement"]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("taggers.augmentation.replacement"), name)
