"""The binary dictionary model (paper 003, section 3.6.1): every word of a dictionary is a name."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT
from corpus.storage.arrays import Expected
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.base import TrainingError
from taggers.certainties import Certainties
from taggers.dictionaries.dictionary_options import DictionaryOptions
from taggers.dictionaries.greedy_decoding import WordJudgements, decode_greedily
from taggers.dictionaries.name_frequencies import read_names
from taggers.dictionaries.name_tagger import ListedWords, NameTagger
from taggers.dictionaries.word_usage import NoteWords, Uses
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles


class BinaryWords(ListedWords):
    """The words of the positive and the negative dictionary.

    Parameters
    ----------
    table : KeyedTable
        The column of the V folded words of the positive dictionary: ``negative``, bool, whether a
        word is also in the negative dictionary. Patients count if their notes are the reason.
    bearers : int
        The least number of bearers of these words in the lists that they are from.
    """

    shown = "negative"
    trace = "ambiguous words"

    def __init__(self, table: KeyedTable, bearers: int) -> None:
        super().__init__(table)
        self._bearers = bearers

    def _selection(self, names: Frequencies) -> npt.NDArray[np.bool_]:
        return _positive(names, self._bearers)

    def judge(self, batch: Batch) -> WordJudgements:
        """Return which words of a batch are names, and which are ambiguous."""
        hashes = word_hashes(fold(batch.vocabulary))
        doubtful = self.table.values("negative", hashes)
        divergence = np.where((self.table.rows(hashes) != ABSENT) & ~doubtful, 0.0, np.inf)
        return WordJudgements(divergence, np.zeros(len(hashes), bool), doubtful)


class DictionaryTagger(NameTagger[DictionaryOptions, BinaryWords]):
    """A tagger that tags the words of a dictionary of names; adjacent words form one name.

    Words that are also in the negative dictionary, of words that are not names, are ambiguous. They
    are not tagged. The confidence in a document is 0 if it contains an ambiguous word, and 1
    otherwise.
    """

    kind = "dictionary"
    options_type = DictionaryOptions
    model_format = 2

    def _fitted(self, names: Frequencies, notes: NoteWords) -> BinaryWords:
        options = self.options
        uses = Uses.from_notes(names, notes)
        borne = names.counts.sum(axis=1)
        positive = _positive(names, options.bearers)
        patients = uses.patients.max(axis=1)
        if options.not_names:
            negative = names.having(read_names(options.not_names))
            patients = np.full(len(negative), np.iinfo(np.int32).max, np.int32)  # none is of notes
        else:
            frequent = uses.counts.sum(axis=1) >= options.frequent * uses.tokens
            negative = frequent & (borne < options.rare * borne.sum())
        if not (positive & ~negative).any():
            raise TrainingError(
                f"no word of the dictionaries is borne by {options.bearers} people or more and is "
                "missing from the negative dictionary: there is nothing to tag"
            )
        table = KeyedTable(names.hashes, {"negative": negative}, patients=patients)
        return BinaryWords(table.take(positive), options.bearers)

    def _from_model(self, model: ModelFiles) -> BinaryWords:
        columns = {"negative": Expected("bool", (None,))}
        table = KeyedTable.from_model(model, BinaryWords.name, columns)
        return BinaryWords(table, self.options.bearers)

    def _decoded(self, batch: Batch) -> Certainties:
        # The divergence is 0 or infinite.
        return decode_greedily(batch, self.model.judge(batch), self._blocked(batch), 1.0, 1.0)


def _positive(names: Frequencies, bearers: int) -> npt.NDArray[np.bool_]:
    """Select the words that enough people bear."""
    # A word that occurs only within longer names, such as "de" and "la", is not a name.
    enough = names.counts.sum(axis=1) >= bearers
    positive: npt.NDArray[np.bool_] = enough & (names.alone.sum(axis=1) > 0)
    return positive
