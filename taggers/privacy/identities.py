"""Feature values by which a word can be recognised: the word itself, and its parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

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
    for name, values, is_whole in _identities(words, templates):
        present = known(name, values)
        whole |= present & is_whole
        parts &= present | is_whole
        some |= ~is_whole
    return {"features": whole, AFFIXES: parts & some}


def _identities(
    words: Sequence[str], templates: Templates
) -> Iterator[tuple[str, list[str], npt.NDArray[np.bool_]]]:
    """Yield each feature and stream that can tell words, its values, and which are whole words."""
    # The padded affix of a shorter word is the whole word: longer words have others.
    prepared = Words(words)
    lengths = np.fromiter(map(len, prepared.lowers), np.int64, len(words))
    always = np.ones(len(words), bool)
    for name in dict.fromkeys(template.name for template in templates.features):
        if name in templates.resource_features:
            continue
        affix = _AFFIX.fullmatch(name)
        if name in _WORDS:
            yield name, templates.feature(name)(prepared), always
        elif affix:
            yield name, templates.feature(name)(prepared), lengths < int(affix[1])
    for name in templates.needed:
        if name in LAYOUT:
            yield name, prepared.lowers, always
