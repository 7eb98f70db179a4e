"""Regular expressions of the package work in every supported version of Python."""

import re

import pytest

from corpus.tokens import expression, sentences

EXPRESSIONS = [
    *(value for value in vars(expression).values() if isinstance(value, re.Pattern)),
    *(value for value in vars(sentences).values() if isinstance(value, re.Pattern)),
]


@pytest.mark.parametrize("pattern", EXPRESSIONS, ids=lambda pattern: pattern.pattern[:20])
def test_no_group_is_possessive(pattern: re.Pattern[str]) -> None:
    """Python 3.11.0 to 3.11.4 match the wrong text with them."""
    assert not re.search(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+", pattern.pattern)
    assert "(?>" not in pattern.pattern
