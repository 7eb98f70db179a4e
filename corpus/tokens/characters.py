"""What each character is read as: compatibility forms as the letters and signs they display.

Text that was copied from PDF files, word processors and web pages contains soft hyphens, byte-order
marks, ligatures and no-break spaces. Here each character is read alone; what depends on the
characters beside it is in `corpus.tokens.normalisation`.
"""

from __future__ import annotations

import functools
import re
import unicodedata

#: What ends a line, and with it a word and a sentence.
LINE_ENDS = "\n\r\v\f\x85\u2028\u2029"
#: Tabs and the line ends of any reader, as spaces: what is written in one field has none of them.
ON_ONE_LINE = str.maketrans(dict.fromkeys(f"\t\x1c\x1d\x1e{LINE_ENDS}", " "))

#: The blocks of marks that combine with the letter or digit before them.
MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"

#: Hyphens that are displayed only where they end a line: the soft hyphen, those of Word and, twice,
#: of PDFium.
SOFT_HYPHENS = "\xad\x1f\x02\ufffe"

# Characters without a glyph that are neither controls nor format characters. Except for PDFium's
# hyphen, they have the property Default_Ignorable_Code_Point, to which Python has no access.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\ufffe\U000e0000-\U000e0fff]"
)
_MARK = re.compile(f"[{MARKS}]")

#: Hyphens and apostrophes without a compatibility decomposition to the usual one.
_SIGNS = {"\u2010": "-", "\u2011": "-", "\u02bc": "’"}

_LATIN_1 = "\xff"
_READ = ("<wide>", "<narrow>", "<font>", "<circle>", "<square>", "<small>", "<compat>")
_LOWER_BEFORE_CAPITAL = re.compile(r"[^\W\d_A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ]")


def _raised() -> dict[int, str]:
    """Return the superscript and subscript letters, digits and signs, and what they are read as."""
    blocks = (range(0x2B0, 0x2E5), range(0x1D2C, 0x1DC0), range(0x2070, 0x20A0), (0xB9, 0xB2, 0xB3))
    plain = {code: unicodedata.normalize("NFKC", chr(code)) for block in blocks for code in block}
    return {code: sign for code, sign in plain.items() if sign.isascii() and len(sign) == 1}


#: Superscript and subscript characters, which are exponents and indices after a letter or a digit.
#: The ordinal indicators ª and º are letters of their own in Spanish and Catalan.
RAISED = _raised()


def is_hidden(character: str) -> bool:
    """Return whether a character has no glyph: format and control characters and the like."""
    category = unicodedata.category(character)
    if category == "Cc":
        return character != "\t" and character not in LINE_ENDS
    return category == "Cf" or _IGNORABLE.match(character) is not None


def is_mark(character: str) -> bool:
    """Return whether a character combines with the letter or digit before it."""
    return _MARK.match(character) is not None


@functools.lru_cache(maxsize=1 << 14)
def reading(character: str) -> str:
    """Return what a character is read as.

    Parameters
    ----------
    character : str
        One character.

    Returns
    -------
    str
        The character itself, or one or more characters that no token boundary separates; empty if
        the character has no glyph.
    """
    if is_hidden(character):
        return ""
    if character in _SIGNS:
        return _SIGNS[character]
    if unicodedata.category(character) == "Zs":
        return " "
    if character <= _LATIN_1 or ord(character) in RAISED:
        return character
    tag = unicodedata.decomposition(character).partition(" ")[0]
    symbol = tag == "<compat>" and unicodedata.category(character) == "So"
    if not tag or symbol or (tag[0] == "<" and tag not in _READ):
        return character
    plain = unicodedata.normalize("NFKC", character)
    return plain if _is_undivided(plain) else character


def _is_undivided(plain: str) -> bool:
    """Return whether no token can end within a decomposition: one character has one offset."""
    if any(map(_SIGNS.__contains__, plain)):
        return False
    if len(plain) == 1:
        return not plain.isspace() and not is_mark(plain)
    if not plain.isalpha():
        return plain.isascii() and plain.isdigit()
    return _LOWER_BEFORE_CAPITAL.search(plain) is None


def kind_of(character: str) -> str:
    """Return the name of the kind of a character that is not read as itself."""
    if character == "-":
        return "words that a hyphen breaks at the end of a line"
    if is_hidden(character):
        control = unicodedata.category(character) == "Cc"
        return "control characters" if control else "invisible characters"
    if is_mark(character):
        return "decomposed accents and other combining marks"
    if reading(character) == " ":
        return "no-break and other unusual spaces"
    return "unusual forms of letters, digits and signs"


def may_change(character: str) -> bool:
    """Return whether a character may be read as another one, alone or beside others."""
    return (
        is_mark(character)
        or character in "Ŀŀ"
        or (character > _LATIN_1 and ord(character) in RAISED)
        or reading(character) != character
    )
