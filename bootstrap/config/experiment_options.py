"""The options of experiments: the keys of ``[experiment]`` and ``[seed]``."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass
from typing import Literal, get_args

from bootstrap.config.overrides import ConfigurationError
from taggers.options import option

#: What a run of an experiment does.
Method = Literal["self-training", "supervised", "active", "full-supervision"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """Options of an experiment; every field is a key of ``[experiment]``."""

    random_states: tuple[int, ...] = option(
        (0, 1, 2),
        "the random states: with each, seeds are drawn and every variant is run",
        least=0,
    )
    folds: int = option(
        0,
        "divide the documents of [data] seed into this number of folds by patient; each fold is "
        "the test documents of some runs; 0 for no cross-validation",
        least=0,
    )
    test_text: bool = option(
        False,
        "whether embeddings that runs train themselves learn from the text of the test documents, "
        "too, as they do from notes that are to be tagged; their annotations are never used",
    )
    at_documents: tuple[int, ...] = option(
        (),
        "numbers of annotated documents at which the runs are compared as well, in active learning",
        least=1,
    )

    def __post_init__(self) -> None:
        if not self.random_states:
            raise ConfigurationError("random_states is empty: expected one or more")
        if len(set(self.random_states)) < len(self.random_states):
            raise ConfigurationError("random_states names a state twice")
        if self.folds == 1:
            raise ConfigurationError("folds = 1: expected 2 or more, or 0 for no cross-validation")


@dataclass(frozen=True, slots=True)
class SeedOptions:
    """How seeds are drawn from annotated documents; every field is a key of ``[seed]``."""

    documents: int = option(
        MISSING,
        "number of documents drawn at random, in the unit of the runs",
        example="331",
        least=1,
    )
    with_entities: float = option(
        0.0,
        "share of them that have an entity, such as 0.8; 0 draws from all alike",
        least=0,
        most=1,
    )
    pattern: str = option(
        "",
        "regular expression that their text matches at its beginning, such as '\\s*\\w+:'; by "
        "default, any text",
    )
    draw: Literal["documents", "patients", "consecutive"] = option(
        "documents",
        'how they are drawn: "documents", each at random; "patients", all documents of a patient '
        'at random, then of another; "consecutive", as they follow each other from a random '
        "patient on",
    )
    without: tuple[str, ...] = option((), "classes that none of them has")
    others: int = option(
        0,
        "number of further documents drawn from all others, without these rules",
        least=0,
    )

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ConfigurationError(
                f"pattern = {self.pattern!r} is not a regular expression: {error}"
            ) from None
