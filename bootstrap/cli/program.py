"""The program ``bootstrap``: the command line as a separate process."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run the command line, and end the process with its exit code.

    Ctrl-C never ends in a traceback. During imports, there is nothing to clean up, so the process
    just ends. While the interpreter closes, it ends anyway.
    """
    _open_closed_streams()
    # Its threads may not be allowed to start. They would be idle: see `taggers.threads`.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ["PYTHONSAFEPATH"] = "1"  # no process that it starts imports from the current folder
    from bootstrap.cli.main import (  # noqa: PLC0415 - after Ctrl-C has been set
        FAILURE,
        ignore_ending_signals,
        main,
    )

    try:
        code = main()
    except SystemExit as stop:  # of argparse
        code = int(stop.code or 0)
    finally:
        ignore_ending_signals()
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is left to write would fail again as the interpreter closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Unless the reader of the output has closed it, or a message has told of an error.
        if not isinstance(error, BrokenPipeError) and not code:
            sys.stderr.write(f"bootstrap: the output cannot be written: {error.strerror}\n")
            code = FAILURE
    sys.exit(code)


def _open_closed_streams() -> None:
    """Open standard streams that are closed, so that no file takes their numbers."""
    # Standard output reports an error at the first text that is written, and messages are dropped.
    for number, (name, flags) in enumerate(
        (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
    ):
        if getattr(sys, name) is None:
            os.set_inheritable(os.open(os.devnull, flags), True)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
