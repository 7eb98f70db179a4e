"""Evidence of word types: log-odds of towns and countries against surnames, and rare words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import MOST_KEY, Hashes
from corpus.storage.arrays import Expected, array_files, weights_of_shape
from corpus.storage.json_fields import Fields
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.dictionaries.name_share import name_share
from taggers.dictionaries.places.roles import COMMON, RARE, Int32Array
from taggers.dictionaries.word_divergence import WordDivergence, case_penalties
from taggers.dictionaries.word_usage import CASES, Int64Array, NoteWords, Uses, case_numbers
from taggers.model_folder import ModelFiles
from taggers.patient_counts import Counts, expected_counts
from taggers.pruning import NAMES, Pruning
from taggers.public_lists import PublicLists

Floats = npt.NDArray[np.float64]

_LOWER = CASES.index("lower")
_FIRST = CASES.index("first")
#: The share of capitalized tokens among those of a word that is not a name.
_CAPITALIZED = 0.05
#: The lowest share of tokens that are places; the estimate is low where the notes name few places.
_LEAST_SHARE = 1e-4


class PlaceWeights:
    """The log-odds of words that are a whole name of a place.

    The expected count of a word as a place is m = f s N, where f is its share of the counts of its
    class, s the share of tokens that are places, and N the number of tokens. The population is the
    count of a municipality; countries, regions and provinces count equally. With the expected count
    p as a name of a person (see `taggers.dictionaries.word_divergence`), and the number l of
    occurrences in lower case, the log-odds are ``log((m + a) / (p + a)) - log(1 + 0.05 l / (m +
    a))``. Penalties of capitalizations are subtracted, as for names.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Hashes of the folded words.
    weights : ndarray of float64, shape (V,)
        The log-odds of each word, as if it did not occur in lower case.
    classes : ndarray of int32, shape (V,)
        The index of the class of each word.
    cases : ndarray of float64, shape (K,)
        The penalty of each capitalization.
    penalties : ndarray of float64, shape (V,)
        What occurrences in lower case take from the log-odds; 0 if there are none.
    patients : ndarray of int32, shape (V,)
        The least number of patients in whose notes each word occurs in lower case.
    """

    def __init__(
        self,
        hashes: Hashes,
        weights: Floats,
        classes: Int32Array,
        *,
        cases: Floats,
        penalties: Floats,
        patients: Counts,
    ) -> None:
        self.penalties = penalties
        self.patients = patients
        self.hashes = hashes
        self.weights = weights
        self._odds = weights - penalties
        self.classes = classes
        self.cases = cases
        self._index = HashIndex(hashes)

    @classmethod
    def of(
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
        places : Frequencies
            The words of places.
        names : Frequencies
            The words of names of people.
        persons : WordDivergence
            The model of these names, which has the shares of tokens that are names.
        notes : NoteWords
            The words of the notes.
        smoothing : float
            The constant a.
        """
        whole = _whole(places)
        words = [word for word, kept in zip(places.words, whole, strict=True) if kept]
        alone = places.alone[whole]
        uses = Uses.of(places, notes.types, notes.counts, notes.patients)
        used = uses.counts[whole]
        shares = (alone / np.maximum(places.counts.sum(axis=0), 1)).max(axis=1)
        scales = np.array([name_share(shares, column, uses.tokens) for column in used.T])
        scales[_FIRST] = max(scales[_FIRST], _LEAST_SHARE)
        cases = case_penalties(scales * uses.tokens / np.maximum(uses.totals, 1), scales)
        expected = shares * scales[_FIRST] * uses.tokens + smoothing
        borne = names.counts.sum(axis=1)
        rows = names.rows(words)
        bearers = np.where(rows >= 0, borne[rows], 0) / max(borne.sum(), 1)
        surname = bearers * persons.scales.sum() * uses.tokens + smoothing
        penalties = np.log1p(_CAPITALIZED * used[:, _LOWER] / expected)
        return cls(
            word_hashes(words),
            np.log(expected / surname),
            alone.argmax(axis=1).astype(np.int32),
            cases=cases,
            penalties=penalties,
            patients=uses.patients[whole][:, _LOWER],
        )

    def pruned(self, pruning: Pruning) -> PlaceWeights:
        """Return the words of public lists; those of few patients are as if they did not occur."""
        kept = np.ones(len(self.hashes), bool)
        if NAMES not in pruning.keep:
            kept = self._public(pruning.lists)
        frequent = pruning.keeps(self.patients)
        return PlaceWeights(
            self.hashes[kept],
            self.weights[kept],
            self.classes[kept],
            cases=self.cases,
            penalties=np.where(frequent, self.penalties, 0.0)[kept],
            patients=np.where(frequent, pruning.known(self.patients), np.int32(0))[kept],
        )

    def _public(self, lists: PublicLists) -> npt.NDArray[np.bool_]:
        return lists.is_public(self.hashes, _whole)

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words occur in lower case, and which are in a list that is not public."""
        rows = self._index.positions(word_hashes(fold(words)))
        return {
            "places in lower case": np.append(self.penalties > 0, False)[rows],
            "lists of places": np.append(~self._public(lists), False)[rows],
        }

    def of_words(self, hashes: Hashes, cases: Int64Array) -> tuple[Int32Array, Floats]:
        """Return the class of each word that is a place (or -1), and its log-odds.

        Parameters
        ----------
        hashes : ndarray of uint64, shape (T,)
            Hashes of the folded words.
        cases : ndarray of int64, shape (T,)
            Their capitalizations (see `taggers.dictionaries.word_usage.case_numbers`).
        """
        rows = self._index.positions(hashes)
        known = (rows >= 0) & (cases >= 0)
        classes = np.full(len(hashes), -1, np.int32)
        weights = np.full(len(hashes), -np.inf)
        classes[known] = self.classes[rows[known]]
        weights[known] = self._odds[rows[known]] - self.cases[cases[known]]
        return classes, weights

    def description(self) -> dict[str, float]:
        """Return the penalties of capitalizations, as JSON values."""
        return dict(zip(CASES, self.cases.tolist(), strict=True))

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return array_files(
            {
                "places": self.hashes,
                "place-odds": self.weights,
                "place-classes": self.classes,
                "place-penalties": self.penalties,
                "place-patients": self.patients,
            }
        )

    @classmethod
    def of_model(cls, model: ModelFiles, description: Fields, classes: int) -> Self:
        """Read the log-odds from the files of a model and `description`.

        Parameters
        ----------
        model : ModelFiles
            The files.
        description : Fields
            What `description` returned.
        classes : int
            The number of classes of places.

        Raises
        ------
        InputError
            If a file or the description is not what `files` and `description` return.
        """
        hashes = model.hashes("places")
        return cls(
            hashes,
            model.array("place-odds", weights_of_shape(len(hashes), dtypes="float64")),
            model.array("place-classes", Expected("int32", hashes.shape, 0, classes - 1)),
            cases=np.array([description.number(name) for name in CASES]),
            penalties=model.array(
                "place-penalties", weights_of_shape(len(hashes), dtypes="float64")
            ),
            patients=model.array("place-patients", expected_counts(len(hashes))),
        )


def _whole(names: Frequencies) -> npt.NDArray[np.bool_]:
    """Select the words of a list that are a whole name."""
    found: npt.NDArray[np.bool_] = names.alone.sum(axis=1) > 0
    return found


@dataclass(frozen=True, eq=False)
class WordUsage:
    """Which words are used in lower case, and which are so frequent that they are not rare.

    Parameters
    ----------
    lower, frequent : ndarray of uint64
        Hashes of folded words that occur in lower case, and of words that are frequent.
    lower_patients, frequent_patients : ndarray of int32
        The least number of patients in whose notes each of them occurs.
    key : int
        The key of the hashes; 0 for none.
    """

    lower: Hashes
    frequent: Hashes
    lower_patients: Counts
    frequent_patients: Counts
    key: int = 0

    @classmethod
    def of(cls, notes: NoteWords, most: float) -> Self:
        """Select the words of the notes; those with more than `most` occurrences are frequent."""
        types, counts = notes.types, notes.counts
        hashes = word_hashes(fold(types))
        lower = (case_numbers(types) == _LOWER) & (counts > 0)
        words, rows = np.unique(hashes, return_inverse=True)
        totals = np.zeros(len(words), np.int64)
        rows = rows.reshape(-1)
        np.add.at(totals, rows, counts)
        patients = np.zeros((2, len(words)), np.int32)
        np.maximum.at(patients[0], rows[lower], notes.patients[lower])
        np.maximum.at(patients[1], rows, notes.patients)
        in_lower, often = np.unique(rows[lower]), np.flatnonzero(totals > most)
        return cls(words[in_lower], words[often], patients[0, in_lower], patients[1, often])

    @cached_property
    def _indices(self) -> tuple[HashIndex, HashIndex]:
        return HashIndex(self.lower, self.key), HashIndex(self.frequent, self.key)

    def pruned(self, pruning: Pruning) -> WordUsage:
        """Return the usage of the words of enough patients."""
        lower, frequent = map(pruning.keeps, (self.lower_patients, self.frequent_patients))
        hashes, key = pruning.with_hashes(self.lower[lower], self.key)
        return WordUsage(
            hashes,
            pruning.with_hashes(self.frequent[frequent], self.key)[0],
            pruning.known(self.lower_patients[lower]),
            pruning.known(self.frequent_patients[frequent]),
            key,
        )

    @property
    def size(self) -> int:
        """The number of words that occur in lower case, and of frequent ones."""
        return len(self.lower) + len(self.frequent)

    def traces(self, words: Sequence[str]) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words occur in lower case or are frequent."""
        hashes = word_hashes(fold(words))
        lower, frequent = (each.positions(hashes) >= 0 for each in self._indices)
        return {"words in lower case": lower, "frequent words": frequent}

    def of_words(
        self, hashes: Hashes, cases: Int64Array, may_be_rare: npt.NDArray[np.bool_]
    ) -> Int32Array:
        """Return the roles `COMMON` and `RARE` of words; see `PlaceWeights.of_words`."""
        common, frequent = (each.positions(hashes) >= 0 for each in self._indices)
        rare = may_be_rare & (cases == _FIRST) & ~common & ~frequent
        roles: Int32Array = (common * COMMON + rare * RARE).astype(np.int32)
        return roles

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model."""
        return array_files(
            {
                "used-lower": self.lower,
                "used-often": self.frequent,
                "used-lower-patients": self.lower_patients,
                "used-often-patients": self.frequent_patients,
            }
        )

    @classmethod
    def of_model(cls, model: ModelFiles) -> Self:
        """Read the words from the files of a model.

        Raises
        ------
        InputError
            If a file of the model is not what `files` returns.
        """
        lower, frequent = model.hashes("used-lower"), model.hashes("used-often")
        return cls(
            lower,
            frequent,
            model.array("used-lower-patients", expected_counts(len(lower))),
            model.array("used-often-patients", expected_counts(len(frequent))),
            model.fields.integer("key", least=0, most=MOST_KEY),
        )
