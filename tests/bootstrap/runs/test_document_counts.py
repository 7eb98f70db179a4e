"""Counts of validation documents: read back as they were, and damaged files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runs.document_counts import DocumentCounts
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.evaluation import score
from corpus.storage.tables import table_bytes


@given(
    st.lists(st.one_of(st.none(), st.sampled_from("xyz")), max_size=8),
    st.lists(
        st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=3, unique=True
    ),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_counts_are_read_back_as_they_were(
    groups: list[str | None], names: list[str], known: bool, random_state: int
) -> None:
    rng = np.random.default_rng(random_state)
    counts = DocumentCounts(
        tuple(f"d{i}" for i in range(len(groups))),
        tuple(groups),
        {name: rng.integers(0, 99, (len(groups), 3)) for name in names},
        rng.random(len(groups)) if known else None,
    )
    sink = pa.BufferOutputStream()
    pq.write_table(counts.to_table(), sink)
    again = DocumentCounts.from_table(pq.read_table(sink.getvalue()))
    assert (again.ids, again.groups, list(again.classes)) == (counts.ids, counts.groups, names)
    for name in names:
        assert again.classes[name].tolist() == counts.classes[name].tolist()
        assert again.class_counts()[name] == tuple(counts.classes[name].sum(axis=0))
    assert again.all_classes.shape == (len(groups), 3)
    assert (again.confidence is not None) == known
    if known:
        assert again.confidence.tolist() == counts.confidence.tolist()


def test_the_counts_are_those_of_the_scores() -> None:
    text, person, place = "Anna Vic", Span(0, 4, "PERSON"), Span(5, 8, "PLACE")
    gold = [Document("a", text, (person, place), "p"), Document("b", text, (person,))]
    found = [Document("a", text, (person,)), Document("b", text, (person, place))]
    scores = score(gold, found)
    counts = DocumentCounts.of(make_batch(gold, labelled=True), scores)
    assert counts.classes["PLACE"].tolist() == [[0, 0, 1], [0, 1, 0]]
    assert counts.all_classes.tolist() == scores.measures["ner"].tolist()
    assert counts.units.tolist() == [0, 1]
    assert text not in str(counts.to_table().to_pylist())


def test_a_file_that_is_damaged_or_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "validation.parquet"
    with pytest.raises(InputError, match="is damaged or missing"):
        DocumentCounts.load(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="is damaged"):
        DocumentCounts.load(path)
    for table in ({"id": ["a"]}, {"id": ["a"], "group": ["b"], "classes": [1]}):
        path.write_bytes(table_bytes(pa.table(table)))
        with pytest.raises(InputError, match="is damaged"):
            DocumentCounts.load(path)
