"""Functions applied to items: the same results in the same order, whatever carries the work out."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootstrap.execution.executor import Executor, ProcessExecutor, SerialExecutor, executor_for
from bootstrap.execution.processes import KilledError


@pytest.fixture(scope="module", params=[1, 2], ids=["serial", "processes"])
def executor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Executor]:
    with executor_for(request.param, tmp_path_factory.mktemp("executor")) as executor:
        yield executor


def test_results_come_in_the_order_of_the_items(executor: Executor) -> None:
    assert list(executor.map(functools.partial(pow, 3), range(50))) == [3**n for n in range(50)]
    assert list(executor.map(math.sqrt, iter(()))) == []


def test_an_exception_of_the_function_is_raised_here(executor: Executor) -> None:
    with pytest.raises(ValueError, match="domain"):
        list(executor.map(math.sqrt, [4.0, -1.0]))
    assert list(executor.map(math.sqrt, [4.0])) == [2.0]


def test_the_number_of_jobs_decides(tmp_path: Path) -> None:
    assert isinstance(executor_for(1, tmp_path), SerialExecutor)
    assert isinstance(executor_for(2, tmp_path), ProcessExecutor)


def test_a_worker_that_is_lost_is_an_error_and_the_next_call_works(tmp_path: Path) -> None:
    with ProcessExecutor(2, tmp_path) as executor:
        with pytest.raises(KilledError, match="a worker process was killed"):
            list(executor.map(os._exit, [3, 3]))
        assert list(executor.map(math.sqrt, [1.0, 9.0])) == [1.0, 3.0]


def test_a_worker_that_is_lost_before_all_items_are_handed_out_is_the_same_error(
    tmp_path: Path,
) -> None:
    def items() -> Iterator[int]:
        yield from (3, 3)  # handed out together
        time.sleep(1)  # until the loss of a worker has been noticed
        yield from (3, 3)

    with ProcessExecutor(2, tmp_path) as executor:
        assert list(executor.map(math.sqrt, [1.0, 9.0])) == [1.0, 3.0]  # the workers have started
        with pytest.raises(KilledError, match="a worker process was killed"):
            list(executor.map(os._exit, items()))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_closing_ends_the_processes(tmp_path: Path) -> None:
    with ProcessExecutor(2, tmp_path) as executor:
        workers = {int(path.split("/")[0]) for path in executor.map(os.readlink, ["/proc/self"])}
        assert os.getpid() not in workers
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
    assert list(tmp_path.iterdir()) == []
