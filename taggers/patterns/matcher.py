"""The search for all patterns at once: one expression of RE2 for windows that begin at tokens.

The expression of a pattern is anchored at the beginning of a window, so that every span that begins
where a token begins is found, also within others. Most patterns need a digit, an at sign or the
beginning of a URL: they are tried at the tokens shortly before one. The patterns are the leaves of
trees whose nodes match where any of their leaves does, and most windows match no root. RE2 takes a
time that is linear in the text for any expression.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.batch import Batch, batch_of_texts
from taggers.patterns.pattern import CHECKS, Pattern
from taggers.patterns.windows import WIDTH, TokenWindows

Indices: TypeAlias = npt.NDArray[np.int64]

#: The windows that are searched at a time, which bounds the memory. Each search compiles anew.
_WINDOWS = 1 << 19

#: The most patterns of an expression, and the most characters. RE2 limits the memory of each, and
#: is slow where it reaches the limit.
_MOST_TOGETHER, _LONGEST = 64, 20_000
#: The bytes of the windows of spans that end so many bytes before the end of the usual ones.
_LONG, _NEAR = 4096, 16
#: The number of children of a node.
_CHILDREN = 8

#: The most texts whose checks are remembered.
_CHECKED = 1 << 15

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
        # Texts repeat, and several rows may have the same check.
        self._passes = functools.lru_cache(_CHECKED)(lambda check, text: CHECKS[check](text))

    def find(self, batch: Batch) -> Hits:
        """Find the spans of all patterns in the normalised texts of a batch.

        A span within another one of the same pattern is left out.
        """
        tokens = TokenWindows(batch)
        return self._find(tokens, tokens.near_digits, np.arange(batch.n_tokens))

    def find_at(self, tokens: TokenWindows, tried: Indices) -> Hits:
        """Find the spans that begin at some of the tokens, or whose contexts before them do."""
        return self._find(tokens, tried, tried)

    def _find(self, tokens: TokenWindows, near_digits: Indices, anywhere: Indices) -> Hits:
        parts = [_NOTHING]
        if self._near_digits.patterns:
            parts += self._search(self._near_digits, tokens, near_digits)
        if self._anywhere.patterns:
            parts += self._search(self._anywhere, tokens, anywhere)
        first, last, patterns, confidences = map(np.concatenate, zip(*parts, strict=True))
        hits = Hits(first, last, patterns, confidences).take(np.lexsort((-last, first, patterns)))
        reach = hits.patterns * (len(tokens.starts) + 1) + hits.last  # increases with the pattern
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
        self, node: _Node, tokens: TokenWindows, tried: Indices
    ) -> Iterator[tuple[Indices, Indices, Indices, npt.NDArray[np.float64]]]:
        # RE2 keeps the states that it has seen: those of windows in a row should be the same.
        tried = tried[np.argsort(tokens.first_bytes(tried), kind="stable")]
        for start in range(0, len(tried), _WINDOWS):
            places = tried[start : start + _WINDOWS]
            windows = tokens.of(places)
            for number, rows, matching, groups in node.search(windows, np.arange(len(places))):
                is_cut = _is_cut(matching, groups)
                whole = groups.filter(pa.array(~is_cut))
                yield self._hits(number, tokens, places[rows[~is_cut]], whole)
                if is_cut.any():
                    others = places[rows[is_cut]]
                    again = _groups(self.patterns[number], tokens.of(others, _LONG))
                    yield self._hits(number, tokens, others, again)

    def _hits(
        self, number: int, tokens: TokenWindows, places: Indices, groups: pa.StructArray
    ) -> tuple[Indices, Indices, Indices, npt.NDArray[np.float64]]:
        """Return the hits of a pattern whose spans are whole tokens, and which are valid."""
        pattern = self.patterns[number]
        before, spans = (groups.field(name) for name in ("before", "span"))
        begins = tokens.starts[places] + pc.utf8_length(before).to_numpy() - 1
        first, last = tokens.covered(places, begins, begins + pc.utf8_length(spans).to_numpy())
        kept = np.flatnonzero(first >= 0)
        confidences = np.full(len(kept), pattern.confidence)
        if pattern.check:
            texts = spans.take(pa.array(kept)).to_pylist()
            passed = np.array([self._passes(pattern.check, text) for text in texts], bool)
            valid, invalid = map(pattern.confidence_after, (True, False))
            confidences = np.where(passed, valid, invalid)
            if pattern.drop_invalid:
                kept, confidences = kept[passed], confidences[passed]
        return first[kept], last[kept], np.full(len(kept), number, np.int64), confidences


class _Node:
    """Patterns of a tree: its children have a part of them each."""

    def __init__(self, patterns: Sequence[tuple[int, Pattern]]) -> None:
        self.patterns = patterns
        together = "|".join(pattern.regular_expression() for _, pattern in patterns)
        fits = len(patterns) <= _MOST_TOGETHER and len(together) <= _LONGEST
        expression = rf"\A(?:{together})"
        self._expression = expression if fits and _compiles(expression) else ""
        size = -(-len(patterns) // (_CHILDREN if fits else 2))
        parts = range(0, len(patterns), size) if len(patterns) > 1 else ()
        self._children = tuple(_Node(patterns[start : start + size]) for start in parts)

    def search(
        self, windows: pa.StringArray, rows: Indices
    ) -> Iterator[tuple[int, Indices, pa.StringArray, pa.StructArray]]:
        """Yield each pattern that matches windows, their rows, they, and the groups in them."""
        if self._expression:
            matching = pc.match_substring_regex(windows, self._expression)
            windows, rows = windows.filter(matching), rows[np.asarray(matching)]
        if not len(windows):
            return
        for child in self._children:
            yield from child.search(windows, rows)
        if not self._children:
            number, pattern = self.patterns[0]
            yield number, rows, windows, _groups(pattern, windows)


def _groups(pattern: Pattern, windows: pa.StringArray) -> pa.StructArray:
    """Return the context before the span of a pattern, and the span, of windows that match."""
    expression = pattern.regular_expression("?P<before>", "?P<span>")
    return pc.extract_regex(windows, rf"\A{expression}")


def _is_cut(windows: pa.StringArray, groups: pa.StructArray) -> npt.NDArray[np.bool_]:
    """Return which spans may go on after the end of their window, such as those of long URLs."""
    before, span = (pc.binary_length(groups.field(name)) for name in ("before", "span"))
    is_cut: npt.NDArray[np.bool_] = pc.add(before, span).to_numpy() >= WIDTH - _NEAR
    ends = windows.filter(pa.array(is_cut))
    is_cut[is_cut] = pc.find_substring(ends, "\0").to_numpy() >= 0
    return is_cut


def _compiles(expression: str) -> bool:
    try:
        pc.match_substring_regex(pa.array([""]), expression)
    except pa.ArrowInvalid:  # too large together
        return False
    return True
