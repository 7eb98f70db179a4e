"""Functions in other processes: the same results in the same order, progress, and how it ends."""

from __future__ import annotations

import functools
import importlib
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bootstrap.execution.processes import (
    Executor,
    KilledError,
    ProcessExecutor,
    SerialExecutor,
    executor_for,
    in_processes,
)

pytestmark = pytest.mark.processes

WORK = """
import os, signal, time

def count(send, most):
    for number in range(most):
        send(number)

def fail(send):
    send(1)
    raise LookupError("nothing there")

def be_killed(send):
    os.kill(os.getpid(), signal.SIGKILL)

def write(send, path):
    open(path, "w").close()

def wait(send):
    send(os.getpid())
    time.sleep(200)

def number(send):
    send(os.getpid())

def start_another(send):
    from bootstrap.execution.processes import in_processes
    for _, process in in_processes(wait, [()], jobs=1):
        send(process)
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that another process can import."""
    (tmp_path / "work_of_others.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("work_of_others", None)  # of another folder
    return importlib.import_module("work_of_others")


@pytest.fixture(params=[1, 2], ids=["serial", "processes"])
def executor(request: pytest.FixtureRequest) -> Executor:
    return executor_for(request.param)


def has_ended(process: int) -> bool:
    """Return whether a process ends within seconds."""
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_results_come_in_the_order_of_the_items(executor: Executor) -> None:
    assert list(executor.map(functools.partial(pow, 3), range(50))) == [3**n for n in range(50)]
    assert list(executor.map(math.sqrt, iter(()))) == []


def test_an_exception_of_the_function_is_raised_here(executor: Executor) -> None:
    with pytest.raises(ValueError, match="domain"):
        list(executor.map(math.sqrt, [4.0, -1.0]))
    assert list(executor.map(math.sqrt, [4.0])) == [2.0]


def test_the_number_of_jobs_decides() -> None:
    assert isinstance(executor_for(1), SerialExecutor)
    assert isinstance(executor_for(2), ProcessExecutor)


@pytest.mark.parametrize("wait", [0, 1], ids=["at once", "before all items are handed out"])
def test_a_worker_that_is_lost_is_an_error_and_the_next_call_works(wait: int) -> None:
    def items() -> Iterator[int]:
        yield from (3, 3)
        time.sleep(wait)  # until the loss of a worker has been noticed
        yield from (3, 3)

    executor = ProcessExecutor(2)
    assert list(executor.map(math.sqrt, [1.0, 9.0])) == [1.0, 3.0]  # the workers have started
    with pytest.raises(KilledError, match=r"a worker process was killed.* memory.* --jobs"):
        list(executor.map(os._exit, items()))
    assert list(executor.map(math.sqrt, [1.0, 9.0])) == [1.0, 3.0]


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_every_task_is_carried_out_however_many_at_a_time(work: Any, jobs: int) -> None:
    sent: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for number, message in in_processes(work.count, [(2,), (0,), (3,)], jobs=jobs):
        sent[number].append(message)
    assert sent == {0: [0, 1], 1: [], 2: [0, 1, 2]}


def test_files_that_it_writes_are_private(work: Any, tmp_path: Path) -> None:
    assert list(in_processes(work.write, [(str(tmp_path / "words"),)], jobs=1)) == []
    assert (tmp_path / "words").stat().st_mode & 0o777 == 0o600


def test_raises_what_the_work_raises(work: Any) -> None:
    # The tasks after it never begin.
    messages = in_processes(work.fail, [()] * 3, jobs=1)
    assert next(messages) == (0, 1)
    with pytest.raises(LookupError, match="nothing there"):
        next(messages)


def test_a_process_that_is_killed_is_an_error(work: Any) -> None:
    with pytest.raises(KilledError, match=r"killed before its work was done.* out of memory"):
        list(in_processes(work.be_killed, [()], jobs=1))


@pytest.mark.parametrize("name", ["wait", "start_another"])
def test_a_process_that_nobody_listens_to_any_more_ends(work: Any, name: str) -> None:
    with closing(in_processes(getattr(work, name), [()], jobs=1)) as messages:  # type: ignore[type-var]
        _, process = next(messages)
    assert has_ended(process)


def test_a_process_is_reused_if_it_would_do_the_same(work, tmp_path, monkeypatch) -> None:
    def processes() -> set[int]:
        return {process for _, process in in_processes(work.number, [()] * 4, jobs=1)}

    first = processes()
    assert len(first | processes()) <= 2
    monkeypatch.chdir(tmp_path)
    assert not first & processes()


SCRIPT = """
import sys, work_of_others
from bootstrap.execution.processes import in_processes

for _, process in in_processes(work_of_others.wait, [()], jobs=1):
    print(process, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_process_ends_at_once_with_the_one_it_works_for(work: Any, number: int) -> None:
    """Ctrl-C reaches both; only the first one reacts. A script needs no guard for its processes."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as script:
        process = int(script.stdout.readline())
        send: Callable[[int, int], None] = os.killpg if number == signal.SIGINT else os.kill
        send(script.pid, number)
        _, errors = script.communicate(timeout=20)
    assert script.returncode == -number
    assert errors.count("Traceback") == (number == signal.SIGINT)
    assert has_ended(process)
