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

#: Letters of a word that is no Greek symbol, such as ``α`` or ``αβ``, if it has as many.
_NO_SYMBOL = 3

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


def has_twin(text: str) -> bool:
    """Return whether a text has a letter that may be one of a word of another script."""
    return any(map(may_be_twin, _BEYOND.findall(text)))


def may_have_foreign_word(line: str) -> bool:
    """Return whether a line has foreign letters that are not all single Greek ones: fast."""
    if _greek_within().search(line):
        return True
    return any(is_foreign(letter) and not _is_greek(letter) for letter in _BEYOND.findall(line))


@functools.cache
def _greek_within() -> re.Pattern[str]:
    """Compile the expression of Greek letters with a twin that have such a letter beside them."""
    codes = (*range(0x370, 0x400), *range(0x1F00, 0x2000))
    greek = [letter for letter in map(chr, codes) if is_foreign(letter) and twin(letter)]
    certain = "".join(each for each in greek if each.isupper() or unicodedata.decomposition(each))
    beside = rf"(?<=[{certain}])(?:(?=[^\W\d_])|(?<=[^\W\d_].))"
    # It begins with the letters that are rare, so that the search is fast.
    return re.compile(rf"[{''.join(greek)}](?:(?=[a-zß-öø-ÿ\u03ac-\u03fb])|{beside})")


def looks_latin(line: str) -> bool:
    """Return whether all letters of a line are Latin or look so.

    Greek letters are not considered, because they may be symbols.
    """
    read = "".join(reading(each)[0] for each in unicodedata.normalize("NFKC", line))
    others = (letter for letter in _BEYOND.findall(read) if is_foreign(letter))
    return all(twin(each) or _is_greek(each) for each in others)


def is_disguised(line: str) -> bool:
    """Return whether a word of a line has Greek letters that look like Latin ones, no symbols."""
    return any(
        latin != line[start:end] and any(map(_is_greek, line[start:end]))
        for start, end, latin in read_words(line, whole=True)
    )


def read_words(text: str, *, whole: bool, symbols: bool = True) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a text that contain letters of other scripts beside Latin ones.

    Parameters
    ----------
    text : str
        A text.
    whole : bool
        Whether to read words without Latin letters as Latin, too; see `looks_latin`. Words with
        Greek letters are if they have three letters or more.
    symbols : bool
        Whether Greek letters may be symbols; see `is_disguised`.

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
        if word.isascii():
            continue
        foreign = [letter for letter in word if is_foreign(letter)]
        if not foreign:
            continue
        if any(map(_is_latin, word)):
            certain = not symbols or _is_certain(word)
            if certain or _is_possible(word):
                same = certain and all(map(twin, foreign))
                yield *match.span(), _latin(word) if same else word
        elif whole and all(map(twin, foreign)) and not (symbols and _may_be_symbol(foreign)):
            yield *match.span(), _latin(word)


def _latin(word: str) -> str:
    return "".join(twin(letter) or letter if is_foreign(letter) else letter for letter in word)


def _is_latin(character: str) -> bool:
    return character.isalpha() and not is_foreign(character) and character not in "ªºµ"


def _is_greek(character: str) -> bool:
    return unicodedata.name(character, "").startswith("GREEK")


def _may_be_symbol(letters: list[str]) -> bool:
    return len(letters) < _NO_SYMBOL and any(map(_is_greek, letters))


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
