"""Selection of the best word clustering for a CRF (paper 003, section 3.4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from corpus.batch import Batch
from corpus.evaluation import score_batches
from taggers.base import Progress, Tagger

#: One in this many groups of training documents is held out to select a clustering.
_PARTS = 5

#: A function that trains a tagger with the clustering of a name.
Fit = Callable[[str, Batch, Progress | None], Tagger]


def best_clustering(
    names: Sequence[str],
    train: Batch,
    fit: Fit,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[str, Progress | None]:
    """Select the clustering with the best F1 on held-out training documents.

    Parameters
    ----------
    names : sequence of str
        Clusterings; ties are resolved in their order.
    train : Batch
        Training documents. A fifth of their groups is held out, where a group is a patient, or a
        document without one.
    fit : callable
        Trains with a clustering.
    rng : numpy.random.Generator
        Draws the groups that are held out.
    progress : callable, optional
        Receives the steps of all trainings, the final one included.

    Returns
    -------
    name : str
    progress : callable, optional
        Receives the steps of the final training.
    """

    def progress_after(done: int) -> Progress | None:
        if progress is None:
            return None
        return lambda step, most: progress(done * most + step, (len(names) + 1) * most)

    rest, held = _split(train, rng)
    found = [
        _f1(held, fit(name, rest, progress_after(number))) if len(held) else 0.0
        for number, name in enumerate(names)
    ]
    return names[int(np.argmax(found))], progress_after(len(names))


def _split(train: Batch, rng: np.random.Generator) -> tuple[Batch, Batch]:
    """Split documents into those to train on and those held out, by group."""
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
