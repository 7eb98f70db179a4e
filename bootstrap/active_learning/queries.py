"""Query strategies: how useful it would be to annotate each document of a tagged batch.

A query is a pure function of a tagging, its batch and a random generator. ``[active] query`` names
a row of `QUERIES`, which the configuration, its help and the page of settings read. Callers of
`bootstrap.active_learning.rounds.Rounds` may pass any function of that signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass

import numpy as np
import numpy.typing as npt

from bootstrap.config.options import Sources, check_column_keys, columns_option
from bootstrap.config.overrides import ConfigurationError
from corpus.batch import Batch
from corpus.tags import find_entities
from taggers.base import Detail, Tagging
from taggers.options import Capability, option

Floats = npt.NDArray[np.float64]

#: Computes the utility of each of D documents, shape (D,); the highest are annotated first.
QueryFunction = Callable[[Tagging, Batch, np.random.Generator], Floats]


@dataclass(frozen=True, slots=True)
class Query:
    """A query function and the output of the tagger that it needs.

    Parameters
    ----------
    utility : callable
        ``(tagging, batch, rng) -> utility of each document``.
    measure : str
        The measure of a document's confidence, one of `taggers.base.MEASURES`.
    detail : {"document", "token", "entity", "labels"}
        The output of the tagger in addition to tags and the confidence of documents.
    views : int
        The number of further taggers in ``Tagging.views``, with the same detail.
    needs : frozenset of str
        The capabilities of taggers that it requires.
    summary : str
        Which documents it prefers, for the help.
    """

    utility: QueryFunction
    measure: str = "probability"
    detail: Detail = "document"
    views: int = 0
    needs: frozenset[Capability] = frozenset()
    summary: str = ""


def least_confident(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Floats:
    """Compute the utility of documents whose tags have a low confidence.

    With the measure "probability", this is least confidence sampling of sequences (Culotta and
    McCallum, "Reducing Labeling Effort for Structured Prediction Tasks", 2005, section 4).
    """
    return 1 - tagging.confidence


def lowest_entity(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Floats:
    """Compute the utility of documents with an entity of low probability; 0 without entities."""
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    owners = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    utility = np.zeros(len(batch))
    np.maximum.at(utility, owners, 1 - tagging.entity_confidence(entities))
    return utility


def token_entropy(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Floats:
    """Compute the sum of the entropies of the tokens of each document, in nats.

    The total token entropy of Settles and Craven, "An Analysis of Active Learning Strategies for
    Sequence Labeling Tasks", 2008, section 3.1.
    """
    return _sum_of_tokens(batch, _entropy(_marginals(tagging)))


def smallest_margin(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Floats:
    """Compute the utility of documents with a token whose two best labels are almost as probable.

    The margin is the difference between the two highest marginals (Scheffer et al., "Active Hidden
    Markov Models for Information Extraction", 2001, section 4). The smallest in a document counts.
    Documents without tokens have utility 0.
    """
    marginals = _marginals(tagging)
    utility = np.zeros(len(batch))
    if not batch.n_tokens or marginals.shape[1] < 2:
        return utility
    best = np.partition(marginals, -2, axis=1)[:, -2:]
    filled = batch.lengths > 0
    margins = best[:, 1] - best[:, 0]
    utility[filled] = 1 - np.minimum.reduceat(margins, batch.document_offsets[:-1][filled])
    return utility


def disagreement(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Floats:
    """Compute how much the members of a committee disagree on the labels of each document.

    The sum over tokens of the Jensen-Shannon divergence of the members' marginals, in nats: the
    mean Kullback-Leibler divergence to their mean (McCallum and Nigam, "Employing EM and Pool-Based
    Active Learning for Text Classification", 1998, section 3.1). The members are the tagger and its
    views.
    """
    members = [_marginals(member, tagging.labels) for member in (tagging, *tagging.views)]
    mean = np.mean(members, axis=0)
    within = np.mean([_entropy(member) for member in members], axis=0)
    return _sum_of_tokens(batch, np.maximum(_entropy(mean) - within, 0))


def at_random(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Floats:
    """Draw the utility of each document at random."""
    return rng.random(len(batch))


def _marginals(tagging: Tagging, labels: Sequence[str] | None = None) -> Floats:
    """Return the marginals of a tagging in the order of `labels`; 0 for labels that it lacks."""
    if tagging.marginals is None:
        raise ValueError('marginals are computed only with detail="labels"')
    if labels is None or tuple(labels) == tagging.labels:
        return tagging.marginals
    place = {label: index for index, label in enumerate(tagging.labels)}
    padded = np.pad(tagging.marginals, ((0, 0), (0, 1)))
    return padded[:, [place.get(label, -1) for label in labels]]


def _entropy(marginals: Floats) -> Floats:
    """Compute the entropy of each row, in nats."""
    logs = np.log(marginals, out=np.zeros_like(marginals), where=marginals > 0)
    entropy: Floats = -(marginals * logs).sum(axis=1)
    return entropy


def _sum_of_tokens(batch: Batch, values: Floats) -> Floats:
    """Sum the values of the tokens of each document."""
    sums, filled = np.zeros(len(batch)), batch.lengths > 0
    if filled.any():
        sums[filled] = np.add.reduceat(values, batch.document_offsets[:-1][filled])
    return sums


#: Queries by their name in ``[active] query``. Add new queries here.
QUERIES: Mapping[str, Query] = {
    "least_confident": Query(least_confident, summary="documents whose tags are least probable"),
    "least_confident_per_token": Query(
        least_confident, summary="the same by the geometric mean per token", measure="normalised"
    ),
    "lowest_entity": Query(
        lowest_entity,
        summary="documents with the least probable entity",
        detail="entity",
        needs=frozenset({"entity_probabilities"}),
    ),
    "entropy": Query(
        token_entropy, summary="with the highest entropy of token marginals", detail="labels"
    ),
    "margin": Query(
        smallest_margin, summary="with the smallest margin of a token", detail="labels"
    ),
    "committee": Query(
        disagreement,
        summary="on which two taggers, [tagger] and [second_tagger], disagree most",
        detail="labels",
        views=1,
    ),
    "random": Query(at_random, summary="random documents"),
}

_listed = "; ".join(f'"{name}", {query.summary}' for name, query in QUERIES.items())


@dataclass(frozen=True, slots=True)
class ActiveOptions:
    """Options of active learning; every field is a key of ``[active]``."""

    gold: Sources = option(
        MISSING,
        "annotated documents from which rounds are chosen, and whose annotations stand for those "
        "of a person: a file, a folder or a glob pattern, or a list of them",
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
    query: str = option(
        "least_confident",
        f"what is annotated first: {_listed} (bootstrap help active-learning)",
        choices=tuple(QUERIES),
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
