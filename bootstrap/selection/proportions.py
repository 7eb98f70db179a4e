"""Proportions of the classes, and their reference for selections (paper 003, 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import quoted
from corpus.tags import classes_of, find_entities

#: Statistics may differ from the reference by this share of it.
RELATIVE_TOLERANCE = 0.10

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """The contribution of each document to the proportions.

    Parameters
    ----------
    tokens : ndarray of int64, shape (D,)
        Tokens of each document.
    entities : ndarray of int64, shape (D, C)
        Entities of each class in each document.
    lengths : ndarray of int64, shape (D, C)
        Tokens in the entities of each class in each document.
    """

    tokens: npt.NDArray[np.int64]
    entities: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    @property
    def empty(self) -> npt.NDArray[np.bool_]:
        """Whether a document has no entity, shape (D,)."""
        empty: npt.NDArray[np.bool_] = self.entities.sum(axis=1) == 0
        return empty

    def take(self, indices: npt.NDArray[np.int64]) -> Content:
        """Return the content of a subset of the documents."""
        return Content(self.tokens[indices], self.entities[indices], self.lengths[indices])


def content_of(
    batch: Batch, tags: npt.NDArray[np.int16], labels: Sequence[str], classes: Sequence[str]
) -> Content:
    """Count the entities that tags describe, by document and class.

    Parameters
    ----------
    batch : Batch
        The documents.
    tags : ndarray of int16, shape (N,)
        Indices into `labels`.
    labels : sequence of str
        ``O``, ``B-`` and ``I-`` labels.
    classes : sequence of str
        The C classes to count; entities of other classes are ignored.
    """
    entities = find_entities(tags, batch.document_offsets, labels)
    column = np.array(
        [classes.index(name) if name in classes else -1 for name in classes_of(labels)], np.int64
    )
    columns = column[entities.classes]
    rows = np.searchsorted(batch.document_offsets, entities.first, side="right") - 1
    counts = np.zeros((len(batch), len(classes)), np.int64)
    lengths = np.zeros_like(counts)
    known = columns >= 0
    np.add.at(counts, (rows[known], columns[known]), 1)
    spans = entities.last - entities.first + 1
    np.add.at(lengths, (rows[known], columns[known]), spans[known])
    return Content(batch.lengths, counts, lengths)


@dataclass(frozen=True, slots=True, eq=False)
class Proportions:
    """The proportions of the classes in some documents, in the order of `names`.

    Parameters
    ----------
    classes : tuple of str
        The C classes.
    values : ndarray of float64, shape (2 C + 1,)
        Entities per token of each class, their mean length in tokens (NaN without entities), and
        the share of documents without entities.
    """

    classes: tuple[str, ...]
    values: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values."""
        return (
            *(f"{quoted(name)} per token" for name in self.classes),
            *(f"{quoted(name)} length" for name in self.classes),
            "documents without entities",
        )

    def as_dict(self) -> dict[str, float]:
        """Return the values by name."""
        return dict(zip(self.names, self.values.tolist(), strict=True))


def proportions_of(content: Content, classes: Sequence[str]) -> Proportions:
    """Compute the proportions of documents."""
    entities = content.entities.sum(axis=0)
    lengths = content.lengths.sum(axis=0)
    tokens = max(int(content.tokens.sum()), 1)
    empty = float(content.empty.mean()) if len(content.tokens) else 1.0
    mean = np.divide(lengths, entities, out=np.full(len(entities), np.nan), where=entities > 0)
    return Proportions(tuple(classes), np.concatenate([entities / tokens, mean, [empty]]))


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The reference proportions of selections, and their sampling error.

    Parameters
    ----------
    proportions : Proportions
        The reference values.
    spread : ndarray of float64, shape (2 C + 1,)
        ``spread / sqrt(n)`` is the standard error of each statistic of n documents of the same
        population.
    documents : float
        The number of documents that the values were measured on; infinite for configured values.
    """

    proportions: Proportions
    spread: Floats
    documents: float

    def tolerance(self, number: int) -> Floats:
        """Compute the tolerated deviation of each statistic of `number` documents.

        It is a tenth of the value, or the standard error of the difference between two samples if
        that is larger, because smaller deviations are within sampling error.
        """
        error = self.spread * np.sqrt(1 / max(number, 1) + 1 / self.documents)
        tolerance: Floats = np.maximum(RELATIVE_TOLERANCE * self.proportions.values, error)
        return tolerance

    def deviations(self, proportions: Proportions, number: int) -> Floats:
        """Compute the deviation of each statistic of `number` documents, in tolerances.

        The deviation of the mean length of absent entities is 0.
        """
        difference = np.abs(proportions.values - self.proportions.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = difference / self.tolerance(number)
        return np.nan_to_num(ratio, nan=0.0, posinf=np.inf)


def measured_reference(content: Content, classes: Sequence[str]) -> Reference:
    """Build a reference from the proportions of documents.

    Parameters
    ----------
    content : Content
        The content of the D reference documents.
    classes : sequence of str
        The C classes counted in it.

    Returns
    -------
    Reference
        Its spread is computed as for ratio estimates over documents (Cochran, Sampling Techniques,
        section 2.11). It is at least the spread of a single residual of 1.
    """
    number = max(len(content.tokens), 1)
    proportions = proportions_of(content, classes)
    rates, mean, (empty,) = np.split(proportions.values, [len(classes), 2 * len(classes)])
    rate_residuals = content.entities - rates * content.tokens[:, None]
    length_residuals = content.lengths - np.nan_to_num(mean) * content.entities
    tokens = max(float(content.tokens.sum()) / number, 1e-9)
    entities = content.entities.sum(axis=0) / number
    with np.errstate(divide="ignore"):  # the spread of the length of absent entities is infinite
        spread_length = _deviation(length_residuals, number) / entities
    spread = [
        _deviation(rate_residuals, number) / tokens,
        spread_length,
        [max(empty * (1 - empty), 1 / number) ** 0.5],
    ]
    return Reference(proportions, np.concatenate(spread), float(number))


def _deviation(residuals: Floats, number: int) -> Floats:
    squares = (residuals**2).sum(axis=0) / number
    deviation: Floats = np.sqrt(np.maximum(squares, 1 / number))
    return deviation


def configured_reference(
    per_token: Mapping[str, float], length: Mapping[str, float], empty: float, tokens: float
) -> Reference:
    """Build a reference from configured numbers.

    Parameters
    ----------
    per_token, length : mapping of str to float
        Entities per token and their mean length in tokens, of each class.
    empty : float
        The share of documents without entities.
    tokens : float
        Mean number of tokens of a document. The sampling error assumes that numbers of entities
        have a Poisson distribution and their lengths a geometric one.
    """
    classes = tuple(sorted(per_token))
    rates = np.array([per_token[name] for name in classes])
    lengths = np.array([length[name] for name in classes])
    entities = rates * tokens
    never = np.full(len(classes), np.inf)
    variance = np.divide(lengths * (lengths - 1), entities, out=never, where=entities > 0)
    spread = [np.sqrt(rates / tokens), np.sqrt(variance), [(empty * (1 - empty)) ** 0.5]]
    values = np.concatenate([rates, lengths, [empty]])
    return Reference(Proportions(classes, values), np.concatenate(spread), np.inf)
