"""Features of words.

A feature depends on the word alone. It is therefore computed once per word type (paper 003,
section 3.4.2), for many word types at a time.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from corpus.errors import InputError
from corpus.kernels.code_points import CharacterTable, code_points, text_of
from taggers.morphology.lemmas import lemmas_of

#: The words before and after a document: the beginning and end of sentence of paper 003.
BEGIN, END = "BOS", "EOS"

T = TypeVar("T")

_PAD = " "  # no token contains a space
_SEPARATOR = "\n"  # no token contains a line break
_AFFIX = re.compile(r"(prefix|suffix)([1-9])")
_NUMBER = re.compile(r"[+-]?d+(?:[.,]d+)*")  # the shape of a number
_REPEATED = re.compile(r"(.)\1+", flags=re.DOTALL)
_ACCENTS = re.compile("[\u0300\u0301\u0302\u0308]")  # grave, acute, circumflex, diaeresis
_DIGIT = re.compile(r"\d")
_LEMMA_LANGUAGES = ("es", "ca")


class Words:
    """A list of words with cached intermediate results that several features share.

    Parameters
    ----------
    types : sequence of str
        The words. They are normalised to NFC, so that composed and decomposed spellings are equal.
    """

    def __init__(self, types: Sequence[str]) -> None:
        self._cache: dict[Hashable, Any] = {}
        joined = unicodedata.normalize("NFC", _SEPARATOR.join(types))
        self.forms = joined.split(_SEPARATOR)
        if len(self.forms) != len(types):  # a word contains a line break, or there are no words
            self.forms = [unicodedata.normalize("NFC", word) for word in types]

    @functools.cached_property
    def lowers(self) -> list[str]:
        """The words in lower case."""
        return self._each(str.lower)

    @functools.cached_property
    def unaccented(self) -> list[str]:
        """The words in lower case without accents; ñ and ç are letters and are kept."""
        return self._each(_unaccented)

    @functools.cached_property
    def zeroed(self) -> list[str]:
        """The words in lower case with every digit replaced by 0."""
        return self._each(_zeroed)

    @functools.cached_property
    def lemmas(self) -> list[str]:
        """The lemmas in the first language that knows the word, or else the words in lower case."""
        return lemmas_of(self.lowers, _LEMMA_LANGUAGES)

    @functools.cached_property
    def shapes(self) -> list[str]:
        """The shapes of the words: upper case as X, lower case as x, digits as d."""
        return self._each(_shape)

    def _each(self, change: Callable[[str], str]) -> list[str]:
        """Apply a function to the joined words, or to each word if the result cannot be split."""
        changed = change(_SEPARATOR.join(self.forms)).split(_SEPARATOR)
        if len(changed) == len(self.forms):
            return changed
        return [change(word) for word in self.forms]

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return a cached result that several features share, computing it at first use."""
        if key not in self._cache:
            self._cache[key] = compute()
        cached: T = self._cache[key]
        return cached

    def by_shape(self, compute: Callable[[str], str]) -> list[str]:
        """Compute a feature that depends on the shape alone, once per shape."""
        shapes = self.shapes
        values = {shape: compute(shape) for shape in dict.fromkeys(shapes)}
        return [values[shape] for shape in shapes]


#: A function that computes the value of each word; an empty string stands for no value.
Feature = Callable[[Words], list[str]]


def _shape_character(character: str) -> int:
    if character.isdigit():
        return ord("d")
    if character.isupper():
        return ord("X")
    return ord("x") if character.isalpha() else ord(character)


@functools.cache
def _shapes() -> CharacterTable:
    return CharacterTable(_shape_character, np.uint32)


def _shape(text: str) -> str:
    return text_of(_shapes()(code_points(text)))


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
    decomposed = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def _zeroed(text: str) -> str:
    return _DIGIT.sub("0", text.lower())


def _prefix(length: int, words: Words) -> list[str]:
    return [word[:length].ljust(length, _PAD) for word in words.lowers]


def _suffix(length: int, words: Words) -> list[str]:
    return [word[-length:].rjust(length, _PAD) for word in words.lowers]


def _yes_or_no(test: bool) -> str:
    return "yes" if test else "no"


#: Features by their name in the configuration, except ``prefixN`` and ``suffixN``.
FEATURES: dict[str, Feature] = {
    "form": lambda words: words.forms,
    "lower": lambda words: words.lowers,
    "capitalization": lambda words: words.by_shape(_capitalization),
    "has_digit": lambda words: words.by_shape(lambda shape: _yes_or_no("d" in shape)),
    "is_number": lambda words: words.by_shape(
        lambda shape: _yes_or_no(bool(_NUMBER.fullmatch(shape)))
    ),
    "shape": lambda words: words.shapes,
    "short_shape": lambda words: words.by_shape(lambda shape: _REPEATED.sub(r"\1", shape)),
    "lemma": lambda words: words.lemmas,
}


def is_feature(name: str) -> bool:
    """Return whether a builtin feature of this name exists."""
    return name in FEATURES or _AFFIX.fullmatch(name) is not None


def feature(name: str) -> Feature:
    """Return the builtin feature of a name.

    Parameters
    ----------
    name : str
        A key of `FEATURES`, or ``prefixN`` or ``suffixN`` with N from 1 to 9: the first or last N
        characters of the word in lower case, padded if the word is shorter.

    Raises
    ------
    InputError
        If the feature does not exist.
    """
    if name in FEATURES:
        return FEATURES[name]
    affix = _AFFIX.fullmatch(name)
    if affix is None:
        known = ", ".join([*FEATURES, "prefix1 to prefix9", "suffix1 to suffix9"])
        raise InputError(f'there is no feature "{name}"; the features are {known}')
    side = _prefix if affix[1] == "prefix" else _suffix
    return functools.partial(side, int(affix[2]))
