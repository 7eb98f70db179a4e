"""Keys of documents: id and text together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import are_among, distinct, keys_of, make_batch
from corpus.document import Document

pairs = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", ""])), max_size=6)


@given(pairs, st.lists(pairs, max_size=3))
def test_documents_with_the_same_id_and_text_are_the_same(own, others):
    def batch(found):
        return make_batch([Document(name, text) for name, text in found], labelled=False)

    known = {pair for each in others for pair in each}
    found = are_among(batch(own), [batch(each) for each in others])
    assert found.tolist() == [pair in known for pair in own]
    first = [own.index(pair) for pair in dict.fromkeys(own)]
    assert distinct(batch(own)).tolist() == first
    assert len(set(keys_of(batch(own)).to_pylist())) == len(set(own))
