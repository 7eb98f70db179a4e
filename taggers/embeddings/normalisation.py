"""Which spellings of a word share a vector (paper 003, table 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from taggers.features import Words

#: What words become before they are counted and looked up, by the name of the normalisation.
NORMALISATIONS: dict[str, Callable[[Words], list[str]]] = {
    "none": lambda words: words.forms,
    # Lower case of what is composed need not be: there is a ǰ and no such capital.
    "lower": lambda words: Words(words.lowers).forms,
    "unaccented": lambda words: words.unaccented,
    "digits": lambda words: Words(words.zeroed).forms,
}
