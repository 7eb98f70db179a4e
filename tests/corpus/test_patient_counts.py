"""Patients of words, counted one by one."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.counts import WordCounter, WordCounts, count_words
from corpus.document import Document
from corpus.errors import InputError
from corpus.patients import MOST_PATIENTS
from corpus.tokens import tokenize

WORDS = ("a", "b", "Anna", "x y")
DOCUMENTS = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=6), st.none() | st.integers(0, 30)),
    max_size=60,
)


@given(drawn=DOCUMENTS)
@example(drawn=[(["a"], number) for number in range(40)])  # more than are told apart
@example(drawn=[(["a"], None)] * 5 + [(["a", "b"], 1)] * 5)
def test_patients_are_counted_up_to_a_limit(
    drawn: list[tuple[list[str], int | None]],
) -> None:
    documents = [
        Document(str(row), " ".join(words), (), None if patient is None else f"p{patient}")
        for row, (words, patient) in enumerate(drawn)
    ]
    patients: dict[str, set[object]] = {}
    for row, (words, patient) in enumerate(drawn):
        for word in " ".join(words).split():
            patients.setdefault(word, set()).add(("document", row) if patient is None else patient)
    found = count_words(documents)
    assert found.patients is not None
    assert dict(zip(found.words.to_pylist(), found.patients.tolist(), strict=True)) == {
        word: min(len(each), MOST_PATIENTS) for word, each in patients.items()
    }


def test_files_have_the_patients_and_those_without_are_read(tmp_path: Path) -> None:
    documents = [Document(str(row), "uno dos", (), "same") for row in range(3)]
    counts = count_words([*documents, Document("x", "dos")])
    counts.save(tmp_path / "counts.parquet")
    again = WordCounts.load(tmp_path / "counts.parquet")
    assert again.patients is not None
    assert again.patients.tolist() == [2, 1]
    assert again.patients.dtype == np.int32
    counter = WordCounter()
    counter.add(tokenize(["uno dos"]))
    counter.counts().save(tmp_path / "without.parquet")
    assert WordCounts.load(tmp_path / "without.parquet").patients is None


def test_a_column_of_other_values_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    count_words([Document("a", "uno")]).save(tmp_path / "counts.parquet")
    table = pq.read_table(tmp_path / "counts.parquet")
    table = table.set_column(3, "patients", pa.array(["many"]))
    pq.write_table(table, tmp_path / "other.parquet")
    with pytest.raises(InputError, match="is not a file of word counts"):
        WordCounts.load(tmp_path / "other.parquet")
