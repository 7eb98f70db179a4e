"""The contract of taggers, and the results of training and tagging."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, Self

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
    "trains_in_process",
]

#: The level of detail of a `Tagging`. A tagger may compute more.
#:
#: - ``"tags"``: tags alone; the confidence of documents may be 1;
#: - ``"document"``: the confidence of documents;
#: - ``"token"``: also ``token_confidence``;
#: - ``"entity"``: also ``token_confidence`` and ``entity_probabilities``;
#: - ``"labels"``: also ``token_confidence`` and ``marginals``.
Detail = Literal["tags", "document", "token", "entity", "labels"]

#: Callback that receives the number of completed steps and the maximum number of steps.
Progress = Callable[[int, int], None]


class TrainingError(Exception):
    """Training produced no usable model."""


@dataclass(frozen=True, slots=True)
class Training:
    """The result of training a model.

    Parameters
    ----------
    converged : bool
        Whether the stopping criterion of the algorithm was met.
    outcome : str
        The reason why the algorithm stopped, in words.
    iterations : int
        Number of iterations of the algorithm.
    loss : float
        Final value of the objective.
    failed : bool, default False
        Whether the algorithm stopped early because of a numerical failure. The model may then be
        poor.
    clustering : str, default ""
        Name of the word clustering that was selected; empty if none was selected.
    """

    converged: bool
    outcome: str
    iterations: int
    loss: float
    failed: bool = False
    clustering: str = ""

    @classmethod
    def of_parts(cls, parts: Mapping[str, Training]) -> Training:
        """Summarise the training of several parts, by their names.

        All have converged or any has failed; iterations and losses are summed. Outcomes that differ
        have the names of their parts.
        """
        outcomes: dict[str, list[str]] = {}
        for name, training in parts.items():
            outcomes.setdefault(training.outcome, []).append(name)
        texts = list(outcomes)
        if len(outcomes) > 1:
            texts = [f"{', '.join(names)}: {outcome}" for outcome, names in outcomes.items()]
        clusterings = [training.clustering for training in parts.values() if training.clustering]
        return cls(
            converged=all(training.converged for training in parts.values()),
            outcome="; ".join(texts),
            iterations=sum(training.iterations for training in parts.values()),
            loss=float(sum(training.loss for training in parts.values())),
            failed=any(training.failed for training in parts.values()),
            clustering=", ".join(dict.fromkeys(clusterings)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tagging:
    """The predicted tags of a batch, and the confidence of the tagger in them.

    The batch has D documents with N tokens in total. The tagger has L labels of C entity classes,
    and its tags contain E entities.

    Parameters
    ----------
    tags : ndarray of int16, shape (N,)
        Indices into `labels`. The tags are well formed: an ``I-`` label only follows a ``B-`` or
        ``I-`` label of the same class in the same document (see `corpus.tags.well_formed`).
    labels : tuple of str
        The labels of the tagger: ``O``, and ``B-`` and ``I-`` of every class.
    confidence : ndarray of float64, shape (D,)
        Confidence in the tags of each document, in [0, 1]; 1 for a document without tokens.
    token_confidence : ndarray of float64, shape (N,), optional
        Marginal probability of the tag of each token. Present unless the detail is
        ``"document"``.
    marginals : ndarray of float64, shape (N, L), optional
        Marginal probability of each label at each token. Present if the detail is ``"labels"``.
    entity_probabilities : ndarray of float64, shape (E, C), optional
        Marginal probability of each entity span: the probability that exactly its tokens form an
        entity of each of ``classes_of(labels)``. Rows are in the order of
        `corpus.tags.find_entities`. Present if the detail is ``"entity"``.
    views : tuple of Tagging
        Taggings of the same batch by taggers with other views of it; empty for most purposes.
    """

    tags: npt.NDArray[np.int16]
    labels: tuple[str, ...]
    confidence: npt.NDArray[np.float64]
    token_confidence: npt.NDArray[np.float64] | None = None
    marginals: npt.NDArray[np.float64] | None = None
    entity_probabilities: npt.NDArray[np.float64] | None = None
    views: tuple[Tagging, ...] = ()

    def entity_confidence(self, entities: TokenSpans) -> npt.NDArray[np.float64]:
        """Return the probability of each entity for its predicted class.

        Parameters
        ----------
        entities : TokenSpans
            The entities in the tags, as returned by `corpus.tags.find_entities`.

        Returns
        -------
        ndarray of float64, shape (E,)

        Raises
        ------
        ValueError
            If the tagging has no probabilities of entities.
        """
        if self.entity_probabilities is None:
            raise ValueError('probabilities of entities are computed only with detail="entity"')
        return self.entity_probabilities[np.arange(len(entities.classes)), entities.classes]


def joined(taggings: Sequence[Tagging]) -> Tagging:
    """Concatenate the taggings of consecutive batches by the same tagger.

    Parameters
    ----------
    taggings : sequence of Tagging
        At least one, all with the same detail.
    """

    def concatenated(parts: Iterable[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
        arrays = [part for part in parts if part is not None]
        return np.concatenate(arrays) if arrays else None

    return Tagging(
        np.concatenate([tagging.tags for tagging in taggings]),
        taggings[0].labels,
        np.concatenate([tagging.confidence for tagging in taggings]),
        concatenated(tagging.token_confidence for tagging in taggings),
        concatenated(tagging.marginals for tagging in taggings),
        concatenated(tagging.entity_probabilities for tagging in taggings),
    )


def kernels_of(tagger: Tagger) -> tuple[str, ...]:
    """Return the modules whose compiled functions a tagger calls.

    They are compiled in advance by `corpus.kernels.compiled.warm_up`. A tagger lists them in the
    optional attribute ``kernels``; a tagger without this attribute calls none.
    """
    return tuple(getattr(tagger, "kernels", ()))


def trains_in_process(tagger: Tagger) -> bool:
    """Return whether a tagger trains in its own process, so that several can train side by side.

    It declares this by the optional attribute ``trains_in_process``. Its `fit` must not depend on
    the thread that calls it.
    """
    return bool(getattr(tagger, "trains_in_process", False))


class Tagger(Protocol):
    """A sequence tagger that is trained on batches and predicts the tags of batches.

    The constructor takes the options of the kind and only stores them. Parameters are learned by
    `fit` or read by `load`. `taggers.registry` describes how a class is registered as a kind that a
    configuration can name.

    Attributes
    ----------
    kind : str
        Name of the kind, in a configuration and in ``model.json``.
    labels : tuple of str
        The labels of the tagger: ``O``, and ``B-`` and ``I-`` of every class. Empty before
        training, unless the kind needs no annotated documents.
    training : Training or None
        The result of training; None before training, and for kinds that do not optimise an
        objective.
    """

    kind: str
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
        """Train on tagged documents.

        Training is deterministic: two fits on equal batches with generators in the same state
        produce equal models.

        Parameters
        ----------
        train : Batch
            Training documents. ``tags`` are indices into ``labels``; -1 stands for an unknown tag,
            which occurs only if the options have the capability ``partial_tags``. ``weights``, if
            present, are the weights of documents, which differ from 1 only with the capability
            ``document_weights``.
        validation : Batch, optional
            Tagged documents for early stopping; a tagger may ignore them.
        warm_start : Tagger, optional
            A trained tagger of the same class, whose parameters initialise training; a tagger may
            ignore it.
        rng : numpy.random.Generator
            The source of all random numbers.
        progress : callable, optional
            Called with the number of completed steps and the maximum number of steps.

        Returns
        -------
        Tagger
            The tagger itself.

        Raises
        ------
        TrainingError
            If training produces no usable model.
        """

    def tag(
        self, batch: Batch, *, measure: str = "probability", detail: Detail = "document"
    ) -> Tagging:
        """Predict the tags of documents.

        Parameters
        ----------
        batch : Batch
            Documents; their own tags are ignored.
        measure : str
            The measure of the confidence in a document, one of `MEASURES`.
        detail : {"tags", "document", "token", "entity", "labels"}
            What to compute in addition to tags (see `Detail`).
            ``"entity"`` is requested only if the options have the capability
            ``entity_probabilities``.

        Raises
        ------
        InputError
            If `measure` is unknown.
        ValueError
            If the tagger has not been trained.
        """

    def save(self, folder: Path) -> None:
        """Write the model into a folder, which is created if it does not exist.

        The folder contains ``model.json``, a JSON object whose key ``kind`` is the kind of the
        tagger. `taggers.model_folder.write_model` writes such a folder, with digests of all files.
        """


class RegisteredTagger(Tagger, Protocol):
    """A tagger whose class is a kind, by which its models are read; see `taggers.registry`."""

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        InputError
            If the folder holds no model of this kind, or a damaged one.
        """
