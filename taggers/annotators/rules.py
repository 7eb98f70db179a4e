"""An annotator of regular expressions: dates, telephone numbers, identifiers and the like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from corpus.alignment import touched_tokens
from corpus.batch import Batch
from corpus.errors import InputError, shown
from corpus.streams import NO_VALUE, Stream

_MONTH = (
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|"
    "diciembre|gener|febrer|març|maig|juny|juliol|agost|setembre|novembre|desembre"
)

#: Rules in Spanish and Catalan, by what they find.
RULES: dict[str, str] = {
    "EMAIL": r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++",
    "URL": r"(?i:https?://|www\.)[^\s<>]*[^\s<>.,:;!?'\"()\[\]«»“”’]",
    "DATE": (
        r"(?<!\d)\d{1,2}(?P<sign>[/.-])\d{1,2}(?P=sign)(?:\d{4}|\d{2})(?!\d)"
        rf"|(?<!\d)\d{{1,2}} (?i:(?:de |d['’])?(?:{_MONTH})\b(?: del? \d{{4}}\b)?)"
    ),
    "TIME": r"(?<!\d)(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)",
    "AGE": r"(?<!\d)\d{1,3} (?i:años?|anys?|meses|mesos|mes|días?|dies)\b",
    "IDENTITY": r"\b(?:[XYZ]|\d)\d{7}[ -]?[A-Z]\b",
    "TELEPHONE": r"(?<![\d+])(?:\+34[ .-]?)?[6-9](?:[ .-]?\d){8}(?!\d)",
    "POSTCODE": r"(?<!\d)(?:0[1-9]|[1-4]\d|5[0-2])\d{3}(?!\d)",
    "LONG_NUMBER": r"(?<!\d)\d{6,}(?!\d)",
}

# What any of them begins with. Where nothing does, none is tried: that is three times as fast.
_BEGIN = r"(?=[\d+XYZhHwW]|(?<![\w.+-])[\w.+-])"

# What refers to a group by its number: \1, or the condition (?(1)...).
_NUMBERED = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9]|\(\?\([0-9])")


class Rules:
    """The decision of regular expressions: ``B-DATE`` and ``I-DATE`` for the tokens of a date.

    Parameters
    ----------
    rules : mapping of str to str, optional
        Regular expressions by what they find; `RULES` if there are none. The first one that
        matches at a place is taken.

    Raises
    ------
    InputError
        If one is no regular expression, or matches where there is nothing.
    """

    def __init__(self, rules: Mapping[str, str] | None = None) -> None:
        self._rules = dict(rules or RULES)
        self._names = list(self._rules)
        parts = []
        for number, (name, rule) in enumerate(self._rules.items()):
            _check(name, rule)
            parts.append(f"(?P<_{number}>{rule})")
        expression = "|".join(parts)
        if self._rules == RULES:
            expression = f"{_BEGIN}(?:{expression})"
        try:
            self._expression = re.compile(expression)
        except re.error as error:  # such as groups of one name in two of them
            raise InputError(f"the rules cannot be taken together: {error}") from None

    def annotate(self, batch: Batch) -> Stream:
        """Return the rule that matches each token."""
        found = [
            (row, match.start(), match.end(), int(str(match.lastgroup)[1:]))
            for row, text in enumerate(batch.texts.to_pylist())
            for match in self._expression.finditer(text)
            if match.end() > match.start()
        ]
        rows, starts, ends, rules = np.array(found, np.int64).reshape(-1, 4).T
        first, last = touched_tokens(
            batch.document_offsets,
            batch.starts,
            batch.ends,
            rows=rows,
            begins=starts,
            finishes=ends,
        )
        values = np.full(batch.n_tokens, NO_VALUE, np.int32)
        lengths = np.maximum(last - first + 1, 0)
        tokens = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        values[tokens] = np.repeat(2 * rules + 1, lengths)
        some = lengths > 0
        values[first[some]] = 2 * rules[some]
        types = tuple(f"{side}-{name}" for name in self._names for side in "BI")
        return Stream(types, values)

    def settings(self) -> dict[str, Any]:
        """Return the rules."""
        return {"rules": self._rules}

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Create an annotator from its settings."""
        return cls(settings["rules"])


def _check(name: str, rule: str) -> None:
    try:
        empty = re.compile(rule).match("")
    except re.error as error:
        raise InputError(f"the rule {shown(name)} is no regular expression: {error}") from None
    try:
        re.compile(f"(?:{rule})")
    except re.error as error:
        raise InputError(
            f"the rule {shown(name)} cannot stand beside others: {error}; flags go with the part "
            "that they are for, (?i:...)"
        ) from None
    if _NUMBERED.search(rule):
        raise InputError(
            f"the rule {shown(name)} repeats a group by its number, which is another one among all "
            "rules; name it: (?P<sign>[/-]) and (?P=sign)"
        )
    if empty:
        raise InputError(f"the rule {shown(name)} matches where there is nothing")
