"""Work in a process of its own."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootstrap.execution.processes import (
    _IDLE,
    KilledError,
    end_idle_processes,
    in_process,
    in_processes,
    sigint_blocked,
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

def die(send):
    os._exit(1)

def be_killed(send):
    os.kill(os.getpid(), signal.SIGKILL)

def blocked(send):
    send(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))

def write(send, path):
    open(path, "w").close()

def wait(send):
    send(os.getpid())
    time.sleep(200)

def number(send):
    send(os.getpid())

def write_folder(send, path):
    from pathlib import Path
    from corpus.storage.atomic import new_folder
    with new_folder(Path(path)) as folder:
        (folder / "note").write_text("Anna Puig")
        send(os.getpid())
        time.sleep(200)

def use_much_memory(send):
    from bootstrap.execution import processes
    processes._MOST_MEMORY = processes._peak_memory()
    send(os.getpid())

def peak_memory(send):
    from bootstrap.execution import processes
    send(processes._peak_memory())
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that another process can import."""
    (tmp_path / "work_of_others.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("work_of_others", None)  # of another folder
    return importlib.import_module("work_of_others")


def test_yields_what_the_work_sends(work: Any) -> None:
    assert list(in_process(work.count, 3)) == [0, 1, 2]


def test_files_that_it_writes_are_private(work: Any, tmp_path: Path) -> None:
    assert list(in_process(work.write, str(tmp_path / "words"))) == []
    assert (tmp_path / "words").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("jobs", [1, 2, 9])
def test_every_task_is_carried_out_however_many_at_a_time(work: Any, jobs: int) -> None:
    sent: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for number, message in in_processes(work.count, [(2,), (0,), (3,)], jobs=jobs):
        sent[number].append(message)
    assert sent == {0: [0, 1], 1: [], 2: [0, 1, 2]}


def test_even_the_first_process_never_hears_of_ctrl_c(work: Any) -> None:
    """With the first one, Python starts a process of its own and receives Ctrl-C again."""
    script = (
        "import work_of_others\n"
        "from bootstrap.execution.processes import in_process\n"
        "if __name__ == '__main__':\n"
        "    for _ in range(2):\n"
        "        print(*in_process(work_of_others.blocked))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["True", "True"]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals for threads")
def test_ctrl_c_while_a_process_starts_takes_effect_afterwards() -> None:
    """Another thread may receive it, although it is blocked in this one."""
    send, sent = threading.Event(), threading.Event()

    def receive() -> None:
        send.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        sent.set()

    threading.Thread(target=receive).start()
    steps = []
    with pytest.raises(KeyboardInterrupt), sigint_blocked():
        send.set()
        sent.wait()
        steps.append("complete")
    assert steps == ["complete"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_raises_what_the_work_raises(work: Any) -> None:
    messages = in_process(work.fail)
    assert next(messages) == 1
    with pytest.raises(LookupError, match="nothing there"):
        next(messages)


def test_a_process_that_dies_is_an_error(work: Any) -> None:
    with pytest.raises(KilledError, match=r"ended before .* exit status is 1, .* above"):
        list(in_process(work.die))
    with pytest.raises(KilledError, match=r"ended before .* out of memory"):
        list(in_process(work.be_killed))


def test_a_process_that_nobody_listens_to_any_more_ends(work: Any) -> None:
    messages = in_process(work.wait)
    number = next(messages)
    messages.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def processes_of(work: Any, tasks: int, *, jobs: int = 1) -> list[int]:
    """Return the process of each task."""
    return [each for _, each in in_processes(work.number, [()] * tasks, jobs=jobs, reuse=True)]


@pytest.fixture
def no_idle_process() -> Iterator[None]:
    """End the processes that wait for a task, before the test and after it."""
    end_idle_processes()
    yield
    end_idle_processes()


@pytest.mark.usefixtures("no_idle_process")
def test_a_process_is_reused_if_that_is_wanted(work: Any) -> None:
    first = processes_of(work, 2)
    assert first[0] == first[1]
    assert set(first) == set(processes_of(work, 3))
    ((_, other),) = in_processes(work.number, [()], jobs=1)
    assert other not in first


@pytest.mark.usefixtures("no_idle_process")
def test_a_process_that_was_killed_while_it_waited_is_replaced(work: Any) -> None:
    (first,) = processes_of(work, 1)
    os.kill(first, signal.SIGKILL)
    _IDLE[0]._process.join()
    (second,) = processes_of(work, 1)
    assert second != first


@pytest.mark.usefixtures("no_idle_process")
def test_a_process_is_not_reused_from_another_folder(
    work: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = processes_of(work, 1)
    monkeypatch.chdir(tmp_path)
    (second,) = processes_of(work, 1)
    assert second != first


@pytest.mark.usefixtures("no_idle_process")
def test_a_process_that_failed_is_not_reused(work: Any) -> None:
    (first,) = processes_of(work, 1)
    with pytest.raises(LookupError):
        list(in_processes(work.fail, [()], jobs=1, reuse=True))
    (second,) = processes_of(work, 1)
    assert second != first


@pytest.mark.usefixtures("no_idle_process")
def test_a_process_that_used_much_memory_ends(work: Any) -> None:
    (first,) = processes_of(work, 1)
    ((_, same),) = in_processes(work.use_much_memory, [()], jobs=1, reuse=True)
    (other,) = processes_of(work, 1)
    assert first == same != other


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_a_process_is_not_that_of_its_parent(work: Any) -> None:
    """After exec, `getrusage` would begin with the peak of the parent."""
    most = 2**28
    held = bytearray(b"x") * most
    (peak,) = in_process(work.peak_memory)
    assert len(held) == most
    assert 2**22 < peak < most


@pytest.mark.usefixtures("no_idle_process")
def test_processes_that_wait_for_a_task_can_be_ended(work: Any) -> None:
    found = set(processes_of(work, 4, jobs=2))
    assert {worker._process.pid for worker in _IDLE} == found
    end_idle_processes()
    assert not _IDLE
    for process in found:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    end_idle_processes()  # there are none


def test_a_process_with_processes_of_its_own_removes_what_it_has_not_completed(
    work: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    messages = in_processes(work.write_folder, [(str(folder / "new"),)], jobs=1, nested=True)
    _, number = next(messages)
    assert list(folder.iterdir())
    messages.close()  # type: ignore[attr-defined]
    assert list(folder.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


TRACKED = """
import os, signal, sys
from multiprocessing import resource_tracker
from pathlib import Path

from joblib.externals.loky.backend import resource_tracker as loky_tracker

from bootstrap.execution.executor import executor_for
from bootstrap.execution.processes import in_processes


def double(number):
    return 2 * number


def send_one(send):
    send(1)


if __name__ == "__main__":
    for _ in range(2):
        with executor_for(2, Path(sys.argv[1])) as executor:
            print(*executor.map(double, range(3)), *in_processes(send_one, [()], jobs=1))
            for tracker in (resource_tracker, loky_tracker):
                process = tracker._resource_tracker._pid
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, os.WNOHANG)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for semaphores in /dev/shm")
def test_a_killed_tracker_of_semaphores_is_no_message_and_leaves_none(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(TRACKED)
    with subprocess.Popen(
        [sys.executable, tmp_path / "script.py", tmp_path],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        out, errors = process.communicate(timeout=100)
    assert (process.returncode, errors) == (0, "")
    assert out == "0 2 4 (0, 1)\n" * 2
    assert not list(Path("/dev/shm").glob(f"*-{process.pid}-*"))
    assert [path.name for path in tmp_path.iterdir() if path.name != "script.py"] == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a working directory that is removed")
@pytest.mark.usefixtures("no_idle_process")
def test_a_removed_working_directory_is_no_obstacle(
    work: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (before,) = processes_of(work, 1)
    folder.rmdir()
    (after,) = processes_of(work, 1)
    assert (after,) == tuple(processes_of(work, 1))
    assert before != after
    with pytest.raises(FileNotFoundError):  # this process has not moved
        Path.cwd()


def test_a_process_ends_soon_after_the_one_it_works_for(launch: Any) -> None:
    """Its parent does not wait for it."""
    code = """if True:
        import multiprocessing, os, time
        from bootstrap.execution.processes import exit_with_parent

        def work(parent):
            exit_with_parent(parent)
            time.sleep(200)

        worker = multiprocessing.get_context("fork").Process(target=work, args=(os.getpid(),))
        worker.start()
        os._exit(7)
        """
    assert launch.python(code).code == 7  # returns when nobody holds its output any more
