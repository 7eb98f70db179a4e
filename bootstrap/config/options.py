"""Options of the loop and of selection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """Options of the loop; every field is a key of ``[loop]``."""

    iterations: int = field(
        default=20, metadata={"help": "iterations at most; 0 only trains on the seed", "least": 0}
    )
    batch: int = field(
        default=50_000, metadata={"help": "documents tagged in an iteration", "least": 1}
    )
    patience: int = field(
        default=3, metadata={"help": "stop after that many iterations without gain", "least": 1}
    )
    min_delta: float = field(
        default=0.0, metadata={"help": "validation F1 must rise by more than this", "least": 0}
    )
    keep: Literal["accumulate", "retag"] = field(
        default="accumulate",
        metadata={
            "help": '"accumulate" keeps what was selected; "retag" tags and selects everything '
            "so far again with the newest model"
        },
    )
    warm_start: bool = field(
        default=True,
        metadata={"help": "training begins with the weights of the model of before"},
    )
    pseudo_weight: float = field(
        default=1.0,
        metadata={
            "help": "how much a document that was selected counts in training; one of the seed "
            "counts 1",
            "least": 0,
        },
    )
    random_state: int = field(
        default=0, metadata={"help": "the same number gives the same run", "least": 0}
    )
    repeated: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "classes of names: the words of full names that are found for sure are tagged "
            "wherever they come again in a note (see docs/runs.md)"
        },
    )


@dataclass(frozen=True, slots=True)
class SelectOptions:
    """Options of selection; every field is a key of ``[select]``."""

    confidence: float = field(
        default=0.85,
        metadata={
            "help": 'at level "document", documents whose measure is below are never selected; at '
            'level "span", entities and tokens outside whose probability is below are left open',
            "least": 0,
            "most": 1,
        },
    )
    level: Literal["document", "span"] = field(
        default="document",
        metadata={
            "help": 'what must be confident: the whole "document", or each "span": the tags of '
            "the others are left open"
        },
    )
    measure: Literal["probability", "normalised", "lowest"] = field(
        default="probability",
        metadata={
            "help": 'of the level "document": its "probability" P(y|x), that "normalised" for its '
            'length, or the "lowest" of its tokens'
        },
    )
    most: int = field(
        default=5000, metadata={"help": "documents selected from a batch at most", "least": 1}
    )
    proportions: bool = field(
        default=True, metadata={"help": "keep the proportions of the classes"}
    )


@dataclass(frozen=True, slots=True)
class StartOptions:
    """How the model that a loop starts from is trusted; every field is a key of ``[start]``."""

    confidence: float = field(
        default=0.5,
        metadata={
            "help": "documents whose measure is below are not selected with this model",
            "least": 0,
            "most": 1,
        },
    )
    measure: Literal["probability", "normalised", "lowest"] = field(
        default="lowest",
        metadata={
            "help": 'of a document: the "lowest" certainty of its tokens, the product of all of '
            'them ("probability") or their geometric mean ("normalised")'
        },
    )
