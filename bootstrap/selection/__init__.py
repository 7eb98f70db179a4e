"""Selection of the pseudo-labelled documents that join the training set."""

from __future__ import annotations

from bootstrap.selection.proportional import ChosenDocuments, Selection, select_examples
from bootstrap.selection.proportions import Reference
from bootstrap.selection.strategies import (
    LIST_VIEW,
    SECOND_VIEW,
    STRATEGIES,
    SelectionFunction,
    SelectOptions,
    Strategy,
    confident_parts,
    initial_strategy_for,
    portfolio,
    strategy_for,
    strategy_kinds,
    uses_lists,
)

__all__ = [
    "LIST_VIEW",
    "SECOND_VIEW",
    "STRATEGIES",
    "ChosenDocuments",
    "Reference",
    "SelectOptions",
    "Selection",
    "SelectionFunction",
    "Strategy",
    "confident_parts",
    "initial_strategy_for",
    "portfolio",
    "select_examples",
    "strategy_for",
    "strategy_kinds",
    "uses_lists",
]
