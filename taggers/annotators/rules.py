"""An annotator of regular expressions, for dates, telephone numbers, identifiers and the like."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
import regex

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.errors import InputError, quoted
from corpus.ragged import ranges_of
from corpus.storage.fields import Fields
from corpus.tags import touched_tokens
from corpus.tokens.normalisation import Normalised, normalise_all
from taggers.annotators.expressions import combined, compiled

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
        If a rule is not a valid regular expression, or matches the empty string, or if the rules
        take too much time or memory; see `compiled`.
    """

    def __init__(self, rules: Mapping[str, str] | None = None) -> None:
        self._rules = dict(rules or RULES)
        self._names = list(self._rules)
        self._builtin: re.Pattern[str] | None = None
        if self._rules == RULES:  # which need no limits
            self._builtin = re.compile(f"{_BEGIN}(?:{combined(self._rules)})")
        else:
            self._expression = compiled(tuple(self._rules.items()))

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
                    f"the rules take too long, at last in the document "
                    f"{quoted(batch.ids[row].as_py())}; expected a time in proportion to the text, "
                    "without nested repetition such as (a+)+"
                ) from None

    def settings(self) -> dict[str, Any]:
        """Return the rules."""
        return {"rules": self._rules}

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Create an annotator from its settings."""
        try:
            return cls(settings.text_by_key("rules"))
        except InputError:  # whose message may quote the model
            raise settings.error("rules", "rules that compile together in time") from None


def _offsets(
    match: re.Match[str] | regex.Match[str], normalised: Normalised | None
) -> tuple[int, int]:
    """Return the half-open offsets of a match in the text of the document."""
    return match.span() if normalised is None else normalised.in_source(*match.span())
