"""The training set is that of the documents, however their batch was put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from corpus.batch import Batch, Stream, concatenate, make_batch
from corpus.document import Document, Span
from taggers import CRFOptions
from taggers.annotators import annotated
from taggers.crf.training.training_set import TrainingSet
from tests.streams import PLAIN, stream_of
from tests.taggers.conftest import plain

OPTIONS = plain(
    CRFOptions, features=("form", "suffix1"), streams=("header", "colon", "patterns", "turn")
)
TEXTS = ["Ana: 12 abc", "ve a Vic", "Dia 3: Ana", "", "abc abc 3/5/2012"]


def shuffled(types: tuple[str, ...], values: np.ndarray, rng: np.random.Generator) -> Stream:
    """Number values in another order, with one among them that no token has."""
    order = rng.permutation(len(types))
    numbers = np.empty(len(types) + 1, np.int32)
    numbers[order] = np.arange(len(types)) + 1
    numbers[-1] = -1
    return Stream(("unused", *(types[index] for index in order)), numbers[values])


def trained_on(batch: Batch) -> list[list[object]]:
    templates = OPTIONS.templates()
    batch = annotated(batch, templates.needed, PLAIN)
    result, _ = TrainingSet.from_batch(batch, templates)
    state, values = result.state, result.values
    arrays = [result.words, result.codes, values.hashes, values.patients]
    arrays += [state.offsets, state.labels]
    arrays += [stream.values for stream in result.streams]
    return [array.tolist() for array in [*arrays, state.counts]] + [list(values.names.strings())]


@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
    st.integers(0, 6),
)
def test_types_in_any_order_make_the_same_training_set(texts, seed, cut) -> None:
    rng = np.random.default_rng(seed)
    documents = [
        Document(str(row), text, (Span(0, 3, "A"),) if text.startswith("Ana") else ())
        for row, text in enumerate(texts)
    ]
    whole = make_batch(documents, labelled=True, classes=["A"])
    assume(whole.n_tokens)
    pos = stream_of([str(place % 3) if place % 4 else None for place in range(whole.n_tokens)])
    whole = whole.with_streams({"turn": pos})
    words = shuffled(whole.vocabulary, whole.word_ids, rng)
    other = replace(
        whole,
        words=words,
        streams={"turn": shuffled(pos.vocabulary, pos.values, rng)},
    )
    # The word that no token has is one more at the end.
    assert trained_on(concatenate([other.slice(0, cut), other.slice(cut, 6)])) == trained_on(whole)
