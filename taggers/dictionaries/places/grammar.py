"""The grammar of names of places: words after a kind of place, house numbers, neighbours."""

from __future__ import annotations

from corpus.kernels.compiled import Array, compiled
from taggers.dictionaries.places.roles import (
    CAPITAL,
    CODE,
    COMMON,
    DIGIT,
    FLOOR,
    HYPHEN,
    LETTERS,
    MODIFIER,
    NEEDS_MODIFIER,
    NO_NUMBER,
    NUMBER,
    OPEN,
    PARTICLE,
    POSTAL,
    SEPARATOR,
    SHORT,
    SHORT_MODIFIER,
    SINGLE,
    SLASH,
    STOP,
    TITLE,
    TOUCHES,
    UPPER,
)

#: The columns of the integers of tokens: the roles of the word; the class of place that it begins,
#: and the one that it begins as an abbreviation; the class of the place that it names alone; the
#: number of the line; the class and the last token of the phrase of a list that begins there.
#: Absent classes are -1.
ROLE, KIND, DOTTED, TOWN, LINE, PHRASE, PHRASE_END = range(7)
#: The columns of the numbers of tokens: the divergence of the word from a name of a person, and its
#: log-odds of a place.
DIVERGENCE, ODDS = range(2)

NONE = -1

#: Parts of names of places.
_NO_PART, _PROPER, _MODIFIER, _LOWER = range(4)

#: Log-odds above which a word is rather a town than a surname.
_TOWN_ODDS = 1.0

_MARKS = SEPARATOR | STOP | HYPHEN | SLASH | OPEN
_NUMBER_MARKS = SEPARATOR | STOP | HYPHEN | SLASH
#: The maximum number of tokens of a name after its kind, of particles in a row, of lower-case
#: words in the name of a street, and of parts of a house number.
_MAX_TOKENS, _MAX_PARTICLES, _MAX_LOWER, _MAX_PARTS = 14, 3, 3, 8
#: The maximum distance between two parts of a house number, with marks and ``km.`` between.
_MAX_GAP = 4


@compiled()
def neighbour(token: int, step: int, most: int, rows: Array) -> tuple[int, int]:
    """Return the next word of the line in a direction, and the number of marks that were passed.

    The word is -1 if there is none, or if there are more marks than `most`.
    """
    at, marks = token + step, 0
    while 0 <= at < len(rows) and rows[at, LINE] == rows[token, LINE]:
        if not rows[at, ROLE] & _MARKS:
            return at, marks
        marks += 1
        if marks > most:
            return NONE, marks
        at += step
    return NONE, marks


@compiled()
def follows(token: int, rows: Array) -> bool:
    """Return whether another token of the same line follows a token."""
    return bool(token + 1 < len(rows) and rows[token + 1, LINE] == rows[token, LINE])


@compiled()
def kind_of(token: int, rows: Array) -> tuple[int, bool]:
    """Return the class of place that a token begins, or -1, and whether a mark touches it."""
    role = rows[token, ROLE]
    touched = (
        follows(token, rows) and role & TOUCHES > 0 and rows[token + 1, ROLE] & (STOP | SLASH) > 0
    )
    if role & MODIFIER and token > 0 and rows[token - 1, LINE] == rows[token, LINE]:
        previous = rows[token - 1, ROLE]
        if previous & CAPITAL or previous & MODIFIER:  # Nutrición Clínica
            return NONE, touched
    # "c/ Mayor" is a street, unlike "hepatitis C. Niega".
    if touched and (rows[token + 1, ROLE] & SLASH or not role & SINGLE):
        return rows[token, DOTTED], touched
    return rows[token, KIND], touched


@compiled()
def name_after(
    token: int, bare: bool, kind: int, rows: Array, reals: Array, street_class: int
) -> tuple[int, int, int, int]:
    """Return the extent of the name of a place after its kind.

    Parameters
    ----------
    token : int
        The kind of place, or the token before the name.
    bare : bool
        Whether no kind of place precedes the name. The name then has no kind of place within.
    kind : int
        The class of the place. The name of a street may have lower-case words and numbers.
    rows : ndarray of int32, shape (N, 7)
        The integers of tokens.
    reals : ndarray of float64, shape (N, 2)
        The numbers of tokens.
    street_class : int
        The class of streets.

    Returns
    -------
    last : int
        The last token of the name, or -1.
    proper, modified, lower : int
        The number of capitalized words, of capitalized modifiers such as ``Universitario``, and of
        lower-case words.
    """
    street = kind == street_class
    marked = not bare and (rows[token, ROLE] & CAPITAL > 0 or kind_of(token, rows)[1])
    line = rows[token + 1, LINE] if bare else rows[token, LINE]
    last, proper, modified, lower, particles = NONE, 0, 0, 0, 0
    needs_modifier = not bare and rows[token, ROLE] & NEEDS_MODIFIER > 0
    place, before = token + 1, token
    while place < len(rows) and rows[place, LINE] == line and place - token <= _MAX_TOKENS:
        role = rows[place, ROLE]
        if role & (STOP | SLASH | HYPHEN):
            if not _passes(place, before, token, last, bare, rows):
                break
        elif role & PARTICLE:
            particles += 1
            if particles > _MAX_PARTICLES:
                break
        else:
            other, touched = kind_of(place, rows)
            if touched and role & SHORT_MODIFIER:
                role |= MODIFIER
            if needs_modifier and not role & MODIFIER:
                break
            if other >= 0 and not role & MODIFIER and (role & CAPITAL or touched):
                if bare:
                    return NONE, 0, 0, 0
                if last >= 0 and particles == 0 and (other == street_class or proper > 0):
                    break
            part = _part(place, role, (street, marked), (proper, lower, particles), rows, reals)
            if part == _NO_PART:
                break
            needs_modifier = False
            proper += part == _PROPER
            lower += part == _LOWER
            modified += part == _MODIFIER and role & CAPITAL > 0
            last, particles = place, 0
        before = place
        place += 1
    return last, proper, modified, lower


