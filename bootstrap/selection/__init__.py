"""Which tagged documents join the training set, and in which proportions."""

from __future__ import annotations

from bootstrap.selection.proportional import Selection, select_examples
from bootstrap.selection.proportions import Reference
from bootstrap.selection.spans import confident_parts

__all__ = ["Reference", "Selection", "confident_parts", "select_examples"]
