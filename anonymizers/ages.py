"""Ages that are aggregated, blurred or replaced by near ones.

Ages that stay agree with shifted dates, since the birth date of a patient is shifted by the same
days as all other dates. Ages that `surrogate_age` replaces do not.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from anonymizers.keys import Key
from anonymizers.mention import Mention
from corpus.dates.languages import in_case_of
from corpus.numerals import Use, in_words, numbers
from corpus.storage.fields import parse_toml
from corpus.tokens.normalisation import normalised_text

#: The oldest age that need not be aggregated (HIPAA, 45 CFR 164.514(b)(2)(i)(C)).
OLDEST = 89

_FILE = "ages.toml"
_ANY = "any"  # of abbreviations, which tell no language
_YEARS = {"year": 1.0, "month": 1 / 12, "week": 7 / 365.25, "day": 1 / 365.25, "hour": 1 / 8766}
_ADULT, _MOST_YEARS, _MOST_IN_WORDS = 18, 130, 99
_STEPS = (-2, -1, 1, 2)
_NUMBER = "[0-9]{1,3}"


class _Words:
    """The words of ages in a language, or abbreviations: a table of ``ages.toml``."""

    def __init__(self, language: str, table: Mapping[str, Any]) -> None:
        self.ranges: Mapping[str, str] = table["ranges"]
        self.units = {
            unit: [words.split("|") for words in forms] for unit, forms in table["units"].items()
        }
        self.language, self._feminine = language, table["feminine"]
        self._numbers = {} if language == _ANY else numbers(language)
        self._unit_of = {
            word: unit for unit, forms in self.units.items() for words in forms for word in words
        }
        number = "|".join([_NUMBER, *sorted(self._numbers, reverse=True)])
        unit = "|".join(map(re.escape, sorted(self._unit_of, reverse=True)))
        more = rf"(?P<more>{number})\s{{0,3}}(?P<lesser>{unit})"
        self._expression = re.compile(
            # As a possessive group, which the first versions of Python 3.11 match wrongly.
            rf"(?=(?P<before>(?:\W|(?:{table['before']})(?!\w))*))(?P=before)"
            rf"(?P<number>{number})(?P<gap>(?P<decimals>[.,][0-9]{{1,2}})?[\s-]{{0,3}})"
            rf"(?P<unit>{unit}{'|' * (language == _ANY)})"
            rf"(?P<rest>(?:\s{{1,3}}(?:(?:{table['joint']})\s{{1,3}})?(?:{table['half']}|{more}))?)"
            rf"(?P<after>(?:[\s-]{{1,3}}(?:{table['after']}))?\W*+)",
            re.IGNORECASE,
        )

    def read(self, text: str) -> Age | None:
        """Read the age that a text is, if it has these words."""
        match = self._expression.fullmatch(text)
        if match is None:
            return None
        number = self._value(match["number"])
        unit = self._unit_of.get(match["unit"].lower(), "year")
        years = float(f"{number}.{(match['decimals'] or '.0')[1:]}") * _YEARS[unit]
        if match["more"]:
            years += self._value(match["more"]) * _YEARS[self._unit_of[match["lesser"].lower()]]
        elif match["rest"]:
            years += _YEARS[unit] / 2
        return Age(years, number, unit, match, self) if years <= _MOST_YEARS else None

    def _value(self, number: str) -> int:
        return int(number) if number.isdecimal() else self._numbers[number.lower()]

    def in_words(self, number: int, unit: str) -> str:
        """Write a number before a unit."""
        use: Use = "feminine" if unit in self._feminine else "masculine"
        return in_words(number, self.language, use)


@dataclass(frozen=True, slots=True)
class Age:
    """An age in a text, and how it is written.

    Parameters
    ----------
    years : float
        The age in years.
    number : int
        Its first number, without decimals.
    unit : {"year", "month", "week", "day", "hour"}
        The unit of this number.
    """

    years: float
    number: int
    unit: str
    _match: re.Match[str] = field(repr=False)
    _words: _Words = field(repr=False)

    def with_number(self, number: int) -> str:
        """Write the age with another first number, in digits or words as this one.

        Examples
        --------
        >>> age = parse_age("Un año y tres meses")
        >>> age and age.with_number(2)
        'Dos años y tres meses'
        """
        written, gap, unit, rest = self._match.group("number", "gap", "unit", "rest")
        text = str(number)
        if not written.isdecimal():
            text = in_case_of(self._words.in_words(number, self.unit), written)
        singular, *plural = self._words.units[self.unit]
        if plural and not gap.strip() and (number == 1) != (self.number == 1):
            unit = in_case_of((singular if number == 1 else plural[0])[0], unit)
        return self._around(f"{text}{gap}{unit}{rest}")

    def with_range(self, low: int | None, high: int | None) -> str:
        """Write the years from `low`, if there is one, to below `high`, if there is one.

        Examples
        --------
        >>> ages = [parse_age(text) for text in ("74 anys", "74-year-old", "74")]
        >>> [age.with_range(65, None) for age in ages if age]
        ['més de 64 anys', '>64-year-old', '>64']
        """
        is_adjective = "-" in self._match["gap"]
        ranges = _words()[_ANY if is_adjective else self._words.language].ranges
        name = "between" if low and high else "above" if low else "below"
        if name == "below" and high == 1:
            name = "infant"
        numbers = {"low": low, "least": (low or 1) - 1, "high": high, "last": (high or 1) - 1}
        text = ranges[name].format(**numbers) + "-year" * is_adjective
        return self._around(text.upper() if self._match["unit"].isupper() else text)

    def _around(self, text: str) -> str:
        """Write what is before and after the age around another one."""
        return f"{self._match['before']}{text}{self._match['after']}"


def aggregated_age(mention: Mention, above: int = OLDEST) -> str | None:
    """Join the ages above a limit, as HIPAA asks for; others stay. None if the text is no age.

    It protects the oldest patients, who are few, and loses the differences between their ages.

    Examples
    --------
    >>> [aggregated_age(Mention(text, "AGE", "age", "p")) for text in ("93 años", "93", "74 años")]
    ['más de 89 años', '>89', '74 años']
    """
    age = parse_age(mention.text)
    if age is None:
        return None
    return age.with_range(above + 1, None) if age.years >= above + 1 else mention.text


def blurred_age(mention: Mention, limits: Sequence[int] = (1, _ADULT, 65)) -> str | None:
    """Replace an age by its range (paper 003, section 2.2.2, blurring); None if it is no age.

    It protects all patients, as many as there are in a range, and loses the differences between
    ages of a range. The words say nothing of the sex. A range may contain the number of the age.
    Ranges begin at the limits, years that ascend; another range is below them.

    Examples
    --------
    >>> [blurred_age(Mention(text, "AGE", "age", "p")) for text in ("3 meses", "45", "70 anys")]
    ['menos de un año', '18-64', 'més de 64 anys']
    """
    age = parse_age(mention.text)
    if age is None:
        return None
    place = bisect_right(limits, age.years)
    return age.with_range((None, *limits)[place], (*limits, None)[place])


def surrogate_age(mention: Mention, key: Key) -> str | None:
    """Replace an age by a near one, in the same form; None if the text is no age.

    All ages of a patient change by one or two years in one direction, so that most intervals are
    kept; ages below 18 change by one year. Ages in months, weeks, days and hours change by one or
    two of these. The direction is the other one where the age would be below 1, or where it would
    be above 89 and was not. It protects from those who know an age. It loses how ages agree with
    dates; to keep this, keep the ages and aggregate those above 89.

    Examples
    --------
    >>> surrogate_age(Mention("74 años", "AGE", "age", "p"), Key(bytes(32)))
    '76 años'
    """
    age = parse_age(mention.text)
    if age is None:
        return None
    step = _step(key, mention.patient)
    if age.number < _ADULT and age.unit == "year":
        step = 1 if step > 0 else -1
    most = OLDEST if age.number <= OLDEST else _MOST_IN_WORDS
    is_in_range = 1 <= age.number + step <= most
    return age.with_number(age.number + (step if is_in_range else -step))


@functools.lru_cache(1 << 10)
def _step(key: Key, patient: str) -> int:
    return key.draws("age", patient).choice(_STEPS)


@functools.lru_cache(1 << 12)  # ages repeat
def parse_age(text: str) -> Age | None:
    """Read the age that a text is: in Spanish, Catalan or English, or a number of years.

    Examples
    --------
    >>> parse_age("7 anys i 3 mesos")
    Age(years=7.25, number=7, unit='year')
    """
    forms = dict.fromkeys((text, normalised_text(text)))
    ages = (words.read(form) for form in forms for words in _words().values())
    return next(filter(None, ages), None)


@functools.cache
def _words() -> Mapping[str, _Words]:
    tables = parse_toml((files("anonymizers") / _FILE).read_bytes(), _FILE)
    return {language: _Words(language, table) for language, table in tables.items()}
