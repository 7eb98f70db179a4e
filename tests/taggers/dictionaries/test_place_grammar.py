"""The grammars of names, on all short lines."""

from __future__ import annotations

from itertools import product
from re import Pattern

import pytest

from taggers.dictionaries import place_grammar as grammar

#: Symbols of streets, of names of people and of what is near them.
SYMBOLS = [*"SsRrLl56xnpPNVWtjI.,", "A.", "a/", "Q/", "q./", "r:"]


@pytest.mark.parametrize(
    ("names", "cues"),
    [(grammar.STREETS, grammar.STREET_CUES), (grammar.PEOPLE, grammar.PEOPLE_CUES)],
    ids=["streets", "people"],
)
def test_only_lines_with_cues_have_names(names: Pattern[str], cues: str) -> None:
    for line in map("".join, product(SYMBOLS, repeat=3)):
        spans = [match.span() for match in names.finditer(f"\n{line}\n")]
        assert not spans or set(cues) & set(line)
        assert spans == [match.span() for match in names.finditer(f"\n{line}\n", 1, len(line) + 1)]
