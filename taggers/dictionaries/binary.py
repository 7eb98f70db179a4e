"""The binary dictionary model (paper 003, 3.6.1): what is in a dictionary is a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.arrays import array_files, read_arrays
from taggers.base import TrainingError
from taggers.dictionaries.dictionary_options import DictionaryOptions
from taggers.dictionaries.greedy_decoding import WordJudgements
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.name_tagger import NameTagger
from taggers.dictionaries.word_usage import Counts, Uses


class DictionaryTagger(NameTagger[DictionaryOptions]):
    """Tags words of a dictionary of names, those that stand together as one name.

    A document with a word that is in the dictionary of what is no name, too, has confidence 0, and
    any other has 1. Such a word is not tagged.
    """

    kind = "dictionary"
    options_type = DictionaryOptions

    def _compared(self, names: Frequencies, types: Sequence[str], counts: Counts) -> BinaryWords:
        options = self.options
        uses = Uses.of(names, types, counts)
        borne = names.counts.sum(axis=1)
        # Nobody is called just by a word that only stands in names of several: de, la.
        positive = (borne >= options.bearers) & (names.alone.sum(axis=1) > 0)
        if options.not_names:
            negative = names.having(read_names(options.not_names))
        else:
            frequent = uses.counts.sum(axis=1) >= options.frequent * uses.tokens
            negative = frequent & (borne < options.rare * borne.sum())
        if not (positive & ~negative).any():
            raise TrainingError(
                f"no word of the dictionaries is borne by {options.bearers} people or more and is "
                "not among what is no name: there is nothing to tag"
            )
        return BinaryWords(names.hashes[positive], negative[positive])

    def _read(self, folder: Path, description: Mapping[str, Any]) -> BinaryWords:
        return BinaryWords.read(folder)

    def _thresholds(self) -> tuple[float, float]:
        return 1.0, 1.0  # of divergences that are 0 or infinite


class BinaryWords:
    """Which words are names.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Of the folded words of the positive dictionary.
    negative : ndarray of bool, shape (V,)
        Which of them are in the negative one, too.
    """

    def __init__(self, hashes: Hashes, negative: npt.NDArray[np.bool_]) -> None:
        self.hashes = hashes
        self.negative = negative
        self._index = HashIndex(hashes)

    def judge(self, batch: Batch) -> WordJudgements:
        """Return whether each word of a batch is a name, and whether that is contradicted."""
        rows = self._index.positions(word_hashes(fold(batch.vocabulary)))
        known = rows >= 0
        doubtful = np.zeros(len(rows), bool)
        doubtful[known] = self.negative[rows[known]]
        divergence = np.where(known & ~doubtful, 0.0, np.inf)
        return WordJudgements(divergence, np.zeros(len(rows), bool), doubtful)

    def description(self) -> dict[str, Any]:
        """Return nothing: everything is in the files."""
        return {}

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return array_files({"names": self.hashes, "negative": self.negative})

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what `files` gave."""
        hashes, negative = read_arrays(folder, ("names", "negative"))
        return cls(hashes, negative)
