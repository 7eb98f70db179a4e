"""Log-odds of towns and countries against surnames, and words that are names of neither."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.kernels.hashing import Hashes
from corpus.storage.arrays import Expected, weights_of_shape
from corpus.storage.fields import Fields
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.dictionaries.divergence import WordDivergence
from taggers.dictionaries.name_tagger import ListedWords
from taggers.dictionaries.word_usage import CASES, Floats, Int64Array, NoteWords, Uses, case_numbers
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles

Int32Array = npt.NDArray[np.int32]

_LOWER = CASES.index("lower")
_FIRST = CASES.index("first")
#: The share of capitalized tokens among the tokens of a word that is not a name.
_CAPITALIZED = 0.05
#: The lowest share of tokens that are places; the estimate is low where the notes name few places.
_LEAST_SHARE = 1e-4


class TownOdds(ListedWords):
    """The log-odds of words that are a whole name of a place.

    The expected count of a word as a place is m = f s N, where f is its share of the counts of its
    class, s the share of tokens that are places, and N the number of tokens. The population is the
    count of a municipality; countries, regions and provinces count equally. With the expected count
    p as a name of a person (see `taggers.dictionaries.divergence`), and the number l of
    occurrences in lower case, the log-odds are ``log((m + a) / (p + a)) - log(1 + 0.05 l / (m +
    a))``. Penalties of capitalizations are subtracted, as for names.

    Parameters
    ----------
    table : KeyedTable
        The columns of the V folded words: ``odds``, float64, as if they did not occur in lower
        case; ``lower``, float64, what these occurrences take from the log-odds; and ``classes``,
        int32, the index of the class of each word. Patients count if a word occurs in lower
        case in their notes.
    cases : ndarray of float64, shape (K,)
        The penalty of each capitalization.
    """

    name, origin = "places", "lists of places"
    shown, trace = "lower", "places in lower case"

    def __init__(self, table: KeyedTable, cases: Floats) -> None:
        super().__init__(table)
        self.cases = cases

    @classmethod
    def from_counts(
        cls,
        places: Frequencies,
        names: Frequencies,
        persons: WordDivergence,
        notes: NoteWords,
        smoothing: float,
    ) -> Self:
        """Compute the log-odds of the words of places from lists and the words of the notes.

        Parameters
        ----------
        places, names : Frequencies
            The words of places, and of names of people.
        persons : WordDivergence
            The model of these names, which has the shares of tokens that are names.
        notes : NoteWords
            The words of the notes.
        smoothing : float
            The constant a.
        """
        whole = _is_whole(places)
        words = [word for word, kept in zip(places.words, whole, strict=True) if kept]
        alone, uses = places.alone[whole], Uses.from_notes(places, notes).take(whole)
        shares = (alone / np.maximum(places.counts.sum(axis=0), 1)).max(axis=1)
        scales = uses.name_shares(shares)
        scales[_FIRST] = max(scales[_FIRST], _LEAST_SHARE)
        expected = shares * scales[_FIRST] * uses.tokens + smoothing
        borne = names.counts.sum(axis=1)
        rows = names.rows(words)
        bearers = np.where(rows >= 0, borne[rows], 0) / max(borne.sum(), 1)
        surname = bearers * persons.scales.sum() * uses.tokens + smoothing
        columns = {
            "odds": np.log(expected / surname),
            "lower": np.log1p(_CAPITALIZED * uses.counts[:, _LOWER] / expected),
            "classes": alone.argmax(axis=1).astype(np.int32),
        }
        table = KeyedTable(word_hashes(words), columns, patients=uses.patients[:, _LOWER])
        return cls(table, uses.case_penalties(scales))

    def _selection(self, names: Frequencies) -> npt.NDArray[np.bool_]:
        return _is_whole(names)

    def classes_and_odds(self, hashes: Hashes, cases: Int64Array) -> tuple[Int32Array, Floats]:
        """Return the class of each word that is a place (or -1), and its log-odds.

        Parameters
        ----------
        hashes : ndarray of uint64, shape (T,)
            Hashes of the folded words.
        cases : ndarray of int64, shape (T,)
            Their capitalizations (see `taggers.dictionaries.word_usage.case_numbers`).
        """
        classes = np.where(cases >= 0, self.table.values("classes", hashes, -1), np.int32(-1))
        odds = self.table.values("odds", hashes) - self.table.values("lower", hashes)
        return classes, np.where(classes >= 0, odds - self.cases[cases], -np.inf)

    def description(self) -> dict[str, float]:
        return dict(zip(CASES, self.cases.tolist(), strict=True))

    @classmethod
    def from_model(cls, model: ModelFiles, description: Fields, classes: int) -> Self:
        """Read the log-odds from the files of a model and its `description`.

        Raises
        ------
        InputError
            If a file or the description is not what `files` and `description` return.
        """
        weights = weights_of_shape(None, dtypes="float64")
        columns = {
            "odds": weights,
            "lower": weights,
            "classes": Expected("int32", (None,), 0, classes - 1),
        }
        cases = np.array([description.number(name) for name in CASES])
        return cls(KeyedTable.from_model(model, cls.name, columns), cases)


def _is_whole(names: Frequencies) -> npt.NDArray[np.bool_]:
    """Select the words of a list that are a whole name."""
    whole: npt.NDArray[np.bool_] = names.alone.sum(axis=1) > 0
    return whole


def common_words(notes: NoteWords, most: float) -> KeyedTable:
    """Return the words of notes that occur in lower case, or more often than `most`.

    Returns
    -------
    KeyedTable
        Without columns. The number of patients is the least number whose notes show that a word is
        common.
    """
    hashes, rows = np.unique(word_hashes(fold(notes.types)), return_inverse=True)
    rows = rows.reshape(-1)
    totals = np.bincount(rows, notes.counts, len(hashes))
    shows = (case_numbers(notes.types) == _LOWER) | (totals > most)[rows]
    patients = np.full(len(hashes), -1, np.int32)
    np.maximum.at(patients, rows[shows], notes.patients[shows])
    common = patients >= 0
    return KeyedTable(hashes[common], {}, patients=patients[common])
