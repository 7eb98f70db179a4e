"""Functions applied to items in other processes, by joblib.

Compiled code does not react to signals while it runs. In a separate process, Ctrl-C ends it at
once, and its memory is released.

Ctrl-C on a terminal, or closing it, reaches all processes of a program. Only the first one reacts:
it ends the others. They wait a minute for more work, so that they keep what they have loaded.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
from multiprocessing import active_children, get_context
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, Protocol, TypeVar

import joblib

from corpus.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Seconds between two checks of another process.
_POLL = 0.02
#: Seconds after which a process without work ends.
_IDLE = 60
#: The processes and threads that joblib starts beside the workers, and those of each worker.
_BESIDE, _OF_WORKER = 6, 4
#: The line that a task writes when it fails.
_FAILED = b"failed\n"
#: The signals that a terminal sends to all processes of a program; Windows lacks the second.
_OF_TERMINAL = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)
)


class KilledError(OSError):
    """A worker process was ended by the system or by a user."""


class Executor(Protocol):
    """Applies functions to items, in this process, in others, or on a cluster.

    Each follows these rules:

    - The function is one of a module, or a `functools.partial` of one. The items, and what the
      partial binds, are plain values that pickle: numbers, strings, bytes, NumPy arrays,
      dataclasses of them. A batch of documents travels as Arrow bytes. So do the results.
    - A model is never pickled. It travels as its path, on a disk that every worker can read, and
      its digest. The worker loads the model, refuses one with another digest, and keeps it for
      later items.
    - Results come back in the order of the items. An exception of the function is raised in the
      caller; a worker that is lost is a `KilledError`.
    - Workers leave Ctrl-C to the process that they work for, and end soon after it.

    Attributes
    ----------
    shares_memory : bool
        Whether functions run in this process, so that nothing needs to be serialised.
    """

    shares_memory: bool

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of a function, in the order of the items.

        Raises
        ------
        KilledError
            If a worker process was ended.
        Exception
            Any exception that the function raises.
        """


class SerialExecutor(Executor):
    """Applies functions in this process, one item at a time."""

    shares_memory = True

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return map(function, items)


class ProcessExecutor(Executor):
    """Applies functions in processes of this machine."""

    shares_memory = False

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        calls = (joblib.delayed(function)(item) for item in items)
        with _results(calls, jobs=self._jobs, waiting=2 * self._jobs) as results:
            yield from results


#: The executor that replaces the processes of this machine.
_APPLYING: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextmanager
def applying(executor: Executor) -> Iterator[None]:
    """Replace the processes of this machine by an executor for as long as the context lasts."""
    token = _APPLYING.set(executor)
    try:
        yield
    finally:
        _APPLYING.reset(token)


def executor_for(jobs: int) -> Executor:
    """Return the executor of the context, or else one for a number of processes here."""
    return _APPLYING.get() or (SerialExecutor() if jobs == 1 else ProcessExecutor(jobs))


