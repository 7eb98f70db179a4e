"""The self-training loop (paper 003, section 3.2.1): pure, without files and console."""

from __future__ import annotations

from bootstrap.self_training.iteration import (
    RELABEL,
    STOPPED,
    History,
    Iteration,
    PseudoLabelled,
    best_iteration,
    stagnates,
)
from bootstrap.self_training.loop import Pool, self_train

__all__ = [
    "RELABEL",
    "STOPPED",
    "History",
    "Iteration",
    "Pool",
    "PseudoLabelled",
    "best_iteration",
    "self_train",
    "stagnates",
]
