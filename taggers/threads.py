"""Threads of the libraries that multiply matrices."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager

import scipy.linalg.cython_blas  # noqa: F401 - what products of matrices in compiled functions use
import threadpoolctl


@functools.cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Keep products of matrices to one thread: these are small, and waiting for others is slow."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited
