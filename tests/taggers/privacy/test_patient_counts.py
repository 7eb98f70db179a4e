"""Patients of values, counted one by one; public lists; and hashes with a key."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import concatenate, make_batch
from corpus.document import Document
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import MOST_KEY, hash_values, keyed
from corpus.patients import NOBODY, patient_numbers
from gazetteers.frequencies import Frequencies
from taggers.privacy.patient_counts import patients_of_values, patients_of_words
from taggers.privacy.public_lists import PublicLists

GROUPS = st.none() | st.sampled_from(["p", "q", "r", ""])


@given(
    drawn=st.lists(
        st.tuples(
            st.lists(st.sampled_from(["uno", "dos", "tres"]), max_size=4), GROUPS, st.booleans()
        )
    )
)
def test_each_patient_counts_once_for_each_value(drawn) -> None:
    batches = [
        replace(
            make_batch([Document(str(row), " ".join(words), (), group)], labelled=False),
            derived=np.array([True]) if derived else None,
        )
        for row, (words, group, derived) in enumerate(drawn)
    ]
    train = concatenate([make_batch([Document("last", "uno", (), "z")], labelled=False), *batches])
    expected: dict[str, set[str]] = {"uno": {"z"}}
    for row, (words, group, derived) in enumerate(drawn):
        for word in () if derived else words:
            expected.setdefault(word, set()).add(group or f"document {row}")
    counts = patients_of_words(
        train, len(train.vocabulary), lambda types: np.arange(len(types), dtype=np.int32)
    )
    actual = dict(zip(train.vocabulary, counts.tolist(), strict=True))
    assert {word: number for word, number in actual.items() if number} == {
        word: len(patients) for word, patients in expected.items()
    }
    derived = np.array([False, *(is_derived for _, _, is_derived in drawn)])
    assert ((patient_numbers(train) == NOBODY) == derived).all()


def test_a_token_without_a_value_counts_for_none() -> None:
    words = np.array([0, -1, 1, 1], np.int32)
    codes = np.array([[0], [1], [-1]], np.int32)  # the last is that of tokens without a value
    documents, patients = np.array([0, 2, 3, 4]), np.array([0, 1, 0])
    assert patients_of_values(words, documents, patients, codes, 2).tolist() == [1, 2]


@given(key=st.integers(1, MOST_KEY), other=st.integers(1, MOST_KEY))
def test_hashes_with_a_key_are_found_with_it_alone(key: int, other: int) -> None:
    hashes = hash_values("form", [f"w{number}" for number in range(200)])
    hidden = keyed(hashes, key)
    assert len(set(hidden.tolist())) == 200
    assert not set(hidden.tolist()) & set(hashes.tolist())
    assert HashIndex(hidden, key).positions(hashes).tolist() == list(range(200))
    expected = list(range(200)) if key == other else [-1] * 200
    assert HashIndex(hidden, other).positions(hashes).tolist() == expected
    assert keyed(hashes, 0) is hashes


def test_a_list_is_public_by_class_and_as_a_whole(make_gazetteer, tmp_path) -> None:
    path = tmp_path / "list.parquet"
    make_gazetteer(
        ("ana", "given", 5), ("eva maria", "given", 5), ("puig", "name", 3), ("serra", "name", 1)
    ).save(path)
    lists = PublicLists([str(path)])

    def public(*words: str) -> list[str]:
        table = Frequencies.from_gazetteer(make_gazetteer(*((word, "x", 1) for word in words)))
        kept = lists.is_public(table.hashes)
        return [word for word, some in zip(table.words, kept.tolist(), strict=True) if some]

    assert public("ana", "eva", "maria", "puig", "otra") == ["ana", "eva", "maria"]
    assert public("ana", "puig") == []
    assert public("puig", "serra") == ["puig", "serra"]
    phrases = {"A": ("ana", "eva maria", "serra"), "B": ("otra",)}
    assert lists.public_phrases(phrases) == {"A": ("ana", "eva maria"), "B": ()}


def test_the_lists_of_the_package_are_public() -> None:
    from gazetteers.builtin import CUE_WORDS, read_gazetteer

    gazetteer = read_gazetteer(CUE_WORDS)
    terms = gazetteer.terms.to_pylist()
    assert PublicLists().public_phrases({"A": terms}) == {"A": tuple(terms)}
    assert PublicLists().public_phrases({"A": terms[:1]}) == {"A": ()}
