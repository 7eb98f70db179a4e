"""Frequencies of the words of names, and features (paper 002, section 3.3: external resources)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.errors import InputError, quoted
from corpus.storage.arrays import Expected
from gazetteers.builtin import read_gazetteer
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from gazetteers.gazetteer import merge
from taggers.features.words import Feature, Words
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import NAMES, Pruning
from taggers.privacy.public_lists import PublicLists

#: Gazetteers and classes that were used last, with their frequencies: the models of a run have the
#: same names.
_RECENT: deque[tuple[pa.Table, tuple[str, ...], Frequencies]] = deque(maxlen=2)

#: The prefix of the names of the features; it is followed by the class of names.
PREFIX = "frequency-"

#: The lower bounds of the magnitudes: 10 bearers, 30, 90 and so on.
_BOUNDS = 10 * 3 ** np.arange(37, dtype=np.int64)
#: A valid name of a feature.
_NAME = re.compile(r"[^\[\]\s:=|]+")

#: The name of the table in a model, and of its column.
_TABLE, _MAGNITUDES = "names", "magnitudes"


def read_names(paths: Sequence[str], classes: Sequence[str] = ()) -> Frequencies:
    """Read gazetteers, and compute the frequencies of the words of terms of some classes, or all.

    Raises
    ------
    InputError
        If a gazetteer is missing or has another format, or a class is in none of them.
    """
    gazetteer, wanted = merge([read_gazetteer(path) for path in paths]), tuple(classes)
    table = gazetteer.table()
    for other, of_classes, names in _RECENT:
        if of_classes == wanted and table.equals(other):
            return names
    names = Frequencies.from_gazetteer(gazetteer, wanted)
    _RECENT.append((table, wanted, names))
    return names


class NameFrequencies:
    """The magnitudes of the frequencies of words, by class of names.

    Parameters
    ----------
    classes : tuple of str
        The C classes of names.
    table : KeyedTable
        The column of the V folded words: ``magnitudes``, int8 of shape (V, C), the magnitude m of
        the frequency of a word in each class: it has at least 10 * 3^m bearers. -1 if a word has no
        bearers, or occurs only within longer names, like ``de``.
    """

    def __init__(self, classes: Sequence[str], table: KeyedTable) -> None:
        self.classes = tuple(classes)
        self.table = table

    @classmethod
    def from_frequencies(cls, names: Frequencies) -> Self:
        """Compute the magnitudes of the frequencies of dictionaries.

        Raises
        ------
        InputError
            If the name of a class cannot be part of the name of a feature.
        """
        for name in names.classes:
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"names: no feature can be named after the class {quoted(name)}: it is empty "
                    "or contains a space or one of [ ] : = |; rename it by bootstrap gazetteer "
                    "import --class"
                )
        counts = np.where(names.alone > 0, names.counts, 0)
        size = np.maximum(np.searchsorted(_BOUNDS, counts, side="right") - 1, 0)
        magnitudes = np.where(counts > 0, size, -1).astype(np.int8)
        return cls(names.classes, KeyedTable(names.hashes, {_MAGNITUDES: magnitudes}))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(f"{PREFIX}{name}" for name in self.classes)

    def features(self) -> dict[str, Feature]:
        """Return a feature for each class, whose value is the magnitude, if there is one."""
        return {name: self._feature(column) for column, name in enumerate(self.names)}

    def _feature(self, column: int) -> Feature:
        def magnitudes(words: Words) -> list[str]:
            values = words.once(self, lambda: self._magnitudes(words))[:, column]
            return [str(number) if number >= 0 else "" for number in values.tolist()]

        return magnitudes

    def _magnitudes(self, words: Words) -> npt.NDArray[np.int8]:
        """Return the magnitudes of words, shape (T, C)."""
        return self.table.values(_MAGNITUDES, word_hashes(fold(words.forms)), absent=-1)

    def pruned(self, pruning: Pruning) -> NameFrequencies:
        """Return the frequencies of the words of public lists, as these lists have them."""
        if NAMES in pruning.keep:
            return self
        gazetteer = pruning.lists.words_within(self.table.hashes)
        if gazetteer is None:
            return NameFrequencies(self.classes, self.table.take(np.zeros(len(self.table), bool)))
        public = NameFrequencies.from_frequencies(Frequencies.from_gazetteer(gazetteer))
        magnitudes = np.full((len(public.table), len(self.classes)), -1, np.int8)
        for column, name in enumerate(self.classes):
            if name in public.classes:
                own = public.classes.index(name)
                magnitudes[:, column] = public.table[_MAGNITUDES][:, own]
        table = KeyedTable(public.table.hashes, {_MAGNITUDES: magnitudes})
        return NameFrequencies(self.classes, table)

    def having(self, types: Sequence[str], lists: PublicLists) -> npt.NDArray[np.bool_]:
        """Return which words are in the table, but in no public list that is wholly in it."""
        private = np.append(~lists.is_public(self.table.hashes), False)
        return private[self.table.rows(word_hashes(fold(types)))]

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return self.table.files(_TABLE)

    @classmethod
    def from_model(cls, model: ModelFiles) -> Self:
        """Read the frequencies from the files of a model.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns, or the name of a class is invalid.
        """
        classes = model.fields.distinct_texts("names")
        if not all(map(_NAME.fullmatch, classes)):
            raise model.fields.error("names", "names of classes without spaces and [ ] : = |")
        expected = Expected("int8", (None, len(classes)), -1, len(_BOUNDS) - 1)
        return cls(classes, KeyedTable.from_model(model, _TABLE, {_MAGNITUDES: expected}))
