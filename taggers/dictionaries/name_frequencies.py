"""Features of the frequency of words among names (paper 002, section 3.3: external resources)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError, shown
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import Hashes
from corpus.storage.arrays import Expected, array_files
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.features import Feature, Words
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import NAMES, Pruning
from taggers.privacy.public_lists import PublicLists

#: The prefix of the names of the features; it is followed by the class of names.
PREFIX = "frequency-"

#: The lower bounds of the magnitudes: 10 bearers, 30, 90 and so on.
_BOUNDS = 10 * 3 ** np.arange(37, dtype=np.int64)
#: A valid name of a feature.
_NAME = re.compile(r"[^\[\]\s:=|]+")

_FILES = ("name-words", "name-frequencies")


class NameFrequencies:
    """The magnitudes of the frequencies of words, by class of names.

    Parameters
    ----------
    classes : tuple of str
        The C classes of names.
    hashes : ndarray of uint64, shape (V,)
        Hashes of the folded words. A model stores no text of them.
    magnitudes : ndarray of int8, shape (V, C)
        The magnitude m of the frequency of each word in each class: it has at least 10 * 3^m
        bearers. -1 if a word has no bearers, or occurs only within longer names, like ``de``.
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
        """Compute the magnitudes of the frequencies of dictionaries.

        Raises
        ------
        InputError
            If the name of a class cannot be part of the name of a feature.
        """
        for name in names.classes:
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"names: no feature can be named after the class {shown(name)}: it is empty or "
                    "contains a space or one of [ ] : = |; rename it by bootstrap gazetteer import "
                    "--class"
                )
        counts = np.where(names.alone > 0, names.counts, 0)
        size = np.maximum(np.searchsorted(_BOUNDS, counts, side="right") - 1, 0)
        magnitudes = np.where(counts > 0, size, -1).astype(np.int8)
        return cls(names.classes, names.hashes, magnitudes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(f"{PREFIX}{name}" for name in self.classes)

    def features(self) -> dict[str, Feature]:
        """Return a feature for each class, whose value is the magnitude, if there is one."""
        return {name: self._feature(column) for column, name in enumerate(self.names)}

    def _feature(self, column: int) -> Feature:
        def magnitudes(words: Words) -> list[str]:
            found = words.once(self, lambda: self._of(words))[:, column]
            return [str(number) if number >= 0 else "" for number in found.tolist()]

        return magnitudes

    def _of(self, words: Words) -> npt.NDArray[np.int8]:
        """Return the magnitudes of words, shape (T, C)."""
        rows = self._index.positions(word_hashes(fold(words.forms)))
        found = np.full((len(rows), len(self.classes)), -1, np.int8)
        known = rows != ABSENT
        found[known] = self.magnitudes[rows[known]]
        return found

    @property
    def size(self) -> int:
        """The number of words, V."""
        return len(self.hashes)

    def pruned(self, pruning: Pruning) -> NameFrequencies:
        """Return the frequencies of the words of public lists, as these lists have them."""
        if NAMES in pruning.keep:
            return self
        gazetteer = pruning.lists.words_within(self.hashes)
        if gazetteer is None:
            magnitudes = np.zeros((0, len(self.classes)), np.int8)
            return NameFrequencies(self.classes, np.zeros(0, np.uint64), magnitudes)
        public = NameFrequencies.of(Frequencies.from_gazetteer(gazetteer))
        magnitudes = np.full((public.size, len(self.classes)), -1, np.int8)
        for column, name in enumerate(self.classes):
            if name in public.classes:
                magnitudes[:, column] = public.magnitudes[:, public.classes.index(name)]
        return NameFrequencies(self.classes, public.hashes, magnitudes)

    def having(self, types: Sequence[str], lists: PublicLists) -> npt.NDArray[np.bool_]:
        """Return which words are in the table, but in no public list that is wholly in it."""
        rows = self._index.positions(word_hashes(fold(types)))
        public = np.append(lists.is_public(self.hashes), False)
        found: npt.NDArray[np.bool_] = (rows != ABSENT) & ~public[rows]
        return found

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return array_files(dict(zip(_FILES, (self.hashes, self.magnitudes), strict=True)))

    @classmethod
    def of_model(cls, model: ModelFiles) -> Self:
        """Read the frequencies from the files of a model.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns, or the name of a class is invalid.
        """
        classes = model.fields.distinct_texts("names")
        if not all(map(_NAME.fullmatch, classes)):
            raise model.fields.error("names", "names of classes without spaces and [ ] : = |")
        words, magnitudes = _FILES
        hashes = model.hashes(words)
        expected = Expected("int8", (len(hashes), len(classes)), -1, len(_BOUNDS) - 1)
        return cls(classes, hashes, model.array(magnitudes, expected))
