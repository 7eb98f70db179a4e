"""Dates that are shifted by one offset for each patient, or aggregated."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from anonymizers.keys import Key
from anonymizers.mention import Mention
from corpus.dates import ANY_DATE, FRAGMENTS, WrittenDate, parse
from corpus.tokens.normalisation import normalised_text

#: The least offset that changes every year that stands alone, since it is read as 1 July.
LEAST_DAYS = 184
#: The largest offset, a month less than a year: by a year, a date would keep its month.
MOST_DAYS = 334
_OFFSETS = tuple(sign * days for sign in (1, -1) for days in range(LEAST_DAYS, MOST_DAYS + 1))
#: The year of dates without one. It is not beside a leap year, so that most intervals are right.
_ANY_YEAR = 2002

_DIGITS = "0123456789"
_ELIDED = re.compile(r"(?:\b(de|a)\s)?l['’´]\s?$", re.IGNORECASE)
_TAKES_ELISION = re.compile(r"11?(?!\d)|[aeiou]", re.IGNORECASE)
_LONGEST = 200  # characters of a text, whose dates are searched
_JOINTS = r"(?:\s{1,2}(?:al?|y|i|to|and|hasta|fins)\s{1,2}|\s?[-–—]\s?)"
_WORDS = (
    "a al año comienzos de del desde día dia días dias el en entre fecha final finales hacia hasta"
    " inicios la las los mediados mes o principios y"
    " any d data dels des els finals fins i l mitjan mitjans principis"
    " and between early from in late mid of on since the through till to until"
)

Rewrite: TypeAlias = Callable[[WrittenDate], str | None]


def shifted_date(mention: Mention, key: Key) -> str | None:
    """Write the dates of a mention, shifted by the offset of the patient, in the same form.

    The offset is from `LEAST_DAYS` to `MOST_DAYS` days, to the past or to the future: so years,
    months and days without a year all change. Years below 100 are not told from those a century
    later.

    Intervals between full dates of a patient are kept, and so are ages at dates, since birth dates
    are shifted alike. Seasons and weekdays are not kept; a weekday that is written is the one of
    the new date. A partial date stands for one day: a month for its 15th, a year (and a season) for
    its 1 July, and a day without a year for the same day of 2002. So intervals between years are
    kept, intervals between months may differ by one month, and intervals between days without a
    year and other dates by one day. The order of dates of one form is kept.

    A time of day, and the words and signs beside dates, are kept. Return None if a text is no date,
    has a date that does not exist, such as ``31/02/2010``, or has numbers or words that are no part
    of a date; and if the new text contains the old one, as ``11/2019`` contains ``1/2019``.

    Notes
    -----
    The shift of dates by a random offset for each patient follows MIMIC (Johnson et al., 2016,
    "MIMIC-III, a freely accessible critical care database").

    Examples
    --------
    >>> key = Key(bytes(32))
    >>> texts = "12/10/2010", "Mayo de 2019", "3 d'abril"
    >>> [shifted_date(Mention(text, "DATE", "date", "p"), key) for text in texts]
    ['28/01/2010', 'Agosto de 2018', '20 de juliol']
    """
    days = _offset(key, mention.patient)
    text = _rewritten(mention.text, lambda date: _written_later(date, days))
    if text is None or mention.text.casefold() in text.casefold():
        return None
    return text


def generalized_date(mention: Mention, to: Literal["month", "year"]) -> str | None:
    """Write the dates of a mention without their days, or their years alone.

    What is as general already stays as it is. It protects days, which with a place or an age
    single out patients (paper 003, section 2.2.2, aggregation), and loses their order and
    intervals. Return None if a text is no date, or nothing of it remains.

    Examples
    --------
    >>> mention = Mention("12 de marzo de 2019", "DATE", "date", "p")
    >>> generalized_date(mention, "month"), generalized_date(mention, "year")
    ('marzo de 2019', '2019')
    """
    return _rewritten(mention.text, lambda date: date.aggregated(to))


@functools.lru_cache(1 << 10)
def _offset(key: Key, patient: str) -> int:
    return key.draws("date", patient).choice(_OFFSETS)


def _written_later(date: WrittenDate, days: int) -> str:
    """Write a date as it was some days later, in the same form."""
    month, day = (date.month, date.day or 15) if date.month else (7, 1)
    first = datetime.date(date.year or _ANY_YEAR, month, 1)  # 29 February is not in every year
    return date.written(first + datetime.timedelta(day - 1 + days))


def _rewritten(text: str, rewrite: Rewrite) -> str | None:
    """Rewrite the dates of a text; None if it has none, or has what may be part of another one."""
    if date := parse(text, labelled=True):
        return rewrite(date)
    if len(text) > _LONGEST:
        return None
    return _rewritten_within(text, rewrite) or _rewritten_within(normalised_text(text), rewrite)


def _rewritten_within(text: str, rewrite: Rewrite) -> str | None:
    """Rewrite the dates within a text that has nothing else than times and words beside dates."""
    pieces, end, last = [""], 0, None
    for match in _dates().finditer(text):
        before, new, end = text[end : match.start()], match["time"], match.end()
        date = None if new else parse(match["date"], labelled=True)
        if date and (date.month or not last or last.year):  # or it is the year of the last date
            last, new = date, _rewritten_date(date, match, rewrite)
            before = _with_article(before, new or "")
        if not new or not _beside().fullmatch(before):
            return None
        pieces += [before, new]
    return "".join([*pieces, text[end:]]) if last and _beside().fullmatch(text[end:]) else None


def _rewritten_date(date: WrittenDate, match: re.Match[str], rewrite: Rewrite) -> str | None:
    """Rewrite a date, and the day of an earlier date that shares its month: ``3 al 5 de marzo``."""
    last, day = rewrite(date), int(match["first"] or 0)
    if not day or not last:
        return last
    first = rewrite(dataclasses.replace(date, day=day)) if day < (date.day or 0) else None
    if not first or first == last:  # the same month
        return first
    rest = first.lstrip(_DIGITS)
    if rest == last.lstrip(_DIGITS):
        first = first.removesuffix(rest)
    return f"{first}{match['joint']}{last}"


def _with_article(before: str, date: str) -> str:
    """Replace an elided Catalan article that cannot precede a date: ``l'1 d'abril``."""
    elided = _ELIDED.search(before)
    if not elided or _TAKES_ELISION.match(date):
        return before
    article = {"de": "del ", "a": "al "}.get((elided[1] or "").lower(), "el ")
    return before[: elided.start()] + (article.upper() if elided[0].isupper() else article)


@functools.cache
def _dates() -> re.Pattern[str]:
    """Compile what finds times and dates within a text."""
    first = rf"(?P<first>{FRAGMENTS['DAY']})(?P<joint>{_JOINTS})"
    parts = rf"(?P<time>{FRAGMENTS['TIME']})|(?:{first})??(?P<date>{ANY_DATE})"
    return re.compile(rf"(?:(?<!\w)|(?<=[0-9]T))(?:{parts})(?:(?!\w)|(?=[TZ]))", re.IGNORECASE)


@functools.cache
def _beside() -> re.Pattern[str]:
    """Compile what can stand beside dates."""
    words = "|".join(_WORDS.split())
    return re.compile(rf"(?:\W|(?:{words})(?!\w)|[TZ](?!\w))*", re.IGNORECASE)
