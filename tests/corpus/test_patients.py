"""Documents of a patient have one number, and the patients of words are counted one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from bootstrap.experiments.splits import linked_units
from corpus.batch import make_batch
from corpus.counts import WordCounter, WordCounts, count_words
from corpus.document import Document
from corpus.errors import Problems
from corpus.formats.batches import batches_of
from corpus.patients import MOST_PATIENTS, number_patients
from corpus.tokens import tokenize
from corpus.units import split_documents


def test_documents_of_a_patient_have_one_number() -> None:
    groups = pa.array(["p", None, "p", "q", None, "", None], pa.large_string())
    ids = pa.array(["a", "p", "c", "d", "e", "f", "e"], pa.large_string())
    numbers = number_patients(groups, ids)
    assert numbers.tolist() == [0, 1, 0, 2, 3, 4, 3]
    assert numbers.dtype == np.int64 and numbers.flags.writeable
    assert number_patients(groups[1:], ids[1:]).tolist() == [0, 1, 2, 3, 4, 3]
    assert number_patients(groups[:0], ids[:0]).tolist() == []


def test_documents_with_an_empty_group_are_of_different_patients() -> None:
    documents = [Document("a", "Ana", group=""), Document("b", "Puig", group="")]
    assert all(document.group is None for document in documents)
    batch = make_batch(documents, labelled=False)
    assert batch.groups.null_count == 2
    for numbers in (number_patients(batch.groups, batch.ids), linked_units(documents)):
        assert len(np.unique(numbers)) == 2
    units = split_documents(documents, "line", Problems())
    assert [unit.group for unit in units] == ["a", "b"]


WORDS = ("a", "b", "Anna", "x y")
DOCUMENTS = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=6), st.none() | st.integers(0, 30)),
    max_size=60,
)


@given(drawn=DOCUMENTS)
@example(drawn=[(["a"], number) for number in range(40)])  # more than are told apart
@example(drawn=[(["a"], None)] * 5 + [(["a", "b"], 1)] * 5)
def test_patients_are_counted_up_to_a_limit(drawn: list[tuple[list[str], int | None]]) -> None:
    documents = [
        Document(str(row), " ".join(words), (), None if patient is None else f"p{patient}")
        for row, (words, patient) in enumerate(drawn)
    ]
    patients: dict[str, set[object]] = {}
    for row, (words, patient) in enumerate(drawn):
        for word in " ".join(words).split():
            patients.setdefault(word, set()).add(("document", row) if patient is None else patient)
    actual = count_words(batches_of(documents))
    assert dict(zip(actual.words.to_pylist(), actual.patients.tolist(), strict=True)) == {
        word: min(len(bearers), MOST_PATIENTS) for word, bearers in patients.items()
    }


def test_files_have_the_patients_and_those_without_are_read(tmp_path: Path) -> None:
    documents = [Document(str(row), "uno dos", (), "same") for row in range(3)]
    counts = count_words(batches_of([*documents, Document("x", "dos")]))
    counts.save(tmp_path / "counts.parquet")
    again = WordCounts.load(tmp_path / "counts.parquet")
    assert again.patients.tolist() == [2, 1]
    assert again.patients.dtype == np.int32
    counter = WordCounter()
    counter.add(tokenize(["uno dos"]))
    counter.counts().save(tmp_path / "without.parquet")
    assert WordCounts.load(tmp_path / "without.parquet").patients is None
