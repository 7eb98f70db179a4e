"""The options of active learning: the keys of ``[active]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Literal

from bootstrap.config.options import check_column_keys, columns_option
from bootstrap.config.overrides import ConfigurationError
from taggers.options import option

#: The message about a configuration without ``[active]``.
LACKS_ACTIVE = (
    "{}: there is no section [active]; active learning needs its gold, the annotated documents "
    "that answer, and its budget"
)

#: Names of query strategies: the keys of `bootstrap.active_learning.queries.QUERIES`.
QueryName = Literal[
    "least_confident",
    "least_confident_per_token",
    "lowest_entity",
    "entropy",
    "margin",
    "committee",
    "random",
]


@dataclass(frozen=True, slots=True)
class ActiveOptions:
    """Options of active learning; every field is a key of ``[active]``."""

    gold: str = option(
        MISSING,
        "annotated documents from which rounds are chosen, and whose annotations stand for those "
        "of a person: a file, a folder or a glob pattern",
        example='"gold.jsonl"',
        path=True,
    )
    budget: int = option(
        MISSING,
        "maximum number of documents annotated by a person, including the seed",
        example="500",
        least=1,
    )
    gold_columns: Mapping[str, str] = columns_option("gold")
    query: QueryName = option(
        "least_confident",
        'what is annotated first: the documents with the "least_confident" tags, '
        '"least_confident_per_token", with the "lowest_entity" probability, the highest "entropy" '
        'of token marginals, the smallest "margin" of a token, the most disagreement of a '
        '"committee" of two taggers, [tagger] and [second_tagger], or "random" ones (bootstrap '
        "help active-learning)",
    )
    round: int = option(25, "number of documents that are annotated in a round", least=1)
    hybrid: bool = option(
        False,
        "whether each round also tries pseudo-labelled documents, selected by [select] from the "
        "unlabeled ones",
    )
    near_duplicate: float = option(
        0.7,
        "documents that share this part of their words or more with another of the round are left "
        "out, unless there are not enough others. An entity that the model finds counts as its "
        "class. With 1, only documents of the same words are left out, and above 1 none are",
        least=0,
    )
    class_share: float = option(
        0.0,
        "share of a round that is divided among the classes, for documents in which the model "
        "finds an entity of the class",
        least=0,
        most=1,
    )
    candidates: int = option(
        20_000, "number of documents, drawn at random, from which a round is chosen", least=1
    )
    budget_tokens: int = option(
        0,
        "maximum number of tokens annotated by a person, including the seed; 0 for no limit",
        least=0,
    )
    target_f1: float = option(
        0.0, "stop when validation F1 reaches this; 0 to use up the budget", least=0, most=1
    )
    stable_kappa: float = option(
        0.0,
        "stop when the tags of validation hardly change: when Cohen's kappa of successive models, "
        "as the mean of three rounds, reaches this, such as 0.99; 0 to use up the budget",
        least=0,
        most=1,
    )

    def __post_init__(self) -> None:
        check_column_keys("gold", self.gold_columns)
        if self.candidates < self.round:
            raise ConfigurationError(
                f"candidates = {self.candidates:,}: expected at least a round, {self.round:,}"
            )
