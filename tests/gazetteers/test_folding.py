"""Folding: whatever a term's case and accents, it is one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazetteers.folding import fold, fold_terms

#: Letters that people write, with marks before and after them.
TEXTS = st.one_of(
    st.text("aAñÑçÇéÉïÀnNcC ·'\u0301\u0303\u0327\u0308ß日\n", max_size=12),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)


def straightforward(text: str) -> str:
    """Fold a text letter by letter."""
    kept, before = "", ""
    for each in unicodedata.normalize("NFD", text.lower()):
        mark = "\u0300" <= each <= "\u036f"
        if not mark or before + each in ("n\u0303", "c\u0327"):
            kept += each
        before = each
    return unicodedata.normalize("NFC", kept)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MARÍA José", "maria jose"),
        ("mun\u0303oz", "muñoz"),
        ("Françesc GRAÇA", "françesc graça"),
        ("L'HOSPITALET · Àngel", "l'hospitalet · angel"),
        ("Õ Ş ü Ï", "o s u i"),
    ],
)
def test_case_and_accents_go_but_letters_stay(text: str, expected: str) -> None:
    assert fold([text]) == [expected]


@settings(max_examples=30)
@given(texts=st.lists(TEXTS, max_size=6))
@example(texts=["a\nb", "C", "\n"])
@example(texts=[])
@example(texts=[""])
def test_texts_are_folded_as_one_by_one_and_once(texts: list[str]) -> None:
    once = fold(texts)
    assert once == [straightforward(text) for text in texts]
    assert fold(once) == once


def test_terms_are_folded_in_their_normalised_form() -> None:
    terms = [" Vila\xadfranca\xa0 del\nPene\x1fdès ", "Puig", "", "Ｖｉｃ"]
    assert fold_terms(terms) == ["vilafranca del penedes", "puig", "", "vic"]
