"""How frequent a word is among names, as features of words (paper 002, 3.3: external resources)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError, shown
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import Hashes
from gazetteers.folding import folded
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.arrays import array_files, read_arrays
from taggers.features import Feature, Words

#: Begins the names of the features; the class of names follows.
PREFIX = "frequency-"

#: 10 bearers, tripled again and again.
_TRIPLED = 10 * 3 ** np.arange(37, dtype=np.int64)
#: What can stand in the name of a feature.
_NAME = re.compile(r"[^\[\]\s:=|]+")

_FILES = ("name-words", "name-frequencies")


class NameFrequencies:
    """The magnitude of the frequency of words, by class of names.

    Parameters
    ----------
    classes : tuple of str
        C of them.
    hashes : ndarray of uint64, shape (V,)
        Of the folded words: a model tells them, but does not spell them.
    magnitudes : ndarray of int8, shape (V, C)
        How many times 10 bearers must be tripled for those of each word; -1 where nobody bears it.
        A word that stands in longer names only, such as ``de``, has none either.
    """

    def __init__(
        self, classes: Sequence[str], hashes: Hashes, magnitudes: npt.NDArray[np.int8]
    ) -> None:
        self.classes = tuple(classes)
        self.hashes = hashes
        self.magnitudes = magnitudes
        self._index = HashIndex(hashes)

    @classmethod
    def of(cls, names: Frequencies) -> Self:
        """Take the frequencies of dictionaries.

        Raises
        ------
        InputError
            If no feature can be named after a class.
        """
        for name in names.classes:
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"names: no feature can be named after the class {shown(name)}: it is empty or "
                    "has a space or one of [ ] : = |; bootstrap gazetteer import --class names it "
                    "in another way"
                )
        counts = np.where(names.alone > 0, names.counts, 0)
        size = np.maximum(np.searchsorted(_TRIPLED, counts, side="right") - 1, 0)
        magnitudes = np.where(counts > 0, size, -1).astype(np.int8)
        return cls(names.classes, names.hashes, magnitudes)

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the features."""
        return tuple(f"{PREFIX}{name}" for name in self.classes)

    def features(self) -> dict[str, Feature]:
        """Give a feature of words for each class: it says the magnitude, or nothing."""
        return {name: self._feature(column) for column, name in enumerate(self.names)}

    def _feature(self, column: int) -> Feature:
        def magnitudes(words: Words) -> list[str]:
            found = words.once(self, lambda: self._of(words))[:, column]
            return [str(number) if number >= 0 else "" for number in found.tolist()]

        return magnitudes

    def _of(self, words: Words) -> npt.NDArray[np.int8]:
        """Look words up, shape (T, C)."""
        rows = self._index.positions(word_hashes(folded(words.forms)))
        found = np.full((len(rows), len(self.classes)), -1, np.int8)
        known = rows != ABSENT
        found[known] = self.magnitudes[rows[known]]
        return found

    def files(self) -> dict[str, bytes]:
        """Give the content of a model's files."""
        return array_files(dict(zip(_FILES, (self.hashes, self.magnitudes), strict=True)))

    @classmethod
    def of_files(cls, folder: Path, classes: Sequence[Any]) -> Self:
        """Read what `files` gave."""
        hashes, magnitudes = read_arrays(folder, _FILES)
        return cls(tuple(map(str, classes)), hashes, magnitudes)
