"""Signals that end a command: Ctrl-C, SIGTERM and SIGHUP, all in the same way.

The first one is raised as an exception, so that the command ends its processes and removes what it
has not completed. Others that follow at once are ignored: they would interrupt that.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: The signals; Windows has no SIGHUP.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

#: Seconds in which further signals are ignored.
_PATIENCE = 10.0

#: The exit code of a process that a signal has ended is this and the number of the signal.
_BASE = 128


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C that ends the command."""


class EndingSignals:
    """The signals that a command has received."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None  # the first one
        self._time = 0.0

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Raise the first signal as an exception, and one that comes much later."""
        if self.first is not None and time.monotonic() - self._time < _PATIENCE:
            return
        self.first, self._time = self.first or signal.Signals(number), time.monotonic()
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    def ending(self) -> tuple[str, int]:
        """Return the message and the exit code of a command that was ended."""
        if self.first is None or self.first == signal.SIGINT:
            return "interrupted", _BASE + signal.SIGINT
        return f"ended by {self.first.name}", _BASE + self.first


@contextmanager
def ending_signals() -> Iterator[EndingSignals]:
    """Raise the signals that end a command as exceptions, within the context.

    Ignored signals, such as SIGHUP after ``nohup``, remain ignored, and handlers of a program that
    calls the command line are kept.
    """
    signals = EndingSignals()
    before = {}
    if threading.current_thread() is threading.main_thread():  # no other thread may set handlers
        for number in ENDING:
            handler = signal.getsignal(number)
            if handler in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = handler
                signal.signal(number, signals.handle)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_ending_signals() -> None:
    """Ignore the signals that end a command, as the process ends anyway."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
