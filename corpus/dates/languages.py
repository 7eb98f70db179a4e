"""Names of months, weekdays and days, and other words of dates, in Spanish, Catalan and English."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain

from corpus.numerals import in_words, numbers

_ROMAN = "i ii iii iv v vi vii viii ix x xi xii"


class Names:
    """Names of the months or of the weekdays in a language.

    Parameters
    ----------
    rows : sequence of str
        Full names in their order, abbreviations, and any others.
    """

    def __init__(self, rows: Sequence[str]) -> None:
        self.rows = [[names.split("|") for names in row.split()] for row in rows]

    def __contains__(self, name: str) -> bool:
        return name.isdecimal() or name.lower().rstrip(".") in chain(*chain(*self.rows))

    def number(self, name: str) -> int:
        """Return the number of a month or weekday, from 1, of its name or its digits."""
        return int(name) if name.isdecimal() else self._place(name)[1]

    def name(self, number: int, like: str) -> str:
        """Return a name in the form of another one: abbreviated, with a dot, in capitals."""
        row, own = self._place(like)
        if number == own:
            return like
        return in_case_of(row[number - 1][0], like) + "." * like.endswith(".")

    def _place(self, name: str) -> tuple[list[list[str]], int]:
        """Return the row and the number of a name. Full names have no dot."""
        spelling, rows = name.lower().rstrip("."), self.rows[name.endswith(".") :]
        numbered = ((row, number, names) for row in rows for number, names in enumerate(row, 1))
        return next((row, number) for row, number, names in numbered if spelling in names)


class Language:
    """The words of dates in a language, a table in ``languages.toml``."""

    def __init__(
        self,
        code: str,
        *,
        months: Sequence[str],
        weekdays: Sequence[str],
        words: str,
        elided_before: str = "",
        ordinals: Sequence[str] = (),
        first_day: str = "",
    ) -> None:
        self.months, self.weekdays = Names([*months, _ROMAN]), Names(weekdays)
        self.days = {first_day: 1, **numbers(code)} if first_day else {}
        names = chain(*self.months.rows, *self.weekdays.rows)
        day_words = re.findall(r"[^\W_]+", " ".join(self.days))
        self.vocabulary = frozenset([*words.split(), *day_words]).union(*names)
        self._code, self._elided_before, self._ordinals = code, elided_before, ordinals

    def day_of(self, words: str) -> int | None:
        """Return the day of its digits or words, if they are of this language."""
        return int(words) if words.isdecimal() else self.days.get(" ".join(words.lower().split()))

    def day_in_words(self, day: int, like: str) -> str:
        """Return a day in words, in the place of another one."""
        return in_case_of(in_words(day, self._code), like)

    def of(self, month: int, like: str) -> str:
        """Return the preposition before a month, with its space, in the place of another one."""
        is_elided = self.months.rows[0][month - 1][0][0] in self._elided_before
        if is_elided == (like[1] in "'’´"):
            return like
        return in_case_of("d'" if is_elided else "de ", like)

    def ordinal(self, day: int, like: str) -> str:
        """Return the ending of the number of a day, in the place of another one."""
        if not self._ordinals:
            return like if day == 1 else ""
        ending = day % 10 if day % 10 in (1, 2, 3) and day // 10 != 1 else 0
        return in_case_of(self._ordinals[ending], like)


def in_case_of(word: str, like: str) -> str:
    """Return a lower-case word in capitals, or with a capital, if another one is."""
    return word.upper() if like.isupper() else word.capitalize() if like[0].isupper() else word


_TABLES = tomllib.loads((files("corpus.dates") / "languages.toml").read_text("utf-8"))

#: The languages of dates by their codes, the first ones preferred.
LANGUAGES = {code: Language(code, **table) for code, table in _TABLES.items()}
