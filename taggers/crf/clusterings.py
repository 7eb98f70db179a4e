"""Clusterings of words for a CRF: all of a folder's, or the best of them (paper 003, 3.4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpus.batch import Batch
from corpus.errors import InputError, shown
from corpus.evaluation import score_batches
from taggers.base import Progress, Tagger
from taggers.embeddings.word_clusters import WordClusters

if TYPE_CHECKING:
    from taggers.crf.crf_options import CRFOptions

#: Of so many groups of training documents, one is held back to choose by.
_PARTS = 5

#: Trains with one clustering, named first.
Fit = Callable[[str, Batch, Progress | None], Tagger]


def clusters_for(train: Batch, options: CRFOptions) -> WordClusters:
    """Open the clusters that options name.

    Raises
    ------
    InputError
        If they are not there, or no token of the training documents has one.
    """
    clusters = WordClusters.read(Path(options.clusters), options.clustering_names)
    counts = np.bincount(train.words, minlength=len(train.types))
    if not any(clusters.covered(train.types, counts).values()):
        raise InputError(
            f"{shown(options.clusters)}: none of the {len(train.words):,} tokens to learn from "
            "has a cluster; were its words normalised in another way, or are they of other notes?"
        )
    return clusters


def best_clustering(
    names: Sequence[str],
    train: Batch,
    fit: Fit,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[str, Progress | None]:
    """Choose a clustering by the F1 of taggers on documents that they were not trained on.

    Parameters
    ----------
    names : sequence of str
        Clusterings; the first one is taken of those that are as good.
    train : Batch
        Documents. A fifth of their groups (patients; documents without one stand alone) is held
        back.
    fit : callable
        Trains with a clustering.
    rng : numpy.random.Generator
        Draws what is held back.
    progress : callable, optional
        Told of the steps of all trainings, of which one more is to come.

    Returns
    -------
    name : str
    progress : callable, optional
        To be told of the steps of the last training.
    """

    def told(done: int) -> Progress | None:
        if progress is None:
            return None
        return lambda step, most: progress(done * most + step, (len(names) + 1) * most)

    rest, held = _held_back(train, rng)
    found = [
        _f1(held, fit(name, rest, told(number))) if len(held) else 0.0
        for number, name in enumerate(names)
    ]
    return names[int(np.argmax(found))], told(len(names))


def _held_back(train: Batch, rng: np.random.Generator) -> tuple[Batch, Batch]:
    """Cut documents in two: those to train on, and those to choose by."""
    groups = train.groups.to_pylist()
    names = {name: number for number, name in enumerate(dict.fromkeys(filter(None, groups)))}
    alone = iter(range(len(names), len(names) + len(groups)))
    of_documents = np.array([names[name] if name else next(alone) for name in groups], np.int64)
    drawn = rng.permutation(np.unique(of_documents))
    held = np.isin(of_documents, drawn[: len(drawn) // _PARTS])
    return train.take(np.flatnonzero(~held)), train.take(np.flatnonzero(held))


def _f1(gold: Batch, tagger: Tagger) -> float:
    """Compute strict entity F1 of a tagger on tagged documents."""
    tagging = tagger.tag(gold)
    return score_batches(gold, gold.with_tags(tagging.tags, tagging.labels)).counts("ner").f1
