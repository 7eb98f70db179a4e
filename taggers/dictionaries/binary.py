"""The binary dictionary model (paper 003, section 3.6.1): every word of a dictionary is a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT
from corpus.storage.arrays import Expected
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.base import TrainingError
from taggers.dictionaries.dictionary_options import DictionaryOptions
from taggers.dictionaries.greedy_decoding import WordJudgements
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.name_tagger import NameTagger
from taggers.dictionaries.word_usage import NoteWords, Uses
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import NAMES, Pruning
from taggers.privacy.public_lists import PublicLists

_TABLE = "names"


class DictionaryTagger(NameTagger[DictionaryOptions]):
    """A tagger that tags the words of a dictionary of names; adjacent words form one name.

    Words that are also in the negative dictionary, of words that are not names, are ambiguous. They
    are not tagged. The confidence in a document is 0 if it contains an ambiguous word, and 1
    otherwise.
    """

    kind = "dictionary"
    options_type = DictionaryOptions

    def _fitted(self, names: Frequencies, notes: NoteWords) -> BinaryWords:
        options = self.options
        uses = Uses.of(names, notes.types, notes.counts, notes.patients)
        borne = names.counts.sum(axis=1)
        positive = _positive(names, options.bearers)
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
        patients = uses.patients.max(axis=1)
        if options.not_names:  # which nothing of the notes is in
            patients = np.full(len(negative), np.iinfo(np.int32).max, np.int32)
        table = KeyedTable(names.hashes, {"negative": negative}, patients=patients)
        return BinaryWords(table.take(positive), options.bearers)

    def _of_model(self, model: ModelFiles) -> BinaryWords:
        return BinaryWords.of_model(model, self.options.bearers)

    def _thresholds(self) -> tuple[float, float]:
        return 1.0, 1.0  # the divergence is 0 or infinite


class BinaryWords:
    """The words of the positive and the negative dictionary.

    Parameters
    ----------
    table : KeyedTable
        The column of the V folded words of the positive dictionary: ``negative``, bool, whether a
        word is also in the negative dictionary. The patients are those whose notes are the reason.
    bearers : int
        The least number of bearers of these words in the lists that they are from.
    """

    def __init__(self, table: KeyedTable, bearers: int) -> None:
        self.table = table
        self._bearers = bearers

    def judge(self, batch: Batch) -> WordJudgements:
        """Return which words of a batch are names, and which are ambiguous."""
        hashes = word_hashes(fold(batch.vocabulary))
        doubtful = self.table.values("negative", hashes)
        divergence = np.where((self.table.rows(hashes) != ABSENT) & ~doubtful, 0.0, np.inf)
        return WordJudgements(divergence, np.zeros(len(hashes), bool), doubtful)

    @property
    def size(self) -> int:
        """The number of words, V."""
        return len(self.table)

    @property
    def occurring(self) -> int:
        """The number of words in the negative dictionary, which are frequent in the notes."""
        return int(np.count_nonzero(self.table["negative"]))

    def pruned(self, pruning: Pruning) -> Self:
        """Return the words of public lists; those of few patients are not ambiguous."""
        table = self.table.forgetting(pruning, "negative")
        if NAMES not in pruning.keep:
            table = table.take(self._public(pruning.lists))
        return type(self)(table, self._bearers)

    def _public(self, lists: PublicLists) -> npt.NDArray[np.bool_]:
        return lists.is_public(self.table.hashes, lambda names: _positive(names, self._bearers))

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words are ambiguous, and which are in a list that is not public."""
        hashes = word_hashes(fold(words))
        return {
            "ambiguous words": self.table.values("negative", hashes),
            "lists of names": np.append(~self._public(lists), False)[self.table.rows(hashes)],
        }

    def description(self) -> dict[str, Any]:
        """Return an empty description: the files hold the whole model."""
        return {}

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return self.table.files(_TABLE)

    @classmethod
    def of_model(cls, model: ModelFiles, bearers: int) -> Self:
        """Read the dictionaries from the files of a model with this option.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns.
        """
        columns = {"negative": Expected("bool", (None,))}
        return cls(KeyedTable.from_model(model, _TABLE, columns), bearers)


def _positive(names: Frequencies, bearers: int) -> npt.NDArray[np.bool_]:
    """Select the words that enough people bear.

    A word that occurs only within longer names, such as "de" and "la", is not a name.
    """
    found: npt.NDArray[np.bool_] = (names.counts.sum(axis=1) >= bearers) & (
        names.alone.sum(axis=1) > 0
    )
    return found
