"""Numbers with check digits, and how these follow from the others.

The functions take a number of the right form, without separators and in capitals, whose check
digits may be wrong, and return it with the right ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stdnum import iban, luhn
from stdnum.es import ccc, cif, cups, dni

_FIRST_LETTERS = str.maketrans("XYZKLM", "012000")


def _nif(number: str) -> str:
    """Complete a DNI, NIE or CIF, or a NIF of persons who have none: it begins with K, L or M."""
    if number[0] in "ABCDEFGHJNPQRSUVW":  # of an organisation; some kinds have a letter at the end
        check = cif.calc_check_digits(number[:-1])[number[-1].isalpha()]
    else:
        check = dni.calc_check_digit(number[:-1].translate(_FIRST_LETTERS))
    return number[:-1] + check


def _nass(number: str) -> str:
    """Complete a social security number: province, seven or eight digits, two check digits."""
    digits = number[:-2]
    if len(digits) == 10 and digits[2] == "0":  # which does not count
        digits = digits[:2] + digits[3:]
    return f"{number[:-2]}{int(digits) % 97:02}"


def _ccc(number: str) -> str:
    return number[:8] + ccc.calc_check_digits(number) + number[10:]


def _iban(number: str) -> str:
    """Complete an IBAN, or return nothing if the accounts of its country have another form."""
    if number.startswith("ES"):
        number = number[:4] + _ccc(number[4:])
    number = number[:2] + iban.calc_check_digits(number) + number[4:]
    return number if iban.is_valid(number, check_country=False) else ""


_DNI, _NIE, _CIF = r"\d{7,8}[A-Z]", r"[XYZ]\d{7}[A-Z]", r"[A-HJNP-SUVW]\d{7}[\dA-J]"

#: The form of each kind of number in capitals, and the function that completes it.
NUMBERS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "dni": (_DNI, _nif),
    "nie": (_NIE, _nif),
    "cif": (_CIF, _nif),
    "nif": (rf"{_DNI}|{_NIE}|[KLM]\d{{7}}[A-Z]|{_CIF}", _nif),
    "nass": (r"\d{11,12}", _nass),
    "iban": (r"ES\d{22}|(?!ES)[A-Z]{2}\d{2}[A-Z\d]{11,30}", _iban),
    "ccc": (r"\d{20}", _ccc),
    "cups": (
        r"ES\d{16}[A-Z]{2}(?:\d[FPRCXYZ])?",
        lambda number: number[:18] + cups.calc_check_digits(number) + number[20:],
    ),
    "luhn": (r"\d{2,}", lambda number: number[:-1] + luhn.calc_check_digit(number[:-1])),
}
