"""Which tagged documents join the training set, and in which proportions."""

from __future__ import annotations

from bootstrap.selection.examples import Selection, select_examples
from bootstrap.selection.parts import confident_parts
from bootstrap.selection.proportions import Reference

__all__ = ["Reference", "Selection", "confident_parts", "select_examples"]
