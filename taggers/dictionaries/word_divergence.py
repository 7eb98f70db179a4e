"""The divergence of word frequencies between the census and the notes (paper 003, 3.6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT
from corpus.kernels.hashing import Hashes
from corpus.storage.arrays import Expected, weights_of_shape
from corpus.storage.json_fields import Fields
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.base import TrainingError
from taggers.dictionaries.greedy_decoding import WordJudgements
from taggers.dictionaries.name_share import name_share
from taggers.dictionaries.word_usage import CASES, Int64Array, Uses, case_numbers
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.pruning import NAMES, Pruning
from taggers.privacy.public_lists import PublicLists

Floats = npt.NDArray[np.float64]

#: Words that are a whole name for a smaller share of their bearers are joining words: ``de``,
#: ``la``, ``del``, ``san``.
_ALONE = 0.05
_TABLE = "names"
#: Characters that join the words of a name.
_HYPHENS = frozenset("-–‐")


class WordDivergence:
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
        name itself. The patients are those in whose notes a word occurs.
    cases : ndarray of float64, shape (K,)
        The penalty that is added to the divergence for each capitalization; 0 for that of most
        names.
    scales : ndarray of float64, shape (K,)
        For each capitalization, the estimated share of all tokens that are names written that way.
    """

    def __init__(self, table: KeyedTable, *, cases: Floats, scales: Floats) -> None:
        self.table = table
        self.cases = cases
        self.scales = scales

    @classmethod
    def of(cls, names: Frequencies, uses: Uses, smoothing: float) -> Self:
        """Compute the divergence of the words of names from their use in the notes."""
        borne = names.counts.sum(axis=1)
        some = borne > 0  # a word without bearers is not a name
        borne, counts = borne[some], uses.counts[some]
        shares = borne / max(borne.sum(), 1)
        scales = np.array([name_share(shares, column, uses.tokens) for column in counts.T])
        if not scales.any():  # too few occurrences: treat all words of the dictionary as names
            scales = counts.sum(axis=0) / max(uses.tokens, 1)
        if not scales.any():
            raise TrainingError(
                "none of the dictionary's words occurs in the notes: no word can be tagged as a "
                "name; do the dictionaries match the population of the notes?"
            )
        expected = shares * scales.sum() * uses.tokens
        ratio = np.log((counts.sum(axis=1) + smoothing) / (expected + smoothing))
        columns = {
            "divergence": np.maximum(ratio, 0.0).astype(np.float32),
            "joins": names.alone.sum(axis=1)[some] < _ALONE * borne,
        }
        patients = uses.patients[some].max(axis=1)
        return cls(
            KeyedTable(names.hashes[some], columns, patients=patients),
            cases=case_penalties(scales * uses.tokens / np.maximum(uses.totals, 1), scales),
            scales=scales,
        )

    def pruned(self, pruning: Pruning) -> WordDivergence:
        """Return a model in which words of few patients are as if they did not occur.

        Words that are in no public list are removed.
        """
        table = self.table.forgetting(pruning, "divergence")
        if NAMES not in pruning.keep:
            table = table.take(pruning.lists.is_public(table.hashes, _borne))
        return WordDivergence(table, cases=self.cases, scales=self.scales)

    @property
    def size(self) -> int:
        """The number of words, V."""
        return len(self.table)

    @property
    def occurring(self) -> int:
        """The number of words whose divergence shows that they occur in the notes."""
        return int(np.count_nonzero(self.table["divergence"]))

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words have a divergence, and which are in a list that is not public."""
        hashes = word_hashes(fold(words))
        private = ~lists.is_public(self.table.hashes, _borne)
        return {
            "divergence": self.table.values("divergence", hashes) > 0,
            "lists of names": np.append(private, False)[self.table.rows(hashes)],
        }

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
        """Return the penalties and shares of capitalizations, as JSON values."""
        rows = zip(CASES, self.cases.tolist(), self.scales.tolist(), strict=True)
        return {name: {"added": added, "share": share} for name, added, share in rows}

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return self.table.files(_TABLE)

    @classmethod
    def of_model(cls, model: ModelFiles, description: Fields) -> Self:
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
        return cls(KeyedTable.from_model(model, _TABLE, columns), cases=cases, scales=scales)


def _borne(names: Frequencies) -> npt.NDArray[np.bool_]:
    """Select the words of a list that have bearers, which a model of words has."""
    found: npt.NDArray[np.bool_] = names.counts.sum(axis=1) > 0
    return found


def case_penalties(parts: Floats, scales: Floats) -> Floats:
    """Compute the penalty of each capitalization relative to that of most names.

    Parameters
    ----------
    parts : ndarray of float64, shape (K,)
        The share of names among the tokens of each capitalization.
    scales : ndarray of float64, shape (K,)
        The share of all tokens that are names of each capitalization.

    Returns
    -------
    ndarray of float64, shape (K,)
        Logarithms of ratios, at least 0 and finite, so that JSON can represent them.
    """
    smallest = np.finfo(np.float64).tiny
    reference = parts[scales.argmax()]
    penalties: Floats = np.log(reference) - np.log(np.maximum(parts, smallest))
    return np.maximum(penalties, 0.0)
