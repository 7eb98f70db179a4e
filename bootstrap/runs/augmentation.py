"""Augmentation of the gold documents of a run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corpus.batch import Batch
from taggers.augmentation import AugmentOptions

#: Documents of mentions without context for each gold document with entities.
_MENTION_DOCUMENTS = 8

# A part of the seed of the random generator; those of training and selection have others.
_STAGE = 3


def augmentation_of(
    options: AugmentOptions, random_state: int
) -> Callable[[Batch], tuple[Batch, Batch]] | None:
    """Return the function that derives documents from gold documents.

    Parameters
    ----------
    options : AugmentOptions
        ``[augment]`` of a configuration.
    random_state : int
        The seed of the random number generators of the run.

    Returns
    -------
    callable or None
        None without augmentation.
    """
    if not options.copies:
        return None

    def augment(gold: Batch) -> tuple[Batch, Batch]:
        from taggers.augmentation import (  # noqa: PLC0415 - not always used
            MentionReplacement,
        )

        replacement = MentionReplacement(gold, options)
        rng = np.random.default_rng([random_state, 0, _STAGE])
        copies = replacement.copies(rng)
        number = len(copies) // options.copies
        mentions = replacement.joined(rng, _MENTION_DOCUMENTS * number, float(number))
        return copies, mentions

    return augment
