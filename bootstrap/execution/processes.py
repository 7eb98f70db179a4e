"""Processes that report progress, end with this one and can be ended at once.

Compiled code does not react to signals while it runs. In a separate process, Ctrl-C ends it at
once, and its memory is released.

Ctrl-C on a terminal reaches all processes of a program. Only the first one may react: it ends the
others. On POSIX they are started with SIGINT blocked, which they inherit before their first
instruction; on every platform they ignore it as soon as they run code of this module. The same
holds for SIGHUP, which a closed terminal sends.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

from bootstrap.execution.resource_trackers import silence_trackers
from corpus.errors import InputError

#: Seconds between two checks of another process.
POLL = 0.1

#: A process that has used more memory, in bytes, is not reused.
_MOST_MEMORY = 2**30

#: Seconds in which a process that has processes of its own may end them and remove its files.
_PATIENCE = 10

#: The signals that a terminal sends to all processes of a program; Windows lacks the second.
_OF_TERMINAL = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)
)
#: The signals that may interrupt the first process.
_INTERRUPTING = (*_OF_TERMINAL, signal.SIGTERM)


class KilledError(OSError):
    """A worker process was ended by the system or by a user."""


def check_main_module() -> None:
    """Check that this process has its own script, and does not import that of its parent process.

    A new process imports the script of the process that started it. A script that trains without
    a guard would train again in each.

    Raises
    ------
    InputError
        If the script has no guard.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(
            "this script starts processes, and each of them imports it: put the code that trains "
            'under `if __name__ == "__main__":`'
        )


def default_jobs() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_process(work: Callable[..., None], *arguments: Any) -> Iterator[Any]:
    """Run a function in another process and yield what it sends; see `in_processes`."""
    for _, message in in_processes(work, [arguments], jobs=1):
        yield message


