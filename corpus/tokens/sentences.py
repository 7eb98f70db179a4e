"""The sentence splitter: the offsets of the lines and sentences of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus.tokens.characters import LINE_ENDS
from corpus.tokens.normalisation import Normalised, normalise

_LINE = re.compile(f"[^{LINE_ENDS}]+")
# A sentence ends at a mark that is followed by white space and a possible beginning of a sentence.
# Possessive quantifiers avoid quadratic time on long runs of dots.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'»”)\]]*+\s++(?=[¿¡\"'«“(\[]*+[A-ZÀ-ÖØ-Þ0-9])")
# Initials, and abbreviations that precede a name or a number: their full stop ends no sentence.
_ABBREVIATION = re.compile(
    r"(?<!\w)(?:[^\W\d_]|[dD]r[ae]?s?|DRA?|[sS]r(?:t?a)?s?|[pP]rof|[lL]ic|[hH]osp|[cC]tra|[aA]vd?a?"
    r"|[pP]l|[pP]za|[uU]rb|[sS]t[ao]?|[nN]tra|[nN]úm|[nN]um|[nN]º|[tT]el|[tT]lf|[eE]j|[pP]ág"
    r"|[vV]s|[aA]prox|[cC]ol|[fF]ec|[hH]ist)\.$"
)
# An abbreviated unit of measurement, which may end a sentence: "a las 10 h."
_UNIT = re.compile(r"\d\s[ghlms]\.$")
# A full stop that ends no sentence before a number: "no. 3", "3. 10. 2013", "Mayor 3. 28007".
_BEFORE_NUMBER = re.compile(r"(?<![\w/:,-])(?:[nN]o|\d{1,2})\.$")
# The number of an item of a list, which begins a sentence.
_ITEM = re.compile(r"\W*\d{1,2}(?:\.\d{1,2})*\.")
_CONTEXT = 12  # characters before the end of a sentence that decide whether it ends


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of each line that is not blank."""
    for match in _LINE.finditer(text):
        if not match.group().isspace():
            yield match.span()


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the half-open offsets of each sentence; a line end also ends a sentence.

    >>> text = "Vive en c. Mayor. Fuma."
    >>> [text[start:end] for start, end in sentences(text)]
    ['Vive en c. Mayor.', 'Fuma.']
    """
    normalised = normalise(text) is not None
    for start, end in lines(text):
        begin = start
        line = normalise(text[start:end]) if normalised else None
        breaks = _breaks(text, start, end) if line is None else _breaks_in_source(text, line, start)
        for stop, following in breaks:
            yield begin, stop
            begin = following
        if not text[begin:end].isspace():
            yield begin, end


def _breaks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a line but the last ends, and where the next one begins."""
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        stop = match.end() - (len(match.group()) - len(match.group().rstrip()))
        tail = text[max(begin, stop - _CONTEXT) : stop]
        if not _continues(tail, stop - begin, text[match.end()]):
            yield stop, match.end()
            begin = match.end()


def _breaks_in_source(text: str, line: Normalised, start: int) -> Iterator[tuple[int, int]]:
    """Yield the breaks of a normalised line that begins at an offset of a text."""
    # Characters that are not displayed belong to the sentences beside them, those within white
    # space to the sentence before it.
    for stop, following in _breaks(line.text, 0, len(line.text)):
        first, last = start + int(line.starts[stop]), start + int(line.ends[following - 1])
        yield first + len(text[first:last].rstrip()), last


def _continues(tail: str, length: int, following: str) -> bool:
    """Return whether a sentence of this length that ends with `tail` continues after it."""
    if length <= _CONTEXT and _ITEM.fullmatch(tail):
        return True
    if _BEFORE_NUMBER.search(tail) and following.isdigit():
        return True
    return bool(_ABBREVIATION.search(tail)) and not _UNIT.search(tail)
