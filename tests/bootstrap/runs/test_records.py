"""Counts and errors of validation documents: read back as they were, or refused if damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runs.folder import Run
from bootstrap.runs.observer import CONFIDENCE_BINS
from bootstrap.runs.records import DocumentCounts, errors_table, load_errors
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.evaluation.error_analysis import EntityError
from corpus.evaluation.scoring import score
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
    tmp_path_factory, groups, names, known, random_state
) -> None:
    rng = np.random.default_rng(random_state)
    counts = DocumentCounts(
        tuple(f"d{i}" for i in range(len(groups))),
        tuple(groups),
        {name: rng.integers(0, 99, (len(groups), 3)) for name in names},
        rng.random(len(groups)) if known else None,
    )
    path = tmp_path_factory.mktemp("counts") / "validation.parquet"
    path.write_bytes(table_bytes(counts.to_table()))
    again = DocumentCounts.load(path)
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
    predicted = [Document("a", text, (person,)), Document("b", text, (person, place))]
    scores = score(gold, predicted)
    counts = DocumentCounts.from_scores(make_batch(gold, labelled=True), scores)
    assert counts.classes["PLACE"].tolist() == [[0, 0, 1], [0, 1, 0]]
    assert counts.all_classes.tolist() == scores.measures["ner"].tolist()
    assert counts.units.tolist() == [0, 1]
    assert text not in str(counts.to_table().to_pylist())


def test_counts_that_are_damaged_or_missing_are_refused(tmp_path: Path) -> None:
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


MENTIONS = st.builds(Span, st.integers(0, 9), st.integers(10, 20), st.text(max_size=3))


ERRORS = st.builds(EntityError, st.integers(0, 9), st.none() | MENTIONS, st.none() | MENTIONS)


@given(st.lists(ERRORS.filter(lambda error: error[1:] != (None, None))))
def test_errors_are_read_back_as_they_were(tmp_path_factory, errors) -> None:
    path = tmp_path_factory.mktemp("errors") / "errors.parquet"
    path.write_bytes(table_bytes(errors_table(errors, [f"d{row}" for row in range(10)])))
    assert load_errors(path) == errors


def test_errors_that_are_damaged_or_missing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "errors.parquet"
    with pytest.raises(InputError, match=r"errors\.parquet is damaged or missing"):
        load_errors(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"errors\.parquet is damaged"):
        load_errors(path)
    path.write_bytes(table_bytes(pa.table({"id": [1]})))
    with pytest.raises(InputError, match=r"errors\.parquet is damaged"):
        load_errors(path)
    table = errors_table([EntityError(0, Span(0, 1, "A"), None)], ["a"])
    empty = table.set_column(3, "gold", pa.nulls(1, table.schema.field("gold").type))
    path.write_bytes(table_bytes(empty))
    with pytest.raises(InputError, match=r"errors\.parquet is damaged"):
        load_errors(path)


def test_a_run_records_the_errors_and_the_confidence_of_its_scores(finished: Path) -> None:
    run = Run(finished)
    for row in run.metrics():
        errors, counts = run.errors(row.iteration), run.validation_counts(row.iteration)
        assert errors and counts
        missed = sum(error.gold is not None for error in errors)
        spurious = sum(error.predicted is not None for error in errors)
        assert counts.all_classes[:, 1:].sum(axis=0).tolist() == [spurious, missed]
        wrong = {error.row for error in errors}
        assert wrong == set(np.flatnonzero(counts.all_classes[:, 1:].any(axis=1)).tolist())
        assert counts.confidence is not None
        assert ((counts.confidence > 0) & (counts.confidence <= 1)).all()


def test_a_run_records_the_histogram_and_the_proportions(finished: Path) -> None:
    first, *others = Run(finished).metrics()
    assert (first.histogram, first.selected_proportions) == ({}, {})
    for row in others:
        assert len(row.histogram) == CONFIDENCE_BINS
        assert sum(row.histogram.values()) == row.tagged
        assert row.selected_proportions.keys() == row.reference.keys()
        assert row.reference == first.reference
        # Every document of a batch is selected from one selection.
        assert row.selected_proportions == pytest.approx(row.proportions)
