"""Surrogates of names of people, word by word.

A word has the same surrogate in all names of a patient, so that a surname alone and relatives
follow; since it follows from the word alone, it may be another word of the name. The census says
how often a word is a given name of men, of women, and a surname. Its surrogate is drawn from the
words that are the same, in proportion to their bearers, so that rare names are as rare as they
were.
"""

from __future__ import annotations

import bisect
import csv
import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import accumulate
from typing import Literal, TypeAlias

from anonymizers.keys import Draws, Key
from anonymizers.mention import Mention, folded
from anonymizers.surrogates.characters import draw_until, read_tables
from corpus.dates.languages import in_case_of
from gazetteers.builtin import CENSUS, GIVEN_NAMES, read_gazetteer
from gazetteers.grammar import Grammar

#: What a word of a name is. ``"both"`` are given names of men that are as usual as surnames.
Role: TypeAlias = Literal["man", "woman", "surname", "both"]

#: The least bearers of a word that is sought as a name, whatever else it means.
_FREQUENT = 1000
#: The least share of the rarer use of a word that is a given name and a surname.
_BOTH = 0.1

# Letters with marks and invisible characters, the dot of Gel·la, and the endings of Mª and M.ª.
_WORD = re.compile(
    r"[^\W\d_ªº](?:[^\W\d_ªº]++|[\u0300-\u036f\u00ad\u200b-\u200d\u2060]"
    r"|(?<=l)[·.\u2027\u2219](?=l)|(?<=L)[·\u2027\u2219](?=L))*(?:\.?[ªº])?"
)
_NO_LETTERS = re.compile("[·.\u2027\u2219\u00ad\u200b-\u200d\u2060]")
#: What separates people, or a name and a title after it.
_SIGN = re.compile(r"[^\w\s.'’-]")
#: Particles at the end of a name that is cut off; longer ones are surnames there.
_LONGEST_PARTICLE = 3
_TABLES = read_tables("names.toml")
_TITLES = frozenset(_TABLES["titles"])
_ABBREVIATIONS: Mapping[str, Sequence[str]] = _TABLES["abbreviations"]
_ABBREVIATED = {form: name for name, forms in _ABBREVIATIONS.items() for form in forms}


def surrogate_name(mention: Mention, key: Key) -> str | None:
    """Replace the words of a name by others of the same kind; None if it has none, or digits.

    Particles, titles, signs and the case of letters stay, initials become other initials, and given
    names keep their gender. A word that no list has becomes a surname. Accents are written unless
    the name lacks those that it has. Whether a word is Catalan or Spanish is not kept.

    Notes
    -----
    Paper 004, "NE randomization", where given names and surnames are drawn from lists.
    """
    text = mention.text
    if any(character.isdigit() for character in text):
        return None
    matches = [*_WORD.finditer(text)]
    words = [_NO_LETTERS.sub("", unicodedata.normalize("NFC", match[0])) for match in matches]
    accented = _is_accented(words)
    parts: list[str] = []
    end, replaced, follows_name = 0, False, False
    for match, word in zip(matches, words, strict=True):
        plain, is_don = folded(word), not parts and word in ("D", "d")
        before, end = text[end : match.start()], match.end()
        # Ana Doña and Luis Santa have surnames that are titles and particles elsewhere.
        stands_alone = not follows_name or _SIGN.search(before) or text[end : end + 1] == "."
        is_title = plain in _TITLES and stands_alone
        is_last = match is matches[-1] and len(plain) > _LONGEST_PARTICLE
        if is_don or is_title or (plain in _particles() and not is_last):
            parts += [before, match[0]]
            follows_name = False
            continue
        follows_name = True
        if len(plain) == 1 or plain == "ll":  # of Lluís
            new = _other_initial(plain, mention.patient, key)
        else:
            new = _other_word(_ABBREVIATED.get(plain, plain), mention.patient, key)
        if new is None:
            return None
        parts += [before, in_case_of(written(new) if accented else new, word)]
        end += plain in _ABBREVIATED and text[end : end + 1] == "."
        replaced = True
    return "".join([*parts, text[end:]]) if replaced else None


