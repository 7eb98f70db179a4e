"""Patients as units: what is drawn, resampled or held out together.

Documents of a patient are alike, so that they are no independent samples.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch

#: The number of the patient of a derived document, which counts for none.
NOBODY = -1


def unit_numbers(groups: Iterable[str | None], ids: Iterable[str]) -> npt.NDArray[np.int64]:
    """Return the number of the unit of each document: its patient, or itself if none is known.

    Parameters
    ----------
    groups : iterable of str or None
        The patient of each document.
    ids : iterable of str
        The documents.

    Returns
    -------
    ndarray of int64, shape (D,)
    """
    index: dict[tuple[str | None, str], int] = {}
    keys = ((group, "" if group else name) for group, name in zip(groups, ids, strict=True))
    return np.array([index.setdefault(key, len(index)) for key in keys], np.int64)


def patient_key(group: str | None, name: str) -> str:
    """Return a text that is the same for the documents of a patient and differs between patients.

    A document whose patient is not known is one of its own.
    """
    return f"g{group}" if group else f"d{name}"


def patient_numbers(batch: Batch) -> npt.NDArray[np.int64]:
    """Return the number of the patient of each document, or of the document if none is known.

    Documents that are put together from parts of others are those of `NOBODY`: the name of one
    patient would otherwise count for each patient into whose document it was copied.

    Returns
    -------
    ndarray of int64, shape (D,)
    """
    numbers = unit_numbers(batch.groups.to_pylist(), batch.ids.to_pylist())
    return numbers if batch.derived is None else np.where(batch.derived, NOBODY, numbers)
