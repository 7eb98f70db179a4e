"""Dates and times as they are written in Spanish, Catalan and English.

`FRAGMENTS` are expressions that find them. `parse` reads a date, and `WrittenDate.written` writes
another one in the same form.
"""

from corpus.dates.expressions import ANY_DATE, FRAGMENTS
from corpus.dates.writing import CHECKS, WrittenDate, is_date, is_time, parse

__all__ = ["ANY_DATE", "CHECKS", "FRAGMENTS", "WrittenDate", "is_date", "is_time", "parse"]
