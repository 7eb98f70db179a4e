"""Executors: a function applied to many items, in this process, in others, or on a cluster.

Every executor returns the same results in the same order. To run on a cluster
(Dask, Ray, arrays of Slurm jobs), a class needs the three members of `Executor`, under these rules:

- The function is one of a module, or a `functools.partial` of one. The items, and what the partial
  binds, are plain values that pickle: numbers, strings, bytes, NumPy arrays, dataclasses of them.
  A batch of documents travels as Arrow bytes. So do the results.
- A model is never pickled. It travels as its path, on a disk that every worker can read, and its
  digest. The worker loads the model, refuses one with another digest, and keeps it for later items.
- Results come back in the order of the items. An exception of the function is raised in the caller;
  a worker that is lost is a `KilledError`.
- Workers do not outlive the process that they work for, and leave Ctrl-C to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

import joblib
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from bootstrap.execution.processes import KilledError, set_up_worker, sigint_blocked

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Applies functions to items.

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
        ...

    def close(self) -> None:
        """Release the workers; they are started again when needed."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class SerialExecutor(Executor):
    """Applies functions in this process, one item at a time."""

    shares_memory = True

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of a function; see `Executor`."""
        return map(function, items)

    def close(self) -> None:
        """Return; there is nothing to release."""


class ProcessExecutor(Executor):
    """Applies functions in processes of this machine (joblib's loky).

    The processes are shared by all executors of this process and wait for more work for some
    minutes, so that they keep the model that they loaded.

    Parameters
    ----------
    jobs : int
        Number of processes, at least 2.
    temp_folder : Path
        A folder for temporary files of joblib, which it writes only if necessary.
    """

    shares_memory = False

    def __init__(self, jobs: int, temp_folder: Path) -> None:
        self._jobs = jobs
        self._temp_folder = temp_folder
        self._started = False

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of a function; see `Executor`."""
        # By default, joblib writes large items to files (`max_nbytes`) and creates a folder in
        # shared memory (`temp_folder`).
        parallel = joblib.Parallel(
            n_jobs=self._jobs,
            return_as="generator",
            max_nbytes=None,
            temp_folder=str(self._temp_folder),
            initializer=set_up_worker,
            # Other paths of modules than those of running workers make new ones start.
            initargs=(os.getpid(), tuple(sys.path)),
        )
        self._started = True
        # A worker may be lost before the first items have all been handed out, or later.
        try:
            with sigint_blocked():
                results = parallel(joblib.delayed(function)(item) for item in items)
            yield from results
        except TerminatedWorkerError:
            raise KilledError(
                "a worker process was killed; the system may have been out of memory; use fewer "
                "--jobs"
            ) from None

    def close(self) -> None:
        """End the processes when they have finished their current items."""
        if self._started:
            get_reusable_executor().shutdown(wait=True)
            self._started = False


def executor_for(jobs: int, temp_folder: Path) -> Executor:
    """Return the executor for a number of processes on this machine."""
    return SerialExecutor() if jobs == 1 else ProcessExecutor(jobs, temp_folder)
