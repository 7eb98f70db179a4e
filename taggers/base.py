"""The contract of taggers, and the result of tagging."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import TokenSpans
from taggers.confidence import MEASURES

__all__ = [
    "MEASURES",
    "Detail",
    "Progress",
    "Tagger",
    "Tagging",
    "Training",
    "TrainingError",
    "joined",
    "kernels_of",
]

#: What tagging gives beside tags and the confidence of documents: nothing, the confidence of
#: tokens, beside it the probabilities of entities, or the marginals of all labels.
Detail = Literal["document", "token", "entity", "labels"]

#: Receives the steps done and the most there can be.
Progress = Callable[[int, int], None]


class TrainingError(Exception):
    """Training gave no usable model."""


@dataclass(frozen=True, slots=True)
class Training:
    """How training ended.

    Parameters
    ----------
    converged : bool
        Whether the stopping criterion of the algorithm was met.
    outcome : str
        What the algorithm said when it stopped.
    iterations : int
        Steps of the algorithm.
    loss : float
        The value of the objective at the end.
    failed : bool
        Whether the algorithm could not go on, so that its model may be poor.
    clustering : str
        The clustering that was chosen as the best, where one was.
    """

    converged: bool
    outcome: str
    iterations: int
    loss: float
    failed: bool = False
    clustering: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Tagging:
    """The tags of a batch and how sure the tagger is of each document.

    Parameters
    ----------
    tags : ndarray of int16, shape (N,)
        Indices into `labels`; an ``I-`` always continues an entity of its class.
    labels : tuple of str
        The labels of the tagger.
    confidence : ndarray of float64, shape (D,)
        In [0, 1]; 1 for a document without tokens.
    token_confidence : ndarray of float64, shape (N,), or None
        The probability of each token's tag, where it was asked for.
    marginals : ndarray of float64, shape (N, L), or None
        The probability of each label, where it was asked for.
    entity_probabilities : ndarray of float64, shape (E, C), or None
        Where it was asked for, the marginals of spans: of each entity in the tags, in the order of
        `corpus.tags.find_entities`, the probability that just its tokens, not one less or more,
        are an entity of each of ``classes_of(labels)``.
    """

    tags: npt.NDArray[np.int16]
    labels: tuple[str, ...]
    confidence: npt.NDArray[np.float64]
    token_confidence: npt.NDArray[np.float64] | None = None
    marginals: npt.NDArray[np.float64] | None = None
    entity_probabilities: npt.NDArray[np.float64] | None = None

    def entity_confidence(self, found: TokenSpans) -> npt.NDArray[np.float64]:
        """Give the probability of each entity as one of its own class.

        Parameters
        ----------
        found : TokenSpans
            What `corpus.tags.find_entities` finds in the tags.

        Returns
        -------
        ndarray of float64, shape (E,)

        Raises
        ------
        ValueError
            If the probabilities of entities were not asked for.
        """
        if self.entity_probabilities is None:
            raise ValueError('the probabilities of entities are given with detail="entity" only')
        return self.entity_probabilities[np.arange(len(found.classes)), found.classes]


def joined(taggings: Sequence[Tagging]) -> Tagging:
    """Put the taggings of batches together, of which there is at least one, by one tagger."""

    def together(parts: Iterable[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
        arrays = [part for part in parts if part is not None]
        return np.concatenate(arrays) if arrays else None

    return Tagging(
        np.concatenate([tagging.tags for tagging in taggings]),
        taggings[0].labels,
        np.concatenate([tagging.confidence for tagging in taggings]),
        together(tagging.token_confidence for tagging in taggings),
        together(tagging.marginals for tagging in taggings),
        together(tagging.entity_probabilities for tagging in taggings),
    )


def kernels_of(tagger: Tagger) -> tuple[str, ...]:
    """Return the modules whose compiled functions a tagger calls, for `warm_up`.

    A tagger names them in an attribute ``kernels``; one without calls none.
    """
    return tuple(getattr(tagger, "kernels", ()))


class Tagger(Protocol):
    """Learns tags from batches and tags batches.

    The constructor takes the options of the kind and only stores them; what is learned comes with
    `fit` or `load`. `taggers.kinds` describes how a class becomes a kind that a configuration can
    name.
    """

    #: The name of its kind, in a configuration and in ``model.json``.
    kind: str
    #: Empty before training, unless the kind needs no annotated documents.
    labels: tuple[str, ...]
    training: Training | None

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train on tagged documents, with the weights of `warm_start` first, and return `self`.

        Two fits on the same batches with generators in the same state are equal.
        """
        ...

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "probability",
        detail: Detail = "document",
        progress: Progress | None = None,
    ) -> Tagging:
        """Tag documents; `measure` is one of `MEASURES`."""
        ...

    def save(self, folder: Path) -> None:
        """Write the model into a folder, which is made if it is not there.

        ``model.json`` in it has the key ``kind``; see `taggers.model_folder.write_model`.
        """
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        ...


@runtime_checkable
class PrunableTagger(Tagger, Protocol):
    """A tagger whose model can be written with fewer traces of its training documents."""

    @property
    def values(self) -> int:
        """The number of feature values with a weight."""
        ...

    def pruned(
        self, *, min_document_frequency: int = 1, hash_names: bool = False
    ) -> PrunableTagger:
        """Return a model with less of its training documents in it.

        Parameters
        ----------
        min_document_frequency : int
            Values of features that fewer training documents have are left out.
        hash_names : bool
            Whether only hashes of values are kept, and not their text.
        """
        ...
