"""Numbers of patients in whose training documents a value occurs.

What occurs in the documents of few patients may identify them: it is removed from a model that is
shared. A model therefore holds these numbers beside its values. A document whose patient is
not known counts as a patient of its own, and all lines of a document belong to one patient.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import Array, compiled, kernel_array
from corpus.patients import NOBODY, patient_numbers
from corpus.storage.arrays import Expected

Codes = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]


def expected_counts(number: int) -> Expected:
    """Describe a valid array of patient counts."""
    return Expected("int32", (number,), 0)


def patients_of_values(
    words: Codes, document_offsets: Indices, patients: Indices, codes: Codes, values: int
) -> Counts:
    """Count the patients of each value.

    Parameters
    ----------
    words : ndarray of int32, shape (N,)
        The word of each token, or -1 for the last row of `codes`.
    document_offsets : ndarray of int64, shape (D + 1,)
        Offsets of each document's tokens.
    patients : ndarray of int64, shape (D,)
        The patient of each document; see `corpus.patients.patient_numbers`.
    codes : ndarray of int32, shape (T, F)
        The values of each word; negative for no value.
    values : int
        The number of values.

    Returns
    -------
    ndarray of int32, shape (values,)
    """
    counts = np.zeros(values, np.int32)
    order = np.argsort(patients, kind="stable")
    order = order[patients[order] != NOBODY]
    _count(
        kernel_array(words),
        kernel_array(document_offsets),
        kernel_array(order.astype(np.int64)),
        kernel_array(patients),
        kernel_array(codes),
        np.full(values, NOBODY, np.int64),
        counts,
    )
    return counts


@compiled("int32[::1], int64[::1], int64[::1], int64[::1], int32[:, ::1], int64[::1], int32[::1]")
def _count(
    words: Array,
    document_offsets: Array,
    order: Array,
    patients: Array,
    codes: Array,
    last: Array,
    counts: Array,
) -> None:
    """Count the patients of values; the documents of a patient are consecutive in `order`."""
    for document in order:
        patient = patients[document]
        for token in range(document_offsets[document], document_offsets[document + 1]):
            for code in codes[words[token]]:
                if code >= 0 and last[code] != patient:
                    last[code] = patient
                    counts[code] += 1


def patients_of_words(
    train: Batch, values: int, rows: Callable[[tuple[str, ...]], npt.NDArray[np.integer]]
) -> Counts:
    """Count the patients in whose documents the words of a table occur.

    Parameters
    ----------
    train : Batch
        Training documents.
    values : int
        The number of rows of the table.
    rows : callable
        Returns the row of each word, negative if it is in none, or an array with several columns.

    Returns
    -------
    ndarray of int32, shape (values,)
        0 for words that do not occur.
    """
    codes = np.asarray(rows(train.vocabulary), np.int32)
    if codes.ndim == 1:
        codes = codes[:, None]
    return patients_of_values(
        train.word_ids,
        train.document_offsets,
        patient_numbers(train),
        codes,
        values,
    )
