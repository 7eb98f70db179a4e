"""The processes that remove semaphores and temporary folders of processes that were killed.

Multiprocessing and joblib each start one. If it is killed, another one is started, which knows
nothing of what the first one tracked, and writes a traceback for every name that is removed as the
program ends, although nothing is wrong.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: The modules that start them. That of joblib is slow to import.
_MODULES = ("multiprocessing.resource_tracker", "joblib.externals.loky.backend.resource_tracker")


def silence_trackers() -> None:
    """Let these processes write no messages, also those that replace one that was killed."""
    if os.name == "nt":  # where file descriptors are not inherited in this way
        return
    warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")
    for module in filter(None, map(sys.modules.get, _MODULES)):
        tracker: Any = vars(module)["_resource_tracker"]
        # Before Python 3.12, the process is started where it is checked whether there is one.
        name = "_launch" if hasattr(tracker, "_launch") else "ensure_running"
        if name not in vars(tracker):
            setattr(tracker, name, _silent(getattr(tracker, name)))


def _silent(launch: Callable[[], None]) -> Callable[[], None]:
    def launch_silently() -> None:
        with _no_standard_error():
            launch()

    return launch_silently


@contextmanager
def _no_standard_error() -> Iterator[None]:
    """Let processes that are started meanwhile inherit a standard error that nobody reads."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
