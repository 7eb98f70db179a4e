"""The grammars of names of places and people: regular expressions over symbols of words.

Each token is one character: ``S`` is ``Calle`` and ``s`` is ``calle``, ``p`` is ``de``, ``5`` a
number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes
from corpus.units import line_numbers
from gazetteers.gazetteer import Gazetteer, terms_by_class
from gazetteers.phrases.matcher import BLOCKED, PASSED_WORDS, surface_hashes, surfaces
from gazetteers.phrases.spellings import ABBREVIATIONS

Int32Array = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]
Symbols = npt.NDArray[np.uint8]

#: The class of a street, whose name is followed by a house number, and the classes of postal codes
#: and of places after a word such as ``natural de`` in no list.
STREET, POSTAL_CODE, PLACE = "street", "postal_code", "place"

#: The symbols of the words of a list of cue words, by class. Capitalized words have upper-case
#: symbols. The other classes of the list are kinds of places.
ROLES = {
    "modifier": "m",  # universitario
    "before": "e",  # en
    "towards": "w",  # a
    "origin": "o",  # natural, localidad
    "address": "r",
    "postal": "z",  # CP
    "title": "t",  # Dr
    "number": "n",  # nº
    "no_number": "x",  # sn
    "floor": "f",
    "particle": "p",  # de
    "eponym": "j",  # maniobra
}
#: Kinds of places: streets, others, others that a modifier must follow, and those that are
#: modifiers of other kinds too (clínica).
_STREET, _KIND, _BEFORE_MODIFIER, _KIND_OR_MODIFIER = "s", "h", "g", "k"
#: Abbreviations: of streets, of one letter (c/), of other kinds, of other words.
_SHORT_STREET, _LETTER_STREET, _SHORT_KIND, _SHORT = "aqbv"
#: Other words of letters, and single letters.
WORD, LETTER = "l", "i"
#: Capitalized words that are in no list of cue words: towns, by whether they are rather towns than
#: surnames; rare words; names of people; upper case words that are also in lower case.
TOWN, SURNAME, RARE, NAME, COMMON = "12379"
#: Words that begin with a capital.
CAPITALIZED = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + TOWN + SURNAME + RARE + NAME + COMMON
#: Numbers, and postal codes.
NUMBER, CODE = "56"
#: A hyphen between words that touch it, another one, a line end, and any other token.
HYPHEN, DASH, LINE_END, OTHER = "-_\n?"
MARKS = {".": ".", "/": "/", ":": ":", HYPHEN: HYPHEN} | dict.fromkeys("‐–", HYPHEN)
MARKS |= dict.fromkeys(",;)]", ",") | dict.fromkeys("([", "(") | dict.fromkeys("'’´`", "p")

#: Spanish postal codes are five digits; the first two are the province, from 01 to 52.
_CODE_DIGITS, _PROVINCES = 5, range(1, 53)
#: Shorter words are a kind of place only with a capital: ``CAP``, but not Catalan ``cap``.
_MIN_LOWER = 4

_PARTICLES = "[pP]{0,3}"
#: An initial, and abbreviations in a name: ``Dr.``, ``Sta.``, ``Univ.``.
_SHORTENED = "(?:I(?:\\.|(?=[A-Zp1-9]))|[VT]\\.?|[vt]\\.(?=[A-Z1-9]))"
_HYPHENED = "(?:-[LHKMSE12379])*"
#: The words of a name after its first one: a kind of place, or a town, follows only a particle.
_FIRST = f"(?:[LHSGKMEWORNXFJ1237]|{_SHORTENED}){_HYPHENED}"
_NEXT = f"(?:{_PARTICLES}(?:[LMKEWORNXFJ37]|{_SHORTENED})|2|[pP]{{1,3}}[HSG]){_HYPHENED}"
_MODIFIER = "[mMkK]"

#: A place after a kind of place other than a street: ``Hospital General de Olmedilla``.
_BEGIN = f"(?:(?<![A-Z12379mk])[kK]|[hH]|[bB]\\.|[gG](?={_PARTICLES}{_MODIFIER}))"
_NAMED = f"{_BEGIN}(?:{_PARTICLES}{_MODIFIER})*{_PARTICLES}{_FIRST}(?:{_NEXT})*"

#: A house number with floor and door: ``nº 3, 2º izq``, ``s/n``, ``km. 9,100``.
_MARKED = "[nNfF]\\.?,?-?"
_NUMBER = (
    f"[,_-]{{0,2}}(?:{_MARKED}){{0,2}}(?:5|[xX]|[iI]/[nNI])"
    f"(?:[,/_-]{{0,2}}(?:{_MARKED})?(?:5|[iI]/[nNI])|[,/_-]{{0,2}}[fFIQxX]|\\.f)*"
)
_WORDS = f"(?:{_PARTICLES}(?:{_FIRST}|5(?=[pP])))+"
_LOWER_WORDS = f"(?:{_PARTICLES}[lmhskgeworjtvba]){{1,3}}"
#: A street: the name of one in lower case is known by its house number.
_STREET_KIND = "(?:S|[aA][./]|[qQ]\\.?/\\.?)"
_BARE_WORDS = f"(?:{_PARTICLES}(?:[LAMEWORNXFJ1237]|{_SHORTENED}){_HYPHENED})+"
_ADDRESS = (
    f"{_STREET_KIND}(?:{_LOWER_WORDS})?{_WORDS}{_NUMBER}"
    f"|s{_WORDS}{_NUMBER}|{_STREET_KIND}{_LOWER_WORDS}{_NUMBER}"
    # A street without its kind is known by its house number before a postal code or after a word
    # for addresses.
    f"|(?<![A-Z1-9]){_BARE_WORDS}{_NUMBER}(?=[.,:(_-]{{0,2}}6)"
    f"|(?:(?<=[rR])|(?<=[rR][:(])){_BARE_WORDS}{_NUMBER}"
    f"|{_STREET_KIND}(?:{_LOWER_WORDS})?{_WORDS}"
)
STREETS = re.compile(_ADDRESS)
#: The line of each street has one of these symbols.
STREET_CUES = "SsAaQqRr" + CODE
OTHER_PLACES = re.compile(_NAMED)
#: The house number after the name of a street in a list.
HOUSE_NUMBER = re.compile(_NUMBER)
#: Postal codes after a word for them; places in no list after ``natural de``.
ANNOUNCED_CODES = re.compile("(?<=[zZoO])[.,:(p]{0,3}(?P<code>6)")
ANNOUNCED_PLACES = re.compile(
    "(?:(?<=[oO])(?:[ewp]{1,2}|[.,:(]{0,2})|(?P<code>(?<=6)))(?P<place>[37]3*)"
)

#: A name of a person. ``N`` is a word that is as frequent as a name, ``W`` one that is so among
#: names, and ``R`` a rare word; in lower case, they cannot begin a name. ``P`` and ``p`` are
#: particles, ``I`` initials, ``t`` titles and ``j`` words such as ``signo``.
PEOPLE = re.compile(
    "(?:(?:(?<=t)|(?<=t[.:,]))[NVWRnvwr]|(?<!j)(?<!jp)(?:(?<!\\.)[RV](?=[NVW])|Pp*(?=[NVW]))?"
    "(?:N|(?<!\\.)[VW](?=N)))"
    "(?:(?:[PpI]|(?<=[Ii])\\.){0,2}(?:[NVWnvw]|(?<!\\.)[Rr]|(?<=[Ii]\\.)[Rr]))*"
)
#: The line of each name has one of these symbols.
PEOPLE_CUES = "Nt"


class CueWords:
    """The words of lists that begin names of places or occur beside names.

    Parameters
    ----------
    terms : mapping of str to sequence of str
        Terms by class. A class of `ROLES` gives the first word of each term its role. Words of any
        other class begin a place of this class: ``calle``, ``hospital``. The second word of
        ``centro de salud`` is a modifier that must follow the first.
    """

    def __init__(self, terms: Mapping[str, Sequence[str]]) -> None:
        self.terms = {name: tuple(words) for name, words in terms.items()}
        self.kinds = tuple(name for name in self.terms if name not in ROLES)
        roles: dict[str, str] = {}
        kinds: dict[str, int] = {}
        alone: set[str] = set()
        # A word of several roles has the first one: `a` is rather in ``nascut a`` than a door.
        for name in (*ROLES, *self.kinds):
            for phrase in self.terms.get(name, ()):
                words = [word for word in surfaces(phrase.split()) if word not in PASSED_WORDS]
                words = words or surfaces([phrase])
                if name in ROLES:
                    roles.setdefault(words[0], ROLES[name])
                    continue
                kinds.setdefault(words[0], self.kinds.index(name))
                alone.update(words[:1] if len(words) == 1 else ())
                roles.update(dict.fromkeys(words[1:2], ROLES["modifier"]))
        symbols = roles | {
            word: self._symbol(kind, word in alone, roles.get(word)) for word, kind in kinds.items()
        }
        for short, word in ABBREVIATIONS.items():
            kinds.setdefault(short, kinds.get(word, -1))
            symbols.setdefault(short, _abbreviated(len(short), symbols.get(word, WORD)))
        self._index = HashIndex(surface_hashes(list(symbols)))
        self._symbols = np.array([*symbols.values(), OTHER])
        self._kinds = np.array([*(kinds.get(word, -1) for word in symbols), -1], np.int32)

    def _symbol(self, kind: int, alone: bool, role: str | None) -> str:
        if self.kinds[kind] == STREET:
            return _STREET
        if not alone:
            return _BEFORE_MODIFIER
        return _KIND_OR_MODIFIER if role == ROLES["modifier"] else _KIND

    def symbols_and_kinds(self, types: Sequence[str], hashes: Hashes) -> tuple[Symbols, Int32Array]:
        """Return the symbol of each word type, and the number of the kind of place it begins.

        Parameters
        ----------
        types : sequence of str
            T word types.
        hashes : ndarray of uint64, shape (T,)
            See `gazetteers.phrases.matcher.surface_hashes`.
        """
        rows = self._index.positions(hashes)
        symbols = "".join(map(_symbol, types, self._symbols[rows].tolist()))
        return codes(symbols), self._kinds[rows]


def place_classes(places: Iterable[Gazetteer], cue_words: Iterable[Gazetteer]) -> tuple[str, ...]:
    """Return the classes of places of lists, and those that occur in no list."""
    words = CueWords(terms_by_class(cue_words))
    known = [*terms_by_class(places), *words.kinds, STREET, POSTAL_CODE, PLACE]
    return tuple(dict.fromkeys(name for name in known if name != BLOCKED))


def _symbol(word: str, role: str) -> str:
    """Return the symbol of a word, given the symbol of its role, which may be `OTHER`."""
    if word in MARKS:
        return MARKS[word]
    if role == OTHER:
        role = _unlisted(word)
    elif role == _KIND and len(word) < _MIN_LOWER and word[0].islower():
        role = WORD
    elif len(word) == 1 and word.isupper() and role != _LETTER_STREET:
        role = LETTER
    return role.upper() if word[0].isupper() else role


def _unlisted(word: str) -> str:
    if word.isdecimal() and len(word) == _CODE_DIGITS and int(word[:2]) in _PROVINCES:
        return CODE
    if word[0].isdigit():
        return NUMBER
    if not word.isalpha():
        return OTHER
    return LETTER if len(word) == 1 else WORD


def _abbreviated(length: int, symbol: str) -> str:
    """Return the symbol of an abbreviation of `length` letters, given the symbol of the word."""
    if symbol == _STREET:
        return _SHORT_STREET if length > 1 else _LETTER_STREET
    if length == 1:
        return LETTER
    return _SHORT_KIND if symbol in (_KIND, _BEFORE_MODIFIER) else _SHORT


def codes(symbols: str) -> Symbols:
    """Return the codes of symbols, shape (len(symbols),)."""
    return np.frombuffer(symbols.encode("ascii"), np.uint8).copy()


def among(values: Symbols, symbols: str) -> Flags:
    """Return which values are among some symbols."""
    table = np.zeros(128, bool)
    table[codes(symbols)] = True
    return table[values]


def in_lower_case(values: Symbols) -> Symbols:
    """Return symbols with letters in lower case."""
    return np.where((values >= ord("A")) & (values <= ord("Z")), values | 0x20, values)


class SymbolLines:
    """The tokens of a batch as places of a string of symbols, with a line end around each line.

    Parameters
    ----------
    batch : Batch
        N tokens.
    """

    def __init__(self, batch: Batch) -> None:
        lines = line_numbers(batch)
        ends = np.cumsum(np.diff(lines, prepend=lines[:1]) != 0)
        #: The place of each token.
        self.places: Indices = np.arange(len(lines)) + ends + 1
        self._size = int(self.places[-1]) + 2 if len(lines) else 2
        self._words = batch.word_ids
        self._touches = self.spread(batch.visible_starts()[1:] == batch.ends[:-1], False)

    def spread(self, values: npt.NDArray[Any], absent: float) -> npt.NDArray[Any]:
        """Return values of the first tokens, by place; `absent` stands at line ends."""
        spread = np.full(self._size, absent, values.dtype)
        spread[self.places[: len(values)]] = values
        return spread

    def of_types(self, values: npt.NDArray[Any], absent: float) -> npt.NDArray[Any]:
        """Return the values of word types, by place."""
        return self.spread(values[self._words], absent)

    def symbols(self, of_types: Symbols) -> Symbols:
        """Return the symbols by place, given the symbols of word types."""
        symbols = self.of_types(of_types, ord(LINE_END))
        touches = self._touches[1:] & self._touches[:-1]
        symbols[1:][among(symbols[1:], HYPHEN) & ~touches] = ord(DASH)
        return symbols
