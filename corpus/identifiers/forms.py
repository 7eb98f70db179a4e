"""How identifiers are written: their separators, and fragments of regular expressions."""

from __future__ import annotations

from collections.abc import Mapping

#: The characters that may be between those of an identifier.
SEPARATORS = " ./-"

_WITHOUT = str.maketrans("", "", SEPARATORS)


def compact(text: str) -> str:
    """Return an identifier without its separators."""
    return text.translate(_WITHOUT)


# No letter of a DNI is I, O or U. After a space it is a capital, since `12345678 y` is a number.
_LETTER = r"(?:[ -]?[A-HJ-NP-TV-Z]|-?[a-hj-np-tv-z])"
_CCC = r"\d{4}[ -]?\d{4}[ -]?(?:\d{2}[ -]?\d{10}|\d{4}[ -]?\d{4}[ -]?\d{4})"
_SPANISH_PHONE = (
    r"(?:\(?(?:\+|00)?34\)?[ .-]{0,2})?"
    r"(?:\(?[6-9]\d{2}\)?[ ./-]?(?:\d{3}[ .-]?\d{3}|\d{2}[ .-]?\d{2}[ .-]?\d{2})"
    r"|\(?[89]\d\)?[ ./-]?\d{3}[ .-]?\d{2}[ .-]?\d{2})"
)

#: Forms as regular expressions of RE2, without what is around them.
FRAGMENTS: Mapping[str, str] = {
    "DNI": rf"(?:(?:\d{{7,8}}|\d{{1,2}}\.\d{{3}}\.\d{{3}}){_LETTER})",
    "NIE": rf"(?:[XYZxyz][ -]?(?:\d{{7}}|\d\.\d{{3}}\.\d{{3}}){_LETTER})",
    "CIF": r"(?:[A-HJNP-SUVWa-hjnp-suvw][ -]?\d{2}[ .]?\d{3}[ .]?\d{2}[ -]?[\dA-Ja-j])",
    "NASS": r"(?:\d{2}[ ./-]?\d{7,8}[ ./-]?\d{2})",
    "CIP": r"(?:[A-Za-z]{4}[ -]?[01][ -]?\d{6}[ -]?\d{2}[ -]?\d)",
    "CCC": f"(?:{_CCC})",
    "IBAN": rf"(?:[A-Za-z]{{2}}\d{{2}}(?:[ -]?{_CCC}|[\dA-Za-z]{{11,30}}))",
    "PHONE": rf"(?:{_SPANISH_PHONE}|\+\d{{1,3}}[ .-]?\(?\d{{1,4}}\)?(?:[ .-]?\d{{2,4}}){{2,4}})",
}
