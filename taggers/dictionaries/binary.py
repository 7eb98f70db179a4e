"""The binary dictionary model (paper 003, section 3.6.1): every word of a dictionary is a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes
from corpus.storage.arrays import Expected, array_files
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.base import TrainingError
from taggers.dictionaries.dictionary_options import DictionaryOptions
from taggers.dictionaries.greedy_decoding import WordJudgements
from taggers.dictionaries.name_lists import read_names
from taggers.dictionaries.name_tagger import NameTagger
from taggers.dictionaries.word_usage import NoteWords, Uses
from taggers.model_folder import ModelFiles
from taggers.patient_counts import Counts, expected_counts
from taggers.pruning import NAMES, Pruning
from taggers.public_lists import PublicLists


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
        return BinaryWords(
            names.hashes[positive], negative[positive], patients[positive], options.bearers
        )

    def _of_model(self, model: ModelFiles) -> BinaryWords:
        return BinaryWords.of_model(model, self.options.bearers)

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
    patients : ndarray of int32, shape (V,)
        The least number of patients whose notes are the reason that a word is in the negative
        dictionary.
    bearers : int
        The least number of bearers of these words in the lists that they are from.
    """

    def __init__(
        self, hashes: Hashes, negative: npt.NDArray[np.bool_], patients: Counts, bearers: int
    ) -> None:
        self.hashes = hashes
        self.negative = negative
        self.patients = patients
        self._bearers = bearers
        self._index = HashIndex(hashes)

    def judge(self, batch: Batch) -> WordJudgements:
        """Return which words of a batch are names, and which are ambiguous."""
        rows = self._index.positions(word_hashes(fold(batch.vocabulary)))
        known = rows >= 0
        doubtful = np.zeros(len(rows), bool)
        doubtful[known] = self.negative[rows[known]]
        divergence = np.where(known & ~doubtful, 0.0, np.inf)
        return WordJudgements(divergence, np.zeros(len(rows), bool), doubtful)

    @property
    def size(self) -> int:
        """The number of words, V."""
        return len(self.hashes)

    @property
    def occurring(self) -> int:
        """The number of words in the negative dictionary, which are frequent in the notes."""
        return int(np.count_nonzero(self.negative))

    def pruned(self, pruning: Pruning) -> Self:
        """Return the words of public lists; those of few patients are not ambiguous."""
        kept = np.ones(len(self.hashes), bool)
        if NAMES not in pruning.keep:
            kept = self._public(pruning.lists)
        frequent = pruning.keeps(self.patients)
        return type(self)(
            self.hashes[kept],
            (self.negative & frequent)[kept],
            np.where(frequent, pruning.known(self.patients), np.int32(0))[kept],
            self._bearers,
        )

    def _public(self, lists: PublicLists) -> npt.NDArray[np.bool_]:
        return lists.is_public(self.hashes, lambda names: _positive(names, self._bearers))

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words are ambiguous, and which are in a list that is not public."""
        rows = self._index.positions(word_hashes(fold(words)))
        return {
            "ambiguous words": np.append(self.negative, False)[rows],
            "lists of names": np.append(~self._public(lists), False)[rows],
        }

    def description(self) -> dict[str, Any]:
        """Return an empty description: the files hold the whole model."""
        return {}

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return array_files(
            {"names": self.hashes, "negative": self.negative, "names-patients": self.patients}
        )

    @classmethod
    def of_model(cls, model: ModelFiles, bearers: int) -> Self:
        """Read the dictionaries from the files of a model with this option.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns.
        """
        hashes = model.hashes("names")
        return cls(
            hashes,
            model.array("negative", Expected("bool", hashes.shape)),
            model.array("names-patients", expected_counts(len(hashes))),
            bearers,
        )


def _positive(names: Frequencies, bearers: int) -> npt.NDArray[np.bool_]:
    """Select the words that enough people bear.

    A word that occurs only within longer names, such as "de" and "la", is not a name.
    """
    found: npt.NDArray[np.bool_] = (names.counts.sum(axis=1) >= bearers) & (
        names.alone.sum(axis=1) > 0
    )
    return found
