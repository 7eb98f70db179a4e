"""Work in processes of its own, which end with this one and can be ended at once.

What runs in compiled code for seconds hears of nothing meanwhile; from a process of its own it is
stopped by Ctrl-C at once, and its memory is given back.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

#: Seconds between looks at another process.
POLL = 0.1


class KilledError(OSError):
    """A process that worked for this one was ended by the system or by somebody."""


def default_jobs() -> int:
    """Give the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_process(work: Callable[..., None], *arguments: Any) -> Iterator[Any]:
    """Carry out work in another process and yield what it sends; see `in_processes`."""
    for _, message in in_processes(work, [arguments], jobs=1):
        yield message


def in_processes(
    work: Callable[..., None], tasks: Sequence[Sequence[Any]], *, jobs: int
) -> Iterator[tuple[int, Any]]:
    """Carry out work in a process for each task, and yield what they send.

    Parameters
    ----------
    work : callable
        A function of a module. Its first argument is what it sends by, the others are a task.
    tasks : sequence of sequence
        The other arguments.
    jobs : int
        Processes at a time.

    Yields
    ------
    int
        The number of a task.
    Any
        What was sent.

    Raises
    ------
    KilledError
        If a process ended before its work did.
    Exception
        What the work raises.
    """
    waiting = iter(enumerate(tasks))
    workers: dict[Connection, _Worker] = {}
    try:
        while True:
            while len(workers) < jobs and (task := next(waiting, None)):
                worker = _Worker(task[0])
                workers[worker.connection] = worker
                worker.begin(work, task[1])
            if not workers:
                return
            for connection in wait(list(workers), POLL):
                worker = workers[connection]  # type: ignore[index]
                done, message = worker.receive()
                if isinstance(message, BaseException):
                    raise message
                if done:
                    workers.pop(worker.connection).end()
                else:
                    yield worker.number, message
    finally:
        for worker in workers.values():
            worker.end()


class _Worker:
    """A process that works for this one."""

    def __init__(self, number: int) -> None:
        self.number = number
        context = multiprocessing.get_context("spawn")
        self.connection, self._theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(self._theirs, os.getpid()), daemon=True
        )

    def begin(self, work: Callable[..., None], arguments: Sequence[Any]) -> None:
        """Start the process and send it its work."""
        with deaf():
            self._process.start()
        self._theirs.close()
        with _as_killed():
            # Not arguments of the process: that would wait for ever for one that died at its start.
            self.connection.send((work, arguments))

    def receive(self) -> tuple[bool, Any]:
        """Give what the process sent, and whether it is done."""
        with _as_killed():
            found: tuple[bool, Any] = self.connection.recv()
            return found

    def end(self) -> None:
        """End the process, if it has not ended."""
        if self._process.pid is not None:
            self._process.terminate()
            self._process.join()
        self.connection.close()


@contextmanager
def _as_killed() -> Iterator[None]:
    try:
        yield
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise KilledError(
            "a process ended before its work did; the system may have been out of memory"
        ) from None


def _serve(connection: Connection, parent: int) -> None:
    end_with(parent)
    try:
        work, arguments = connection.recv()
        work(lambda message: connection.send((False, message)), *arguments)
        connection.send((True, None))
    except Exception as error:  # whatever it is, the parent process raises it
        with suppress(OSError):
            connection.send((True, error))


@contextmanager
def deaf() -> Iterator[None]:
    """Make processes that start meanwhile never hear of Ctrl-C: it is this one that ends them."""
    resource_tracker.ensure_running()  # else the first process starts it, which unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with(parent: int) -> None:
    """End this process soon after the one that it works for, however that one ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
