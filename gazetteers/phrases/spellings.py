"""Variants of names of places in notes that differ from published lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gazetteers.folding import fold
from gazetteers.phrases.abbreviations import is_street

_WORDS = re.compile(r"\w+")
_NOTE = re.compile(r"\s*\([^()]*\)")
_ARTICLE = re.compile(r"(.+), ?(els?|l[ao]s?|les|l['’]|es|ses|s['’]|sa|n['’]|[oa]s?)")
_BILINGUAL = re.compile(r"(?<=[^\W\d_]{2}) ?/ ?(?=[^\W\d_]{2})")
_NONE = re.compile(r"[\s,]+s\s?[/.]\s?n[.º°]?(?!\w).*")
_AFTER_COMMA = re.compile(r",\s*(?:n[ro]?[.ºo°]*|n[uú]m(?:ero)?\.?|km\.?)?\s*\d.*")
# Some streets have numbers as names: calle 13, carretera nacional 332, carretera N-332.
_AT_END = re.compile(
    r"(?<=\w\w)(?<!nacional)(?<!comarcal)[\s,]+(?:n[.º°o]*\s?|n[uú]m\.?\s?)?\d+(?:\s?[-/]\s?\d+)?(?:\s?bis)?$"
)

#: The expressions above change no term of letters and blanks alone, as most terms are.
_PLAIN = re.compile(r"(?! )(?:[^\W\d_]| (?! |$))*")


def spellings(terms: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the variants of each term of a list in notes, except abbreviations.

    Parameters
    ----------
    terms : sequence of str
        Terms of any case.

    Returns
    -------
    list of tuple of str
        Folded variants. A name in two languages (``Elche/Elx``) also has a variant for each. An
        article at the end (``Escorial, El``) is moved to the front. Text in brackets and house
        numbers (``Iglesia, 8``, ``C/ Mayor 3``, ``del Frontón s/n``) are removed.
    """
    return [tuple(dict.fromkeys(_spellings(term))) for term in fold(terms)]


def _spellings(term: str) -> Iterator[str]:
    if _PLAIN.fullmatch(term):
        yield term
        return
    term = _NOTE.sub("", term).strip() or term
    term = _without_number(term)
    yield _article_first(term)
    parts = [] if is_street(_WORDS.findall(term)) else _BILINGUAL.split(term)
    if len(parts) > 1:
        yield from map(_article_first, parts)


def _without_number(term: str) -> str:
    rest = _AFTER_COMMA.sub("", _NONE.sub("", term))
    words = _WORDS.findall(rest)
    if is_street(words) and len(words) > 2:
        rest = _AT_END.sub("", rest)
    # The number is kept if it is the only name of a street.
    return term if len(words) < 2 and is_street(words) else rest or term


def _article_first(name: str) -> str:
    match = _ARTICLE.fullmatch(name)
    if match is None:
        return name
    space = "" if match[2].endswith(("'", "’")) else " "
    return f"{match[2]}{space}{match[1]}"
