"""Features of words.

A feature depends on the word alone, so it is computed once per word type (paper 003,
section 3.4.2), for many types at a time.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError, shown

#: Words beyond the ends of a document: the begin and the end of sentence of paper 003.
BEGIN, END = "BOS", "EOS"

T = TypeVar("T")

_PAD = " "  # no token holds one
_BETWEEN = "\n"  # nor this one
_AFFIX = re.compile(r"(prefix|suffix)([1-9])")
_NUMBER = re.compile(r"[+-]?d+(?:[.,]d+)*")  # of a shape
_REPEATED = re.compile(r"(.)\1+", flags=re.DOTALL)
_ACCENTS = re.compile("[\u0300\u0301\u0302\u0308]")  # grave, acute, circumflex, diaeresis
_DIGIT = re.compile(r"\d")
_LEMMA_LANGUAGES = ("es", "ca")


class Words:
    """Some words, and what several features are computed from.

    Parameters
    ----------
    types : sequence of str
        The words. One that is stored composed and one that is stored decomposed are the same.
    """

    def __init__(self, types: Sequence[str]) -> None:
        self._kept: dict[Hashable, Any] = {}
        joined = unicodedata.normalize("NFC", _BETWEEN.join(types))
        self.forms = joined.split(_BETWEEN)
        if len(self.forms) != len(types):  # a word has a line break, or there is no word
            self.forms = [unicodedata.normalize("NFC", word) for word in types]

    @functools.cached_property
    def lowers(self) -> list[str]:
        """The words in lower case."""
        return self._each(str.lower)

    @functools.cached_property
    def unaccented(self) -> list[str]:
        """The words in lower case without accents; ñ and ç are letters, and stay."""
        return self._each(_unaccented)

    @functools.cached_property
    def zeroed(self) -> list[str]:
        """The words in lower case, with 0 for every digit."""
        return self._each(_zeroed)

    @functools.cached_property
    def lemmas(self) -> list[str]:
        """The lemmas in the language that knows a word, or the words in lower case."""
        return _lemmas(self.lowers)

    @functools.cached_property
    def shapes(self) -> list[str]:
        """The words with upper case as X, lower case as x, digits as d."""
        return self._each(_shape)

    def _each(self, change: Callable[[str], str]) -> list[str]:
        """Change all words at once, where that is as good as one by one."""
        changed = change(_BETWEEN.join(self.forms)).split(_BETWEEN)
        if len(changed) == len(self.forms):
            return changed
        return [change(word) for word in self.forms]

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute what several features need for these words once."""
        if key not in self._kept:
            self._kept[key] = compute()
        found: T = self._kept[key]
        return found

    def by_shape(self, compute: Callable[[str], str]) -> list[str]:
        """Compute what depends on the shape alone, once for each shape."""
        shapes = self.shapes
        values = {shape: compute(shape) for shape in dict.fromkeys(shapes)}
        return [values[shape] for shape in shapes]


#: Gives the value of each word; an empty one says nothing of it.
Feature = Callable[[Words], list[str]]


class _Shapes:
    """The character that stands for each character; what is not met is not looked up."""

    def __init__(self) -> None:
        self._table: npt.NDArray[np.uint32] = np.zeros(0x110000, np.uint32)

    def __call__(self, text: str) -> str:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        shape = self._table[codes]
        if not shape.all():
            for code in np.unique(codes[shape == 0]).tolist():
                self._table[code] = ord(self._of(chr(code)))
            shape = self._table[codes]
        return shape.tobytes().decode("utf-32-le", "surrogatepass")

    @staticmethod
    def _of(character: str) -> str:
        if character.isdigit():
            return "d"
        if character.isupper():
            return "X"
        return "x" if character.isalpha() else character


@functools.cache
def _shapes() -> _Shapes:
    return _Shapes()


def _shape(text: str) -> str:
    return _shapes()(text)


def _capitalization(shape: str) -> str:
    letters = [character for character in shape if character in "Xx"]
    if not letters:
        return "none"
    if "X" not in letters:
        return "lower"
    if "x" not in letters:
        return "upper" if len(letters) > 1 else "initial"
    return "first" if letters[0] == "X" and "X" not in letters[1:] else "mixed"


def _unaccented(text: str) -> str:
    apart = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart))


def _zeroed(text: str) -> str:
    return _DIGIT.sub("0", text.lower())


def _lemmas(lowers: Sequence[str]) -> list[str]:
    import simplemma  # noqa: PLC0415 - its dictionaries take a second to load

    def lemma(word: str) -> str:
        if not word or not word.isprintable():  # simplemma fails of nothing, and of half characters
            return word
        for language in _LEMMA_LANGUAGES:
            if simplemma.is_known(word, lang=language):
                return simplemma.lemmatize(word, lang=language).lower()
        return word

    return [lemma(word) for word in lowers]


def _prefix(length: int, words: Words) -> list[str]:
    return [word[:length].ljust(length, _PAD) for word in words.lowers]


def _suffix(length: int, words: Words) -> list[str]:
    return [word[-length:].rjust(length, _PAD) for word in words.lowers]


def _yes(test: bool) -> str:
    return "yes" if test else "no"


#: Features by the name they have in the configuration; ``prefixN`` and ``suffixN`` come to these.
FEATURES: dict[str, Feature] = {
    "form": lambda words: words.forms,
    "lower": lambda words: words.lowers,
    "capitalization": lambda words: words.by_shape(_capitalization),
    "has_digit": lambda words: words.by_shape(lambda shape: _yes("d" in shape)),
    "is_number": lambda words: words.by_shape(lambda shape: _yes(bool(_NUMBER.fullmatch(shape)))),
    "shape": lambda words: words.shapes,
    "short_shape": lambda words: words.by_shape(lambda shape: _REPEATED.sub(r"\1", shape)),
    "lemma": lambda words: words.lemmas,
}


def is_feature(name: str) -> bool:
    """Say whether there is a feature of this name."""
    return name in FEATURES or _AFFIX.fullmatch(name) is not None


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
        raise InputError(f'there is no feature "{shown(name)}"; the features are {known}')
    side = _prefix if affix[1] == "prefix" else _suffix
    return functools.partial(side, int(affix[2]))
