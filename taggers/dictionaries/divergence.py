"""The frequency-divergence model (paper 003, section 3.6.2).

Words that are names are as frequent in the notes as in the census.
"""

from __future__ import annotations

from gazetteers.frequencies import Frequencies
from taggers.dictionaries.dictionary_options import DivergenceOptions
from taggers.dictionaries.name_tagger import NameTagger
from taggers.dictionaries.word_divergence import WordDivergence
from taggers.dictionaries.word_usage import NoteWords, Uses
from taggers.model_folder import ModelFiles


class DivergenceTagger(NameTagger[DivergenceOptions]):
    """A tagger of words whose frequency in the notes agrees with that expected of a name.

    Words that are much more frequent have other meanings and are not tagged; see
    `taggers.dictionaries.word_divergence.WordDivergence`.
    """

    kind = "divergence"
    options_type = DivergenceOptions

    def _fitted(self, names: Frequencies, notes: NoteWords) -> WordDivergence:
        uses = Uses.of(names, notes.types, notes.counts, notes.patients)
        return WordDivergence.of(names, uses, self.options.smoothing)

    def _of_model(self, model: ModelFiles) -> WordDivergence:
        return WordDivergence.of_model(model, model.fields.fields("words"))

    def _thresholds(self) -> tuple[float, float]:
        return self.options.threshold, self.options.threshold_after
