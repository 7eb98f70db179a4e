"""Functions compiled for this machine by numba, once: other processes read what one compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numba
import numpy.typing as npt
import scipy.linalg.cython_blas  # noqa: F401 - what products of matrices in compiled functions use
import threadpoolctl

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
