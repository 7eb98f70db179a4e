"""The binary dictionary model (paper 003, section 3.6.1): every word of a dictionary is a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.array_files import Expected, array_files
from corpus.batch import Batch
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.base import TrainingError
from taggers.dictionaries.dictionary_options import DictionaryOptions
from taggers.dictionaries.greedy_decoding import WordJudgements
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.name_tagger import NameTagger
from taggers.dictionaries.word_usage import Int64Array, Uses
from taggers.model_folder import ModelFiles


class DictionaryTagger(NameTagger[DictionaryOptions]):
    """A tagger that tags the words of a dictionary of names; adjacent words form one name.

    Words that are also in the negative dictionary, of words that are not names, are ambiguous. They
    are not tagged. The confidence in a document is 0 if it contains an ambiguous word, and 1
    otherwise.
    """

    kind = "dictionary"
    options_type = DictionaryOptions

    def _fitted(self, names: Frequencies, types: Sequence[str], counts: Int64Array) -> BinaryWords:
        options = self.options
        uses = Uses.of(names, types, counts)
        borne = names.counts.sum(axis=1)
        # A word that occurs only within longer names, such as "de" and "la", is not a name.
        positive = (borne >= options.bearers) & (names.alone.sum(axis=1) > 0)
        if options.not_names:
            negative = names.having(read_names(options.not_names))
        else:
            frequent = uses.counts.sum(axis=1) >= options.frequent * uses.tokens
            negative = frequent & (borne < options.rare * borne.sum())
        if not (positive & ~negative).any():
            raise TrainingError(
                f"no word of the dictionaries is borne by {options.bearers} people or more and is "
                "missing from the negative dictionary: there is nothing to tag"
            )
        return BinaryWords(names.hashes[positive], negative[positive])

    def _of_model(self, model: ModelFiles) -> BinaryWords:
        return BinaryWords.of_model(model)

    def _thresholds(self) -> tuple[float, float]:
        return 1.0, 1.0  # the divergence is 0 or infinite


class BinaryWords:
    """The words of the positive and the negative dictionary.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Hashes of the folded words of the positive dictionary.
    negative : ndarray of bool, shape (V,)
        Which of them are also in the negative dictionary.
    """

    def __init__(self, hashes: Hashes, negative: npt.NDArray[np.bool_]) -> None:
        self.hashes = hashes
        self.negative = negative
        self._index = HashIndex(hashes)

    def judge(self, batch: Batch) -> WordJudgements:
        """Return which words of a batch are names, and which are ambiguous."""
        rows = self._index.positions(word_hashes(fold(batch.vocabulary)))
        known = rows >= 0
        doubtful = np.zeros(len(rows), bool)
        doubtful[known] = self.negative[rows[known]]
        divergence = np.where(known & ~doubtful, 0.0, np.inf)
        return WordJudgements(divergence, np.zeros(len(rows), bool), doubtful)

    def description(self) -> dict[str, Any]:
        """Return an empty description: the files hold the whole model."""
        return {}

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return array_files({"names": self.hashes, "negative": self.negative})

    @classmethod
    def of_model(cls, model: ModelFiles) -> Self:
        """Read the dictionaries from the files of a model.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns.
        """
        hashes = model.hashes("names")
        return cls(hashes, model.array("negative", Expected("bool", hashes.shape)))
