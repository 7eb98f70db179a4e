"""Decoding of names of people and places in one pass over the tokens.

The evidence for a place is a sum of log-odds: that of its word (see
`taggers.dictionaries.places.word_weights`) and those of its context (see
`taggers.dictionaries.places.context`). The certainty of a decision with log-odds z is
``tanh(|z| / 2)``: 0 where both outcomes are equally likely.
"""

from __future__ import annotations

import numpy as np

from corpus.kernels.compiled import Array, compiled
from taggers.dictionaries.places.context import code_odds, is_name, place_odds
from taggers.dictionaries.places.grammar import (
    DIVERGENCE,
    DOTTED,
    KIND,
    LINE,
    NONE,
    ODDS,
    PHRASE,
    PHRASE_END,
    ROLE,
    TOWN,
    follows,
    house_number,
    kind_of,
    name_after,
    neighbour,
)
from taggers.dictionaries.places.roles import (
    ADDRESS,
    BEFORE,
    BLOCKS,
    CAPITAL,
    CODE,
    EPONYM,
    FLOOR,
    JOINS,
    LETTERS,
    MODIFIER,
    NUMBER,
    ORIGIN,
    PARTICLE,
    POSTAL,
    RARE,
    SINGLE,
    SLASH,
    STOP,
    TITLE,
    TOWARDS,
    UPPER,
)

#: Classes of tokens: outside of all names, and of a person; other numbers are classes of places.
OUTSIDE, PERSON = -1, -2

#: Log-odds of a street with and without house number, and of one in lower case.
_NUMBERED, _STREET, _LOWER_STREET = 4.0, 2.5, 0.8
#: Log-odds of a kind of place before a name, and before modifiers; of a phrase of a list; of an
#: address without a kind of street.
_NAMED, _MODIFIED, _PHRASE, _BARE = 3.0, 2.0, 4.0, 3.0
#: Prior log-odds of a phrase whose words are all names of people, and of a word in no list.
_NAMES_ONLY, _UNLISTED = -1.0, -4.25
#: The certainty of a name of one word after a particle (``prueba de Allen``) is multiplied by this.
_EPONYM = 0.4
#: The divergence of a rare word within a name, as a share of the threshold.
_RARE_SHARE = 0.5
#: The maximum distance between two words of a name, with particles between.
_MAX_DISTANCE = 3

_NO_PLACE = (
    SINGLE | PARTICLE | TITLE | ORIGIN | POSTAL | ADDRESS | MODIFIER | BEFORE | TOWARDS | NUMBER
    | FLOOR | UPPER | BLOCKS
)  # fmt: skip


@compiled(
    "int32[:, ::1], float64[:, ::1], UniTuple(int64, 3), UniTuple(float64, 2), int32[::1], "
    "boolean[::1], float64[::1]"
)
def decode(
    rows: Array,
    reals: Array,
    kinds: tuple[int, int, int],
    thresholds: tuple[float, float],
    classes: Array,
    begins: Array,
    certainty: Array,
) -> None:
    """Write the class of all tokens, which of them begin a name, and their certainty.

    Parameters
    ----------
    rows : ndarray of int32, shape (N, 7)
        The integers of tokens; the columns are defined in `taggers.dictionaries.places.grammar`.
    reals : ndarray of float64, shape (N, 2)
        The numbers of tokens.
    kinds : tuple of int
        The classes of streets, of postal codes, and of places that are in no list.
    thresholds : tuple of float
        The threshold of divergence, and the one after a word of a name.
    classes, begins, certainty : ndarray, shape (N,)
        Output arrays: all `OUTSIDE`, False and 1.
    """
    token, last_place, last_name = int(np.int64(0)), int(np.int64(NONE)), int(np.int64(NONE))
    while token < len(rows):
        if token > 0 and rows[token, LINE] != rows[token - 1, LINE]:
            last_place, last_name = NONE, NONE
        if last_name < 0 and _is_plain(token, rows, reals):
            token += 1
            continue
        end, kind, odds = _place(token, (last_place, last_name), kinds, thresholds[1], rows, reals)
        if end >= 0:
            classes[token : end + 1] = kind
            certainty[token : end + 1] = np.tanh(odds / 2)
            begins[token] = True
            last_place, last_name = end, NONE
            token = end + 1
            continue
        if odds < 0:
            certainty[token] = np.tanh(-odds / 2)
        last_name = _name(token, last_name, thresholds, rows, reals, classes, begins, certainty)
        token += 1


