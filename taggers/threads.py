"""Thread limits of the linear algebra libraries."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager

import scipy.linalg.cython_blas  # noqa: F401 - loads the BLAS that compiled functions call
import threadpoolctl


@functools.cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread.

    The matrix products here are small, so that synchronising threads costs more than it saves.
    """
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited
