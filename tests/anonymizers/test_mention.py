"""Single texts are folded as many are, and copies of them are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizers.mention import folded, has_copy
from gazetteers.folding import fold


@given(st.one_of(st.text(), st.text(st.characters(max_codepoint=0x17F))))
def test_a_text_is_folded_as_lists_are(text: str) -> None:
    assert folded(text) == fold([text])[0]


@pytest.mark.parametrize(
    ("text", "original", "is_copy"),
    [
        ("Juan PEREZ", " Pérez", True),
        ("Lidia", "Li", False),
        ("Ana-Li", "Li", True),
        ("Ana", "Li", False),
    ],
)
def test_a_short_text_is_sought_as_a_word(text: str, original: str, is_copy: bool) -> None:
    assert has_copy(text, original) is is_copy
