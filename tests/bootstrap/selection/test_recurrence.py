"""Occurrences of the words of entities, compared with a search over all places."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from bootstrap.selection.agreement import MAX_WORDS, recurrences
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.tags import TokenSpans


@st.composite
def spans_of_batches(draw: st.DrawFn) -> tuple[Batch, TokenSpans]:
    words = st.lists(st.sampled_from("ab"), min_size=0, max_size=12)
    texts = draw(st.lists(words, min_size=1, max_size=4))
    batch = make_batch(
        [Document(f"d{i}", " ".join(text)) for i, text in enumerate(texts)], labelled=False
    )
    places = [
        (begin + a, begin + b)
        for begin, end in zip(batch.document_offsets, batch.document_offsets[1:], strict=False)
        for a in range(end - begin)
        for b in range(a, end - begin)
    ]
    chosen = draw(
        st.lists(st.tuples(st.sampled_from(places), st.integers(0, 2)), unique=True, max_size=4)
        if places
        else st.just([])
    )
    first = np.array([place[0] for place, _ in chosen], np.int64)
    last = np.array([place[1] for place, _ in chosen], np.int64)
    return batch, TokenSpans(first, last, np.array([kind for _, kind in chosen], np.int64))


def naive(
    batch: Batch, spans: TokenSpans
) -> dict[tuple[int, int, int], tuple[tuple[int, ...], int]]:
    """Return the words and the class of each occurrence."""
    found = {}
    words = batch.word_ids.tolist()
    owner = np.repeat(np.arange(len(batch)), batch.lengths)
    for first, last, kind in zip(spans.first, spans.last, spans.classes, strict=True):
        sought = words[first : last + 1]
        for place in range(len(words) - len(sought) + 1):
            end = place + len(sought) - 1
            same = words[place : end + 1] == sought and owner[place] == owner[end]
            if same and (len(sought) <= MAX_WORDS or place == first):
                group = tuple(sought) if len(sought) <= MAX_WORDS else (-int(first) - 1, int(last))
                found[place, end, int(kind)] = (group, int(kind))
    return found


@given(spans_of_batches())
@example(
    (
        make_batch([Document("d0", "a a a a a a a a a a")], labelled=False),
        TokenSpans(np.array([0, 0]), np.array([8, 9]), np.array([0, 0])),
    )
)
def test_all_occurrences_of_the_words_are_found_with_their_groups(spans_of_batch) -> None:
    batch, spans = spans_of_batch
    found, groups = recurrences(batch, spans)
    rows = list(zip(found.first.tolist(), found.last.tolist(), found.classes.tolist(), strict=True))
    expected = naive(batch, spans)
    assert rows == sorted(expected)
    by_group: dict[int, set[object]] = {}
    for row, group in zip(rows, groups.tolist(), strict=True):
        by_group.setdefault(group, set()).add(expected[row])
    assert all(len(members) == 1 for members in by_group.values())
    assert len(by_group) == len(set(expected.values()))
