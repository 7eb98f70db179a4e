"""Roles of words in names of places and people, as bits of word types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes
from gazetteers.gazetteer import Gazetteer, terms_by_class
from gazetteers.phrases.abbreviations import ABBREVIATIONS
from gazetteers.phrases.automaton import PASSED_WORDS, surface_hashes, surfaces

Int32Array = npt.NDArray[np.int32]

#: Roles that a list of cue words assigns, by the class of the word: words within a kind of place
#: (``universitario``); prepositions of places (``en``, ``a``); words before towns (``natural``,
#: ``localidad``), addresses and postal codes; titles of people (``Dr``); words of house numbers
#: (``nº``, ``sn``, ``piso``); words that join names (``de``); and words before the names of people
#: after whom signs and techniques are named (``maniobra``).
LISTED = {
    "modifier": 1 << 0,
    "before": 1 << 1,
    "towards": 1 << 2,
    "origin": 1 << 3,
    "address": 1 << 4,
    "postal": 1 << 5,
    "title": 1 << 6,
    "number": 1 << 7,
    "no_number": 1 << 8,
    "floor": 1 << 9,
    "particle": 1 << 10,
    "eponym": 1 << 11,
}
(
    MODIFIER,
    BEFORE,
    TOWARDS,
    ORIGIN,
    ADDRESS,
    POSTAL,
    TITLE,
    NUMBER,
    NO_NUMBER,
    FLOOR,
    PARTICLE,
    EPONYM,
) = LISTED.values()
#: Roles that follow from the form of a word; `OPEN` are opening brackets and colons.
CAPITAL, DIGIT, CODE, LETTERS, SINGLE, UPPER = (1 << bit for bit in range(12, 18))
STOP, SLASH, HYPHEN, OPEN, SEPARATOR = (1 << bit for bit in range(18, 23))
#: Roles that depend on the lists and on the notes: an abbreviation; an abbreviated modifier; a kind
#: of place only before a modifier; a word that is used in lower case; a word that is rare.
SHORT, SHORT_MODIFIER, NEEDS_MODIFIER, COMMON, RARE = (1 << bit for bit in range(23, 28))
#: Roles of tokens: directly before the next token; within a phrase that is blocked; a word that
#: joins the words of a name.
TOUCHES, BLOCKS, JOINS = (1 << bit for bit in range(28, 31))

#: The class of a street, whose name is followed by a house number.
STREET = "street"

_MARKS = {".": STOP, "/": SLASH} | dict.fromkeys("-–‐", HYPHEN)
_MARKS |= dict.fromkeys("([:", OPEN) | dict.fromkeys(",;)]", SEPARATOR)
_MARKS |= dict.fromkeys("'’´`", PARTICLE)

#: Spanish postal codes are five digits; the first two are the province, from 01 to 52.
_CODE_DIGITS, _PROVINCES = 5, range(1, 53)
#: Shorter words are a kind of place only with a capital: ``CAP``, but not Catalan ``cap``.
_MIN_LOWER = 4
#: Shorter words are never rare: they are abbreviations.
_MIN_RARE = 3


@dataclass(frozen=True, slots=True, eq=False)
class TypeRoles:
    """The roles of T word types.

    Parameters
    ----------
    roles : ndarray of int32, shape (T,)
        Combinations of the bits of this module.
    kinds, dotted : ndarray of int32, shape (T,)
        The index of the class of place that a word begins, and of the one that it begins as an
        abbreviation, before a full stop or slash; -1 for none.
    may_be_rare : ndarray of bool, shape (T,)
        Which words are of letters only, and not so short that they are rather abbreviations.
    """

    roles: Int32Array
    kinds: Int32Array
    dotted: Int32Array
    may_be_rare: npt.NDArray[np.bool_]


class CueWords:
    """The words of lists that begin names of places or occur beside names.

    Parameters
    ----------
    terms : mapping of str to sequence of str
        Terms by class. A class of `LISTED` is a role of the first word of each term. Words of any
        other class begin a place of this class: ``calle``, ``hospital``. The second word of
        ``centro de salud`` is a modifier that must follow the first.
    """

    def __init__(self, terms: Mapping[str, Sequence[str]]) -> None:
        self.terms = {name: tuple(each) for name, each in terms.items()}
        self.kinds = tuple(name for name in self.terms if name not in LISTED)
        roles: dict[str, int] = {}
        kinds: dict[str, int] = {}
        alone: set[str] = set()
        for name, each in self.terms.items():
            for term in each:
                words = [word for word in surfaces(term.split()) if word not in PASSED_WORDS]
                words = words or surfaces([term])
                if name in LISTED:
                    roles[words[0]] = roles.get(words[0], 0) | LISTED[name]
                    continue
                kinds.setdefault(words[0], self.kinds.index(name))
                if len(words) > 1:
                    roles[words[1]] = roles.get(words[1], 0) | MODIFIER
                else:
                    alone.add(words[0])
        for mark, role in _MARKS.items():
            roles[mark] = roles.get(mark, 0) | role
        for word in kinds.keys() - alone:
            roles[word] = roles.get(word, 0) | NEEDS_MODIFIER
        for short, word in ABBREVIATIONS.items():
            role = SHORT if len(short) > 1 else 0
            role |= SHORT_MODIFIER if roles.get(word, 0) & MODIFIER else 0
            roles[short] = roles.get(short, 0) | role
        self._known = list(dict.fromkeys([*roles, *kinds]))
        self._index = HashIndex(surface_hashes(self._known))
        abbreviated = [kinds.get(ABBREVIATIONS.get(word, word), -1) for word in self._known]
        columns = (
            [roles.get(word, 0) for word in self._known],
            [kinds.get(word, -1) for word in self._known],
            [
                kind if kind >= 0 else kinds.get(word, -1)
                for word, kind in zip(self._known, abbreviated, strict=True)
            ],
        )
        fallback = (0, -1, -1)
        self._columns = [
            np.array([*column, last], np.int32)
            for column, last in zip(columns, fallback, strict=True)
        ]

    @classmethod
    def of(cls, gazetteers: Iterable[Gazetteer]) -> Self:
        """Read the words of gazetteers."""
        return cls(terms_by_class(gazetteers))

    def of_types(self, types: Sequence[str], surface_hashes: Hashes) -> TypeRoles:
        """Return the roles of word types that follow from the lists and from their form.

        Parameters
        ----------
        types : sequence of str
            T word types.
        surface_hashes : ndarray of uint64, shape (T,)
            See `gazetteers.phrases.automaton.surface_hashes`.
        """
        if not types:
            none = np.zeros(0, np.int32)
            return TypeRoles(none, none, none, np.zeros(0, bool))
        rows = self._index.positions(surface_hashes)
        roles, kinds, dotted = (column[rows] for column in self._columns)
        lengths = np.fromiter(map(len, types), np.int64, len(types))
        roles |= _forms(types, lengths)
        kinds[(lengths < _MIN_LOWER) & (roles & CAPITAL == 0)] = -1
        may_be_rare = (lengths >= _MIN_RARE) & (roles & LETTERS > 0)
        return TypeRoles(roles, kinds, dotted, may_be_rare)


def _forms(types: Sequence[str], lengths: npt.NDArray[np.int64]) -> Int32Array:
    """Return the roles that follow from the form of words."""

    def where(test: Callable[[str], bool], texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        return np.fromiter(map(test, texts), bool, len(texts))

    initials = [word[0] for word in types]
    letters, digit = where(str.isalpha, types), where(str.isdigit, initials)
    roles: Int32Array = (
        letters * LETTERS
        + where(str.isupper, initials) * CAPITAL
        + (letters & where(str.isupper, types)) * UPPER
        + (letters & (lengths == 1)) * SINGLE
        + digit * DIGIT
    ).astype(np.int32)
    for row in np.flatnonzero(digit & (lengths == _CODE_DIGITS)).tolist():
        if types[row].isdecimal() and int(types[row][:2]) in _PROVINCES:
            roles[row] |= CODE
    return roles
