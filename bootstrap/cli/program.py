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
    finally:
        ignore_ending_signals()
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is left to write would fail again as the interpreter closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # the reader of the output has closed it
            sys.stderr.write(f"bootstrap: the output cannot be written: {error.strerror}\n")
            code = code or FAILURE
    sys.exit(code)
