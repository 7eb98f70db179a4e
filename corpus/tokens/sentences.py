"""The sentence splitter: the offsets of the lines and sentences of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from corpus.flat import FlatTexts, Indices
from corpus.tokens.normalisation import Normalised, normalise_all

# A sentence ends at a mark that is followed by white space and a possible beginning of a sentence.
# Possessive quantifiers avoid quadratic time on long runs of dots.
_SENTENCE_END = re.compile(
    r"([.!?…](?<![.!?…]{2})[.!?…]*+[\"'»”)\]]*+)\s++(?=[¿¡\"'«“(\[]*+[A-ZÀ-ÖØ-Þ0-9])"
)
# Initials, and abbreviations that precede a name or a number: their full stop ends no sentence.
_ABBREVIATION = re.compile(
    r"(?<!\w)(?:[^\W\d_]|[dD]r[ae]?s?|DRA?|[sS]r(?:t?a)?s?|Mr?s|[MJ]r|[pP]rof|[lL]ic|[hH]osp"
    r"|[cC]tra|[aA]vd?a?|[pP]l|[pP]za|[uU]rb|[sS]t[ao]?|[nN]tra|[nN]úm|[nN]um|[nN]º|[tT]el|[tT]lf"
    r"|[eE]j|[pP]ág"
    r"|[vV]s|[aA]prox|[cC]ol|[fF]ec|[hH]ist)\.$"
)
# An abbreviated unit of measurement, which may end a sentence: "a las 10 h."
_UNIT = re.compile(r"\d\s[ghlms]\.$")
# A full stop that ends no sentence before a number: "no. 3", "3. 10. 2013", "Mayor 3. 28007".
_BEFORE_NUMBER = re.compile(r"(?<![\w/:,-])(?:[nN]o|\d{1,2})\.$")
# The number of an item of a list, which begins a sentence.
_ITEM = re.compile(r"\W*\d{1,2}(?:\.\d{1,2})*\.")
_CONTEXT = 12  # characters before the end of a sentence that decide whether it ends


def lines(texts: FlatTexts) -> tuple[Indices, Indices]:
    """Return the half-open offsets of each line that is not blank.

    Parameters
    ----------
    texts : FlatTexts
        Texts that end with a line end, or none.

    Returns
    -------
    starts, ends : ndarray of int64
    """
    ends = texts.line_ends()
    starts = np.append(0, ends + 1)[:-1]
    # Arrow's white space is that of Python.
    blank = pc.utf8_is_space(texts.pieces(starts, ends)).to_numpy(zero_copy_only=False)[1::2]
    filled = (starts < ends) & ~blank
    return starts[filled], ends[filled]


def sentences(texts: FlatTexts) -> tuple[Indices, Indices]:
    r"""Return the half-open offsets of each sentence; a line end also ends a sentence.

    Parameters and results are those of `lines`.

    >>> import pyarrow as pa
    >>> text = "Vive en c. Mayor. Fuma.\n"
    >>> starts, ends = sentences(FlatTexts(pa.array([text], pa.large_string())))
    >>> [text[start:end] for start, end in zip(starts, ends, strict=True)]
    ['Vive en c. Mayor.', 'Fuma.']
    """
    starts, ends = lines(texts)
    text = texts.data.tobytes().decode()
    borders = list(zip(starts.tolist(), ends.tolist(), strict=True))
    normalised = normalise_all([text[start:end] for start, end in borders])
    breaks: list[tuple[int, int]] = []
    for row, (start, end) in enumerate(borders):
        line = normalised.get(row)
        breaks += (
            _breaks(text, start, end) if line is None else _breaks_in_source(text, line, start)
        )
    stops, nexts = np.array(breaks, np.int64).reshape(-1, 2).T
    return np.sort(np.append(starts, nexts)), np.sort(np.append(ends, stops))


def _breaks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a line but the last ends, and where the next one begins."""
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        stop = match.end(1)
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
    if following.isdigit() and _BEFORE_NUMBER.search(tail):
        return True
    return bool(_ABBREVIATION.search(tail)) and not _UNIT.search(tail)
