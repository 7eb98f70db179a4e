"""Tokens touch if nothing is displayed between them."""

from hypothesis import given
from hypothesis import strategies as st

from corpus.adjacency import visible_starts
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.tokens.characters import is_invisible

pieces = st.sampled_from(
    ["C", "/", ".", "12", "é", " ", "\n", "\xad", "\u200b", "\ufeff", "ﬁ", "e\u0301"]
)
texts = st.lists(st.lists(pieces, max_size=9).map("".join), max_size=5)


def batch_of(*texts: str) -> Batch:
    documents = [Document(str(row), text) for row, text in enumerate(texts)]
    return make_batch(documents, labelled=False)


def test_an_invisible_character_separates_no_tokens() -> None:
    batch = batch_of("C\xad/ Mar", "C /\xad Mar", "C/Mar")
    assert batch.starts.tolist() == [0, 2, 4, 0, 2, 5, 0, 1, 2]
    assert visible_starts(batch).tolist() == [0, 1, 4, 0, 2, 5, 0, 1, 2]


@given(texts)
def test_starts_move_over_invisible_characters_only(corpus: list[str]) -> None:
    batch = batch_of(*corpus)
    expected = batch.starts.tolist()
    for row, text in enumerate(corpus):
        first, after = batch.document_offsets[row : row + 2].tolist()
        for token in range(first + 1, after):
            between = text[batch.ends[token - 1] : batch.starts[token]]
            if all(map(is_invisible, between)):
                expected[token] = int(batch.ends[token - 1])
    assert visible_starts(batch).tolist() == expected
