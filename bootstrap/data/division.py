"""The division of annotated notes into seed and validation notes, where validation names none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.errors import InputError
from corpus.patients import number_patients
from corpus.ragged import owners_of

#: Random divisions, of which the best one is used.
_TRIALS = 200


def validation_notes(notes: Sequence[pa.RecordBatch], share: float) -> npt.NDArray[np.bool_]:
    """Return which notes are validation notes: all of a patient, or none.

    Of random divisions, it is the one with the share of notes, of notes without annotations, and of
    annotations of each label that is the closest to the share asked for. It depends on the notes
    alone.

    Parameters
    ----------
    notes : sequence of RecordBatch
        Annotated notes, D in all; see `corpus.formats.batches`.
    share : float
        The share of validation notes, more than 0 and less than 1.

    Returns
    -------
    ndarray of bool, shape (D,)

    Raises
    ------
    InputError
        If there are notes of fewer than two patients.
    """
    columns = pa.Table.from_batches(notes).select(["id", "group", "labels"]).combine_chunks()
    ids, groups, labels = (column.combine_chunks() for column in columns.columns)
    patients = number_patients(groups, ids)
    number = int(patients.max(initial=-1)) + 1
    if number < 2:
        raise InputError(
            f"[data] validation = {share:g} divides the annotated notes of seed by patient: there "
            "are not two; name validation notes"
        )
    counts = _counts(patients, labels)
    rng, best, least = np.random.default_rng(0), np.zeros(number, bool), np.inf
    for _ in range(_TRIALS):
        order = rng.permutation(number)
        sizes = np.cumsum(counts[order, 0])
        taken = int(np.argmin(np.abs(sizes[:-1] - share * sizes[-1]))) + 1
        chosen = order[:taken]
        distance = np.abs(counts[chosen].sum(axis=0) / counts.sum(axis=0) - share).sum()
        if distance < least:
            least, best = distance, np.isin(np.arange(number), chosen)
    divided: npt.NDArray[np.bool_] = best[patients]
    return divided


def _counts(patients: npt.NDArray[np.int64], labels: pa.ListArray) -> npt.NDArray[np.int64]:
    """Return the notes, notes without annotations, and annotations of each label, by patient."""
    names = labels.flatten().dictionary_encode()
    lengths = labels.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    owners = patients[owners_of(np.append(0, np.cumsum(lengths)))]
    number, kinds = int(patients.max()) + 1, len(names.dictionary)
    of_labels = np.bincount(owners * kinds + names.indices.to_numpy(), minlength=number * kinds)
    notes, blank = np.bincount(patients), np.bincount(patients[lengths == 0], minlength=number)
    counts = np.column_stack([notes, blank, of_labels.reshape(number, kinds)])
    return counts[:, counts.any(axis=0)]