@compiled()
def _is_plain(token: int, rows: Array, reals: Array) -> bool:
    """Return whether a token begins no name for sure, like most tokens."""
    return bool(
        rows[token, ROLE] & (CAPITAL | CODE) == 0
        and rows[token, KIND] < 0
        and rows[token, DOTTED] < 0
        and rows[token, TOWN] < 0
        and rows[token, PHRASE] < 0
        and reals[token, DIVERGENCE] == np.inf
    )


@compiled()
def _place(
    token: int,
    places: tuple[int, int],
    kinds: tuple[int, int, int],
    after: float,
    rows: Array,
    reals: Array,
) -> tuple[int, int, float]:
    """Return the last token of the place that begins at a token or -1, its class, and log-odds.

    Log-odds without a place are negative if there was a candidate, and 0 otherwise.
    """
    street, code, unlisted = kinds
    role = rows[token, ROLE]
    kind, touched = kind_of(token, rows)
    end, odds = NONE, 0.0
    if kind >= 0:
        end, odds = _after_kind(token, kind, touched, street, rows, reals)
    phrase, last = rows[token, PHRASE], rows[token, PHRASE_END]
    if phrase >= 0 and last > max(end, token):
        if phrase == street:
            last, _ = house_number(last, rows)
        elif kind < 0 and _all_names(token, last, rows, reals):
            odds = _NAMES_ONLY + place_odds(token, last, places, after, rows, reals)
            return (last if odds > 0 else NONE), phrase, odds
        return last, phrase, _PHRASE
    if end >= 0:
        return end, kind, odds
    if rows[token, TOWN] >= 0 and not role & BLOCKS:
        odds = reals[token, ODDS] + place_odds(token, token, places, after, rows, reals)
        if odds > 0:
            return token, rows[token, TOWN], odds
    elif role & CODE:
        odds = code_odds(token, places[0], rows)
        if odds > 0:
            return token, code, odds
    elif kind < 0 and _may_be_unlisted(token, rows, reals):
        found = _UNLISTED + place_odds(token, token, places, after, rows, reals)
        if found > 0:
            return _last_rare(token, rows), unlisted, found
    first = token == 0 or rows[token - 1, LINE] != rows[token, LINE]
    if role & CAPITAL and kind < 0 and (first or not rows[token - 1, ROLE] & CAPITAL):
        end = _bare_address(token, street, rows, reals)
        if end >= 0:
            return end, street, _BARE
    return NONE, NONE, odds


@compiled()
def _after_kind(
    token: int, kind: int, touched: bool, street: int, rows: Array, reals: Array
) -> tuple[int, float]:
    """Return the last token of a place after its kind, or -1, and its log-odds."""
    capital = rows[token, ROLE] & CAPITAL > 0
    last, proper, modified, lower = name_after(token, False, kind, rows, reals, street)
    if last < 0:
        return NONE, 0.0
    if kind != street:
        if proper > 0:
            return last, _NAMED
        return (last, _MODIFIED) if modified > 0 and capital else (NONE, 0.0)
    end, numbered = house_number(last, rows)
    plain = capital or touched
    if proper > 0:
        return end, (_NUMBERED if numbered else _STREET if plain else _LOWER_STREET)
    if numbered and lower > 0:
        return end, (_STREET if plain else _LOWER_STREET)
    return NONE, 0.0


@compiled()
def _all_names(first: int, last: int, rows: Array, reals: Array) -> bool:
    """Return whether all words of a phrase are particles, or names of people."""
    for token in range(first, last + 1):
        if reals[token, DIVERGENCE] == np.inf and not rows[token, ROLE] & (PARTICLE | JOINS):
            return False
    return True


@compiled()
def _may_be_unlisted(token: int, rows: Array, reals: Array) -> bool:
    """Return whether a capitalized word can be a place that is in no list."""
    role = rows[token, ROLE]
    if not role & CAPITAL or not role & LETTERS or role & _NO_PLACE:
        return False
    first = token == 0 or rows[token - 1, LINE] != rows[token, LINE]
    if not first and rows[token - 1, ROLE] & (STOP | SLASH):
        return False
    return bool(role & RARE > 0 or reals[token, DIVERGENCE] < np.inf)


@compiled()
def _last_rare(token: int, rows: Array) -> int:
    """Return the last of the rare words that directly follow a token, or the token."""
    end = token
    while follows(end, rows) and rows[end + 1, ROLE] & RARE:
        end += 1
    return end


