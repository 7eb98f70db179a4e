"""Parsing of counts with separators between thousands, or with decimals that are 0."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

#: The exclusive upper bound of counts, so that sums fit into 64 bits.
MOST = 10**12

#: Kinds and details of faults of counts, by number; 0 is no fault.
FAULTS = (
    ("", ""),
    ("no count", "expected a whole number"),
    ("count that is no whole number", "expected digits, and nothing but 0 after a decimal point"),
    ("negative count", "expected 0 or more"),
    ("count that is too large", f"expected less than {MOST:,}"),
    (
        "count with an ambiguous separator",
        "what separates thousands in one row separates decimals in another",
    ),
)
_NONE, _NO_NUMBER, _NEGATIVE, _LARGE, _AMBIGUOUS = range(1, len(FAULTS))

_DIGITS = "^[0-9]{1,12}$"
#: How sources write a missing number.
_NOTHING = re.compile(r"\.*|-|–|—|:|n/?[ad]|nan|null|none", re.IGNORECASE)
_PLAIN = re.compile(r"\+?([0-9]+)(?:([.,])0+)?")
_GROUPED = re.compile(
    r"\+?([1-9][0-9]{0,2}(?:([.,'’ \u00a0\u2009\u202f])[0-9]{3})(?:\2[0-9]{3})*)(?:(?!\2)([.,])0+)?"
)


class CountReader:
    """A reader of the counts of a column, block by block.

    A separator before each three digits separates thousands: ``1.464`` and ``1,464`` are 1464. A
    separator before another number of zeros separates decimals: ``12.0`` is 12. The use of the
    same separator for both in a column is a fault.
    """

    def __init__(self) -> None:
        self._thousands = ""
        self._decimals = ""

    def read(self, texts: pa.StringArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
        """Read counts.

        Parameters
        ----------
        texts : pyarrow.StringArray
            N counts as written.

        Returns
        -------
        ndarray of int64, shape (N,)
            The counts; 0 for a fault.
        ndarray of int8, shape (N,)
            The index of the fault of each count in `FAULTS`.
        """
        texts = pc.utf8_trim_whitespace(texts)
        if pc.all(pc.match_substring_regex(texts, _DIGITS), min_count=0).as_py():
            return texts.cast(pa.int64()).to_numpy(), np.zeros(len(texts), np.int8)
        distinct = texts.dictionary_encode()
        read = [self._number(text) for text in distinct.dictionary.to_pylist()]
        places = distinct.indices.to_numpy()
        values = np.array([value for value, _ in read], np.int64)
        faults = np.array([fault for _, fault in read], np.int8)
        return values[places], faults[places]

    def _number(self, text: str) -> tuple[int, int]:
        """Parse a count, and return it with the index of its fault."""
        if _NOTHING.fullmatch(text):
            return 0, _NONE
        negative = text[0] in "-−"
        if grouped := _GROUPED.fullmatch(text[negative:]):
            digits, thousands, decimals = grouped.groups()
            digits = digits.replace(thousands, "")
        elif plain := _PLAIN.fullmatch(text[negative:]):
            thousands, (digits, decimals) = "", plain.groups()
        else:
            return 0, _NO_NUMBER
        if len(digits.lstrip("0")) > 12:
            return 0, _LARGE
        if negative and int(digits):
            return 0, _NEGATIVE
        if not self._agrees(thousands, decimals or ""):
            return 0, _AMBIGUOUS
        return int(digits), 0

    def _agrees(self, thousands: str, decimals: str) -> bool:
        """Return whether a count uses the same separators as the counts before it."""
        if thousands not in (",", "."):
            thousands = ""  # a space cannot separate decimals
        thousands, decimals = thousands or self._thousands, decimals or self._decimals
        if (
            (thousands and thousands == decimals)
            or thousands != (self._thousands or thousands)
            or decimals != (self._decimals or decimals)
        ):
            return False
        self._thousands, self._decimals = thousands, decimals
        return True


def are_counts(texts: Iterable[str]) -> bool:
    """Return whether most of the texts of a column that are not missing values are counts."""
    written = pa.array(
        [text for text in texts if not _NOTHING.fullmatch(text.strip())], pa.string()
    )
    _, faults = CountReader().read(written)
    return len(faults) > 0 and float(np.mean((faults == 0) | (faults == _NEGATIVE))) > 0.5
