"""The search for all patterns at once: one expression of RE2 for windows that begin at tokens.

A window begins with the character before a token, and has a fixed number of bytes. The expression
of a pattern is anchored at its beginning, so that every span that begins where a token begins is
found, also within others. Most patterns need a digit, an at sign or the beginning of a URL: they
are tried at the tokens shortly before one. The patterns are the leaves of a tree whose nodes match
where any of their leaves does, and most windows match no root. RE2 takes a time that is linear in
the text for any expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib.stride_tricks import sliding_window_view

from corpus.batch import Batch, batch_of_texts
from corpus.flat import FlatTexts
from corpus.ragged import owners_of
from corpus.tokens.normalisation import normalise_all
from taggers.patterns.pattern import CHECKS, Pattern

Indices: TypeAlias = npt.NDArray[np.int64]

#: The bytes of a window: a span with its context, and the most bytes from the beginning of a window
#: to the first digit, at sign or beginning of a URL.
WIDTH, _REACH = 96, 40
#: The windows that are searched at a time, which bounds the memory.
_WINDOWS = 1 << 15

#: The most patterns of one expression: RE2 limits the memory of each.
_MOST_TOGETHER = 64

_LINE_END, _SPACE, _LETTER, _CUT = b"\n x\0"
_PADDING = np.zeros(WIDTH, np.uint8)
_NOTHING = (np.zeros(0, np.int64),) * 3 + (np.zeros(0),)


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Spans that patterns have found in a batch; they may overlap.

    Parameters
    ----------
    first, last : ndarray of int64, shape (H,)
        The first and the last token of each span.
    patterns : ndarray of int64, shape (H,)
        The index of its pattern.
    confidences : ndarray of float64, shape (H,)
        The confidence of its pattern, after the check.
    """

    first: Indices
    last: Indices
    patterns: Indices
    confidences: npt.NDArray[np.float64]

    def take(self, indices: Indices) -> Hits:
        """Select hits."""
        return Hits(
            self.first[indices],
            self.last[indices],
            self.patterns[indices],
            self.confidences[indices],
        )


class PatternMatcher:
    """Finds the spans of patterns.

    Parameters
    ----------
    patterns : sequence of Pattern
        Rows of tables.
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self.patterns = tuple(patterns)
        numbered = [*enumerate(self.patterns)]
        self._near_digits = _Node([item for item in numbered if item[1].digits])
        self._anywhere = _Node([item for item in numbered if not item[1].digits])

    def find(self, batch: Batch) -> Hits:
        """Find the spans of all patterns in the normalised texts of a batch.

        A span within another one of the same pattern is left out.
        """
        tokens = _Tokens(batch)
        parts = [_NOTHING]
        if self._near_digits.patterns:
            parts += self._search(self._near_digits, tokens, tokens.before_digits())
        if self._anywhere.patterns:
            parts += self._search(self._anywhere, tokens, np.arange(batch.n_tokens))
        first, last, patterns, confidences = map(np.concatenate, zip(*parts, strict=True))
        hits = Hits(first, last, patterns, confidences).take(np.lexsort((-last, first, patterns)))
        reach = hits.patterns * (batch.n_tokens + 1) + hits.last  # increases with the pattern
        within = np.zeros(len(reach), bool)
        within[1:] = reach[1:] <= np.maximum.accumulate(reach)[:-1]
        hits = hits.take(np.flatnonzero(~within))
        return hits.take(np.lexsort((hits.patterns, hits.last, hits.first)))

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Return the offsets of the spans in a text, and the index of each pattern."""
        texts = pa.array([text], pa.large_string())
        batch = batch_of_texts(texts, texts)
        hits = self.find(batch)
        starts, ends = batch.starts[hits.first], batch.ends[hits.last]
        return [*zip(starts.tolist(), ends.tolist(), hits.patterns.tolist(), strict=True)]

    def _search(
        self, node: _Node, tokens: _Tokens, tried: Indices
    ) -> Iterator[tuple[Indices, Indices, Indices, npt.NDArray[np.float64]]]:
        for start in range(0, len(tried), _WINDOWS):
            places = tried[start : start + _WINDOWS]
            windows = tokens.windows(places)
            for number, rows, groups in node.search(windows, np.arange(len(places))):
                yield self._hits(number, tokens, places[rows], groups)

    def _hits(
        self, number: int, tokens: _Tokens, places: Indices, groups: pa.StructArray
    ) -> tuple[Indices, Indices, Indices, npt.NDArray[np.float64]]:
        """Return the hits of a pattern whose spans are whole tokens, and which are valid."""
        pattern = self.patterns[number]
        before, spans = (groups.field(name) for name in ("before", "span"))
        begins = tokens.starts[places] + pc.utf8_length(before).to_numpy() - 1
        first, last = tokens.covered(begins, begins + pc.utf8_length(spans).to_numpy())
        confidences = np.full(len(places), pattern.confidence)
        kept = first >= 0
        if pattern.check:
            check, texts = CHECKS[pattern.check], spans.to_pylist()
            passed = np.array([check(text) for text in texts], bool)
            valid, invalid = map(pattern.confidence_after, (True, False))
            confidences = np.where(passed, valid, invalid)
            kept &= passed | (not pattern.drop_invalid)
        numbers = np.full(np.count_nonzero(kept), number, np.int64)
        return first[kept], last[kept], numbers, confidences[kept]


