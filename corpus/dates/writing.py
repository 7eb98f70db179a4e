"""Dates as they are written, and other dates in the same form."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from corpus.dates.expressions import FORMS, FRAGMENTS, LABELLED_FORMS
from corpus.dates.languages import LANGUAGES, Language

_WORD = re.compile(r"[^\W\d_]+")

#: The first year of those with two digits: ``40`` is 1940, and ``39`` is 2039.
FIRST_SHORT_YEAR = 1940


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a text, and how it is written.

    Parameters
    ----------
    year, month, day : int or None
        What the text has of the date.
    """

    year: int | None
    month: int | None
    day: int | None
    _parts: tuple[tuple[str, str], ...] = field(repr=False)  # kinds, "" for other text, and texts
    _language: Language = field(repr=False)

    @property
    def date(self) -> datetime.date | None:
        """The date, or None if it is not complete."""
        if self.year and self.month and self.day:
            return datetime.date(self.year, self.month, self.day)
        return None

    def written(self, date: datetime.date) -> str:
        """Write another date in the same form: order, signs, zeros, language and capitals.

        The numbers of days and months have two digits if all numbers in the text have, or where
        they begin with zero. A weekday is the one of the date; the text's own date has its own
        weekday, even a wrong one.

        Examples
        --------
        >>> import datetime
        >>> parse("Dimarts, 12 d'octubre de 2010").written(datetime.date(2011, 2, 9))
        'Dimecres, 9 de febrer de 2011'
        """
        if date == self.date:
            return "".join(text for _, text in self._parts)
        numbers = [text for kind, text in self._parts if kind in ("day", "month")]
        padded = all(len(text) == 2 and text.isdecimal() for text in numbers)
        return "".join(self._part(kind, text, date, padded) for kind, text in self._parts)

    def aggregated(self, to: Literal["month", "year"]) -> str | None:
        """Write the month and the year of this date in the same form, or the year alone.

        Returns
        -------
        str or None
            None if nothing that is a date would remain. A date without a day is written as it is if
            months are asked for.

        Examples
        --------
        >>> date = parse("Dimarts, 12 d'octubre de 2010")
        >>> date.aggregated("month"), date.aggregated("year")
        ('octubre de 2010', '2010')
        """
        if to == "year":
            return str(self.year) if self.year else None
        if not self.day:
            return "".join(text for _, text in self._parts)
        kept = [place for place, (kind, _) in enumerate(self._parts) if kind in ("month", "year")]
        places = [kept[0], kept[0] + 1, kept[1]] if self.year else kept  # joined as the first is
        text = "".join(self._parts[place][1] for place in places)
        return None if text.isdecimal() else text

    def _part(self, kind: str, text: str, date: datetime.date, padded: bool) -> str:
        """Write a part of a date as this part."""
        match kind:
            case "year":
                year = f"{date.year:04}"[-2 if len(text) == 2 else 0 :]
                text = f"{year[0]}.{year[1:]}" if "." in text else year
            case "month" if not text.isdecimal():
                text = self._language.months.name(date.month, text)
            case "day" if not text.isdecimal():
                text = self._language.day_in_words(date.day, text)
            case "month" | "day":
                number = date.month if kind == "month" else date.day
                text = f"{number:02}" if padded or text[0] == "0" else str(number)
            case "weekday":
                text = self._language.weekdays.name(date.isoweekday(), text)
            case "ordinal" if date.day != self.day:
                text = self._language.ordinal(date.day, text)
            case "of" if date.month != self.month:
                text = self._language.of(date.month, text)
        return text


def parse(text: str, language: str = "es", *, labelled: bool = False) -> WrittenDate | None:
    """Read the date that a text is.

    Parameters
    ----------
    text : str
        A date with nothing around it. Numbers are read as day, month and year, as year, month and
        day if the first one has four digits, or as month, day and year if the second one is no
        month.
    language : {"es", "ca", "en"}
        The language in which a text is read that is a date in several of them, such as
        ``12 oct 2010``.
    labelled : bool
        Whether the text is known to be a date: only then is ``12/10`` a day and a month.

    Returns
    -------
    WrittenDate or None
        None if the text is no date, or one that does not exist, such as ``31/02/2010``.

    Examples
    --------
    >>> parse("12 d'octubre")
    WrittenDate(year=None, month=10, day=12)
    """
    words = set(_WORD.findall(text.lower()))
    for candidate in dict.fromkeys((LANGUAGES[language], *LANGUAGES.values())):
        if words <= candidate.vocabulary:
            for form in _forms(labelled):
                if (match := form.fullmatch(text)) and (date := _read(match, candidate)):
                    return date
    return None


@functools.cache
def _forms(labelled: bool) -> list[re.Pattern[str]]:
    return [re.compile(form) for form in (LABELLED_FORMS if labelled else FORMS)]


def _read(match: re.Match[str], language: Language) -> WrittenDate | None:
    """Return the date of a match, if it exists."""
    parts = _parts_of(match)
    texts = dict(parts)
    year = int(texts["year"].replace(".", "")) if "year" in texts else None
    if year is not None and year < 100:
        year = FIRST_SHORT_YEAR + (year - FIRST_SHORT_YEAR) % 100
    day = language.day_of(texts["day"]) if "day" in texts else None
    # A word can be a month in one language, and a weekday in another one.
    names = {"month": language.months, "weekday": language.weekdays}
    if not all(texts[kind] in own for kind, own in names.items() if kind in texts):
        return None
    if "day" in texts and not day:
        return None
    month = language.months.number(texts["month"]) if "month" in texts else None
    try:
        datetime.date(year or 2000, month or 1, day or 1)  # 29 February exists in some years
    except ValueError:
        return None
    return WrittenDate(year, month, day, parts, language)


def _parts_of(match: re.Match[str]) -> tuple[tuple[str, str], ...]:
    """Return the kinds and texts of all parts, and the text between them, of the kind ``""``."""
    kinds = sorted(filter(match.group, match.re.groupindex), key=match.start)
    parts, end = [], 0
    for kind in kinds:
        parts += [("", match.string[end : match.start(kind)]), (kind, match[kind])]
        end = match.end(kind)
    return (*parts, ("", match.string[end:]))


def is_date(text: str) -> bool:
    """Whether a text is a date that exists, or a part of one."""
    return parse(text) is not None


def is_time(text: str) -> bool:
    """Whether a text is a time of day."""
    return re.fullmatch(FRAGMENTS["TIME"], text) is not None


#: Checks of texts, by name.
CHECKS: Mapping[str, Callable[[str], bool]] = MappingProxyType({"date": is_date, "time": is_time})
