"""Normalisations of words, which determine the spellings that share a vector (paper 003, 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from taggers.features import Words

#: Normalisations that are applied to words before counting and lookup, by name.
NORMALISATIONS: dict[str, Callable[[Words], list[str]]] = {
    "none": lambda words: words.forms,
    # The lower case of a composed word can be decomposed: ǰ has no composed capital.
    "lower": lambda words: Words(words.lowers).forms,
    "unaccented": lambda words: words.unaccented,
    "digits": lambda words: Words(words.zeroed).forms,
}
