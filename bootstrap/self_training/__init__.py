"""The self-training loop (paper 003, section 3.2.1): pure, without files and console."""

from __future__ import annotations

from bootstrap.self_training.iteration import (
    ANNOTATED_ALONE,
    AUGMENTED,
    RELABEL,
    SEED_ALONE,
    STOPPED,
    History,
    Iteration,
    PseudoLabelled,
    Trial,
    best_iteration,
    stagnates,
)
from bootstrap.self_training.loop import Pool, self_train
from bootstrap.self_training.training import Fit, train_in_turn
from bootstrap.self_training.training_set import Augment, Augmentation

__all__ = [
    "ANNOTATED_ALONE",
    "AUGMENTED",
    "RELABEL",
    "SEED_ALONE",
    "STOPPED",
    "Augment",
    "Augmentation",
    "Fit",
    "History",
    "Iteration",
    "Pool",
    "PseudoLabelled",
    "Trial",
    "best_iteration",
    "self_train",
    "stagnates",
    "train_in_turn",
]
