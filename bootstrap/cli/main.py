"""The command line: a thin layer over functions that can be called without it."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bootstrap.cli.logs import configured_logging, log_event, log_failure
from bootstrap.cli.signals import EndingSignals, ending_signals
from corpus.errors import InputError, escaped

#: Exit codes: an error of the system or an internal error, and a user error.
FAILURE, MISTAKE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its arguments are those of the process by default.

    Returns
    -------
    int
        0 on success; 2 after a user error; 130 after Ctrl-C, 143 after SIGTERM and 129 after
        SIGHUP; 1 after an error of the system, such as a full disk, or an internal error.
    """
    _escape_unencodable()
    with ending_signals() as signals:
        try:
            # Importing takes a moment, in which Ctrl-C must not end in a traceback.
            from bootstrap.cli.parser import build_parser  # noqa: PLC0415

            options = build_parser().parse_args(arguments)
            if options.main is None:
                options.parser.print_help(sys.stderr)
                return MISTAKE
            command = options.parser.prog.removeprefix("bootstrap ")
            with configured_logging(command, options.verbosity, options.log):
                return _run(options, signals)
        except InputError as error:  # the log file cannot be opened
            sys.stderr.write(f"bootstrap: {escaped(str(error))}\n")
            return MISTAKE
        except KeyboardInterrupt:
            message, code = signals.ending()
            with suppress(OSError):  # the terminal may be gone
                sys.stderr.write(f"bootstrap: {message}\n")
            return code


def _run(options: argparse.Namespace, signals: EndingSignals) -> int:
    """Run a command with logging configured, and log its end."""
    log_event("command started")
    code = 0
    try:
        options.main(options)
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Exception, KeyboardInterrupt) as error:
        # Whatever a signal led to, such as the error of a process that received it, too.
        was_ended = signals.first is not None or isinstance(error, KeyboardInterrupt)
        message, code = signals.ending() if was_ended else _ending_of(error)
        log_failure(" ".join(message.splitlines()), error)
    log_event("command ended", code=code)
    return code


def _ending_of(error: BaseException) -> tuple[str, int]:
    match error:
        case InputError():
            return str(error), MISTAKE
        case OSError(errno=errno.ENOSPC | errno.EFBIG | errno.EDQUOT, filename=None):
            # What commands write themselves is named: see `corpus.storage.atomic.WriteError`.
            return f"the output cannot be written: {error.strerror}", FAILURE
        case OSError():
            return str(error), FAILURE
        case MemoryError():
            return "out of memory: use smaller batches ([loop] batch) or fewer --jobs", FAILURE
        case _:  # its message may quote a note, so only its type and place are reported
            return f"internal error: {_place_of(error)}; please report it", FAILURE


def _place_of(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"


def _escape_unencodable() -> None:
    """Print escapes of characters that the encoding of the output lacks, as in a C locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
