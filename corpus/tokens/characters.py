"""Characters that look like others or like nothing, and what each of them is read as.

A note that was copied from a PDF file, a word processor or a web page contains soft hyphens,
byte-order marks, ligatures and no-break spaces. Each character here is read alone; what depends on
the characters beside it is in `corpus.tokens.normalisation`.
"""

from __future__ import annotations

import functools
import re
import unicodedata

#: The code points with the property Default_Ignorable_Code_Point of Unicode 16, and the marks of
#: interlinear annotation: characters that are not displayed. Python has no access to the property.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
#: The blocks of marks that combine with the letter or digit before them.
MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"

BYTE_ORDER_MARK = "\ufeff"

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_MARK = re.compile(f"[{MARKS}]")

#: Kinds of invisible characters; all others are `OTHER_INVISIBLE`.
_INVISIBLE_KINDS = {
    "soft hyphens": "\u00ad",
    "zero-width spaces": "\u200b",
    "zero-width joiners and non-joiners": "\u200c\u200d",
    "word joiners": "\u2060",
    "byte-order marks inside the text": BYTE_ORDER_MARK,
    "marks of writing direction": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "variation selectors": "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "tag characters": "\U000e0000-\U000e007f",
}
_KIND_PATTERNS = {
    kind: re.compile(f"[{characters}]") for kind, characters in _INVISIBLE_KINDS.items()
}
OTHER_INVISIBLE = "other invisible characters"

#: Kinds of characters that are read as others.
SPACES = "no-break and other unusual spaces"
PUNCTUATION = "unusual hyphens and apostrophes"
LIGATURES = "ligatures"
SMALL_CAPITALS = "small capitals"
ENCLOSED = "enclosed letters and digits"
OTHER_FORMS = "other compatibility characters"
RAISED = "superscript and subscript letters and digits"
_KINDS_OF_DECOMPOSITIONS = {
    "<wide>": "full-width and half-width characters",
    "<narrow>": "full-width and half-width characters",
    "<font>": "mathematical letters and digits",
    "<circle>": ENCLOSED,
    "<square>": ENCLOSED,
    "<small>": OTHER_FORMS,
    "<compat>": OTHER_FORMS,
}

#: Hyphens and apostrophes without a compatibility decomposition to the usual one.
_SIGNS = {"\u2010": "-", "\u2011": "-", "\u02bc": "’", "\uff07": "'"}

_LATIN_1 = "\xff"
_LAST_READ = "\u03ff"  # compatibility forms are read as Latin and Greek letters only
_ENCLOSED_NAME = re.compile(r"NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER ([A-Z])")
_SMALL_CAPITAL_NAME = re.compile(r"LATIN LETTER SMALL CAPITAL ([A-Z])")
_LUNATE = "\u03f2\u03f9"  # these sigmas look like c and C; what they are read as does not
_LATIN_FORMS = {"ɑ": "a", "ɡ": "g", "ɩ": "i"}
_LOWER_BEFORE_CAPITAL = re.compile(r"[^\W\d_A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ]")


def _raised() -> dict[str, str]:
    """Return the superscript and subscript letters, digits and signs, and what they are read as.

    The ordinal indicators ª and º are letters of their own in Spanish and Catalan.
    """
    blocks = (range(0x2B0, 0x2E5), range(0x1D2C, 0x1DC0), range(0x2070, 0x20A0))
    found = {"¹": "1", "²": "2", "³": "3"}
    for character in (chr(code) for block in blocks for code in block):
        plain = unicodedata.normalize("NFKC", character)
        if plain != character and len(plain) == 1 and plain.isascii():
            found[character] = plain
    return found


#: Superscript and subscript characters, which are exponents and indices after a letter or a digit.
RAISED_CHARACTERS = _raised()


def is_invisible(character: str) -> bool:
    """Return whether a character is not displayed."""
    return _INVISIBLE.match(character) is not None


def is_mark(character: str) -> bool:
    """Return whether a character combines with the letter or digit before it."""
    return _MARK.match(character) is not None


@functools.cache
def kind_of_invisible(character: str) -> str:
    """Return the name of the kind of an invisible character."""
    for kind, pattern in _KIND_PATTERNS.items():
        if pattern.match(character):
            return kind
    return OTHER_INVISIBLE


@functools.lru_cache(maxsize=1 << 14)
def reading(character: str) -> tuple[str, str]:
    """Return what a visible character is read as, and the name of its kind.

    Parameters
    ----------
    character : str
        One character.

    Returns
    -------
    plain : str
        The character itself, or one or more characters that no token boundary separates.
    kind : str
        Empty if the character is read as itself.
    """
    if character in _SIGNS:
        return _SIGNS[character], PUNCTUATION
    if character > " " and unicodedata.category(character) == "Zs":
        return " ", SPACES
    if character <= _LATIN_1 or character in RAISED_CHARACTERS:
        return character, ""
    return _letter_form(character) or _compatibility_form(character) or (character, "")


def _letter_form(character: str) -> tuple[str, str] | None:
    """Read letters that Unicode does not decompose: small capitals and white on black."""
    if character in _LATIN_FORMS:
        return _LATIN_FORMS[character], OTHER_FORMS
    name = unicodedata.name(character, "")
    if small := _SMALL_CAPITAL_NAME.fullmatch(name):
        return small[1].lower(), SMALL_CAPITALS
    if enclosed := _ENCLOSED_NAME.fullmatch(name):
        return enclosed[1], ENCLOSED
    return None


def _compatibility_form(character: str) -> tuple[str, str] | None:
    """Read a character as its canonical or compatibility decomposition."""
    parts = unicodedata.decomposition(character).split()
    if not parts:
        return None
    if not parts[0].startswith("<"):
        composed = unicodedata.normalize("NFC", character)
        return (composed, OTHER_FORMS) if len(composed) == 1 and composed != character else None
    kind = _KINDS_OF_DECOMPOSITIONS.get(parts[0])
    plain = unicodedata.normalize("NFKC", character)
    symbol = parts[0] == "<compat>" and unicodedata.category(character) == "So"
    if kind is None or symbol or character in _LUNATE:
        return None
    if max(plain) > _LAST_READ or not _is_undivided(plain):
        return None
    if len(plain) > 1 and kind == OTHER_FORMS:
        kind = LIGATURES
    return plain, kind


def _is_undivided(plain: str) -> bool:
    """Return whether no token can end within a decomposition: one character has one offset."""
    if len(plain) == 1:
        return not plain.isspace() and plain not in _SIGNS and not is_mark(plain)
    if not all(map(str.isalpha, plain)) or any(map(_SIGNS.__contains__, plain)):
        return plain.isascii() and plain.isdigit()
    return _LOWER_BEFORE_CAPITAL.search(plain) is None
