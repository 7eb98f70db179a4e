"""A pool whose batches are read from the source once."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from bootstrap.runs.cached_pool import CachedPool
from bootstrap.selection.proportional import Selection
from bootstrap.self_training.state import RELABEL, State
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from taggers import Tagging, Training
from tests.bootstrap.runs.conftest import same
from tests.bootstrap.self_training.looping import Iteration, loop_options, run_loop

GOLD = make_batch([Document("s", "Ana ve", (Span(0, 3, "PERSON"),))], labelled=True)


class CountingSource:
    """Batches that count how often each of them is read."""

    def __init__(self, number: int) -> None:
        self.reads: Counter[int] = Counter()
        self._number = number

    def batches(self, start: int = 0) -> Iterator[Batch]:
        for number in range(start, self._number):
            self.reads[number] += 1
            notes = [Document(f"u{number}-{i}", f"nota {i} à\u0301 😀 {number}") for i in (0, 1)]
            yield make_batch([*notes, Document(f"u{number}-2", " ", (), "p1")], labelled=False)


def ids(batch: Batch) -> list[str]:
    return batch.ids.to_pylist()


class Idle:
    """A tagger that tags nothing and is trained in no time."""

    kind = "idle"
    labels: tuple[str, ...] = ("O", "B-PERSON", "I-PERSON")
    training: Training | None = None

    def prepare(self, tell: Any) -> None: ...

    def fit(self, train: Batch, validation: Batch | None = None, **options: Any) -> Self:
        return self

    def tag(self, batch: Batch, **options: Any) -> Tagging:
        return Tagging(np.zeros(batch.n_tokens, np.int16), self.labels, np.ones(len(batch)))

    def save(self, folder: Path) -> None: ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls()


def everything(tagging: Tagging, batch: Batch, rng: np.random.Generator) -> Selection:
    return Selection(np.arange(len(batch)))


def relabelled(
    pool: CachedPool, iterations: int, after: State | None = None
) -> Iterator[Iteration]:
    loop = loop_options(iterations=iterations, patience=99, keep=RELABEL)
    return run_loop(GOLD, pool, GOLD, lambda iteration: Idle(), everything, loop, after=after)


@pytest.mark.parametrize("iterations", [4, 20])
def test_relabelling_reads_each_batch_once(tmp_path: Path, iterations: int) -> None:
    source = CountingSource(10)
    steps = list(relabelled(CachedPool(source, tmp_path / "batches"), iterations))
    assert [step.tagged for step in steps] == [3 * n for n in range(min(iterations, 10) + 1)]
    assert source.reads == dict.fromkeys(range(min(iterations, 10)), 1)
    last = steps[-1].chosen
    assert ids(last.batch)[::3] == [f"u{n}-0" for n in range(min(iterations, 10))]


def test_a_later_process_reads_all_batches_again(tmp_path: Path) -> None:
    """Iterations 0 to 3 are closed."""
    folder = tmp_path / "batches"
    steps = list(islice(relabelled(CachedPool(CountingSource(6), folder), 6), 4))
    assert len(list(folder.glob("*.arrow"))) == 4
    source = CountingSource(6)
    rest = list(relabelled(CachedPool(source, folder), 6, steps[-1].step.state))
    assert [step.tagged for step in rest] == [12, 15, 18]
    assert source.reads == dict.fromkeys(range(6), 1)


def test_batches_are_read_back_as_they_were_and_private(tmp_path: Path) -> None:
    source, folder = CountingSource(3), tmp_path / "batches"
    pool = CachedPool(source, folder)
    first = list(pool.batches())
    assert all(map(same, pool.batches(), first))
    assert [ids(batch) for batch in pool.batches(start=2)] == [ids(first[2])]
    assert source.reads == dict.fromkeys(range(3), 1)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_start_beyond_what_is_stored_stores_what_comes_before(tmp_path: Path) -> None:
    source = CountingSource(4)
    pool = CachedPool(source, tmp_path / "batches")
    assert [ids(batch)[0] for batch in pool.batches(start=2)] == ["u2-0", "u3-0"]
    assert len(list(pool.batches())) == 4
    assert source.reads == dict.fromkeys(range(4), 1)


def test_what_an_interrupted_process_left_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "batches"
    list(CachedPool(CountingSource(3), folder).batches())
    (folder / ".0004.arrow.77").write_bytes(b"half")
    CachedPool(CountingSource(3), folder)
    assert not folder.exists()
