"""Expressions of written dates and times, in the syntax that both RE2 and `re` read.

The parts of a date are groups with names, from which `corpus.dates.writing` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from corpus.dates.languages import LANGUAGES, Names


def _any_of(kinds: Sequence[Names]) -> str:
    """Return an expression of full names and abbreviations, in which ``sept`` is before ``sep``."""
    rows = ({name for names in kinds for name in chain(*names.rows[row])} for row in (0, 1))
    full, short = ("|".join(sorted(row, reverse=True)) for row in rows)
    return rf"{full}|(?:{short})\.?"


_MONTHS = _any_of([language.months for language in LANGUAGES.values()])
_WEEKDAYS = _any_of([language.weekdays for language in LANGUAGES.values()])
_DAY_WORDS = "|".join(
    sorted(set(chain(*(language.days for language in LANGUAGES.values()))), reverse=True)
).replace(" ", r"\s{1,3}")
_DAYS = "[12][0-9]|3[01]|0?[1-9]"
_YEARS = "(?:1[89]|20)[0-9]{2}"
_HOUR, _MINUTE = "(?:2[0-3]|[01]?[0-9])", "[0-5][0-9]"
_H, _NOON = r"h(?:oras?|ores|ours|rs|s)?\.?", r"[ap]\.?\s?m\.?"

_S = r"\s{1,3}"
_TIGHT = r"\s?[-/.]\s?"
_OF = rf"(?P<of>(?:de|of){_S}|d['’´]\s?)"
_DAY = rf"(?P<day>{_DAYS})"
_ORDINAL = r"(?P<ordinal>\.?[º°]|st|nd|rd|th|ero|er|ro|r)?"
_NUMBER = r"(?P<month>0?1[0-2]|0?[1-9]|XI{0,2}|IX|VI{0,3}|IV|I{1,3})"
_MONTH = rf"(?P<month>{_MONTHS})"
_WEEKDAY = rf"(?:(?P<weekday>{_WEEKDAYS}),?{_S}(?:(?:el|the|d[ií]a){_S})?)?"
_YEAR = rf"(?P<year>{_YEARS}|1\.[89][0-9]{{2}}|2\.0[0-9]{{2}})"

#: What joins a month and a year of four digits.
_TO = rf",?\s{{0,3}}(?:(?:del?|of){_S}(?:(?:año|l['’´]any){_S})?)?"
#: The year after a month. One of two digits after a space is not the number of a day.
_YEARS_AFTER_MONTH = (
    rf"(?:{_TO}|{_TIGHT}){_YEAR}",
    rf"(?:{_TIGHT}|{_S}(?:del?{_S}|['’´]))(?P<year>[0-9]{{2}})",
    rf"{_S}(?P<year>0[0-9]|3[2-9]|[4-9][0-9])",
)
_DAY_MONTH = rf"{_WEEKDAY}{_DAY}{_ORDINAL}(?:\s{{0,3}}{_OF}?|{_TIGHT}){_MONTH}"
_MONTH_DAY = rf"{_WEEKDAY}{_MONTH}{_S}{_DAY}{_ORDINAL}"

_ANY_YEAR = rf"(?P<year>{_YEARS}|[0-9]{{2}})"
_NUMERIC = [
    *(
        form
        for sign in (r"\s?/{1,2}\s?", r"\s?-\s?", r"\s?\.\s?")
        for form in (
            rf"{_DAY}{sign}{_NUMBER}{sign}{_ANY_YEAR}",
            rf"(?P<year>{_YEARS}){sign}{_NUMBER}{sign}{_DAY}",
        )
    ),
    rf"(?P<month>1[0-2]|0?[1-9])/(?P<day>1[3-9]|2[0-9]|3[01])/{_ANY_YEAR}",
]
_WRITTEN = [
    *(_DAY_MONTH + year for year in _YEARS_AFTER_MONTH),
    rf"{_MONTH_DAY}{_TO}{_YEAR}",
    rf"{_YEAR}(?:{_TIGHT}|{_S}){_MONTH}(?:{_TIGHT}|{_S}){_DAY}",
]
_PARTIAL = [
    *(_MONTH + year for year in _YEARS_AFTER_MONTH),
    rf"{_NUMBER}\s?[-/]\s?(?P<year>{_YEARS})",
    _DAY_MONTH,
    _MONTH_DAY,
    r"(?:año|any|year|primavera|verano|estiu|otoño|tardor|invierno|hivern|spring|summer|autumn"
    rf"|fall|winter){_TO}{_YEAR}",
]
#: Forms that are no fragments, since they need a context.
_VAGUE = [
    _YEAR,
    rf"{_DAY_MONTH}{_S}(?P<year>[0-9]{{2}})",
    *(
        rf"{day_of}{_MONTH}{year}"
        for day_of in (rf"{_OF}?", rf"{_WEEKDAY}(?P<day>{_DAY_WORDS}){_S}{_OF}")
        for year in ("", *_YEARS_AFTER_MONTH)
    ),
]
#: Forms of texts that may be anything else: a day and a month, or a month and a year.
_LABELLED = [rf"{_DAY}\s?/\s?{_NUMBER}", rf"{_NUMBER}\s?/\s?(?P<year>[0-9]{{2}})"]

_FORMS = _NUMERIC + _WRITTEN + _PARTIAL + _VAGUE
#: Forms of dates with named groups for their parts, in the order in which they are tried.
FORMS = [f"(?i:{form})" for form in _FORMS]
#: Forms of texts that are known to be dates.
LABELLED_FORMS = [*FORMS, *(f"(?i:{form})" for form in _LABELLED)]


def _fragment(*forms: str) -> str:
    """Return an expression of any of some forms, without groups that have names."""
    return f"(?i:{'|'.join(re.sub(r'[?]P<[a-z]+>', '?:', form) for form in forms)})"


#: A date within a text that is known to contain dates. Forms of more parts are before their parts.
ANY_DATE = _fragment(*sorted(_FORMS + _LABELLED, key=lambda form: -form.count("(?P<")))

#: Expressions of dates, times and their parts for RE2, by name. They have no groups to capture.
FRAGMENTS: Mapping[str, str] = MappingProxyType(
    {
        "DAY": _fragment(_DAYS),
        "MONTH": _fragment(_MONTHS),
        "WEEKDAY": _fragment(_WEEKDAYS),
        "YEAR": _YEARS,
        "TIME": _fragment(
            rf"{_HOUR}:{_MINUTE}(?::{_MINUTE})?(?:\s{{0,2}}(?:{_H}|{_NOON}))?",
            rf"{_HOUR}\.{_MINUTE}\s{{0,2}}{_H}",
            rf"{_HOUR}\s?h\s?{_MINUTE}(?:\s?m(?:in)?\.?)?",
            rf"{_HOUR}\s{{0,2}}(?:{_H}|{_NOON})",
        ),
        "NUMERIC_DATE": _fragment(*_NUMERIC),
        "WRITTEN_DATE": _fragment(
            f"{_DAY_MONTH}(?:{'|'.join(_YEARS_AFTER_MONTH)})", *_WRITTEN[len(_YEARS_AFTER_MONTH) :]
        ),
        "PARTIAL_DATE": _fragment(*_PARTIAL),
    }
)
