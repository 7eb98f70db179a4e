"""Identifiers, as documents, accounts and telephones have them: their forms and checks.

A check takes an identifier as a note writes it, with its separators and in any case. It says
whether the identifier can exist, not whether it does.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TypeAlias

Check: TypeAlias = Callable[[str], bool]

_SEPARATORS = str.maketrans("", "", " ./-")  # between the characters of an identifier
_WITH_CHECK_DIGITS = ("dni", "nie", "cif", "nif", "nass", "iban", "ccc", "cups", "luhn")
_CIP = re.compile(r"[A-Za-z]{4}[01][0-9]{9}")
_POSTAL_CODE = re.compile(r"(?:0[1-9]|[1-4][0-9]|5[0-2])[0-9]{3}")

# No letter of a DNI is I, O or U. After a space it is a capital, since `12345678 y` is a number.
_LETTER = r"(?:[ -]?[A-HJ-NP-TV-Z]|-?[a-hj-np-tv-z])"
_CCC = r"\d{4}[ -]?\d{4}[ -]?(?:\d{2}[ -]?\d{10}|\d{4}[ -]?\d{4}[ -]?\d{4})"
_SPANISH_PHONE = (
    r"(?:\(?(?:\+|00)?34\)?[ .-]{0,2})?"
    r"(?:\(?[6-9]\d{2}\)?[ ./-]?(?:\d{3}[ .-]?\d{3}|\d{2}[ .-]?\d{2}[ .-]?\d{2})"
    r"|\(?[89]\d\)?[ ./-]?\d{3}[ .-]?\d{2}[ .-]?\d{2})"
)

#: Expressions of RE2 by name, of an identifier without what is around it.
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


def with_check_digit(name: str, text: str) -> str | None:
    """Replace the check digits or letters of a number by those that make it valid.

    Parameters
    ----------
    name : str
        A key of `CHECKS`.
    text : str
        The number as it is written. Its separators and its case are kept.

    Returns
    -------
    str or None
        None if identifiers of this kind have no check digits, or the text has not their form.

    Examples
    --------
    >>> with_check_digit("dni", "12.345.678-a")
    '12.345.678-z'
    >>> with_check_digit("nass", "28/12345678/00")
    '28/12345678/40'
    """
    from corpus.identifiers.check_digits import NUMBERS  # noqa: PLC0415 - stdnum imports slowly

    form, complete = NUMBERS.get(name, ("", str))
    number = text.translate(_SEPARATORS)
    has_form = re.fullmatch(form, number, re.ASCII | re.IGNORECASE)
    characters = deque(complete(number.upper()) if has_form else "")
    if not characters:
        return None
    written = ((old, characters.popleft() if old.isalnum() else old) for old in text)
    return "".join(new.lower() if old.islower() else new for old, new in written)


def _is_complete(name: str, text: str) -> bool:
    """Return whether a number has the check digits that it should have."""
    return with_check_digit(name, text) == text


def _is_cip(text: str) -> bool:
    """Return whether a text can be a Catalan health card: four letters, sex, birth date, number."""
    number = text.translate(_SEPARATORS)
    with suppress(ValueError):
        return bool(_CIP.fullmatch(number) and datetime.strptime(number[5:11], "%y%m%d"))
    return False


def _is_ip(text: str) -> bool:
    """Return whether a text is an address of IPv4 or IPv6."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(text))
    return False


def _is_phone(text: str) -> bool:
    """Return whether a text is a telephone number in use, of Spain if no country is written."""
    import phonenumbers  # noqa: PLC0415 - slow to import

    with suppress(phonenumbers.NumberParseException):
        return phonenumbers.is_valid_number(phonenumbers.parse(text, "ES"))
    return False


#: The checks by name. A NIF is a DNI, a NIE, a CIF or a number of those who have none of these. The
#: first two digits of a postal code are a province.
CHECKS: Mapping[str, Check] = {
    **{name: functools.partial(_is_complete, name) for name in _WITH_CHECK_DIGITS},
    "cip": _is_cip,
    "ip": _is_ip,
    "phone": _is_phone,
    "postal_code": lambda text: _POSTAL_CODE.fullmatch(text.translate(_SEPARATORS)) is not None,
}