@compiled()
def _bare_address(token: int, street: int, rows: Array, reals: Array) -> int:
    """Return the last token of an address without a kind of street, or -1.

    ``Hermanos Falcó, 37. 02006`` is an address because of its postal code.
    """
    last, proper, _, lower = name_after(token - 1, True, street, rows, reals, street)
    if last < 0 or proper == 0 or lower > 0:
        return NONE
    end, numbered = house_number(last, rows)
    if not numbered:
        return NONE
    before, _ = neighbour(token, -1, 3, rows)
    following, _ = neighbour(end, 1, 2, rows)
    addressed = before >= 0 and rows[before, ROLE] & ADDRESS > 0
    coded = following >= 0 and rows[following, ROLE] & CODE > 0
    return end if addressed or coded else NONE


@compiled()
def _name(
    token: int,
    last: int,
    thresholds: tuple[float, float],
    rows: Array,
    reals: Array,
    classes: Array,
    begins: Array,
    certainty: Array,
) -> int:
    """Decide whether a token belongs to a name of a person, and return the last token of the name.

    Parameters
    ----------
    last : int
        The last token of the name before this token, or -1.
    """
    role, divergence = rows[token, ROLE], reals[token, DIVERGENCE]
    inside = last >= 0
    before, gap = neighbour(token, -1, 2, rows)
    titled = not inside and before >= 0 and rows[before, ROLE] & TITLE and role & CAPITAL
    eponym = not inside and before >= 0 and gap == 0 and _is_eponym(before, rows)
    if (role & BLOCKS or eponym) and not inside and not titled:
        return NONE
    first = token == 0 or rows[token - 1, LINE] != rows[token, LINE]
    previous = 0 if first else rows[token - 1, ROLE]
    leads = not previous & STOP and follows(token, rows)
    leads = leads and is_name(token + 1, thresholds[0], rows, reals)
    limit = thresholds[1] if inside or titled or leads else thresholds[0]
    stopped = previous & STOP and not _after_initial(token - 1, rows)
    rare = (inside or (titled and gap <= 1)) and role & RARE and (not stopped or titled)
    if not divergence < limit and not rare:
        initial = role & SINGLE and role & UPPER
        dotted = role & STOP and previous & SINGLE
        if inside and token - last <= _MAX_DISTANCE and (role & JOINS or initial or dotted):
            return last
        certainty[token] = min(certainty[token], 1 - limit / divergence)
        return NONE
    sure = 1 - (divergence if divergence < limit else _RARE_SHARE * limit) / limit
    if inside:
        classes[last + 1 : token + 1] = PERSON
        if begins[last]:
            certainty[last] = 0.5 + 0.5 * certainty[last]
    else:
        begin = token if first else _begin(token, rows, classes)
        classes[begin : token + 1] = PERSON
        begins[begin] = True
        if begin < token and rows[begin, ROLE] & RARE:
            certainty[begin] = 0.5 + 0.5 * sure
        elif begin == token and before >= 0 and gap == 0 and rows[before, ROLE] & PARTICLE:
            sure *= _EPONYM
    certainty[token] = 0.5 + 0.5 * sure if inside or titled else sure
    return token


@compiled()
def _after_initial(stop: int, rows: Array) -> bool:
    """Return whether a full stop follows a single letter of its line."""
    return bool(
        stop > 0 and rows[stop - 1, LINE] == rows[stop, LINE] and rows[stop - 1, ROLE] & SINGLE > 0
    )


@compiled()
def _is_eponym(before: int, rows: Array) -> bool:
    """Return whether a name after a token is that of a sign, a disease or a technique."""
    if not rows[before, ROLE] & PARTICLE:
        return bool(rows[before, ROLE] & EPONYM > 0)
    earlier, gap = neighbour(before, -1, 0, rows)
    return bool(earlier >= 0 and gap == 0 and rows[earlier, ROLE] & EPONYM > 0)


@compiled()
def _begin(token: int, rows: Array, classes: Array) -> int:
    """Return the first token of a name: a rare word or capitalized particles before the token."""
    at = token - 1
    while (
        at >= 0
        and rows[at, LINE] == rows[token, LINE]
        and token - at <= _MAX_DISTANCE
        and classes[at] == OUTSIDE
        and rows[at, ROLE] & PARTICLE
    ):
        at -= 1
    if at < token - 1:  # De la Puebla
        return at + 1 if rows[at + 1, ROLE] & CAPITAL else token
    begins = at == 0 or rows[at - 1, LINE] != rows[token, LINE] or not rows[at - 1, ROLE] & STOP
    return at if classes[at] == OUTSIDE and rows[at, ROLE] & RARE and begins else token
