"""Functions compiled for this machine by numba, once: other processes read what one compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
import numpy.typing as npt
from numba.core.event import Listener, register

from corpus.kernels.compiling import compiling

#: What compiled functions get: an array of whatever type.
Array = npt.NDArray[Any]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def compiled(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Compile a function at its first call, or read what was compiled before.

    The machine code is kept beside the source, or else in the user's cache folder. Where neither
    can be written, every process compiles anew.
    """
    njit: Callable[..., Any] = numba.njit  # its own types forget those of the function
    try:
        found: Callable[_Arguments, _Result] = njit(function, cache=True, nogil=True)
    except RuntimeError:  # numba found no folder that it can write
        found = njit(function, nogil=True)
    return found


class _Compiling(Listener):
    def on_start(self, event: Any) -> None:
        compiling()

    def on_end(self, event: Any) -> None:
        """Do nothing."""


register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]
