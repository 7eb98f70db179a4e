"""The numbers of patients: what is drawn, resampled or held out together.

Documents of a patient are alike, so that they are no independent samples.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch

#: The number of the patient of a derived document, which counts for none.
NOBODY = -1


def patient_key(group: str | None, name: str) -> str:
    """Return a text that is the same for the documents of a patient and differs between patients.

    A document whose patient is not known is one of its own.
    """
    return f"g{group}" if group else f"d{name}"


def number_patients(
    groups: Iterable[str | None], ids: Iterable[str], numbers: dict[str, int] | None = None
) -> npt.NDArray[np.int64]:
    """Assign numbers to patients in the order of their first document.

    Parameters
    ----------
    groups : iterable of str or None
        The patient of each document. A document whose patient is not known has a number of its own.
    ids : iterable of str
        The documents.
    numbers : dict of str to int, optional
        The numbers that earlier calls assigned, by key. New ones are added.

    Returns
    -------
    ndarray of int64, shape (D,)
    """
    numbers = {} if numbers is None else numbers
    keys = map(patient_key, groups, ids)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def patient_numbers(batch: Batch) -> npt.NDArray[np.int64]:
    """Return the number of the patient of each document of a batch, shape (D,).

    Documents that are put together from parts of others are those of `NOBODY`: the name of one
    patient would otherwise count for each patient into whose document it was copied.
    """
    numbers = number_patients(batch.groups.to_pylist(), batch.ids.to_pylist())
    return numbers if batch.derived is None else np.where(batch.derived, NOBODY, numbers)
