"""The compiled functions of all imported modules, and their compilation ahead of use.

Importing this module does not import numba, which takes half a second.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kernel:
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

    After this, calls with arrays from `corpus.kernels.compiled.kernel_array` compile nothing.

    Parameters
    ----------
    *modules : str
        Modules to import first. The functions of all imported modules are loaded or compiled.
    announce : callable, optional
        Called once before the first compilation, which may take long.
    """
    for name in modules:
        importlib.import_module(name)
    if not KERNELS:
        return
    from numba.core.event import Listener, install_listener  # noqa: PLC0415 - numba is slow to import
    from numba.core.sigutils import normalize_signature  # noqa: PLC0415

    class Announcer(Listener):
        """A listener that calls `announce` when the first compilation starts."""

        announced = announce is None

        def on_start(self, event: Any) -> None:
            if not self.announced and announce is not None:
                self.announced = True
                announce()

        def on_end(self, event: Any) -> None:
            """Ignore the end of a compilation."""

    with install_listener("numba:compile", Announcer()):
        for kernel in KERNELS:
            for signature in kernel.signatures:
                arguments, _ = normalize_signature(signature)  # type: ignore[no-untyped-call]
                kernel.dispatcher.compile(arguments)
