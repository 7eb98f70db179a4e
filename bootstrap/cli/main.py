"""The command line: a thin layer over functions that can be called without it.

The first signal that ends a command (Ctrl-C, SIGTERM or SIGHUP) is raised as an exception, so that
the command ends its processes and removes what it has not completed. Signals that follow at once
are ignored: they would interrupt the cleanup.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType

from bootstrap.cli.arguments import refuse_shared_paths
from bootstrap.cli.logs import configured_logging, log_event, log_failure
from bootstrap.cli.parser import build_parser
from corpus.errors import OPEN_FILES, InputError, one_line

#: Exit codes: an error of the system or an internal error, and a user error.
FAILURE, MISTAKE = 1, 2
#: The exit code of a process that a signal has ended is this plus the signal's number.
_SIGNALLED = 128

#: The signals that end a command; Windows has no SIGHUP.
_ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
#: The least address space in bytes. With less, libraries hang or crash as they are loaded.
_LEAST_SPACE = 2**30
#: Seconds in which further signals are ignored.
_PATIENCE = 10.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default with the arguments of the process.

    Returns
    -------
    int
        0 on success; 3 if a run is not good enough (``bootstrap assess``); 2 after a user error;
        130 after Ctrl-C, 143 after SIGTERM and 129 after SIGHUP; 1 after an error of the system,
        such as a full disk, or an internal error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whose encoding may lack characters
            stream.reconfigure(errors="backslashreplace")
    with ending_signals() as signals:
        try:
            options = build_parser().parse_args(arguments)
            if options.main is None:
                options.parser.print_help(sys.stderr)
                return MISTAKE
            _check_surroundings()
            refuse_shared_paths(options)
            command = options.parser.prog.removeprefix("bootstrap ")
            with configured_logging(command, options.verbosity, options.log):
                return _run(options, signals)
        except (InputError, OSError) as error:  # the log file cannot be opened, or --version shown
            message, code = _ending_of(error)
            sys.stderr.write(f"{one_line(f'bootstrap: {message}')}\n")
            return code
        except KeyboardInterrupt:
            message, code = signals.ending()
            with suppress(OSError):  # the terminal may be gone
                sys.stderr.write(f"bootstrap: {message}\n")
            return code


def _run(options: argparse.Namespace, signals: EndingSignals) -> int:
    """Run a command with logging configured, and log its end."""
    log_event("command started")
    code = 0
    umask = os.umask(0o077)  # what a command writes is as private as the notes
    try:
        module, _, function = options.main.partition(".")
        command = getattr(importlib.import_module(f"bootstrap.cli.commands.{module}"), function)
        with _cluster_of(options):
            code = command(options) or 0
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Exception, KeyboardInterrupt) as error:
        # A signal explains every later error, such as the error of a process that received it.
        was_ended = signals.first is not None or isinstance(error, KeyboardInterrupt)
        message, code = signals.ending() if was_ended else _ending_of(error)
        log_failure(message, error)
    finally:
        os.umask(umask)
    log_event("command ended", code=code)
    return code


def _cluster_of(options: argparse.Namespace) -> AbstractContextManager[object]:
    """Return a context in which the cluster that a command names does its work."""
    if not (cluster := getattr(options, "cluster", None)):
        return nullcontext()
    from bootstrap.execution.cluster import connected  # noqa: PLC0415 - slow, and rarely needed

    return connected(cluster)


def _check_surroundings() -> None:
    """Raise an `InputError` where no command could work."""
    try:
        Path.cwd()
    except OSError as error:
        raise InputError(
            f"the working directory cannot be used: {error.strerror}; change to another one"
        ) from None
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_SPACE:
        raise InputError(
            f"the address space is limited to {limit // 1024:,} kB (ulimit -v); at least "
            f"{_LEAST_SPACE // 1024:,} kB are needed"
        )


def _ending_of(error: BaseException) -> tuple[str, int]:
    match error:
        case InputError():
            return str(error), MISTAKE
        case OSError(errno=errno.ENOSPC | errno.EFBIG | errno.EDQUOT | errno.EBADF, filename=None):
            # What commands write themselves is named: see `corpus.storage.atomic.WriteError`.
            return f"the output cannot be written: {error.strerror}", FAILURE
        case OSError():
            advice = f"; {OPEN_FILES}" if error.errno == errno.EMFILE else ""
            return f"{error}{advice}", FAILURE
        case MemoryError():
            return "out of memory: use smaller batches ([loop] batch) or fewer --jobs", FAILURE
        case RuntimeError(args=("can't start new thread",)):
            return "no thread can be started: raise the limit of processes (ulimit -u)", FAILURE
        case _:  # its message may quote a note, so only its type and place are reported
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"
            return f"internal error: {place}; please report it", FAILURE


# Signals


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C that ends the command."""


class EndingSignals:
    """The signals that a command has received."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
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
            return "interrupted", _SIGNALLED + signal.SIGINT
        return f"ended by {self.first.name}", _SIGNALLED + self.first


@contextmanager
def ending_signals() -> Iterator[EndingSignals]:
    """Raise the signals that end a command as exceptions, within the context.

    Ignored signals, such as SIGHUP after ``nohup``, remain ignored, and handlers of a program that
    calls the command line are kept.
    """
    signals = EndingSignals()
    before = {}
    if threading.current_thread() is threading.main_thread():  # no other thread may set handlers
        for number in _ENDING:
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
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
