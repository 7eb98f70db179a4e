"""k-anonymity agrees with counting by hand, and shows no values."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonymizers.risk import SIZES, k_anonymity

ages = st.none() | st.integers(0, 2)
towns = st.none() | st.sampled_from(["", "Vic", "Reus"])
Record = tuple[int | None, str | None, int | None]


def share_below(k: int, records: list[tuple[Any, ...]]) -> float:
    counts = Counter(records)
    return sum(count for count in counts.values() if count < k) / max(len(records), 1)


@given(st.lists(st.tuples(ages, towns, ages), max_size=25))
@example([])
@example([(1, None, 0), (1, "", 0), (1, None, None), (1, None, 0)])
def test_it_counts_as_by_hand(records: list[Record]) -> None:
    names = ("age", "town", "children")
    kinds = (pa.int64(), pa.string(), pa.int64())
    columns = [[record[place] for record in records] for place in range(3)]
    table = pa.table(dict(zip(names, map(pa.array, columns, kinds), strict=True)))
    # In several chunks, and a part of them.
    table = pa.concat_tables([table.slice(0, 3), table, table.slice(3)]).slice(min(3, len(records)))
    table = table.slice(0, len(records))
    risk = k_anonymity(table, names)
    counts = Counter(records)
    assert (risk.records, risk.classes) == (len(records), len(counts))
    assert risk.smallest == min(counts.values(), default=0)
    assert risk.below == pytest.approx({k: share_below(k, records) for k in SIZES})
    assert risk.unique_without == pytest.approx(
        {
            name: share_below(2, [record[:place] + record[place + 1 :] for record in records])
            for place, name in enumerate(names)
        }
    )


def test_the_column_that_contributes_most_is_the_first() -> None:
    table = pa.table({"sex": ["m", "f"] * 10, "town": ["Vic", "Vic", "Reus", "Reus"] * 5})
    table = table.append_column("number", [list(range(20))])
    risk = k_anonymity(table, ["sex", "town", "number"])
    assert risk.smallest == 1
    assert next(iter(risk.unique_without.items())) == ("number", 0.0)
    assert "Vic" not in repr(risk)
    assert k_anonymity(table, ["sex", "town"]).smallest == 5
    assert k_anonymity(table, []).smallest == 20
