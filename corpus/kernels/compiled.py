"""Functions compiled to machine code by numba, with the argument types that they are compiled for.

Machine code is kept on disk, so that one process compiles and the others load. A function is stale
when its own file changes; numba does not notice a change of a function that it calls in another
file, so delete ``__pycache__`` after editing one of those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from corpus.kernels.registry import KERNELS, Kernel

#: An argument of a compiled function: an array of any type.
Array = npt.NDArray[Any]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_ScalarT = TypeVar("_ScalarT", bound=np.generic)

#: Without wrappers for C code, which are never called and take long to compile.
_OPTIONS = {"nogil": True, "no_cfunc_wrapper": True}

_REALS = ("float32", "float64")


def compiled(
    *signatures: str,
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Compile a function, at `corpus.kernels.registry.warm_up` or else when it is first called.

    The machine code is kept beside the source, or else in the cache folder of the user. Where
    neither can be written, every process compiles anew.

    Parameters
    ----------
    *signatures : str
        Types of the arguments, in numba's notation, such as ``"int32[::1], int64"``. ``real``
        stands for float32 and float64, which makes two signatures. None for a function that only
        other compiled functions call: it is compiled with them.
    """
    expanded = tuple(
        f"({signature.replace('real', real)},)"
        for signature in signatures
        for real in (_REALS if "real" in signature else _REALS[:1])
    )
    njit: Callable[..., Any] = numba.njit  # its own types lose those of the function

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        try:
            dispatcher = njit(function, cache=True, **_OPTIONS)
        except RuntimeError:  # numba found no folder that it can write
            dispatcher = njit(function, **_OPTIONS)
        KERNELS.append(Kernel(dispatcher, expanded))
        kernel: Callable[_Arguments, _Result] = dispatcher
        return kernel

    return decorate


def kernel_array(array: npt.NDArray[_ScalarT]) -> npt.NDArray[_ScalarT]:
    """Convert an array to the layout that compiled functions are declared for.

    Parameters
    ----------
    array : ndarray
        For instance memory-mapped, read-only as those from Arrow are, or a slice with gaps.

    Returns
    -------
    ndarray
        C-contiguous, aligned and writable: the same data where possible, else a copy.
    """
    return np.require(array, requirements=["C", "A", "W", "E"])
