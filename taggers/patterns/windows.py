"""Windows: what follows tokens, as texts of equal length, in which patterns are searched for.

A window begins with a character that stands for what precedes its token. It ends after a fixed
number of bytes or where the text ends.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.batch import Batch
from corpus.flat import FlatTexts
from corpus.kernels.compiled import Array, compiled
from corpus.tokens.normalisation import normalise_all

Indices: TypeAlias = npt.NDArray[np.int64]

#: The bytes of a window: a span with its context, and the most bytes from the beginning of a window
#: to the first digit or beginning of a URL, or half of those to an at sign.
WIDTH, _REACH = 96, 32

_LINE_END, _SPACE, _LETTER, _SIGN, _CUT = b"\n x!\0"
_PADDING = np.zeros(WIDTH, np.uint8)
#: The dashes and the minus sign, which are also typed within numbers.
_DASHES = "\u2012\u2013\u2014\u2015\u2212"


class TokenWindows:
    """The windows of the tokens of a batch, in the normalised form of its texts.

    Dashes are read as hyphens, too.

    Parameters
    ----------
    batch : Batch
        Any documents.

    Attributes
    ----------
    starts, ends : ndarray of int64, shape (N,)
        The half-open offsets of the tokens in all texts, one after the other.
    near_digits : ndarray of int64
        The tokens shortly before a digit, an at sign or the beginning of a URL.
    """

    def __init__(self, batch: Batch) -> None:
        texts, starts, ends = _normalised(batch)
        counts = np.diff(batch.document_offsets)
        origins = np.repeat(texts.offsets[:-1], counts)
        self.starts, self.ends = starts + origins, ends + origins
        data = texts.data
        self._data = np.concatenate([data, _PADDING])
        self._limits = np.repeat(texts.byte_offsets[1:], counts)
        characters = texts.continued - np.arange(len(texts.continued))
        self._begins = self.starts + _number_before(characters, self.starts + 1)
        line_ends = np.flatnonzero((data == ord("\n")) | (data == ord("\r")))
        lines = _number_before(line_ends, self._begins)
        self._is_first = np.diff(lines, prepend=-1) > 0
        self._is_first[batch.document_offsets[:-1][counts > 0]] = True
        needed = _needed(data)
        following = np.append(needed, len(data))[_number_before(needed, self._begins)]
        is_near = following < np.minimum(self._begins + _REACH + 1, self._limits)
        self.near_digits = np.flatnonzero(is_near)

    def first_bytes(self, tokens: Indices) -> npt.NDArray[np.uint8]:
        """Return the first byte of tokens."""
        first: npt.NDArray[np.uint8] = self._data[self._begins[tokens]]
        return first

    def of(self, tokens: Indices, width: int = WIDTH) -> pa.StringArray:
        """Return the windows of tokens, of a number of bytes.

        The first character of a window is a line end if its token is the first one of a line, a
        space or a character of ASCII if that precedes it, and else a letter or a sign. The last one
        is a NUL where the text goes on, and a line end where it ends.
        """
        begins, windows = self._begins[tokens], np.empty((len(tokens), width), np.uint8)
        last = self._data[begins - 1]
        before = np.where(last <= _SPACE, _SPACE, last)
        for row in np.flatnonzero(last >= 0x80).tolist():
            text = bytes(self._data[max(begins[row] - 4, 0) : begins[row]]).decode(errors="ignore")
            before[row] = _LETTER if text[-1:].isalnum() else _SIGN
        windows[:, 0] = np.where(self._is_first[tokens], _LINE_END, before)
        _copy(self._data, begins, self._limits[tokens], windows)
        offsets = np.arange(len(tokens) + 1, dtype=np.int32) * np.int32(width)
        return pa.StringArray.from_buffers(
            len(tokens), pa.py_buffer(offsets), pa.py_buffer(windows)
        )

    def covered(
        self, tokens: Indices, begins: Indices, finishes: Indices
    ) -> tuple[Indices, Indices]:
        """Return the first and the last token of spans; -1 if they are not whole tokens.

        Parameters
        ----------
        tokens : ndarray of int64
            For each span, a token shortly before its end.
        begins, finishes : ndarray of int64
            The half-open offsets of the spans.
        """
        spans = np.array([begins, finishes])
        _cover(self.starts, self.ends, tokens, spans)
        return spans[0], spans[1]


def _normalised(batch: Batch) -> tuple[FlatTexts, Indices, Indices]:
    """Return the normalised texts of a batch, and the offsets of the tokens in their texts."""
    starts, ends = batch.starts.astype(np.int64), batch.ends.astype(np.int64)
    texts = FlatTexts(batch.texts)
    unusual = texts.unusual_rows()
    if not len(unusual):
        return texts, starts, ends
    plain = batch.texts.take(pa.array(unusual)).to_pylist()
    for number, form in normalise_all(plain).items():
        own = slice(*batch.document_offsets[unusual[number] : unusual[number] + 2])
        starts[own] = np.searchsorted(form.starts, starts[own])
        ends[own] = np.searchsorted(form.ends, ends[own], side="right")
        plain[number] = form.text
    column = pa.array(plain, pa.large_string())
    for dash in _DASHES:
        column = pc.replace_substring(column, dash, "-")
    is_unusual = np.isin(np.arange(len(batch)), unusual)
    changed = pc.replace_with_mask(batch.texts, pa.array(is_unusual), column)
    return FlatTexts(changed), starts, ends


def _needed(data: npt.NDArray[np.uint8]) -> Indices:
    """Return the bytes that patterns need, and others before at signs, which reach further."""
    is_needed, signs = data - np.uint8(ord("0")) < 10, np.flatnonzero(data == ord("@"))
    is_needed[signs] = is_needed[np.maximum(signs - _REACH, 0)] = True
    is_doubled = ((data | 0x20) == ord("w")) | (data == ord("/"))  # at the beginning of a URL
    is_needed[:-1] |= is_doubled[:-1] & (data[:-1] == data[1:])
    return np.flatnonzero(is_needed)


def _number_before(places: Indices, offsets: Indices) -> Indices:
    """Return how many places are before each offset; both increase."""
    numbers = np.empty(len(offsets), np.int64)
    _count(places, offsets, numbers)
    return numbers


@compiled("int64[::1], int64[::1], int64[::1]")
def _count(places: Array, offsets: Array, numbers: Array) -> None:
    number = int(np.int64(0))  # a literal would be compiled for as another type
    for row in range(len(offsets)):
        while number < len(places) and places[number] < offsets[row]:
            number += 1
        numbers[row] = number


@compiled("uint8[::1], int64[::1], int64[::1], uint8[:, ::1]")
def _copy(data: Array, begins: Array, limits: Array, windows: Array) -> None:
    width = windows.shape[1]
    for row in range(len(begins)):
        begin, limit = begins[row], limits[row]
        end = min(begin + width - 2, limit)  # the last byte tells what follows
        while end < limit and data[end] & 0xC0 == 0x80:  # back to the beginning of a character
            end -= 1
        for place in range(begin, end):
            windows[row, 1 + place - begin] = data[place]
        for place in range(1 + end - begin, width):
            windows[row, place] = _LINE_END if end == limit else _CUT


@compiled("int64[::1], int64[::1], int64[::1], int64[:, ::1]")
def _cover(starts: Array, ends: Array, tokens: Array, spans: Array) -> None:
    """Replace the offsets of spans by their first and last tokens."""
    for row in range(len(tokens)):
        first = tokens[row]
        while first < len(starts) and starts[first] < spans[0, row]:
            first += 1
        last = first
        while last < len(ends) and ends[last] < spans[1, row]:
            last += 1
        is_whole = (
            last < len(ends) and starts[first] == spans[0, row] and ends[last] == spans[1, row]
        )
        spans[0, row], spans[1, row] = (first, last) if is_whole else (-1, -1)
