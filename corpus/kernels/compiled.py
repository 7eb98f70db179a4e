"""Functions compiled to machine code by numba, with the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from corpus.kernels.machine_code import code_folder
from corpus.kernels.registry import KERNELS, Kernel

#: An argument of a compiled function: an array of any type.
Array = npt.NDArray[Any]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_ScalarT = TypeVar("_ScalarT", bound=np.generic)

#: Without wrappers for C code, which are never called and take long to compile.
_OPTIONS = {"nogil": True, "no_cfunc_wrapper": True}

#: Division as in C, and no special cases of NaN: loops over arrays become vector instructions.
_VECTORISED = {"error_model": "numpy", "fastmath": {"nnan", "nsz", "arcp", "contract"}}

_REALS = ("float32", "float64")

_config: Any = numba.config  # its attributes are made at run time


def compiled(
    *signatures: str, vectorised: bool = False
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Compile a function in `corpus.kernels.registry.warm_up`, or else at its first call.

    The machine code is kept in the cache folder of the user. If that cannot be used, every process
    compiles again, and the first one logs why.

    Parameters
    ----------
    *signatures : str
        Types of the arguments, in numba's notation, such as ``"int32[::1], int64"``. ``real``
        stands for float32 and float64, and so for two signatures. A function that only other
        compiled functions call needs no signature: its machine code is part of theirs.
    vectorised : bool
        Whether the function divides as in C and receives no NaN, so that its loops can be compiled
        to vector instructions.
    """
    expanded = tuple(
        f"({signature.replace('real', real)},)"
        for signature in signatures
        for real in (_REALS if "real" in signature else _REALS[:1])
    )
    options = {**_OPTIONS, **(_VECTORISED if vectorised else {})}
    njit: Callable[..., Any] = numba.njit  # numba's own annotations discard those of the function

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        has_source = Path(function.__code__.co_filename).is_file()
        folder = code_folder() if expanded and has_source else None
        before = _config.CACHE_DIR
        try:
            if folder:
                _config.CACHE_DIR = str(folder)
            dispatcher = njit(function, cache=folder is not None, **options)
        finally:
            _config.CACHE_DIR = before
        KERNELS.append(Kernel(dispatcher, expanded))
        kernel: Callable[_Arguments, _Result] = dispatcher
        return kernel

    return decorate


def kernel_array(array: npt.NDArray[_ScalarT]) -> npt.NDArray[_ScalarT]:
    """Convert an array to the layout that compiled functions are declared for.

    Parameters
    ----------
    array : ndarray
        Any array, such as a memory-mapped, read-only or strided array.

    Returns
    -------
    ndarray
        A C-contiguous, aligned and writable array: the same data if possible, else a copy.
    """
    return np.require(array, requirements=["C", "A", "W", "E"])
