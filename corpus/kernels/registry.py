"""The compiled functions of all imported modules, and their compilation ahead of use.

Importing this module does not import numba, which takes half a second.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple


class Kernel(NamedTuple):
    """A compiled function.

    Parameters
    ----------
    dispatcher : numba dispatcher
        The function.
    signatures : tuple of str
        The types of its arguments in calls from Python code, in numba's notation.
    """

    dispatcher: Any
    signatures: tuple[str, ...]


#: The functions decorated by `corpus.kernels.compiled.compiled`, in the order of definition.
KERNELS: list[Kernel] = []


def warm_up(*modules: str, announce: Callable[[], None] | None = None) -> None:
    """Load or compile the machine code of compiled functions for their declared signatures.

    After this, calls with arrays from `corpus.kernels.compiled.kernel_array` compile nothing. Call
    it before other processes start: they load what this one compiled. Processes that call it at the
    same time wait for each other.

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
        from corpus.kernels.machine_code import compile_all  # noqa: PLC0415 - numba is slow to import

        compile_all(KERNELS, announce)
