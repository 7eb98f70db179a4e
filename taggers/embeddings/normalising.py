"""Which spellings of a word share a vector (paper 003, table 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from taggers.features import Words

#: What words become before they are counted and looked up, by the name of the normalisation.
NORMALISATIONS: dict[str, Callable[[Words], list[str]]] = {
    "none": lambda words: words.forms,
    "lower": lambda words: words.lowers,
    "unaccented": lambda words: words.unaccented,
    "digits": lambda words: words.zeroed,
}
