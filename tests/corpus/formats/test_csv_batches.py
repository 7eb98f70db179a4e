"""Rows of CSV that a thread of Arrow reads ahead."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from corpus.formats import encodings
from corpus.formats.tabular import csv_batches as module
from corpus.formats.tabular.csv_batches import csv_batches

BLOCK = 100
ROWS = b"a,b\n" + b"xyz,1\n" * 200


class SlowFile(io.BytesIO):
    """A file in which every block takes a while, and one may fail."""

    def __init__(self, data: bytes, fails_at: int = 1000) -> None:
        super().__init__(data)
        self.reads = 0
        self._fails_at = fails_at

    def read(self, size: int | None = -1) -> bytes:
        self.reads += 1
        time.sleep(0.01)
        if self.reads == self._fails_at:
            raise OSError("no more")
        return super().read(size)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as much as is parsed at a time."""
    monkeypatch.setattr(encodings, "_PIECE", BLOCK)


@pytest.fixture
def alive(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Weak references to all that is lent to Arrow."""
    lent: list[Any] = []
    listed = module._Lent._listed

    def spy(self: Any, found: Any) -> Any:
        returned = listed(self, found)
        lent.append(self._lent[-1])
        return returned

    monkeypatch.setattr(module._Lent, "_listed", spy)
    yield lent


def batches(file: Any, invalid: list[pa_csv.InvalidRow] | None = None) -> Iterator[pa.RecordBatch]:
    read = pa_csv.ReadOptions(use_threads=False, block_size=BLOCK)
    rows: list[pa_csv.InvalidRow] = [] if invalid is None else invalid
    convert = pa_csv.ConvertOptions(check_utf8=False, column_types=dict.fromkeys("ab", pa.string()))
    return csv_batches(file, read, convert, rows.append, newlines_in_values=True)


def assert_released(file: SlowFile, alive: list[Any]) -> None:
    """Check that Arrow uses nothing any more, and does not read again."""
    assert len(alive) >= 3  # the file, the handler of invalid rows, and the blocks
    assert [each() for each in alive if each() is not None] == []
    reads = file.reads
    time.sleep(0.05)
    assert file.reads == reads


def test_all_is_released_after_the_last_row(alive: list[Any]) -> None:
    file = SlowFile(ROWS)
    assert sum(map(len, batches(file))) == 200
    assert_released(file, alive)


def test_all_is_released_after_an_error_in_the_first_block(alive: list[Any]) -> None:
    file = SlowFile(b'a,b\n"' + b"x" * 100_000)
    with pytest.raises(pa.ArrowInvalid, match="straddling"):
        list(batches(file))
    assert_released(file, alive)
    assert file.reads < 1000  # it is not read to its end


def test_all_is_released_after_an_error_in_a_later_block(alive: list[Any]) -> None:
    file = SlowFile(ROWS + b'"' + b"x" * 100_000)
    rows = 0
    with pytest.raises(pa.ArrowInvalid, match="straddling"):
        for batch in batches(file):
            rows += len(batch)
    assert rows == 200  # those before come first
    assert_released(file, alive)


def test_all_is_released_where_reading_is_left_early(alive: list[Any]) -> None:
    file = SlowFile(ROWS * 100)
    found = batches(file)
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert_released(file, alive)
    assert file.reads < 1000


@pytest.mark.parametrize("fails_at", range(1, 5))
def test_an_error_of_the_file_follows_the_rows_before_it(fails_at: int, alive: list[Any]) -> None:
    """Rows that were cut off by the error are no rows, and no invalid rows either."""
    file = SlowFile(ROWS, fails_at)
    read: list[int] = []
    with pytest.raises(OSError, match="no more"):
        read.extend(len(batch) for batch in batches(file))
    assert_released(file, alive)
    # A block has 100 bytes, and the rows after the header 6 each; the last batch is held back.
    assert sum(read) * 6 <= max(0, fails_at - 1) * BLOCK


def test_invalid_rows_are_reported_with_their_numbers() -> None:
    invalid: list[pa_csv.InvalidRow] = []
    data = b"a,b\n" + b"1,2\n" * 100 + b"3\n" + b"1,2\n" * 100 + b"4,5,6\n"
    assert sum(map(len, batches(SlowFile(data), invalid))) == 200
    assert [(row.number, row.text) for row in invalid] == [(102, "3"), (203, "4,5,6")]


def test_values_that_cannot_be_decoded_are_not_utf8_in_batches() -> None:
    """Arrow decodes an invalid row to report it, and reported none that is not UTF-8."""
    invalid: list[pa_csv.InvalidRow] = []
    data = b"a,b\n" + b"1,x\n" * 50 + b"N\xfa,\n3\xff\n4,y\n"
    (*_, last) = batches(SlowFile(data), invalid)
    values = [each.as_py() for each in last.column(0).view(pa.binary())]
    assert values[-2:] == [b"N\xff", b"4"]
    assert [row.number for row in invalid] == [53]


def test_text_in_utf8_is_read_unchanged() -> None:
    (batch,) = batches(io.BytesIO("a\nn\ufdd0ú\n".encode()))
    assert batch.column(0).to_pylist() == ["n\ufdd0ú"]
