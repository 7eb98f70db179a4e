"""Logarithmic opinion pools: one linear chain from those of several taggers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from taggers.crf import lattice
from taggers.crf.linear_chain import LinearChain

Floats = npt.NDArray[np.float64]

#: Lower marginals count as this one: a tagger that computes them from a few sequences alone gives 0
#: to labels of which it knows nothing.
LOWEST = 1e-3


def pooled(chains: Sequence[LinearChain], weights: Sequence[float]) -> LinearChain:
    """Return the distribution that is proportional to the weighted product of several.

    It is a linear chain, whose scores are the weighted sums of their scores (Smith, Cohn and
    Osborne, 2005, "Logarithmic opinion pools for conditional random fields").

    Parameters
    ----------
    chains : sequence of LinearChain
        Of the same documents.
    weights : sequence of float
        The weight of each.

    Returns
    -------
    LinearChain
        Its labels are those that all of them have, in the order of the first one.
    """
    labels = [name for name in chains[0].labels if all(name in chain.labels for chain in chains)]
    columns = [[list(chain.labels).index(name) for name in labels] for chain in chains]
    transition = np.zeros((len(labels), len(labels)))
    for chain, weight, own in zip(chains, weights, columns, strict=True):
        transition += weight * chain.transition[np.ix_(own, own)]

    def score(packing: lattice.Packing, scores: lattice.Reals) -> None:
        scores[:, : len(labels)], scores[:, len(labels) :] = 0.0, lattice.NEVER
        for chain, weight, own in zip(chains, weights, columns, strict=True):
            of_chain = np.empty((packing.tokens, chain.width), chain.real)
            chain.score(packing, of_chain)
            scores[:, : len(labels)] += weight * of_chain[:, own]

    real = np.result_type(*(chain.real for chain in chains))
    packed = max(chain.packed for chain in chains)
    return LinearChain(labels, chains[0].document_offsets, score, transition, real, packed)


def chain_of_marginals(
    marginals: Floats, document_offsets: npt.NDArray[np.int64], labels: Sequence[str]
) -> LinearChain:
    """Return the distribution of independent labels, limited to well-formed sequences.

    In a well-formed sequence, an ``I-`` label only follows a ``B-`` or ``I-`` label of the same
    class (see `corpus.tags.well_formed`).

    Parameters
    ----------
    marginals : ndarray of float64, shape (N, L)
        Probability of each label at each token.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of the tokens of each document.
    labels : sequence of str
        ``O``, and ``B-`` and ``I-`` of classes.
    """
    inner = np.array([name.startswith("I-") for name in labels])
    classes = np.array([name[2:] for name in labels])  # that of O is empty
    transition = np.where(~inner | (classes[:, None] == classes), 0.0, lattice.NEVER)

    def score(packing: lattice.Packing, scores: lattice.Reals) -> None:
        scores[:, len(labels) :] = lattice.NEVER
        scores[:, : len(labels)] = np.log(np.maximum(marginals[packing.positions], LOWEST))
        scores[: packing.steps[1], np.flatnonzero(inner)] = lattice.NEVER

    return LinearChain(labels, document_offsets, score, transition, np.dtype(np.float32))
