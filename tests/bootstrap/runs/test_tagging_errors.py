"""Errors on validation documents: read back as they were, and those of the recorded scores."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.runs.folder import Run
from bootstrap.runs.observer import CONFIDENCE_BINS
from bootstrap.runs.tagging_errors import TaggingError, errors_table, load_error_kinds, load_errors
from corpus.error_analysis import EntityError, Mention
from corpus.errors import InputError
from corpus.storage.tables import table_bytes

MENTIONS = st.builds(Mention, st.integers(0, 9), st.integers(10, 20), st.text(max_size=3))


@given(
    st.lists(
        st.tuples(st.text(), st.integers(0, 99), st.none() | MENTIONS, st.none() | MENTIONS).filter(
            lambda drawn: drawn[2] is not None or drawn[3] is not None
        )
    )
)
def test_errors_are_read_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[tuple[str, int, Mention | None, Mention | None]],
) -> None:
    errors = [TaggingError(name, EntityError(*error)) for name, *error in drawn]
    path = tmp_path_factory.mktemp("errors") / "errors.parquet"
    path.write_bytes(table_bytes(errors_table(errors)))
    assert load_errors(path) == errors
    assert load_error_kinds(path) == Counter(each.error.kind for each in errors)


def test_a_file_that_is_damaged_or_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "errors.parquet"
    with pytest.raises(InputError, match=r"errors\.parquet is damaged or missing"):
        load_errors(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"errors\.parquet is damaged"):
        load_errors(path)
    path.write_bytes(table_bytes(pa.table({"id": [1]})))
    for load in (load_errors, load_error_kinds):
        with pytest.raises(InputError, match=r"errors\.parquet is damaged"):
            load(path)
    nothing = TaggingError("a", EntityError(0, None, None))
    table = errors_table([nothing._replace(error=EntityError(0, Mention(0, 1, "A"), None))])
    empty = table.set_column(3, "gold", pa.nulls(1, table.schema.field("gold").type))
    path.write_bytes(table_bytes(empty))
    with pytest.raises(InputError, match=r"errors\.parquet is damaged"):
        load_errors(path)


def test_a_run_records_the_errors_and_the_confidence_of_its_scores(finished: Path) -> None:
    run = Run(finished)
    for row in run.metrics():
        errors, counts = run.errors(row.iteration), run.validation_counts(row.iteration)
        assert errors and counts
        missed = sum(each.error.gold is not None for each in errors)
        spurious = sum(each.error.predicted is not None for each in errors)
        assert counts.all_classes[:, 1:].sum(axis=0).tolist() == [spurious, missed]
        wrong = {each.error.row for each in errors}
        assert wrong == set(np.flatnonzero(counts.all_classes[:, 1:].any(axis=1)).tolist())
        assert all(counts.ids[each.error.row] == each.id for each in errors)
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
