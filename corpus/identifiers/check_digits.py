"""Numbers with check digits, and how these follow from the others.

The functions take a number of the right form, without separators and in capitals, whose check
digits may be wrong, and return it with the right ones.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping

from stdnum import iban, luhn
from stdnum.es import ccc, cif, cups, dni

from corpus.identifiers.forms import SEPARATORS, compact

_FIRST_LETTERS = str.maketrans("XYZKLM", "012000")


def _personal(number: str) -> str:
    """Complete a DNI, a NIE or a NIF of persons without these, which begins with K, L or M."""
    return number[:-1] + dni.calc_check_digit(number[:-1].translate(_FIRST_LETTERS))


def _cif(number: str) -> str:
    """Complete a CIF. Whether it ends with a digit or a letter depends on the organisation."""
    check = cif.calc_check_digits(number[:-1])  # as a digit, and as a letter
    return number[:-1] + check[number[-1].isalpha()]


def _nif(number: str) -> str:
    return (_personal if number[0] in "0123456789XYZKLM" else _cif)(number)


def _nass(number: str) -> str:
    """Complete a social security number: province, seven or eight digits, two check digits."""
    province, digits = number[:2], number[2:-2]
    if len(digits) == 8:
        digits = digits.removeprefix("0")  # which does not count
    return f"{number[:-2]}{int(province + digits) % 97:02}"


def _ccc(number: str) -> str:
    return number[:8] + ccc.calc_check_digits(number) + number[10:]


def _iban(number: str) -> str:
    """Complete an IBAN, or return nothing if the accounts of its country have another form."""
    if number.startswith("ES"):
        number = number[:4] + _ccc(number[4:])
    number = number[:2] + iban.calc_check_digits(number) + number[4:]
    return number if iban.is_valid(number, check_country=False) else ""


def _cups(number: str) -> str:
    return number[:18] + cups.calc_check_digits(number) + number[20:]


def _luhn(number: str) -> str:
    return number[:-1] + luhn.calc_check_digit(number[:-1])


_DNI, _NIE = r"\d{7,8}[A-Z]", r"[XYZ]\d{7}[A-Z]"
_CIF = r"[A-HJNP-SUVW]\d{7}[\dA-J]"

#: The form of each kind of number in capitals, and the function that completes it.
_NUMBERS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "dni": (_DNI, _personal),
    "nie": (_NIE, _personal),
    "cif": (_CIF, _cif),
    "nif": (rf"{_DNI}|{_NIE}|[KLM]\d{{7}}[A-Z]|{_CIF}", _nif),
    "nass": (r"\d{11,12}", _nass),
    "iban": (r"ES\d{22}|(?!ES)[A-Z]{2}\d{2}[A-Z\d]{11,30}", _iban),
    "ccc": (r"\d{20}", _ccc),
    "cups": (r"ES\d{16}[A-Z]{2}(?:\d[FPRCXYZ])?", _cups),
    "luhn": (r"\d{2,}", _luhn),
}


def completed(name: str, text: str) -> str | None:
    """Do what `corpus.identifiers.with_check_digit` does."""
    if name not in _NUMBERS:
        return None
    form, complete = _NUMBERS[name]
    number = compact(text)
    has_form = re.fullmatch(form, number, re.ASCII | re.IGNORECASE)
    characters = deque(complete(number.upper()) if has_form else "")
    if not characters:
        return None
    written = ((old, old if old in SEPARATORS else characters.popleft()) for old in text)
    return "".join(new.lower() if old.islower() else new for old, new in written)
