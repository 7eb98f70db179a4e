"""An annotator of regular expressions, for dates, telephone numbers, identifiers and the like."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
import regex

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.errors import InputError, shown
from corpus.ragged import ranges_of
from corpus.storage.fields import Fields
from corpus.tags import touched_tokens
from corpus.tokens.normalisation import Normalised, normalise_all

_MONTH = (
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|"
    "diciembre|gener|febrer|març|maig|juny|juliol|agost|setembre|novembre|desembre"
)

#: The builtin rules for Spanish and Catalan, by name.
RULES: dict[str, str] = {
    "EMAIL": r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+",
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

# Matches wherever one of the builtin rules can begin. Tested first, it makes them three times as
# fast.
_BEGIN = r"(?=[\d+XYZhHwW]|(?<![\w.+-])[\w.+-])"

#: The time that the search in a batch may take. A rule needs about a microsecond a character.
_SECONDS, _SECONDS_PER_CHARACTER = 2.0, 1e-4
_LEAST_SECONDS = 0.01  # that each document may take, also when the time is over

_LONGEST = 10_000  # characters of a rule

# A reference to a group by number: \1, or the condition (?(1)...).
_NUMBERED = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9]|\(\?\([0-9])")


class Rules:
    """Annotator of the matches of regular expressions in the normalised form of texts.

    In this form (`corpus.tokens.normalisation`), a telephone number with soft hyphens or full-width
    digits is a telephone number.

    The tokens of a match of the rule DATE have the values ``B-DATE`` and ``I-DATE``.

    Parameters
    ----------
    rules : mapping of str to str, optional
        Regular expressions by name; `RULES` if empty. If several match at the same position, the
        first one wins.

    Raises
    ------
    InputError
        If a rule is not a valid regular expression, or matches the empty string.
    """

    def __init__(self, rules: Mapping[str, str] | None = None) -> None:
        self._rules = dict(rules or RULES)
        self._names = list(self._rules)
        parts = []
        for number, (name, rule) in enumerate(self._rules.items()):
            _check(name, rule)
            parts.append(f"(?P<_{number}>{rule})")
        expression = "|".join(parts)
        self._builtin: re.Pattern[str] | None = None
        if self._rules == RULES:  # which need no limit of time
            self._builtin = re.compile(f"{_BEGIN}(?:{expression})")
            return
        try:
            re.compile(expression)
            self._expression = regex.compile(expression)
        except (re.error, regex.error) as error:  # such as groups of the same name in two rules
            raise InputError(f"the rules cannot be combined: {error}") from None

    def annotate(self, batch: Batch) -> Stream:
        """Return the label of each token in a match, such as ``B-DATE``.

        Raises
        ------
        InputError
            If the search takes too long: some expressions need a time that doubles with each
            character.
        """
        texts = batch.texts.to_pylist()
        normalised = normalise_all(texts)
        for row, form in normalised.items():
            texts[row] = form.text
        matches = self._of_builtin(texts) if self._builtin else self._of_others(batch, texts)
        spans = [
            (row, *_offsets(match, normalised.get(row)), int(str(match.lastgroup)[1:]))
            for row, match in matches
            if match.end() > match.start()
        ]
        rows, starts, ends, rules = np.array(spans, np.int64).reshape(-1, 4).T
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
        values[ranges_of(first, lengths)] = np.repeat(2 * rules + 1, lengths)
        some = lengths > 0
        values[first[some]] = 2 * rules[some]
        types = tuple(f"{side}-{name}" for name in self._names for side in "BI")
        return Stream(types, values)

    def _of_builtin(self, texts: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield the document of each match of the builtin rules, and the match."""
        assert self._builtin is not None
        for row, text in enumerate(texts):
            for match in self._builtin.finditer(text):
                yield row, match

    def _of_others(
        self, batch: Batch, texts: Sequence[str]
    ) -> Iterator[tuple[int, regex.Match[str]]]:
        """Yield the document of each match of other rules, and the match, within a time limit."""
        deadline = time.monotonic() + _SECONDS + _SECONDS_PER_CHARACTER * sum(map(len, texts))
        for row, text in enumerate(texts):
            try:
                left = max(deadline - time.monotonic(), _LEAST_SECONDS)
                for match in self._expression.finditer(text, timeout=left):
                    yield row, match
            except TimeoutError:
                raise InputError(
                    f"the rules {shown(', '.join(self._names))} take too long, at last in the "
                    f"document {shown(batch.ids[row])}; expected a time in proportion to the "
                    "text, without nested repetition such as (a+)+"
                ) from None

    def settings(self) -> dict[str, Any]:
        """Return the rules."""
        return {"rules": self._rules}

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Create an annotator from its settings."""
        return cls(settings.text_by_key("rules"))


def _offsets(
    match: re.Match[str] | regex.Match[str], normalised: Normalised | None
) -> tuple[int, int]:
    """Return the half-open offsets of a match in the text of the document."""
    return match.span() if normalised is None else normalised.in_source(*match.span())


def _check(name: str, rule: str) -> None:
    if len(rule) > _LONGEST:
        raise InputError(
            f"the rule {shown(name)} has {len(rule):,} characters; expected at most {_LONGEST:,}"
        )
    try:
        empty = re.compile(rule).match("")
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            f"the rule {shown(name)} is not a valid regular expression: {error}"
        ) from None
    try:
        re.compile(f"(?:{rule})")
    except re.error as error:
        raise InputError(
            f"the rule {shown(name)} cannot be combined with others: {error}; write flags for a "
            "part of the expression, (?i:...)"
        ) from None
    if _NUMBERED.search(rule):
        raise InputError(
            f"the rule {shown(name)} refers to a group by number, which changes when rules are "
            "combined; name the group: (?P<sign>[/-]) and (?P=sign)"
        )
    if empty:
        raise InputError(f"the rule {shown(name)} matches the empty string")
