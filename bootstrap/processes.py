"""Work in a process of its own, which ends with this one and can be ended at once.

What runs in compiled code for seconds hears of nothing meanwhile; from a process of its own it is
stopped by Ctrl-C at once, and its memory is given back.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

#: Seconds between looks at another process.
POLL = 0.1


class KilledError(OSError):
    """A process that worked for this one was ended by the system or by somebody."""


def in_process(work: Callable[..., None], *arguments: Any) -> Iterator[Any]:
    """Carry out work in another process and yield what it sends.

    Parameters
    ----------
    work : callable
        A function of a module. Its first argument is what it sends by.
    *arguments
        The others.

    Raises
    ------
    KilledError
        If the process ended before its work did.
    Exception
        What the work raises.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=True)
    try:
        with deaf():
            process.start()
        theirs.close()
        # Not arguments of the process: that would wait for ever for one that died at its start.
        ours.send((work, arguments))
        yield from _messages(ours)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise KilledError(
            "a process ended before its work did; the system may have been out of memory"
        ) from None
    finally:
        if process.pid is not None:
            process.terminate()
            process.join()
        ours.close()


def _messages(connection: Connection) -> Iterator[Any]:
    while True:
        while not connection.poll(POLL):
            pass
        done, message = connection.recv()
        if isinstance(message, BaseException):
            raise message
        if done:
            return
        yield message


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
