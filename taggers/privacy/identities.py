"""Feature values by which a word can be recognised: the word itself, and its parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from taggers.features.feature_options import LAYOUT
from taggers.features.templates import Templates
from taggers.features.words import Words
from taggers.privacy.pruning import AFFIXES

#: Features whose values are whole words.
_WORDS = ("form", "lower", "lemma")
_AFFIX = re.compile("(?:prefix|suffix)([1-9])")


def traces_of_values(
    words: Sequence[str],
    templates: Templates,
    known: Callable[[str, Sequence[str]], npt.NDArray[np.bool_]],
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return which words are known as whole values, and which have parts that are all known.

    Parameters
    ----------
    words : sequence of str
        The words.
    templates : Templates
        The features and streams of a model.
    known : callable
        Returns which values of a feature or stream the model knows.
    """
    whole, some = np.zeros(len(words), bool), np.zeros(len(words), bool)
    parts = np.ones(len(words), bool)
    prepared = Words(words)
    lengths = np.fromiter(map(len, prepared.lowers), np.int64, len(words))
    features = {template.name for template in templates.features}
    for name in features.difference(templates.resource_features):
        affix = _AFFIX.fullmatch(name)
        if affix or name in _WORDS:
            present = known(name, templates.feature(name)(prepared))
            # The padded affix of a shorter word is the whole word: longer words have others.
            is_whole = lengths < int(affix[1]) if affix else np.ones(len(words), bool)
            whole |= present & is_whole
            parts &= present | is_whole
            some |= ~is_whole
    for name in set(LAYOUT).intersection(templates.needed):
        whole |= known(name, prepared.lowers)
    return {"features": whole, AFFIXES: parts & some}
