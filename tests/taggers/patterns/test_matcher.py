"""The matcher beside Python's expressions, tried at every token of every text."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from corpus.batch import batch_of_texts
from corpus.tokens import tokenize
from corpus.tokens.normalisation import normalise
from taggers.patterns.matcher import PatternMatcher
from taggers.patterns.merging import merged
from taggers.patterns.pattern import Pattern

PATTERNS = (
    Pattern(label="DATE", expression=r"\d{1,2}[/-]\d{1,2}(?:[/-]\d{2,4})?"),
    Pattern(label="NUMBER", expression=r"\d{3,}", before=r"(?i:nhc|nº):? ?"),
    Pattern(label="DOSE", expression=r"\d+", after=r" ?mg\b"),
    Pattern(label="FIRST", expression=r"[a-zñé]+", before="^", digits=False),
    Pattern(label="NAME", expression=r"[A-Z][a-zñé]+(?: [A-Z][a-zñé]+)?", digits=False),
    Pattern(label="EMAIL", expression=r"[\w.]+@[\w.]+\w", before=r"[^/]"),
    Pattern(label="LINE", expression=r"\d+", after=r"\n"),
)


def found_one_by_one(text: str) -> set[tuple[int, int, int]]:
    """Return the spans by Python's expressions, from the definition."""
    form = normalise(text)
    plain = form.text if form else text
    tokens = tokenize(pa.array([text], pa.large_string()))
    starts, ends = tokens.starts.tolist(), tokens.ends.tolist()
    if form:
        starts = [form.starts.tolist().index(start) for start in starts]
        ends = [len(form.ends) - form.ends.tolist()[::-1].index(end) for end in ends]
    spans = set()
    for token, start in enumerate(starts):
        is_first = not token or re.search(r"[\n\r]", plain[ends[token - 1] : start])
        before = plain[start - 1 : start]
        if is_first:
            before = "\n"
        elif not before.isascii():
            before = "x" if before.isalnum() else " " if before.isspace() else "!"
        elif before.isspace():
            before = " "
        window = before + plain[start:] + "\n"
        for number, pattern in enumerate(PATTERNS):
            expression = pattern.regular_expression("?P<before>", "?P<span>")
            match = re.compile(expression, re.ASCII).match(window)
            if not match:
                continue
            begin, end = (start - 1 + place for place in match.span("span"))
            if begin in starts and end in ends:
                first, last = starts.index(begin), ends.index(end)
                spans.add((int(tokens.starts[first]), int(tokens.ends[last]), number))
    return {
        (start, end, number)
        for start, end, number in spans
        if not any(
            first <= start and end <= last and number == other and (first, last) != (start, end)
            for first, last, other in spans
        )
    }


PIECES = st.sampled_from(
    [
        *(
            "12/10/2010",
            "3-4",
            "123",
            "１２",
            "1",
            "Nº ",
            "nhc: ",
            " mg",
            "a.b@c.es",
            "a.bc" * 30,
            "/",
            "(",
        ),
        *(
            "\n",
            "\r\n",
            "-\n",
            " ",
            "«",
            "•",
            "\u00a0",
            "\u2011",
            "\u0301",
            "Juan",
            "Peña",
            "ñ",
            "é",
            "😀",
        ),
    ]
)


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), min_size=1, max_size=4))
def test_spans_are_those_of_expressions_at_every_token(texts) -> None:
    # An address whose beginning is further from its at sign is found in part.
    assume(not any(re.search(r"[\w.]{60}@", text) for text in texts))
    column = pa.array(texts, pa.large_string())
    batch = batch_of_texts(column, pa.array(map(str, range(len(texts))), pa.large_string()))
    hits = PatternMatcher(PATTERNS).find(batch)
    rows = np.searchsorted(batch.document_offsets, hits.first, side="right") - 1
    actual = zip(
        rows.tolist(),
        batch.starts[hits.first].tolist(),
        batch.ends[hits.last].tolist(),
        hits.patterns.tolist(),
        strict=True,
    )
    expected = {(row, *span) for row, text in enumerate(texts) for span in found_one_by_one(text)}
    assert sorted(set(actual)) == sorted(expected)


def test_thousands_of_rules_find_what_each_finds() -> None:
    patterns = [Pattern(label="N", expression=str(number)) for number in range(10_000)]
    hits = PatternMatcher(patterns).spans("12 9999 10000 7")
    assert hits == [(0, 2, 12), (3, 7, 9999), (14, 15, 7)]


@pytest.mark.parametrize("unit", ["1", "@", "1/", "a@", "1 ", "/", "w", "A-", "12/10/", "é1"])
def test_a_megabyte_of_an_adversarial_note_is_read_as_its_beginning(unit) -> None:
    matcher, text = PatternMatcher(PATTERNS), unit * (1_000_000 // len(unit))
    of_all, of_part = (
        [span for span in matcher.spans(part) if span[1] < 1_000] for part in (text, text[:2_000])
    )
    assert of_all == of_part


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6), st.sampled_from([0.5, 0.9])))


@given(SPANS)
def test_merged_spans_do_not_overlap_and_a_better_one_explains_each_other(spans) -> None:
    first = np.array([begin for begin, _, _ in spans], np.int64)
    last = first + np.array([length for _, length, _ in spans], np.int64)
    confidences = np.array([confidence for _, _, confidence in spans], np.float64)
    kept = merged(first, last, confidences).tolist()
    assert sorted(kept, key=lambda span: first[span]) == kept
    tokens = [token for span in kept for token in range(first[span], last[span] + 1)]
    assert len(tokens) == len(set(tokens))

    def rank(span: int) -> tuple[float, ...]:
        return last[span] - first[span], confidences[span], -first[span]

    for span in set(range(len(spans))) - set(kept):
        assert any(
            first[other] <= last[span] and first[span] <= last[other] and rank(other) >= rank(span)
            for other in kept
        )
