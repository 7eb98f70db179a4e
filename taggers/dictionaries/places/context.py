"""Log-odds of places from their context.

The constants were set by hand and verified on the training documents of MEDDOCAN.
"""

from __future__ import annotations

from corpus.kernels.compiled import Array, compiled
from taggers.dictionaries.places.grammar import DIVERGENCE, LINE, ROLE, TOWN, follows, neighbour
from taggers.dictionaries.places.roles import (
    BEFORE,
    CAPITAL,
    CODE,
    HYPHEN,
    JOINS,
    OPEN,
    ORIGIN,
    PARTICLE,
    POSTAL,
    RARE,
    SEPARATOR,
    TITLE,
    TOUCHES,
    TOWARDS,
)

#: Log-odds of a place after ``Dr.``; after and before a name of a person; before a rare word; after
#: a particle that follows a name.
_AFTER_TITLE, _AFTER_NAME, _BEFORE_NAME, _BEFORE_RARE, _JOINED_TO_NAME = (
    -6.0,
    -4.0,
    -3.0,
    -2.0,
    -3.0,
)
#: Log-odds after ``natural de``, ``en``, ``a`` and ``de``.
_AFTER_ORIGIN, _AFTER_PREPOSITION, _AFTER_DIRECTION, _AFTER_PARTICLE = 5.0, 2.5, 1.0, 0.7
#: Log-odds after a postal code, after a place, and before a comma or bracket and another place.
_AFTER_CODE, _AFTER_PLACE, _BEFORE_PLACE = 6.0, 4.0, 2.0
#: Log-odds of a postal code: of five digits; after ``C.P.``; after a place; before a town.
_FIVE_DIGITS, _CODE_AFTER_WORD, _CODE_AFTER_PLACE, _CODE_BEFORE_TOWN = -3.0, 7.0, 6.0, 4.0


@compiled()
def is_name(token: int, threshold: float, rows: Array, reals: Array) -> bool:
    """Return whether a capitalized word alone is below a threshold of divergence."""
    role = rows[token, ROLE]
    return bool(reals[token, DIVERGENCE] < threshold and role & CAPITAL > 0 and not role & JOINS)


@compiled()
def place_odds(
    first: int, last: int, places: tuple[int, int], after: float, rows: Array, reals: Array
) -> float:
    """Return the log-odds of a place from the words around it.

    Parameters
    ----------
    first, last : int
        The first and the last token.
    places : tuple of int
        The last token of the previous place, and that of the name just before; -1 for none.
    after : float
        The threshold of divergence after a word of a name.
    rows, reals : ndarray
        See `taggers.dictionaries.places.grammar.name_after`.
    """
    return _before(first, places, rows) + _behind(last, after, rows, reals)


@compiled()
def _before(first: int, places: tuple[int, int], rows: Array) -> float:
    before, gap = neighbour(first, -1, 2, rows)
    if before < 0:
        return 0.0
    last_place, last_name = places
    role, earlier, odds = rows[before, ROLE], 0, 0.0
    if before > 0 and rows[before - 1, LINE] == rows[before, LINE]:
        earlier = rows[before - 1, ROLE]
    if role & TITLE and gap <= 1:
        odds += _AFTER_TITLE
    joined = gap == 0 and earlier & ORIGIN and role & (BEFORE | TOWARDS | PARTICLE)
    if role & ORIGIN or joined:
        odds += _AFTER_ORIGIN
    elif gap == 0 and role & BEFORE:
        odds += _AFTER_PREPOSITION
    elif gap == 0 and role & TOWARDS:
        odds += _AFTER_DIRECTION
    elif gap == 0 and role & PARTICLE:
        odds += _JOINED_TO_NAME if last_name >= 0 else _AFTER_PARTICLE
    if role & CODE and gap <= 1:
        odds += _AFTER_CODE
    if last_place == before:
        odds += _AFTER_PLACE
    if last_name == before and gap == 0:
        odds += _AFTER_NAME
    return odds


@compiled()
def _behind(last: int, after: float, rows: Array, reals: Array) -> float:
    if not follows(last, rows):
        return 0.0
    following = rows[last + 1, ROLE]
    hyphened = following & HYPHEN and rows[last, ROLE] & TOUCHES and follows(last + 1, rows)
    if is_name(last + 1, after, rows, reals):
        return _BEFORE_NAME
    if hyphened and is_name(last + 2, after, rows, reals):
        return _BEFORE_NAME
    if following & RARE:
        return _BEFORE_RARE
    if following & (SEPARATOR | OPEN):
        beyond, _ = neighbour(last, 1, 2, rows)
        if beyond >= 0 and (rows[beyond, ROLE] & CODE or is_town(beyond, rows)):
            return _BEFORE_PLACE
    return 0.0


@compiled()
def is_town(token: int, rows: Array) -> bool:
    """Return whether a capitalized word is a whole name of a place in a list."""
    return bool(rows[token, ROLE] & CAPITAL > 0 and rows[token, TOWN] >= 0)


@compiled()
def code_odds(token: int, last_place: int, rows: Array) -> float:
    """Return the log-odds of a postal code at a token of five digits."""
    odds = _FIVE_DIGITS
    before, _ = neighbour(token, -1, 3, rows)
    if before >= 0 and rows[before, ROLE] & (POSTAL | ORIGIN):
        odds += _CODE_AFTER_WORD
    if before >= 0 and before == last_place:
        odds += _CODE_AFTER_PLACE
    following, _ = neighbour(token, 1, 1, rows)
    if following >= 0 and is_town(following, rows):
        odds += _CODE_BEFORE_TOWN
    return odds
