"""Single texts are folded as many are."""

from hypothesis import given
from hypothesis import strategies as st

from anonymizers.mention import folded
from gazetteers.folding import fold


@given(st.one_of(st.text(), st.text(st.characters(max_codepoint=0x17F))))
def test_a_text_is_folded_as_lists_are(text: str) -> None:
    assert folded(text) == fold([text])[0]
