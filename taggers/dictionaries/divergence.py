"""The frequency-divergence model (paper 003, section 3.6.2).

Words that are names are as frequent in the notes as in the census.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT
from corpus.kernels.hashing import Hashes
from corpus.storage.arrays import Expected, weights_of_shape
from corpus.storage.fields import Fields
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.base import TrainingError
from taggers.certainties import Certainties
from taggers.dictionaries.dictionary_options import DivergenceOptions
from taggers.dictionaries.greedy_decoding import WordJudgements, decode_greedily
from taggers.dictionaries.name_tagger import ListedWords, NameTagger
from taggers.dictionaries.word_usage import CASES, Floats, Int64Array, NoteWords, Uses, case_numbers
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles

#: Words that are a whole name for a smaller share of their bearers are joining words: ``de``,
#: ``la``, ``del``, ``san``.
_ALONE = 0.05
#: Characters that join the words of a name.
_HYPHENS = frozenset("-–‐")


class WordDivergence(ListedWords):
    """The divergence of words from the frequency expected of a name.

    The expected count of a word in the notes is m = f s N, where f is its share of the census, s
    the share of tokens that are names, and N the number of tokens. With the observed count n, its
    divergence is ``max(0, log((n + a) / (m + a)))``. The smoothing a reduces the divergence where m
    is small: the expected count of most names is below 1, while the names that occur do so at least
    once.

    A penalty for capitalization is added for each token: the logarithm of the ratio between the
    share of names among tokens capitalized like most names, and the share among tokens capitalized
    like this one.

    Parameters
    ----------
    table : KeyedTable
        The columns of the V folded words: ``divergence``, float32, of each word, 0 for one that
        does not occur; and ``joins``, bool, whether it only joins the words of a name, and is not a
        name itself. Patients count if a word occurs in their notes.
    cases : ndarray of float64, shape (K,)
        The penalty that is added to the divergence for each capitalization; 0 for the most common
        capitalization of names.
    scales : ndarray of float64, shape (K,)
        For each capitalization, the estimated share of all tokens that are names written that way.
    """

    shown = trace = "divergence"

    def __init__(self, table: KeyedTable, *, cases: Floats, scales: Floats) -> None:
        super().__init__(table)
        self.cases = cases
        self.scales = scales

    @classmethod
    def from_uses(cls, names: Frequencies, uses: Uses, smoothing: float) -> Self:
        """Compute the divergence of the words of names from their use in the notes."""
        borne = names.counts.sum(axis=1)
        some = borne > 0  # a word without bearers is not a name
        borne, uses = borne[some], uses.take(some)
        shares = borne / max(borne.sum(), 1)
        scales = uses.name_shares(shares)
        if not scales.any():  # too few occurrences: treat all words of the dictionary as names
            scales = uses.counts.sum(axis=0) / max(uses.tokens, 1)
        if not scales.any():
            raise TrainingError(
                "none of the dictionary's words occurs in the notes: no word can be tagged as a "
                "name; do the dictionaries match the population of the notes?"
            )
        expected = shares * scales.sum() * uses.tokens
        ratio = np.log((uses.counts.sum(axis=1) + smoothing) / (expected + smoothing))
        columns = {
            "divergence": np.maximum(ratio, 0.0).astype(np.float32),
            "joins": names.alone.sum(axis=1)[some] < _ALONE * borne,
        }
        table = KeyedTable(names.hashes[some], columns, patients=uses.patients.max(axis=1))
        return cls(table, cases=uses.case_penalties(scales), scales=scales)

    def _selection(self, names: Frequencies) -> npt.NDArray[np.bool_]:
        borne: npt.NDArray[np.bool_] = names.counts.sum(axis=1) > 0
        return borne

    def judge(self, batch: Batch) -> WordJudgements:
        """Return the judgements of the word types of a batch."""
        types = batch.vocabulary
        return self.judge_words(types, word_hashes(fold(types)), case_numbers(types))

    def judge_words(
        self, types: Sequence[str], hashes: Hashes, cases: Int64Array
    ) -> WordJudgements:
        """Return the judgements of words from the hashes of their folded forms and their cases."""
        joins = np.fromiter(map(_HYPHENS.__contains__, types), bool, len(types))
        joins |= self.table.values("joins", hashes)
        named = (self.table.rows(hashes) != ABSENT) & ~joins
        divergence = np.full(len(types), np.inf)
        divergence[named] = self.table.values("divergence", hashes)[named]
        divergence[named] += self.cases[cases[named]]
        return WordJudgements(divergence, joins, np.zeros(len(types), bool))

    def description(self) -> dict[str, dict[str, float]]:
        rows = zip(CASES, self.cases.tolist(), self.scales.tolist(), strict=True)
        return {name: {"added": added, "share": share} for name, added, share in rows}

    @classmethod
    def from_model(cls, model: ModelFiles, description: Fields) -> Self:
        """Read a model of words from the files of a tagger and its `description`.

        Raises
        ------
        InputError
            If a file or the description is not what `files` and `description` return.
        """
        cases, scales = (
            np.array([description.fields(name).number(key) for name in CASES])
            for key in ("added", "share")
        )
        columns = {"divergence": weights_of_shape(None), "joins": Expected("bool", (None,))}
        return cls(KeyedTable.from_model(model, cls.name, columns), cases=cases, scales=scales)


class DivergenceTagger(NameTagger[DivergenceOptions, WordDivergence]):
    """A tagger of words whose frequency in the notes agrees with that expected of a name.

    Words that are much more frequent have other meanings and are not tagged.
    """

    kind = "divergence"
    options_type = DivergenceOptions
    model_format = 2

    def _fitted(self, names: Frequencies, notes: NoteWords) -> WordDivergence:
        uses = Uses.from_notes(names, notes)
        return WordDivergence.from_uses(names, uses, self.options.smoothing)

    def _from_model(self, model: ModelFiles) -> WordDivergence:
        return WordDivergence.from_model(model, model.fields.fields("words"))

    def _decoded(self, batch: Batch) -> Certainties:
        thresholds = self.options.threshold, self.options.threshold_after
        return decode_greedily(batch, self.model.judge(batch), self._blocked(batch), *thresholds)
