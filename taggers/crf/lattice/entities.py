"""Probabilities of the entities of the best tag sequences: the marginals of their spans.

The marginal of a span is the probability that a sequence drawn from the CRF has an entity of a
class on exactly these tokens, as defined by `corpus.tags.find_entities`: a ``B-`` label, or an
``I-`` label that continues no entity of its class, then ``I-`` labels up to the last token, and no
``I-`` label of the class after it. The sum over such sequences is computed by constrained
forward-backward (Culotta and McCallum, 2004, "Confidence estimation for information extraction"),
which visits only the tokens of entities and is numerically stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.kernels.compiled import Array, compiled
from corpus.ragged import offsets_of
from corpus.tags import classes_of, find_entities
from taggers.crf.lattice import Packing, Reals, Sums

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_ROWS = "UniTuple(int64[::1], 3)"  # three arrays of equal type, in signatures
_NONE = -1  # stands for a label that the model lacks, and for the class of O


@dataclass(frozen=True, slots=True, eq=False)
class EntityLabels:
    """The classes and positions in entities of the labels of a model.

    Parameters
    ----------
    names : tuple of str
        The labels.
    number : int
        The number of classes, C.
    arrays : tuple of ndarray of int64
        For kernels: the class of each label, an index into ``classes_of(names)``, or -1; and the
        ``B-`` and the ``I-`` label of each class, or -1.
    """

    names: tuple[str, ...]
    number: int
    arrays: tuple[Indices, Indices, Indices]

    @classmethod
    def from_names(cls, names: Sequence[str]) -> EntityLabels:
        """Parse the names of labels."""
        number = {name: index for index, name in enumerate(names)}
        classes = classes_of(names)

        def labels(kind: str) -> Indices:
            return np.array([number.get(f"{kind}-{name}", _NONE) for name in classes], np.int64)

        own = [_NONE if name == "O" else classes.index(name[2:]) for name in names]
        arrays = np.array(own, np.int64), labels("B"), labels("I")
        return cls(tuple(names), len(classes), arrays)


@dataclass(frozen=True, slots=True, eq=False)
class PackedEntities:
    """The entities of the documents of a packing, and their probabilities.

    Parameters
    ----------
    labels : EntityLabels
        Of the model.
    tokens : ndarray of int64, shape (E,)
        The first token of each in the batch.
    spans : tuple of ndarray of int64, shape (E,)
        The documents that they are in, as rows of the packing, in order; and the places of their
        first and last tokens in the documents.
    sums : ndarray of float64, shape (E, C, 2)
        Sums over the sequences with an entity of the class on exactly these tokens, separately for
        the last label ``B-`` and ``I-``: up to the last token after `begin`, and over the whole
        document after `end`.
    """

    labels: EntityLabels
    tokens: Indices
    spans: tuple[Indices, Indices, Indices]
    sums: Floats

    @classmethod
    def from_tags(
        cls, packing: Packing, tags: npt.NDArray[np.int16], labels: EntityLabels
    ) -> PackedEntities:
        """Select the entities of the documents of a packing.

        Parameters
        ----------
        packing : Packing
            The documents.
        tags : ndarray of int16, shape (N,)
            Of the tokens of the batch.
        labels : EntityLabels
            What the tags are.
        """
        offsets = offsets_of(packing.lengths)
        tokens = np.arange(offsets[-1]) + np.repeat(packing.first - offsets[:-1], packing.lengths)
        entities = find_entities(tags[tokens], offsets, labels.names)
        rows = np.searchsorted(offsets, entities.first, side="right") - 1
        spans = rows, entities.first - offsets[rows], entities.last - offsets[rows]
        sums = np.zeros((len(rows), labels.number, 2))
        return cls(labels, tokens[entities.first], spans, sums)

    def begin(self, packing: Packing, sums: Sums, transition: Reals) -> None:
        """Compute the forward sums, between `Transitions.forward` and `Transitions.backward`."""
        parts = sums.emission, transition, sums.alpha, sums.scale
        _begin(self.spans, packing.steps, self.labels.arrays, *parts, self.sums)

    def end(self, packing: Packing, sums: Sums, transition: Reals) -> None:
        """Complete the sums, after `Transitions.backward`."""
        where = packing.lengths, packing.steps
        _end(self.spans, *where, self.labels.arrays, sums.emission, transition, self.sums)

    @property
    def probabilities(self) -> Floats:
        """The probability of each entity for each class, after `end`, shape (E, C)."""
        probabilities: Floats = np.minimum(self.sums.sum(axis=2), 1.0)
        return probabilities


def in_order(packings: Iterable[PackedEntities], labels: EntityLabels) -> Floats:
    """Return the probabilities of the entities of packings in the order of their tokens.

    Returns
    -------
    ndarray of float64, shape (E, C)
    """
    parts = list(packings)
    tokens = np.concatenate([np.zeros(0, np.int64), *(part.tokens for part in parts)])
    none = np.zeros((0, labels.number))
    probabilities = np.concatenate([none, *(part.probabilities for part in parts)])
    return probabilities[np.argsort(tokens)]


@compiled(
    f"{_ROWS}, int64[::1], {_ROWS}, real[:, ::1], real[:, ::1], real[:, ::1], float64[::1], "
    "float64[:, :, ::1]"
)
def _begin(
    spans: tuple[Array, Array, Array],
    steps: Array,
    labels: tuple[Array, Array, Array],
    emission: Array,
    transition: Array,
    alpha: Array,
    scale: Array,
    sums: Array,
) -> None:
    """Sum over the sequences that have one entity of each class on some tokens so far."""
    (rows, first, last), (classes, begin, inside) = spans, labels
    for span in range(len(rows)):
        row = rows[span]
        token = steps[first[span]] + row
        for own in range(len(begin)):
            head, tail = begin[own], inside[own]
            opening = np.float64(alpha[token, head]) if head >= 0 else 0.0
            going = 0.0
            if tail >= 0 and first[span] == 0:
                going = np.float64(alpha[token, tail])
            elif tail >= 0:
                before = alpha[steps[first[span] - 1] + row]
                for label in range(len(classes)):
                    if classes[label] != own:
                        going += np.float64(before[label]) * transition[label, tail]
                going *= emission[token, tail] / scale[token]
            for place in range(first[span] + 1, last[span] + 1):
                total = 0.0
                if tail >= 0:
                    after = steps[place] + row
                    total = going * transition[tail, tail]
                    if head >= 0:
                        total += opening * transition[head, tail]
                    total *= emission[after, tail] / scale[after]
                opening, going = 0.0, total
            sums[span, own, 0] = opening
            sums[span, own, 1] = going


@compiled(
    f"{_ROWS}, int64[::1], int64[::1], {_ROWS}, real[:, ::1], real[:, ::1], float64[:, :, ::1]"
)
def _end(
    spans: tuple[Array, Array, Array],
    lengths: Array,
    steps: Array,
    labels: tuple[Array, Array, Array],
    successors: Array,
    transition: Array,
    sums: Array,
) -> None:
    """Multiply the sums by the sums over all continuations that end the entity."""
    # `successors` is `emission * beta / scale`. At the end of a document, the factor is 1.
    (rows, _, last), (classes, begin, inside) = spans, labels
    for span in range(len(rows)):
        row = rows[span]
        if last[span] == lengths[row] - 1:
            continue
        after = successors[steps[last[span] + 1] + row]
        for own in range(len(begin)):
            tail = inside[own]
            for kind in range(2):
                origin = tail if kind else begin[own]
                if origin >= 0:
                    total = 0.0
                    for label in range(len(classes)):
                        if label != tail:
                            total += np.float64(after[label]) * transition[origin, label]
                    sums[span, own, kind] *= total
