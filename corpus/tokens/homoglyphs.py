"""Letters of other scripts that look like Latin ones, and words that are written with them.

A Latin word with such letters is read as Latin. Greek letters are also symbols: ``TNFα``, ``NFκB``
and ``μg`` are words of clinical notes and stay as they are.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from corpus.tokens.characters import MARKS, reading

#: The kind of letters of other scripts that look like Latin ones or stand in Latin words.
OTHER_SCRIPTS = "letters of other scripts within Latin words"

_PAIRS = (
    # Cyrillic
    ("АВЕНІЈКМОРЅТУХҮҺӀԚԜѴԌЬ", "ABEHIJKMOPSTYXYHIQWVGb"),
    ("авсеһіјкмоԁпрԛѕтухүѵԝӏьгѡ", "abcehijkmodnpqstyxyvwlbrw"),
    ("С", "C"),
    # Greek
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "ABEZHIKMNOPTYXC"),
    ("αεικνορτυχγηωϲϳ", "aeikvoptuxynwcj"),
    # Armenian
    ("ՍՏՕԼհոսօցզյ", "USOLhnuogqj"),
    # Cherokee
    ("ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏙᏚᏞᏟᏢᏦᏴ", "DRTAJEWMHGZVSLCPKB"),
    # Coptic
    ("ⲀⲂⲈⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬⲌⲟⲥ", "ABEHIKMNOPCTYXZoc"),
    # Lisu
    ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU"),
)
#: The Latin letter that each letter looks like.
TWINS = {
    other: latin for others, latins in _PAIRS for other, latin in zip(others, latins, strict=True)
}

_FIRST_FOREIGN = "\u0370"
_BEYOND = re.compile(f"[{_FIRST_FOREIGN}-\U0010ffff]")
_WORD = re.compile(rf"(?:[^\W\d_]|[{MARKS}])+")


@functools.lru_cache(maxsize=1 << 14)
def is_foreign(character: str) -> bool:
    """Return whether a character is a letter of a script other than Latin."""
    return (
        character >= _FIRST_FOREIGN
        and unicodedata.category(character) in ("Lu", "Ll", "Lt", "Lo")
        and not unicodedata.name(character, "").startswith("LATIN")
    )


@functools.lru_cache(maxsize=1 << 12)
def twin(character: str) -> str:
    """Return the Latin letter that a letter looks like, with its accents, or nothing."""
    decomposed = unicodedata.normalize("NFD", character)
    latin = TWINS.get(decomposed[0])
    return unicodedata.normalize("NFC", latin + decomposed[1:]) if latin else ""


@functools.lru_cache(maxsize=1 << 12)
def may_be_twin(character: str) -> bool:
    """Return whether a character calls for a look at its word: no Greek letter without a twin."""
    return is_foreign(character) and (not _is_greek(character) or bool(twin(character)))


def has_foreign_word(text: str) -> bool:
    """Return whether a text has a letter of another script than Latin and Greek."""
    return any(is_foreign(letter) and not _is_greek(letter) for letter in _BEYOND.findall(text))


def looks_latin(line: str) -> bool:
    """Return whether a line has Latin letters, and letters of other scripts only as their twins.

    Greek letters are not considered, because they may be symbols.
    """
    read = "".join(reading(each)[0] for each in unicodedata.normalize("NFKC", line))
    others = (letter for letter in _BEYOND.findall(read) if is_foreign(letter))
    return any(map(_is_latin, read)) and all(twin(each) or _is_greek(each) for each in others)


def read_words(text: str, *, whole: bool) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a text that contain letters of other scripts beside Latin ones.

    Parameters
    ----------
    text : str
        A text.
    whole : bool
        Whether to read words without Latin letters as Latin, too; see `looks_latin`. Words with
        Greek letters never are.

    Yields
    ------
    start, end : int
        The half-open offsets of the word.
    latin : str
        The word in Latin letters, of the same length; the word itself if one of its letters looks
        like no Latin letter, or if a Greek letter may be a symbol.
    """
    if not any(map(may_be_twin, _BEYOND.findall(text))):
        return
    for match in _WORD.finditer(text):
        word = match.group()
        foreign = [letter for letter in word if is_foreign(letter)]
        if any(map(_is_latin, word)):
            certain = _is_certain(word)
            if certain or _is_possible(word):
                same = certain and all(map(twin, foreign))
                yield *match.span(), _latin(word) if same else word
        elif whole and foreign and not any(map(_is_greek, foreign)) and all(map(twin, foreign)):
            yield *match.span(), _latin(word)


def _latin(word: str) -> str:
    return "".join(twin(letter) or letter if is_foreign(letter) else letter for letter in word)


def _is_latin(character: str) -> bool:
    return character.isalpha() and not is_foreign(character) and character not in "ªºµ"


def _is_greek(character: str) -> bool:
    return unicodedata.name(character, "").startswith("GREEK")


def _is_certain(word: str) -> bool:
    """Return whether a letter of a word cannot be a Greek symbol.

    Greek capitals that look like Latin ones are no symbols, and neither are letters with an accent
    nor those between a letter and a lower-case letter.
    """
    for place, letter in enumerate(word):
        if not is_foreign(letter):
            continue
        accented = len(unicodedata.normalize("NFD", letter)) > 1
        if not _is_greek(letter) or (twin(letter) and (letter.isupper() or accented)):
            return True
        if twin(letter) and 0 < place < len(word) - 1 and word[place + 1].islower():
            return True
    return False


def _is_possible(word: str) -> bool:
    """Return whether a Greek letter with a twin is next to a lower-case Latin letter."""
    pairs = pairwise(word)
    return any(
        bool(twin(one)) and is_foreign(one) and _is_latin(other) and other.islower()
        for left, right in pairs
        for one, other in ((left, right), (right, left))
    )
