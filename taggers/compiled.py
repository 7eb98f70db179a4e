"""Functions compiled for this machine by numba, once: other processes read what one compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numba
import numpy.typing as npt
import scipy.linalg.cython_blas  # noqa: F401 - what products of matrices in compiled functions use
import threadpoolctl
from numba.core.event import Listener, install_listener

#: What compiled functions get: an array of whatever type.
Array = npt.NDArray[Any]


@functools.cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Keep products of matrices to one thread: these are small, and waiting for others is slow."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call, or read what was compiled before.

    The machine code is kept beside the source, or else in the user's cache folder. Where neither
    can be written, every process compiles anew.
    """
    try:
        return numba.njit(function, cache=True, nogil=True)
    except RuntimeError:  # numba found no folder that it can write
        return numba.njit(function, nogil=True)


@contextmanager
def telling(tell: Callable[[], None]) -> Iterator[None]:
    """Tell of the first function that has to be compiled meanwhile, as that takes a while."""
    listener = _First(tell)
    with install_listener("numba:compile", listener):
        yield


class _First(Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, event: Any) -> None:
        if self._tell is not None:
            self._tell()
            self._tell = None

    def on_end(self, event: Any) -> None:
        """Do nothing."""