def forms_of(word: str) -> tuple[str, ...]:
    """Return a folded word of a name in full, and how notes abbreviate it.

    >>> forms_of("fco"), forms_of("puig")
    (('francisco', 'fco'), ('puig',))
    """
    name = _ABBREVIATED.get(word, word)
    return name, *_ABBREVIATIONS.get(name, ())


def _is_accented(words: Sequence[str]) -> bool:
    """Return whether a name has its accents, or has no word that has one."""
    plain = [*map(folded, words)]
    return [*map(str.lower, words)] != plain or [*map(written, plain)] == plain


def _other_initial(letter: str, patient: str, key: Key) -> str | None:
    draws = key.draws("initial", patient, letter)
    return draw_until(lambda new: new != letter, lambda: drawn_word("woman", draws)[0])


@functools.lru_cache(1 << 16)  # the words of a patient recur in their notes
def _other_word(word: str, patient: str, key: Key) -> str | None:
    draws, role = key.draws("name", patient, word), _role(word)
    return draw_until(
        lambda new: new not in word and word not in new, lambda: drawn_word(role, draws)
    )


def drawn_word(role: Role, draws: Draws) -> str:
    """Return a folded word of a role, drawn in proportion to its bearers."""
    words, sums = _words()[role]
    return words[bisect.bisect(sums, draws.uniform() * sums[-1])]


@functools.cache
def _bearers() -> Mapping[str, Sequence[int]]:
    """Return how many men and women have a word as given name, and how many as surname."""
    bearers: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for name, classes in ((GIVEN_NAMES, ("man", "woman")), (CENSUS, ("", "", "surname"))):
        gazetteer = read_gazetteer(name)
        columns = (gazetteer.terms, gazetteer.classes, gazetteer.counts)
        for term, kind, count in zip(*(column.tolist() for column in columns), strict=True):
            if kind in classes and " " not in term:
                bearers[term][classes.index(kind)] += count
    return dict(bearers)


def is_frequent_name(word: str) -> bool:
    """Return whether a folded word is a name of at least a thousand people."""
    return sum(_bearers().get(word, ())) >= _FREQUENT


def _role(word: str) -> Role:
    """Return what a folded word is."""
    men, women, surname = _bearers().get(word, (0, 0, 1))
    given = men + women
    if women <= men and min(given, surname) > _BOTH * max(given, surname):
        return "both"
    if surname >= given:
        return "surname"
    return "man" if men >= women else "woman"


@functools.cache
def _words() -> Mapping[Role, tuple[Sequence[str], Sequence[int]]]:
    """Return the folded words of each role, and the sums of their bearers."""
    rows: dict[Role, dict[str, int]] = defaultdict(dict)
    for word, (men, women, surname) in _bearers().items():
        if len(word) > 1 and word.isalpha() and word not in _particles():
            bearers = {"man": men, "woman": women, "surname": surname, "both": men + surname}
            rows[_role(word)][word] = bearers[_role(word)]
    return {role: ([*of], [*accumulate(of.values())]) for role, of in rows.items()}


@functools.cache
def _particles() -> frozenset[str]:
    return Grammar.read().particles | frozenset(("san", "santa", "sant", "von", "van", "da", "do"))


@functools.cache
def _accents() -> Mapping[str, str]:
    """Return the written form of folded words that have an accent."""
    path = files("gazetteers") / "resources" / "accents.csv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    return {row["word"]: row["written"].lower() for row in rows}


# The last vowel before the ending of a patronymic, and the u of gue and que.
_PATRONYMIC = re.compile("([aeiou])([^aeiou]*(?<=[gq])u|[^aeiou]*)ez")
_ACUTE = str.maketrans("aeiou", "áéíóú")
_NO_PATRONYMICS = frozenset(("jerez", "cortez"))


@functools.lru_cache(1 << 16)
def written(word: str) -> str:
    """Return a folded word in lower case with its accents.

    Examples
    --------
    >>> [written(word) for word in ("garcia", "dominguez", "saez", "ferrer")]
    ['garcía', 'domínguez', 'sáez', 'ferrer']
    """
    if word in _accents():
        return _accents()[word]
    match = _PATRONYMIC.search(word)
    if match and match.end() == len(word) and word not in _NO_PATRONYMICS:
        return word[: match.start()] + match[1].translate(_ACUTE) + word[match.start() + 1 :]
    return word
