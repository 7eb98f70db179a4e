"""Patients as units: what is drawn, resampled or held out together.

Documents of a patient are alike, so that they are no independent samples.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


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
