"""Joint values of streams: each stands for the values of all columns of its tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taggers.crf.training import stream_table
from taggers.crf.training.stream_table import OWN, JointColumns, join_columns
from taggers.crf.training.training_set import TrainingStream


@st.composite
def columns(draw: st.DrawFn) -> list[TrainingStream]:
    tokens = draw(st.integers(0, 30))
    result = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 5))
        values = draw(st.lists(st.integers(-1, size - 1), min_size=tokens, max_size=tokens))
        codes = np.arange(size, dtype=np.int32)
        result.append(TrainingStream(np.array(values, np.int32), codes, OWN))
    return result


def rows_of(joint: JointColumns) -> list[list[int]]:
    """Return the values of the columns of each token, looked up by its joint value."""
    none = [-1] * len(joint.columns)
    table = joint.values.tolist()
    return [table[number] if number >= 0 else none for number in joint.numbers.tolist()]


@pytest.mark.parametrize("few", [0, 1, 4, 1000])
@given(columns=columns())
def test_a_joint_value_has_the_values_of_its_columns(
    columns: list[TrainingStream], few: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_table, "_FEW", few)
        joined = join_columns(columns)
    assert [column for joint in joined for column in joint.columns] == columns
    for joint in joined:
        expected = np.stack([column.values for column in joint.columns], axis=1)
        assert rows_of(joint) == expected.tolist()
        used = joint.numbers[joint.numbers >= 0]
        if len(joint.columns) > 1:  # every joint value occurs, and none is the absence of values
            assert np.unique(used).tolist() == list(range(len(joint.values)))
            assert (joint.values >= 0).any(axis=1).all()


def test_columns_with_many_joint_values_stay_apart() -> None:
    codes = np.arange(10, dtype=np.int32)
    values = np.arange(100, dtype=np.int32)
    column, same = (TrainingStream(values % 10, codes, OWN) for _ in range(2))
    other = TrainingStream(values // 10, codes, OWN)
    assert len(join_columns([column, same])) == 1
    assert len(join_columns([column, other])) == 2
