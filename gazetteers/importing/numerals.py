"""Parsing of counts with separators between thousands, or with decimals that are 0."""

from __future__ import annotations

import re
from collections.abc import Iterable

from corpus.formats.records import Unreadable

#: The exclusive upper bound of counts, so that sums fit into 64 bits.
MOST = 10**12

_NEGATIVE = "negative count"

#: How sources write a missing number.
_NOTHING = re.compile(r"\.*|-|–|—|:|n/?[ad]|nan|null|none", re.IGNORECASE)
_PLAIN = re.compile(r"\+?([0-9]+)(?:([.,])0+)?")
_GROUPED = re.compile(
    r"\+?([1-9][0-9]{0,2}(?:([.,'’ \u00a0\u2009\u202f])[0-9]{3})(?:\2[0-9]{3})*)(?:(?!\2)([.,])0+)?"
)


class CountReader:
    """A reader of the counts of a column.

    A separator before each three digits separates thousands: ``1.464`` and ``1,464`` are 1464. A
    separator before another number of zeros separates decimals: ``12.0`` is 12. The use of the
    same separator for both in a column is a fault.
    """

    def __init__(self) -> None:
        self._thousands = ""
        self._decimals = ""

    def read(self, text: str) -> int:
        """Read a count.

        Raises
        ------
        Unreadable
            If it is no whole number from 0 to `MOST`, or its separator is ambiguous.
        """
        text = text.strip()
        if text.isdecimal() and text.isascii() and len(text) < len(str(MOST)):
            return int(text)
        if _NOTHING.fullmatch(text):
            raise Unreadable("no count", "expected a whole number")
        negative = text[0] in "-−"
        if grouped := _GROUPED.fullmatch(text[negative:]):
            digits, thousands, decimals = grouped.groups()
            digits = digits.replace(thousands, "")
        elif plain := _PLAIN.fullmatch(text[negative:]):
            thousands, (digits, decimals) = "", plain.groups()
        else:
            raise Unreadable(
                "count that is no whole number",
                "expected digits, and nothing but 0 after a decimal point",
            )
        if len(digits.lstrip("0")) >= len(str(MOST)):
            raise Unreadable("count that is too large", f"expected less than {MOST:,}")
        if negative and int(digits):
            raise Unreadable(_NEGATIVE, "expected 0 or more")
        if not self._agrees(thousands, decimals or ""):
            raise Unreadable(
                "count with an ambiguous separator",
                "what separates thousands in one row separates decimals in another",
            )
        return int(digits)

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
    reader = CountReader()
    counts = total = 0
    for text in texts:
        if _NOTHING.fullmatch(text.strip()):
            continue
        total += 1
        try:
            reader.read(text)
            counts += 1
        except Unreadable as fault:
            counts += fault.kind == _NEGATIVE
    return counts > total / 2