def in_processes(
    work: Callable[..., None],
    tasks: Sequence[Sequence[Any]],
    *,
    jobs: int,
    reuse: bool = False,
    nested: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Run a function in other processes, one for each task, and yield the messages they send.

    It is intended for a few long tasks that report progress; for many small ones, see
    `bootstrap.execution.executor`.

    Parameters
    ----------
    work : callable
        A function of a module. Its first argument sends a message, the others are a task.
    tasks : sequence of sequence
        The other arguments for each task.
    jobs : int
        Maximum number of processes at a time.
    reuse : bool
        Whether a process that has ended its task waits for another one, also of a later call. It
        keeps what it has imported and read, but ends if it has used much memory.
    nested : bool
        Whether the function starts processes of its own. Such processes are not reused.

    Yields
    ------
    int
        The index of a task.
    Any
        A message.

    Raises
    ------
    KilledError
        If a process ended before its work did.
    Exception
        Any exception that the function raises.
    """
    waiting = iter(enumerate(tasks))
    workers: dict[Connection, _Worker] = {}
    try:
        while True:
            while len(workers) < jobs and (task := next(waiting, None)):
                worker = (_idle_worker() if reuse else None) or _Worker(nested=nested)
                workers[worker.connection] = worker
                worker.start(work, *task)
            if not workers:
                return
            for connection in wait(list(workers), POLL):
                worker = workers[connection]  # type: ignore[index]
                done, message = worker.receive()
                if isinstance(message, BaseException):
                    raise message
                if done:
                    workers.pop(worker.connection)
                    if reuse and message:
                        _IDLE.append(worker)
                    else:
                        worker.end()
                else:
                    yield worker.index, message
    finally:
        for worker in workers.values():
            worker.terminate()  # all of them, before one is waited for
        for worker in workers.values():
            worker.end()


class _Worker:
    """A process that works on one task at a time.

    Attributes
    ----------
    connection : Connection
        The connection to the process.
    index : int
        The index of its task.
    """

    def __init__(self, *, nested: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, self._child_end = context.Pipe()
        self.index = 0
        self._surroundings = _surroundings()
        self._process = context.Process(
            # A daemon has no processes of its own. Either kind ends with this process: `_serve`.
            target=_serve,
            args=(self._child_end, os.getpid(), nested),
            daemon=not nested,
        )

    def start(self, work: Callable[..., None], index: int, arguments: Sequence[Any]) -> None:
        """Start the process if it does not run, and send it a task."""
        self.index = index
        if self._process.pid is None:
            with sigint_blocked(), _in_existing_folder():
                self._process.start()
            self._child_end.close()
        with self._as_killed():
            # Arguments of the process would make this one wait forever if it died at its start.
            self.connection.send((work, arguments))

    def is_usable(self) -> bool:
        """Return whether the process would do a task as a new process would."""
        return self._surroundings == _surroundings() and self._process.is_alive()

    def receive(self) -> tuple[bool, Any]:
        """Return whether the task is done, and a message or an exception.

        When the task is done, the message is whether the process waits for another one.
        """
        with self._as_killed():
            received: tuple[bool, Any] = self.connection.recv()
            return received

    @contextmanager
    def _as_killed(self) -> Iterator[None]:
        """Raise a `KilledError` where the process has ended."""
        try:
            yield
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join(_PATIENCE)
            code = self._process.exitcode
            reason = (
                f"its exit status is {code}, and its own message is above"
                if code and code > 0
                else "the system may have been out of memory"
            )
            raise KilledError(f"a process ended before its work did; {reason}") from None

    def terminate(self) -> None:
        """Send the process the signal to end, if it has not ended."""
        if self._process.pid is not None:
            self._process.terminate()

    def end(self) -> None:
        """End the process, if it has not ended."""
        if self._process.pid is not None:
            self._process.terminate()
            self._process.join(_PATIENCE)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
        self.connection.close()


#: Processes that wait for a task.
_IDLE: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # they work for the parent process


def _idle_worker() -> _Worker | None:
    """Return a process that waits for a task, if there is one that can be used."""
    while _IDLE:
        worker = _IDLE.pop()
        if worker.is_usable():
            return worker
        worker.end()
    return None


def end_idle_processes() -> None:
    """End the processes that wait for a task, and release their memory."""
    while _IDLE:
        _IDLE.pop().end()


def _surroundings() -> tuple[Any, ...]:
    """Return what a new process takes over from this one."""
    return _working_folder(), tuple(sys.path)


def _working_folder() -> Path | None:
    """Return the working directory; None if it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


@contextmanager
def _in_existing_folder() -> Iterator[None]:
    """Leave a working directory that was removed: Python cannot start a process from there."""
    if _working_folder():
        yield
        return
    removed = os.open(os.curdir, os.O_RDONLY)
    os.chdir(os.sep)
    try:
        yield
    finally:
        os.fchdir(removed)
        os.close(removed)


def _serve(connection: Connection, parent: int, nested: bool) -> None:
    set_up_worker(parent)
    if nested:  # it ends its own processes, and removes what it has not completed
        signal.signal(signal.SIGTERM, _exit)
    os.umask(0o077)  # files that it writes are as private as the notes
    reusable = True
    while reusable:
        try:
            work, arguments = connection.recv()
            work(lambda message: connection.send((False, message)), *arguments)
            del work, arguments  # a batch of documents would be held until the next task
            reusable = _peak_memory() < _MOST_MEMORY
            connection.send((True, reusable))
        except Exception as error:  # raised again in the parent process
            reusable = False
            with suppress(OSError):
                connection.send((True, error))


def _exit(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(1)


def _peak_memory() -> float:
    """Return the largest memory of this process so far, in bytes; infinity if it is unknown."""
    # On Linux, `getrusage` begins with the peak of the parent process.
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):  # in kB
                return int(line.split()[1]) * 1024
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return math.inf
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """Start processes that never receive the signals of a terminal, and without interruption.

    Processes started meanwhile inherit the blocked signals. Ctrl-C in the meantime takes effect at
    the end: a process that is started only halfway would fail with a traceback.
    """
    with interruptions_deferred():
        if not hasattr(signal, "pthread_sigmask"):  # Windows
            yield
            return
        silence_trackers()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        try:
            # Otherwise the first process starts it, which unblocks SIGINT (until Python 3.12). It
            # ignores SIGINT, but would be ended by SIGHUP.
            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINAL)
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interruptions_deferred() -> Iterator[None]:
    """Handle the signals that interrupt this process at the end of a block of code.

    A blocked signal is not enough: another thread of this process, such as one of Arrow's, may
    receive it, and Python then interrupts the main thread.
    """
    handlers = {number: signal.getsignal(number) for number in _INTERRUPTING}
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads are not interrupted
        return
    received: list[int] = []
    deferred = [number for number in _INTERRUPTING if callable(handlers[number])]
    for number in deferred:  # others end the process at once, or are ignored
        signal.signal(number, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        for number in deferred:
            signal.signal(number, handlers[number])
        for number in received[:1]:
            signal.raise_signal(number)


def set_up_worker(parent: int, module_paths: Sequence[str] = ()) -> None:
    """Configure a worker process to ignore the terminal and to end with its parent process.

    Parameters
    ----------
    parent : int
        The id of the parent process.
    module_paths : sequence of str
        Where the parent process finds modules, such as the tagger of another package.
    """
    sys.path += [path for path in module_paths if path not in sys.path]
    silence_trackers()
    for number in _OF_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    exit_with_parent(parent)


def exit_with_parent(parent: int) -> None:
    """Start a thread that ends this process soon after its parent process has ended."""

    def watch() -> None:
        _wait_for_exit(parent)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _wait_for_exit(parent: int) -> None:
    if sys.platform == "win32":  # the id of the parent process does not change when it ends
        import _winapi  # noqa: PLC0415 - only there

        with suppress(OSError):  # it has ended already
            handle = _winapi.OpenProcess(_winapi.SYNCHRONIZE, False, parent)
            _winapi.WaitForSingleObject(handle, _winapi.INFINITE)
    else:
        while os.getppid() == parent:
            time.sleep(POLL)
