"""Agreement of the tags of two models."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from taggers.base import Tagging


def agreement(previous: Tagging, tagging: Tagging) -> float:
    """Compute the share of tokens with the same label in two taggings of the same batch."""
    if not len(tagging.tags):
        return 1.0
    return float((_renumbered(tagging, previous.labels) == previous.tags).mean())


def cohen_kappa(previous: Tagging, tagging: Tagging) -> float:
    """Compute Cohen's kappa of the labels of tokens in two taggings of the same batch.

    The share of tokens with the same label, less that which is expected by chance, as a share of
    what is left (Cohen, "A Coefficient of Agreement for Nominal Scales", 1960). 1 if all tokens
    have the same label in both.
    """
    labels = len(previous.labels)
    shares = [
        np.bincount(tags[tags >= 0], minlength=labels)[:labels] / max(len(tags), 1)
        for tags in (previous.tags, _renumbered(tagging, previous.labels))
    ]
    by_chance = float(shares[0] @ shares[1])
    return (agreement(previous, tagging) - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0


def _renumbered(tagging: Tagging, labels: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Return tags as indices into other labels; -1 for a label that is not among them."""
    number = {label: index for index, label in enumerate(labels)}
    same = np.array([number.get(label, -1) for label in tagging.labels], np.int64)
    return same[tagging.tags]
