"""Streams hold what a list with a value for each token holds."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.batch import NO_VALUE, Stream, concatenate_streams

VALUES = st.lists(st.none() | st.sampled_from(["", "a", "b", "c c", "\0", "日本"]), max_size=8)


def values_of(stream: Stream) -> list[str | None]:
    """Return the value of each token of a stream that is sound."""
    assert stream.values.dtype == np.int32
    assert len(set(stream.vocabulary)) == len(stream.vocabulary)
    assert stream.values.min(initial=0) >= NO_VALUE
    return [
        stream.vocabulary[value] if value != NO_VALUE else None for value in stream.values.tolist()
    ]


@given(VALUES)
@example([])
@example([None, None])
def test_a_stream_is_the_values_of_its_tokens(values: list[str | None]) -> None:
    stream = Stream.from_values(values)
    assert values_of(stream) == values
    assert stream.vocabulary == tuple(dict.fromkeys(each for each in values if each is not None))


@given(VALUES, st.data())
@example([None, "a"], None)
@example([None, None], None)
def test_it_takes_tokens_as_a_list_does(
    values: list[str | None], data: st.DataObject | None
) -> None:
    stream = Stream.from_values(values)
    places = st.lists(st.sampled_from(range(len(values))), max_size=8) if values else st.just([])
    chosen = data.draw(places) if data else [0, 0]
    taken = stream.take(np.array(chosen, np.int64))
    assert values_of(taken) == [values[place] for place in chosen]
    assert set(taken.vocabulary) == {values[place] for place in chosen} - {None}
    assert values_of(stream) == values


@given(st.lists(VALUES, min_size=1, max_size=4))
@example([[], []])
@example([[None], ["a"], [None]])
@example([["a", "b"], ["b", "a", "c c"]])
def test_streams_follow_one_another_as_lists_do(parts: list[list[str | None]]) -> None:
    streams = [Stream.from_values(part) for part in parts]
    whole = concatenate_streams(streams)
    assert values_of(whole) == [value for part in parts for value in part]
    assert set(whole.vocabulary) == {name for stream in streams for name in stream.vocabulary}
    assert [values_of(stream) for stream in streams] == parts


def test_types_that_no_token_has_are_no_harm() -> None:
    """As those of rules that found nothing."""
    stream = Stream(("B-DATE", "I-DATE", "B-AGE"), np.array([2, NO_VALUE, 2], np.int32))
    assert values_of(concatenate_streams([stream, Stream.from_values(["I-DATE"])])) == [
        *("B-AGE", None, "B-AGE", "I-DATE")
    ]
    assert stream.take(np.array([1, 0])).vocabulary == ("B-AGE",)
