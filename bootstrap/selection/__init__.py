"""Selection of the pseudo-labelled documents that join the training set."""

from __future__ import annotations

from bootstrap.selection.proportional import ChosenDocuments, Selection, select_examples
from bootstrap.selection.proportions import Reference
from bootstrap.selection.strategies import (
    LIST_VIEW,
    PORTFOLIO,
    SECOND_VIEW,
    STRATEGIES,
    SelectionFunction,
    Strategy,
    confident_parts,
    initial_strategy_for,
    portfolio,
    strategy_for,
)

__all__ = [
    "LIST_VIEW",
    "PORTFOLIO",
    "SECOND_VIEW",
    "STRATEGIES",
    "ChosenDocuments",
    "Reference",
    "Selection",
    "SelectionFunction",
    "Strategy",
    "confident_parts",
    "initial_strategy_for",
    "portfolio",
    "select_examples",
    "strategy_for",
]
