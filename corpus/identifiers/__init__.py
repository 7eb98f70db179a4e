"""Checks of identifiers: identity documents, insurance numbers, accounts, telephones, addresses.

A check takes an identifier as a note writes it, with its separators and in any case. It says
whether the identifier can exist, not whether it does. The package has no check of e-mail addresses,
URLs and number plates: nothing of them can be verified beyond their form.
"""

from __future__ import annotations

import datetime
import functools
import ipaddress
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

from corpus.identifiers.forms import FRAGMENTS, compact

__all__ = ["CHECKS", "FRAGMENTS", "Check", "with_check_digit"]

Check: TypeAlias = Callable[[str], bool]

_CIP = re.compile(r"[A-Za-z]{4}[01]([0-9]{2})([0-9]{2})([0-9]{2})[0-9]{3}")
_POSTAL_CODE = re.compile(r"(?:0[1-9]|[1-4][0-9]|5[0-2])[0-9]{3}")


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
    from corpus.identifiers.check_digits import completed  # noqa: PLC0415 - stdnum imports slowly

    return completed(name, text)


def _is_complete(name: str, text: str) -> bool:
    """Return whether a number has the check digits that it should have."""
    return with_check_digit(name, text) == text


def _is_cip(text: str) -> bool:
    """Return whether a text can be a Catalan health card: four letters, sex, birth date, number."""
    if match := _CIP.fullmatch(compact(text)):
        year, month, day = map(int, match.groups())
        with suppress(ValueError):  # the century is not written: that of 2000 has all leap days
            return bool(datetime.date(2000 + year, month, day))
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


def _is_postal_code(text: str) -> bool:
    """Return whether a text is a Spanish postal code: its first two digits are a province."""
    return _POSTAL_CODE.fullmatch(compact(text)) is not None


#: The checks by name. A NIF is a DNI, a NIE, a CIF or a number of those who have none of these.
CHECKS: Mapping[str, Check] = {
    **{
        name: functools.partial(_is_complete, name)
        for name in ("dni", "nie", "cif", "nif", "nass", "iban", "ccc", "cups", "luhn")
    },
    "cip": _is_cip,
    "ip": _is_ip,
    "phone": _is_phone,
    "postal_code": _is_postal_code,
}