def default_jobs() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_processes(
    work: Callable[..., None], tasks: Sequence[Sequence[Any]], *, jobs: int
) -> Iterator[tuple[int, Any]]:
    """Run a function in other processes, once for each task, and yield the messages they send.

    It is intended for a few long tasks that report progress; for many small ones, see `Executor`.

    Parameters
    ----------
    work : callable
        A function of a module. Its first argument sends a message, the others are a task.
    tasks : sequence of sequence
        The other arguments for each task.
    jobs : int
        Maximum number of processes at a time.

    Yields
    ------
    int
        The index of a task.
    Any
        A message: a value of JSON, with lists for tuples.

    Raises
    ------
    KilledError
        If a process ended before its work did.
    Exception
        Any exception that the function raises.
    """
    with temporary_folder() as folder:
        paths = [folder / str(index) for index in range(len(tasks))]
        for path in paths:
            path.touch()
        calls = (
            joblib.delayed(carry_out)(work, str(path), *task)
            for path, task in zip(paths, tasks, strict=True)
        )
        children = set(active_children())

        def was_killed() -> bool:
            children.update(active_children())
            return any(child.exitcode for child in children)

        with _results(calls, jobs=jobs, waiting=jobs) as results:
            yield from messages_of(paths, was_killed)
            for _ in results:  # all of them have ended, or one has failed, which is raised here
                pass


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for as long as the context lasts, which only its owner can access."""
    _remove_leftovers()
    prefix, is_windows = f"bootstrap-{os.getpid()}-", os.name == "nt"  # it removes no mapped files
    with TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=is_windows) as folder:
        yield Path(folder)


def _remove_leftovers() -> None:
    """Remove the temporary folders that killed processes have left."""
    for folder in Path(gettempdir()).glob("bootstrap-*-*"):
        number = folder.name.split("-")[1]
        if os.name == "posix" and number.isdecimal():
            try:
                os.kill(int(number), 0)  # which only asks whether there is such a process
            except ProcessLookupError:
                shutil.rmtree(folder, ignore_errors=True)
            except (PermissionError, OverflowError):
                continue


def carry_out(work: Callable[..., None], path: str, *arguments: Any) -> None:
    """Call a function that sends messages, which are written to a file, a line each.

    Raises
    ------
    KilledError
        If the file is gone when it sends one: nobody waits for it any more.
    """

    def send(message: Any) -> None:
        if not Path(path).exists():
            raise KilledError("the process that waited for this work has ended")
        file.write(f"{json.dumps(message)}\n")

    with Path(path).open("r+", encoding="utf-8", buffering=1) as file:
        file.seek(0, os.SEEK_END)
        try:
            work(send, *arguments)
        except BaseException:
            file.write(_FAILED.decode())
            raise
        file.write("\n")


def messages_of(paths: Sequence[Path], has_failed: Callable[[], bool]) -> Iterator[tuple[int, Any]]:
    """Yield the messages in files, until all tasks have ended or one of them never will."""
    waiting = dict.fromkeys(range(len(paths)), 0)
    while waiting:
        failed = has_failed()
        for index, position in list(waiting.items()):
            with paths[index].open("rb") as file:
                file.seek(position)
                lines = file.read().splitlines(keepends=True)
            for line in lines:
                if line == _FAILED:  # tasks that have not begun never will
                    return
                if line == b"\n":
                    del waiting[index]
                elif line.endswith(b"\n"):  # it is complete
                    waiting[index] += len(line)
                    yield index, json.loads(line)
        if failed:
            return
        time.sleep(_POLL)


@contextmanager
def _results(calls: Iterable[Any], *, jobs: int, waiting: int) -> Iterator[Iterator[Any]]:
    """Make calls, at most `waiting` of them ahead, and return their results in order."""
    if not active_children():  # of an earlier call, which are used again
        _check_threads(_BESIDE + _OF_WORKER * jobs)
    # At the end of the context, calls that have not ended are killed.
    parallel = joblib.Parallel(
        n_jobs=max(jobs, 2),  # with one, joblib calls functions in this process
        backend="loky",
        return_as="generator",
        pre_dispatch=waiting,
        batch_size=1,
        # By default, joblib writes large items to files, and creates a folder in shared memory.
        max_nbytes=None,
        temp_folder=gettempdir(),
        inner_max_num_threads=max(default_jobs() // jobs, 1),
        idle_worker_timeout=_IDLE,
        initializer=_set_up_worker,
        # If the paths differ from the running workers' paths, new workers start.
        initargs=(os.getpid(), str(Path.cwd()), tuple(sys.path)),
    )
    try:
        with warnings.catch_warnings(), ExitStack() as stack:
            warnings.filterwarnings("ignore", message=".* worker|.* tasks which were still")
            with _interruptions_deferred():
                results = stack.enter_context(closing(parallel(calls)))
            yield results
    except BrokenProcessPool:
        raise KilledError(
            "a worker process was killed before its work was done; the system may have been out of "
            "memory or of processes (ulimit -u); use fewer --jobs"
        ) from None


def _check_threads(number: int) -> None:
    """Raise an `InputError` where a number of threads, which count as processes, cannot start."""
    # Where one of its own cannot, joblib prints tracebacks and waits for ever.
    ended, threads = threading.Event(), []
    try:
        for _ in range(number):
            thread = threading.Thread(target=ended.wait, daemon=True)
            thread.start()
            threads.append(thread)
    except RuntimeError:
        raise InputError(
            f"only {len(threads)} of {number} processes and threads can be started: use fewer "
            "--jobs, or raise the limit (ulimit -u)"
        ) from None
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _set_up_worker(parent: int, folder: str, module_paths: Sequence[str]) -> None:
    """Ignore the terminal, write private files, find modules, and end with the parent process."""
    for number in _OF_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o077)  # files are as private as the notes
    os.chdir(folder)
    sys.path += [path for path in module_paths if path not in sys.path]
    threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()


def _exit_with(parent: int) -> None:
    """End this process soon after its parent process."""
    if sys.platform == "win32":  # the id of the parent process does not change when it ends
        import ctypes  # noqa: PLC0415 - only there

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(0x00100000, False, parent)  # to wait for it
        kernel.WaitForSingleObject(handle, -1)  # which returns at once if it has ended already
    else:
        while os.getppid() == parent:
            time.sleep(0.1)
    os._exit(1)


@contextmanager
def _interruptions_deferred() -> Iterator[None]:
    """Start processes without interruption: Ctrl-C takes effect afterwards."""
    # A process that is started only halfway would fail with a traceback. Processes inherit the mask
    # of blocked signals, so that they do not react before they can ignore them.
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads are not interrupted
        return
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (*_OF_TERMINAL, signal.SIGTERM)}
    deferred = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in deferred:  # others end the process at once, or are ignored
        signal.signal(number, lambda number, frame: received.append(number))
    mask: Any = getattr(signal, "pthread_sigmask", lambda how, numbers: set())  # not on Windows
    # It starts the resource tracker. Otherwise the first process does, which unblocks the signals.
    get_context("spawn").Lock()
    before = mask(signal.SIG_BLOCK, _OF_TERMINAL)
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)
        for number, handler in deferred.items():
            signal.signal(number, handler)
        for number in received[:1]:
            signal.raise_signal(number)
