"""Notes with unusual characters are counted by kind, and their text is not shown."""

import pytest

from corpus.unusual_characters import UnusualCharacters


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("A\xadna", "soft hyphens"),
        ("A\u200bna", "zero-width spaces"),
        ("A\u200cna", "zero-width joiners and non-joiners"),
        ("A\u2060na", "word joiners"),
        ("A\ufeffna", "byte-order marks inside the text"),
        ("\u2067Ana\u2069", "marks of writing direction"),
        ("A\ufe0fna", "variation selectors"),
        ("A\U000e0061na", "tag characters"),
        ("A\u034fna", "other invisible characters"),
        ("Ａｎａ", "full-width and half-width characters"),
        ("𝐀𝐧𝐚", "mathematical letters and digits"),
        ("Ⓐna", "enclosed letters and digits"),
        ("ᴀɴᴀ", "small capitals"),
        ("Raﬁ", "ligatures"),
        ("⁶¹", "superscript and subscript letters and digits"),
        ("ſan", "other compatibility characters"),
        ("Ana\xa0P", "no-break and other unusual spaces"),
        ("A\u2011B", "unusual hyphens and apostrophes"),
        ("Jose\u0301", "decomposed accents"),
        ("J\u0336", "combining marks that are no accents"),
        ("Аna", "letters of other scripts within Latin words"),
        ("Иna", "letters of other scripts within Latin words"),
        ("Anα", "letters of other scripts within Latin words"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    found = UnusualCharacters()
    found.add([text, "Ana", text])
    assert list(found.lines()) == [f"{kind} in 2 of 3 notes"]


def test_lines_name_the_most_frequent_kind_first() -> None:
    found = UnusualCharacters()
    found.add(["A\xadn\u200ba"])
    assert list(found.lines()) == [
        "soft hyphens in 1 of 1 note",
        "zero-width spaces in 1 of 1 note",
    ]
    found.add(["P\u200buig"] * 1000)
    assert list(found.lines()) == [
        "zero-width spaces in 1,001 of 1,001 notes",
        "soft hyphens in 1 of 1,001 notes",
    ]


def test_nothing_is_said_of_usual_text() -> None:
    found = UnusualCharacters()
    found.add(["\ufeffJosé Muñoz 1ª nº 3 «½ m²» 50 µg α2a TNFα 10⁹/L – “x”…", ""])
    assert list(found.lines()) == []
