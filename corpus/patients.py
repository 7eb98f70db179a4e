"""Numbers of patients, whose documents are drawn, resampled or held out together.

Documents of a patient are alike: they are not independent samples.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.batch import Batch

#: The patient number of derived documents, which count for no patient.
NOBODY = -1

#: The maximum count of patients of a word: larger counts are stored as this one.
MOST_PATIENTS = 16


def patient_keys(groups: pa.LargeStringArray, ids: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return texts that are the same for the documents of a patient and differ between patients.

    A document without a known patient counts as its own patient.
    """
    nothing, of_group, of_document = (pa.scalar(text, groups.type) for text in ("", "g", "d"))
    groups = pc.if_else(pc.equal(groups, nothing), None, groups)
    return pc.coalesce(
        pc.binary_join_element_wise(of_group, groups, nothing),
        pc.binary_join_element_wise(of_document, ids, nothing),
    )


def number_patients(groups: pa.LargeStringArray, ids: pa.LargeStringArray) -> npt.NDArray[np.int64]:
    """Assign numbers to patients in the order of their first document.

    Parameters
    ----------
    groups : pyarrow.LargeStringArray, length D
        The patient of each document. A document whose patient is null or empty has a number of its
        own.
    ids : pyarrow.LargeStringArray, length D
        The documents.

    Returns
    -------
    ndarray of int64, shape (D,)

    Examples
    --------
    >>> groups, ids = (pa.array(x, pa.large_string()) for x in (["p1", None, "p1", ""], "abcd"))
    >>> number_patients(groups, ids).tolist()
    [0, 1, 0, 2]
    """
    return np.array(patient_keys(groups, ids).dictionary_encode().indices, np.int64)


def patient_numbers(batch: Batch) -> npt.NDArray[np.int64]:
    """Return the number of the patient of each document of a batch, shape (D,).

    Documents that combine parts of others belong to `NOBODY`. Otherwise, the name of one patient
    would count for each patient into whose document it was copied.
    """
    numbers = number_patients(batch.groups, batch.ids)
    return numbers if batch.derived is None else np.where(batch.derived, NOBODY, numbers)


class PatientSets:
    """The numbers of patients of words, up to `MOST_PATIENTS`.

    Patients are told apart by 32-bit hashes. Two patients with the same hash count as one, so that
    a number may be too small, but not too large.
    """

    def __init__(self) -> None:
        self._sizes = np.zeros(1024, np.int8)
        # Half of the words of notes have one patient, which this holds. For other words, it holds
        # the row of their patients.
        self._places = np.zeros(1024, np.uint32)
        self._sets = np.zeros((1, MOST_PATIENTS), np.uint32)
        self._used = 0

    def add(
        self,
        words: npt.NDArray[np.int32],
        documents: npt.NDArray[np.int64],
        patients: pa.LargeStringArray,
        size: int,
    ) -> None:
        """Add documents: the word of each token, offsets of documents, keys of their patients.

        `size` is the number of different words so far.
        """
        self._grow(size)
        numbered = patients.dictionary_encode()
        distinct = map(str.encode, numbered.dictionary.to_pylist())
        digests = b"".join(blake2b(key, digest_size=4).digest() for key in distinct)
        hashes = np.frombuffer(digests, np.uint32)[numbered.indices]
        owners = np.repeat(hashes, np.diff(documents))
        pairs = np.unique(words.astype(np.uint64) << np.uint64(32) | owners)
        own = (pairs >> np.uint64(32)).astype(np.int64)
        keys = (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        some = self._sizes[own] < MOST_PATIENTS
        own, keys = own[some], keys[some]
        new = ~self._has(own, keys)
        own, keys = own[new], keys[new]
        # The new patients of a word take the places after those that are held, one each.
        places = self._sizes[own].astype(np.int64) + np.arange(len(own)) - np.searchsorted(own, own)
        fit = places < MOST_PATIENTS
        self._put(own[fit], places[fit], keys[fit])

    def _grow(self, size: int) -> None:
        """Make room for a number of words."""
        if size > len(self._sizes):
            # In place, which takes the memory of one array instead of two.
            for array in (self._sizes, self._places):
                array.resize(size + size // 4, refcheck=False)

    def _has(
        self, words: npt.NDArray[np.int64], keys: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.bool_]:
        """Return which words have a patient."""
        sizes, places = self._sizes[words], self._places[words]
        held = np.arange(MOST_PATIENTS) < np.where(sizes > 1, sizes, 0)[:, None]
        rows = np.where(sizes > 1, places, 0)
        several = (held & (self._sets[rows] == keys[:, None])).any(axis=1)
        held_already: npt.NDArray[np.bool_] = several | ((sizes == 1) & (places == keys))
        return held_already

    def _put(
        self,
        words: npt.NDArray[np.int64],
        places: npt.NDArray[np.int64],
        keys: npt.NDArray[np.uint32],
    ) -> None:
        """Add patients to words, at places that are free."""
        self._places[words[places == 0]] = keys[places == 0]
        later = places > 0
        several = np.unique(words[later])
        several = several[self._sizes[several] < 2]  # which get a row now
        used = self._used + len(several)
        if used > len(self._sets):
            self._sets.resize((used + used // 4, MOST_PATIENTS), refcheck=False)
        self._sets[self._used : used, 0] = self._places[several]
        self._places[several] = np.arange(self._used, used)
        self._used = used
        self._sets[self._places[words[later]], places[later]] = keys[later]
        np.add.at(self._sizes, words, np.int8(1))

    def numbers(self, size: int) -> npt.NDArray[np.int32]:
        """Return the number of patients of each word, shape (size,)."""
        return self._sizes[:size].astype(np.int32)