@compiled()
def _part(
    place: int,
    role: int,
    kind: tuple[bool, bool],
    counts: tuple[int, int, int],
    rows: Array,
    reals: Array,
) -> int:
    """Return which part of the name of a place a word is, or `_NO_PART`.

    Parameters
    ----------
    role : int
        The roles of the word.
    kind : tuple of bool
        Whether the place is a street, and whether its kind has a capital or is abbreviated.
    counts : tuple of int
        The number of capitalized and of lower-case words before, and of particles just before.
    """
    street, marked = kind
    proper, lower, particles = counts
    if role & MODIFIER and not street:
        return _MODIFIER if proper == 0 or role & CAPITAL else _NO_PART
    if role & CAPITAL:
        # "SEGUIMIENTO EN HOSPITAL HACE"; "Hospital Vall d'Hebron de Barcelona"
        shouted = role & UPPER and role & COMMON and not role & SINGLE
        town = not street and proper > 0 and rows[place, TOWN] >= 0
        town &= particles > 0 or reals[place, ODDS] > _TOWN_ODDS
        ends = role & POSTAL or shouted or town or (lower > 0 and not marked)
        return _NO_PART if ends else _PROPER
    if not street or proper > 0:
        return _NO_PART
    if role & DIGIT and not role & CODE:  # calle 2 de Mayo
        joined = follows(place, rows) and rows[place + 1, ROLE] & PARTICLE
        return _PROPER if joined else _NO_PART
    if lower < _MAX_LOWER and role & LETTERS and not role & (NUMBER | NO_NUMBER | FLOOR):
        return _LOWER
    return _NO_PART


@compiled()
def _passes(place: int, before: int, token: int, last: int, bare: bool, rows: Array) -> bool:
    """Return whether a full stop, slash or hyphen is part of a name."""
    role, previous = rows[place, ROLE], rows[before, ROLE]
    if not rows[before, ROLE] & TOUCHES:
        return False
    if role & HYPHEN:
        return bool(
            last >= 0
            and before == last
            and follows(place, rows)
            and rows[place, ROLE] & TOUCHES > 0
            and rows[place + 1, ROLE] & CAPITAL > 0
        )
    if role & SLASH:
        return before == token and not bare
    if previous & SLASH:
        return before == token + 1  # C/. Mayor
    if before == token:
        return not bare and previous & SHORT > 0
    initial = previous & SINGLE > 0 and previous & UPPER > 0
    return bool(initial or previous & (SHORT | SHORT_MODIFIER | TITLE) > 0)


@compiled()
def house_number(last: int, rows: Array) -> tuple[int, bool]:
    """Return the last token of the house number, floor and door after a street, and if any is.

    Parameters
    ----------
    last : int
        The last token of the name of the street; it is returned if there is no number.
    """
    place, accepted, parts, numbered = last + 1, last, 0, False
    while place < len(rows) and rows[place, LINE] == rows[last, LINE] and parts < _MAX_PARTS:
        role, previous = rows[place, ROLE], rows[place - 1, ROLE]
        if place - accepted > _MAX_GAP or role & CODE:
            break
        if role & _NUMBER_MARKS:
            if role & STOP and not rows[place - 1, ROLE] & TOUCHES:
                break
            place += 1
            continue
        abbreviated = previous & STOP > 0 and rows[place - 2, ROLE] & (NUMBER | FLOOR) > 0
        ordinal = role & FLOOR and previous & TOUCHES  # 3.º
        if previous & STOP and not abbreviated and not ordinal:
            break
        if role & DIGIT or role & NO_NUMBER:
            accepted, numbered = place, True
        elif role & NUMBER and not numbered:
            pass
        elif _unnumbered(place, rows):
            place += 2
            accepted, numbered = place, True
        elif numbered and (role & FLOOR or (role & SINGLE and role & UPPER)):
            accepted = place
        else:
            break
        parts += 1
        place += 1
    return accepted, numbered


@compiled()
def _unnumbered(place: int, rows: Array) -> bool:
    """Return whether a token begins ``s/n``, without number."""
    return bool(
        rows[place, ROLE] & SINGLE > 0
        and place + 2 < len(rows)
        and rows[place + 2, LINE] == rows[place, LINE]
        and rows[place + 1, ROLE] & SLASH > 0
        and rows[place + 2, ROLE] & NUMBER > 0
        and rows[place + 2, ROLE] & SINGLE > 0
    )
