"""Tests of tables by hash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.arrays import Expected
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles, write_model
from taggers.privacy.pruning import Pruning

Words = dict[int, tuple[int, float]]

words = st.dictionaries(
    st.integers(0, 2**64 - 1), st.tuples(st.integers(0, 5), st.floats(1, 9, width=32)), max_size=20
)


def table_of(entries: Words, key: int = 0) -> KeyedTable:
    hashes = np.array(list(entries), np.uint64)
    patients = np.array([number for number, _ in entries.values()], np.int32)
    scores = np.array([score for _, score in entries.values()], np.float32)
    return KeyedTable(hashes, {"scores": scores}, patients=patients, key=key)


@given(words, st.lists(st.integers(0, 2**64 - 1), max_size=5), st.integers(1, 5))
def test_a_table_behaves_like_a_dictionary_before_and_after_pruning(entries, others, least) -> None:
    wanted = np.array([*entries, *others], np.uint64)
    table = table_of(entries)
    expected = [entries.get(int(value), (0, 0.0))[1] for value in wanted]
    assert table.values("scores", wanted).tolist() == expected
    frequent = {name: row for name, row in entries.items() if row[0] >= least or least == 1}
    expected = [frequent.get(int(value), (0, 0.0))[1] for value in wanted]
    pruning = Pruning.from_choices(least, hash_names=True)
    pruned = table.pruned(pruning)
    assert pruned.values("scores", wanted).tolist() == expected
    assert pruned.patients.tolist() == [min(number, least) for number, _ in frequent.values()]
    assert not set(pruned.hashes.tolist()) & set(entries)
    assert len(table.pruned(pruning, keep=True)) == len(entries)
    forgotten = table.forgetting(pruning, "scores")
    assert forgotten.values("scores", wanted).tolist() == expected
    assert forgotten.hashes.tolist() == list(entries)


def test_a_table_is_read_as_it_was_saved(tmp_path: Path) -> None:
    table = table_of({3: (1, 2.5), 5: (2, 4.5)})
    write_model(tmp_path, {"kind": "some"}, table.files("names"), model_format=1)
    model = ModelFiles(tmp_path, "some", model_format=1)
    for mapped in (False, True):
        read = KeyedTable.from_model(
            model, "names", {"scores": Expected("float32", (None,))}, mapped=mapped
        )
        assert read["scores"].tolist() == [2.5, 4.5]
        assert (read.hashes.tolist(), read.patients.tolist()) == ([3, 5], [1, 2])
    with pytest.raises(InputError, match="expected 0 to 1"):
        KeyedTable.from_model(model, "names", {"scores": Expected("float32", (None,), 0, 1)})


def test_a_model_that_could_not_be_read_is_not_written(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("taggers.model_folder.LARGEST_JSON", 1_000)
    with pytest.raises(InputError, match="with its phrases, has 1,"):
        write_model(tmp_path, {"kind": "some", "phrases": "x" * 1_000}, {})
    assert not any(tmp_path.iterdir())