class _Node:
    """Patterns of a tree: its children have a half of them each."""

    def __init__(self, patterns: Sequence[tuple[int, Pattern]]) -> None:
        self.patterns = patterns
        together = "|".join(pattern.regular_expression() for _, pattern in patterns)
        self._expression = rf"\A(?:{together})" if len(patterns) <= _MOST_TOGETHER else ""
        middle = len(patterns) // 2
        halves = (patterns[:middle], patterns[middle:]) if middle else ()
        self._children = tuple(map(_Node, halves))

    def search(
        self, windows: pa.StringArray, rows: Indices
    ) -> Iterator[tuple[int, Indices, pa.StructArray]]:
        """Yield each pattern that matches windows, their rows, and the groups in them."""
        if self._expression:
            matching = pc.match_substring_regex(windows, self._expression)
            windows, rows = windows.filter(matching), rows[np.asarray(matching)]
        if not len(windows):
            return
        for child in self._children:
            yield from child.search(windows, rows)
        if not self._children:
            number, pattern = self.patterns[0]
            expression = pattern.regular_expression("?P<before>", "?P<span>")
            yield number, rows, pc.extract_regex(windows, rf"\A{expression}")


class _Tokens:
    """The tokens of a batch in the normalised form of all texts, one after the other.

    Attributes
    ----------
    starts, ends : ndarray of int64, shape (N,)
        The half-open offsets of the tokens.
    """

    def __init__(self, batch: Batch) -> None:
        owners = owners_of(batch.document_offsets)
        starts, ends = batch.starts.astype(np.int64), batch.ends.astype(np.int64)
        texts, unusual = batch.texts, FlatTexts(batch.texts).unusual_rows()
        forms = normalise_all(texts.take(pa.array(unusual)))
        changed = {int(unusual[row]): form for row, form in forms.items()}
        if changed:
            is_changed = np.zeros(len(batch), bool)
            is_changed[[*changed]] = True
            plain = pa.array([changed[row].text for row in sorted(changed)], pa.large_string())
            texts = pc.replace_with_mask(texts, pa.array(is_changed), plain)
            for row, form in changed.items():
                own = slice(*batch.document_offsets[row : row + 2])
                starts[own] = np.searchsorted(form.starts, starts[own])
                ends[own] = np.searchsorted(form.ends, ends[own], side="right")
        self._texts, self._owners = FlatTexts(texts), owners
        self._offsets, data = batch.document_offsets, self._texts.data
        self._padded = np.concatenate([_PADDING[:1], data, _PADDING])
        self._line_ends = np.flatnonzero((data == ord("\n")) | (data == ord("\r")))
        self.starts = starts + self._texts.offsets[owners]
        self.ends = ends + self._texts.offsets[owners]

    def before_digits(self) -> Indices:
        """Return the tokens shortly before a digit, an at sign or the beginning of a URL."""
        data = self._texts.data
        is_digit = data - np.uint8(ord("0")) < 10
        is_later = np.zeros(len(data) + 1, bool)  # the first digit of a number is enough
        is_later[1:] = is_digit
        is_later[self._texts.byte_offsets] = False
        is_digit &= ~is_later[:-1]
        is_url = np.zeros(len(data), bool)
        for pair in (b"ww", b"WW", b"//"):
            is_url[:-1] |= (data[:-1] == pair[0]) & (data[1:] == pair[1])
        places = np.flatnonzero(is_digit | is_url | (data == ord("@")))
        reached = np.zeros(len(self.starts) + 1, np.int32)
        begin = np.searchsorted(self.starts, self._texts.in_characters(places - _REACH))
        stop = np.searchsorted(self.starts, self._texts.in_characters(places), side="right")
        np.add.at(reached, begin, 1)
        np.add.at(reached, stop, -1)
        return np.flatnonzero(np.cumsum(reached[:-1]))

    def windows(self, tokens: Indices) -> pa.StringArray:
        """Return what follows tokens, and a character that tells what precedes them.

        The first character of a window is a line end if its token is the first one of a line, a
        space or a sign of ASCII if that precedes it, and else a letter.
        """
        texts, data = self._texts, self._padded
        starts = texts.in_bytes(self.starts[tokens])
        limits = texts.byte_offsets[self._owners[tokens] + 1]
        ends = np.minimum(starts + WIDTH - 1, limits)
        for _ in range(3):  # back to the beginning of a character
            ends -= (ends < limits) & (data[ends + 1] & 0xC0 == 0x80)
        windows = sliding_window_view(data, WIDTH)[starts]
        windows[:, 0] = self._before(tokens, starts, windows[:, 0])
        fill = np.where(ends == limits, _LINE_END, _CUT).astype(np.uint8)
        short = np.flatnonzero(ends - starts < WIDTH - 1)
        is_after = np.arange(WIDTH) > (ends - starts)[short, None]
        windows[short] = np.where(is_after, fill[short, None], windows[short])
        offsets = np.arange(len(starts) + 1, dtype=np.int32) * np.int32(WIDTH)
        return pa.StringArray.from_buffers(
            len(starts), pa.py_buffer(offsets), pa.py_buffer(windows)
        )

    def _before(
        self, tokens: Indices, starts: Indices, before: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.uint8]:
        """Return the first character of windows."""
        owners = self._owners[tokens]
        is_first = self._offsets[owners] == tokens
        earlier = self._texts.in_bytes(self.ends[tokens - 1])  # of the token before
        count = np.searchsorted(self._line_ends, starts) - np.searchsorted(self._line_ends, earlier)
        values = np.where(before <= _SPACE, _SPACE, np.where(before < 0x80, before, _LETTER))
        return np.where(is_first | (count > 0), _LINE_END, values).astype(np.uint8)

    def covered(self, begins: Indices, finishes: Indices) -> tuple[Indices, Indices]:
        """Return the first and the last token of spans; -1 if they are not whole tokens."""
        first = np.searchsorted(self.starts, begins)
        last = np.searchsorted(self.ends, finishes)
        last = np.minimum(last, len(self.ends) - 1)
        whole = (self.starts[first] == begins) & (self.ends[last] == finishes)
        return np.where(whole, first, -1), np.where(whole, last, -1)
