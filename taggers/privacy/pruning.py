"""Models that hold less of their training documents, and what can still be found in a model."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from taggers.base import Tagger

if TYPE_CHECKING:
    from corpus.kernels.hashing import Hashes
    from taggers.privacy.public_lists import PublicLists

#: Parts of a model that are made of lists or of other notes, and that can be kept as they are.
NAMES, PHRASES, CLUSTERS, VECTORS = "names", "phrases", "clusters", "vectors"
KEPT_PARTS = (NAMES, PHRASES, CLUSTERS, VECTORS)

#: The trace of words whose affixes a model knows completely, maybe from other words.
AFFIXES = "affixes"


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is removed from a model.

    Parameters
    ----------
    lists : PublicLists
        The lists whose words are public. Names and phrases of others are removed.
    min_patients : int
        Values that occur in the training documents of fewer patients are removed. A document
        without a known patient counts as its own patient.
    hash_names : bool
        Whether to keep only keyed hashes of values, instead of their text.
    keep : frozenset of str
        Parts of `KEPT_PARTS` that are kept as they are, because their words are public.
    key : int
        The key of hashes, which the pruned model contains; 0 for hashes without a key.
    """

    lists: PublicLists
    min_patients: int = 1
    hash_names: bool = False
    keep: frozenset[str] = frozenset()
    key: int = 0

    @classmethod
    def from_choices(
        cls,
        min_patients: int = 1,
        *,
        hash_names: bool = False,
        keep: Sequence[str] = (),
        public: Sequence[str] = (),
    ) -> Pruning:
        """Return a pruning with a new random key if words are to be hashed.

        Parameters
        ----------
        min_patients, hash_names, keep
            As in `Pruning`.
        public : sequence of str
            Lists besides the built-in ones whose words are public; see
            `gazetteers.builtin.read_gazetteer`.

        Raises
        ------
        InputError
            If a list is missing or has another format.
        """
        from taggers.privacy.public_lists import PublicLists  # noqa: PLC0415 - numba is slow to import

        key = secrets.randbits(63) + 1 if hash_names else 0
        return cls(PublicLists(public), min_patients, hash_names, frozenset(keep), key)

    def keeps(self, patients: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return which values are kept, from the number of their patients."""
        kept: npt.NDArray[np.bool_] = patients >= (
            self.min_patients if self.min_patients > 1 else 0
        )
        return kept

    def with_hashes(self, hashes: Hashes, key: int) -> tuple[Hashes, int]:
        """Return hashes with the key of the pruned model, and that key.

        Hashes that have a key already keep it.
        """
        from corpus.kernels.hashing import keyed  # noqa: PLC0415 - numba is slow to import

        if key or not self.key:
            return hashes, key
        return keyed(hashes, self.key), self.key

    def known(self, patients: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the numbers of patients as a pruned model may know them: up to the minimum."""
        return np.minimum(patients, np.int32(self.min_patients))


@runtime_checkable
class PrunableTagger(Tagger, Protocol):
    """A tagger whose model can be pruned, and be searched for words."""

    def contents(self) -> Mapping[str, int]:
        """Return the number of entries of each part of the model, by the name of the part."""

    def pruned(self, pruning: Pruning) -> PrunableTagger:
        """Return a model that reveals less of its training documents.

        Raises
        ------
        InputError
            If the model lacks what pruning needs.
        """

    def traces(
        self, words: Sequence[str], lists: PublicLists
    ) -> Mapping[str, npt.NDArray[np.bool_]]:
        """Return in which parts of the model an attacker finds words.

        Parameters
        ----------
        words : sequence of str
            Words as written.
        lists : PublicLists
            Words of a list are no trace in a model that contains the whole list.

        Returns
        -------
        mapping of str to ndarray of bool
            For each part of the model, which of the words are in it, or left a trace in it that a
            word that is not in the notes does not leave.
        """
