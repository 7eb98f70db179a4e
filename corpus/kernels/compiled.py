"""Functions compiled to machine code by numba, with the types of their arguments.

numba keeps the code in a folder of the user: one process compiles, and others load. The name of the
folder has a digest of the source of all kernels, because numba notices changes of a function, but
not of the functions that it calls.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import itertools
import logging
import multiprocessing
import os
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from filelock import FileLock

#: An argument of a compiled function: an array of any type.
Array = npt.NDArray[Any]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_ScalarT = TypeVar("_ScalarT", bound=np.generic)

#: Division as in C, and no special cases of NaN: loops over arrays become vector instructions.
_VECTORISED = {"error_model": "numpy", "fastmath": {"nnan", "nsz", "arcp", "contract"}}

_REALS = ("float32", "float64")

#: The packages with kernels, and what each module with a kernel contains.
_PACKAGES = ("corpus", "gazetteers", "taggers")
_IMPORT = b"from corpus.kernels.compiled import"

_config: Any = numba.config  # its attributes are made at run time

_log = logging.getLogger(__name__)


#: The functions decorated by `compiled`, as numba's dispatchers, each with the types of its
#: arguments in calls from Python code, in numba's notation.
KERNELS: list[tuple[Any, tuple[str, ...]]] = []


def compiled(
    *signatures: str, vectorised: bool = False
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Compile a function in `warm_up`, or else at its first call.

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
    options = _VECTORISED if vectorised else {}
    njit: Callable[..., Any] = numba.njit  # numba's annotations discard the function's

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        has_source = Path(function.__code__.co_filename).is_file()
        folder = code_folder() if expanded and has_source else None
        before = _config.CACHE_DIR
        try:
            if folder:
                _config.CACHE_DIR = str(folder)
            dispatcher = njit(function, nogil=True, cache=folder is not None, **options)
        finally:
            _config.CACHE_DIR = before
        KERNELS.append((dispatcher, expanded))
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


def warm_up(*modules: str, announce: Callable[[], None] | None = None) -> None:
    """Load or compile the machine code of compiled functions for their declared signatures.

    After this, calls with arrays from `kernel_array` compile nothing. Call it before other
    processes start: they load what this one compiled. Processes that call it at the same time wait
    for each other.

    Parameters
    ----------
    *modules : str
        Modules to import first. The functions of all imported modules are loaded or compiled.
    announce : callable, optional
        Called once if a function has to be compiled, which may take long.
    """
    for name in modules:
        importlib.import_module(name)
    if KERNELS:
        folder = code_folder()
        with FileLock(folder / "lock") if folder else nullcontext():
            for dispatcher, signatures in KERNELS:
                for signature in signatures:
                    if _compile(dispatcher, signature) and announce:
                        announce()
                        announce = None


def _compile(dispatcher: Any, signature: str) -> bool:
    """Load or compile a function, and return whether it was compiled."""
    misses = sum(dispatcher.stats.cache_misses.values())
    while True:
        try:
            dispatcher.compile(signature)
            return bool(sum(dispatcher.stats.cache_misses.values()) > misses)
        except OSError as error:  # a full disk: the function, or one that it calls, is not saved
            _warn(f"machine code cannot be kept ({error.strerror}), and is compiled at every start")


@functools.cache
def code_folder() -> Path | None:
    """Return the folder of machine code, or None if it cannot be used."""
    try:
        base = _config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base).absolute() / "bootstrap-ner" / f"kernels-{_digest_of_sources()}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # such as a home folder that cannot be determined
        _warn(
            f"machine code cannot be kept ({getattr(error, 'strerror', None) or error}), and is "
            "compiled at every start; to keep it, set NUMBA_CACHE_DIR to a folder of yours"
        )
        return None
    return folder


def _digest_of_sources() -> str:
    """Return a digest of the modules with kernels, and of modules beside them for constants."""
    digest = hashlib.blake2b(f"{numba.__version__} {np.__version__}".encode(), digest_size=8)
    root = Path(__file__).parents[2]
    paths = (path for package in _PACKAGES for path in sorted((root / package).rglob("*.py")))
    for _, folder in itertools.groupby(paths, lambda path: path.parent):
        sources = [path.read_bytes() for path in folder]
        if any(_IMPORT in source for source in sources):
            digest.update(b"".join(sources))
    return digest.hexdigest()


@functools.cache
def _warn(message: str) -> None:
    """Log a warning once, in the process that the user started and not in each of its workers."""
    if multiprocessing.parent_process() is None:
        _log.warning("%s", message)
