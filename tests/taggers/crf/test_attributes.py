"""Attributes of tokens as CRFsuite reads them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import Batch
from corpus.errors import InputError
from taggers import features as features_module
from taggers.crf import attributes as attributes_module
from taggers.crf.attributes import WindowAttributes
from taggers.features import FEATURES, Words, feature
from taggers.templates import Templates

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


def value_of(name: str, word: str) -> str:
    (value,) = feature(name)(Words([word]))
    return value


def test_an_unknown_feature_is_an_error_before_any_word_is_seen() -> None:
    with pytest.raises(InputError, match='no feature "colour"'):
        WindowAttributes(Templates.parse(["form", "colour"], 2))


def batch_of(*documents: Sequence[str]) -> Batch:
    """Make a batch of words as they are, whatever tokens a text would have."""
    types = tuple(dict.fromkeys(word for document in documents for word in document))
    index = {word: row for row, word in enumerate(types)}
    words = np.array([index[word] for document in documents for word in document], np.int32)
    strings = pa.array([""] * len(documents), pa.large_string())
    return Batch(
        ids=strings,
        texts=strings,
        groups=strings,
        vocabulary=types,
        word_ids=words,
        starts=np.zeros_like(words),
        ends=np.zeros_like(words),
        document_offsets=np.cumsum([0, *map(len, documents)], dtype=np.int64),
        tags=np.full(len(words), -1, np.int16),
        labels=(),
    )


def written(words: Sequence[str], names: Sequence[str], window: int) -> list[list[str]]:
    (rows,) = WindowAttributes(Templates.parse(names, window)).of_documents(batch_of(words))
    return [[attribute.decode() for attribute in row] for row in rows]


def test_a_window_writes_each_word_with_its_offset() -> None:
    assert written(["Sr", "Joan", "Puig"], ["form", "lower"], 1) == [
        ["-1:BOS", "0:form=Sr", "0:lower=sr", "1:form=Joan", "1:lower=joan"],
        ["-1:form=Sr", "-1:lower=sr", "0:form=Joan", "0:lower=joan", "1:form=Puig", "1:lower=puig"],
        ["-1:form=Joan", "-1:lower=joan", "0:form=Puig", "0:lower=puig", "1:EOS"],
    ]


def test_every_place_beyond_the_ends_has_its_offset() -> None:
    assert written(["a", "b"], ["form"], 3) == [
        ["-3:BOS", "-2:BOS", "-1:BOS", "0:form=a", "1:form=b", "2:EOS", "3:EOS"],
        ["-3:BOS", "-2:BOS", "-1:form=a", "0:form=b", "1:EOS", "2:EOS", "3:EOS"],
    ]


def test_a_document_of_one_token_is_all_border() -> None:
    assert written(["a"], ["form"], 2) == [["-2:BOS", "-1:BOS", "0:form=a", "1:EOS", "2:EOS"]]


def test_a_window_of_zero_is_the_word_alone() -> None:
    assert written(["a", "b"], ["form"], 0) == [["0:form=a"], ["0:form=b"]]


def test_no_tokens_have_no_attributes() -> None:
    assert written([], ["form"], 2) == []


def test_a_word_that_reads_like_a_border_is_not_one() -> None:
    (row,) = written(["BOS"], ["form"], 1)
    assert row == ["-1:BOS", "0:form=BOS", "1:EOS"]


NAMES = [*(name for name in FEATURES if name != "lemma"), "lemma", "prefix3", "suffix4"]


@pytest.mark.parametrize("word", ["Núria", "çoÑó", "Àvila", "GÜELL", "Sanıé", "ﬁnça"])
def test_a_decomposed_accent_equals_a_composed_one(word: str) -> None:
    decomposed = unicodedata.normalize("NFD", word)
    assert decomposed != word  # or this would test nothing
    assert written([decomposed], NAMES, 2) == written([word], NAMES, 2)
    assert written(["a", decomposed], NAMES, 2) == written(["a", word], NAMES, 2)


@given(
    words=st.lists(WORDS, max_size=6),
    window=st.integers(0, 3),
    names=st.lists(st.sampled_from(["form", "lower", "shape", "prefix2"]), min_size=1, unique=True),
)
def test_attributes_are_the_features_of_the_neighbours(
    words: list[str], window: int, names: list[str]
) -> None:
    expected = []
    for place in range(len(words)):
        row = []
        for offset in range(-window, window + 1):
            if place + offset < 0:
                row.append(f"{offset}:BOS")
            elif place + offset >= len(words):
                row.append(f"{offset}:EOS")
            else:
                word = unicodedata.normalize("NFC", words[place + offset])
                row += [f"{offset}:{name}={value_of(name, word)}" for name in names]
        expected.append(row)
    assert written(words, names, window) == expected


def test_documents_do_not_see_each_other() -> None:
    documents = [["a", "b"], [], ["c"], [], ["b", "a", "c"]]
    together = WindowAttributes(Templates.parse(["form"], 2)).of_documents(batch_of(*documents))
    alone = [written(document, ["form"], 2) for document in documents]
    assert [[[each.decode() for each in row] for row in rows] for rows in together] == alone


@pytest.mark.parametrize("kept", [0, 1, 2, 3, 7])
def test_how_many_words_are_kept_does_not_change_results(
    monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    batch = batch_of("abcdefa", "gab", "aaaa", "b", "", "abcdefa")
    attributes = WindowAttributes(Templates.parse(["form", "prefix3"], 2))
    expected = list(attributes.of_documents(batch))
    monkeypatch.setattr(attributes_module, "_CACHED_WORDS", kept)
    assert list(attributes.of_documents(batch)) == expected


def test_a_word_is_worked_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_on: list[str] = []

    def counted(words: Words) -> list[str]:
        worked_on.extend(words.forms)
        return words.forms

    monkeypatch.setitem(features_module.FEATURES, "counted", counted)
    monkeypatch.setattr(attributes_module, "_CACHED_WORDS", 1)
    list(
        WindowAttributes(Templates.parse(["counted"], 1)).of_documents(
            batch_of("abac", "bb", "ccab")
        )
    )
    assert worked_on == ["a", "b", "c"]
