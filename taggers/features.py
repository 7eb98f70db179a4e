"""Features of words and the attributes that a window of them gives a token.

A feature depends on the word alone, so it is computed once per word type (paper 003,
section 3.4.2).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence

from corpus.errors import InputError

#: Words beyond the ends of a document: the begin and the end of sentence of paper 003.
BEGIN, END = "BOS", "EOS"

_PAD = " "  # no token holds one
_AFFIX = re.compile(r"(prefix|suffix)([1-9])")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*")
_LEMMA_LANGUAGES = ("es", "ca")

Feature = Callable[[str], str]


def _capitalization(word: str) -> str:
    letters = [character for character in word if character.isalpha()]
    if not letters:
        return "none"
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper" if len(letters) > 1 else "initial"
    if letters[0].isupper() and "".join(letters[1:]).islower():
        return "first"
    return "mixed"


def _shape(word: str) -> str:
    """Write upper case as X, lower case as x, digits as d; other characters stay."""
    return "".join(
        "d" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word
    )


def _short_shape(word: str) -> str:
    """Write each run of the same kind once."""
    return re.sub(r"(.)\1+", r"\1", _shape(word), flags=re.DOTALL)


def _lemma(word: str) -> str:
    """Give the lemma in the language that knows the word, or the word in lower case."""
    import simplemma  # noqa: PLC0415 - its dictionaries take a second to load

    word = word.lower()
    for language in _LEMMA_LANGUAGES:
        if simplemma.is_known(word, lang=language):
            return simplemma.lemmatize(word, lang=language).lower()
    return word


def _prefix(length: int, word: str) -> str:
    return word[:length].lower().ljust(length, _PAD)


def _suffix(length: int, word: str) -> str:
    return word[-length:].lower().rjust(length, _PAD)


def _yes(test: bool) -> str:
    return "yes" if test else "no"


#: Features by the name they have in the configuration; ``prefixN`` and ``suffixN`` come to these.
FEATURES: dict[str, Feature] = {
    "form": lambda word: word,
    "lower": str.lower,
    "capitalization": _capitalization,
    "has_digit": lambda word: _yes(any(map(str.isdigit, word))),
    "is_number": lambda word: _yes(_NUMBER.fullmatch(word) is not None),
    "shape": _shape,
    "short_shape": _short_shape,
    "lemma": _lemma,
}


def feature(name: str) -> Feature:
    """Find a feature by its name.

    Parameters
    ----------
    name : str
        A key of `FEATURES`, or ``prefixN`` or ``suffixN`` with N from 1 to 9: that many
        characters of the lower-case word, padded where it is shorter.

    Raises
    ------
    InputError
        If there is no such feature.
    """
    if name in FEATURES:
        return FEATURES[name]
    affix = _AFFIX.fullmatch(name)
    if affix is None:
        known = ", ".join([*FEATURES, "prefix1 to prefix9", "suffix1 to suffix9"])
        raise InputError(f'there is no feature "{name}"; the features are {known}')
    side = _prefix if affix[1] == "prefix" else _suffix
    return functools.partial(side, int(affix[2]))


class WindowAttributes:
    """Writes the attributes of tokens: the features of the words around them, with their offset.

    Parameters
    ----------
    features : sequence of str
        Names of features.
    window : int
        Words on each side of the token.

    Notes
    -----
    What a word gives at every offset is kept, for up to `KEPT` words.
    """

    #: Words kept. Notes use few words often: this many cover nearly all tokens of a batch.
    KEPT = 15_000

    def __init__(self, features: Sequence[str], window: int) -> None:
        self._features = [(name, feature(name)) for name in features]
        self._offsets = range(-window, window + 1)
        self._window = window
        self._kept: dict[str, list[list[bytes]]] = {}

    def of_document(self, words: Sequence[str]) -> list[list[bytes]]:
        """Write the attributes of each token of a document.

        Parameters
        ----------
        words : sequence of str
            The words of its tokens.

        Returns
        -------
        list of list of bytes
            Such as ``b"-1:lower=dr"``; ``b"1:EOS"`` for a place beyond the end.
        """
        rows = [self._of_word(word) for word in words]
        last = len(rows) - 1
        attributes = []
        for place in range(len(rows)):
            found: list[bytes] = []
            for column, offset in enumerate(self._offsets):
                neighbour = place + offset
                if 0 <= neighbour <= last:
                    found += rows[neighbour][column]
                else:
                    border = BEGIN if neighbour < 0 else END
                    found.append(f"{offset}:{border}".encode())
            attributes.append(found)
        return attributes

    def _of_word(self, word: str) -> list[list[bytes]]:
        row = self._kept.get(word)
        if row is None:
            if len(self._kept) >= self.KEPT:
                self._kept.clear()
            row = self._kept[word] = self._computed(word)
        return row

    def _computed(self, word: str) -> list[list[bytes]]:
        # The same word may be stored composed or decomposed; it has one set of features.
        composed = unicodedata.normalize("NFC", word)
        values = [f"{name}={compute(composed)}" for name, compute in self._features]
        return [
            [f"{offset}:{value}".encode("utf-8", "surrogatepass") for value in values]
            for offset in self._offsets
        ]
