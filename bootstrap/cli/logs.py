"""Logging of the command line: messages on standard error, and a log file of JSON lines.

Only the command line configures logging. No message contains the text of a note.
"""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from corpus.errors import LONGEST_MESSAGE, InputError, one_line

#: The loggers of the project's packages; other packages' messages might quote notes.
_PACKAGES = ("bootstrap", "corpus", "gazetteers", "taggers")
#: The maximum number of characters of a message in the log file, whose lines hold more.
_MESSAGE = LONGEST_MESSAGE // 2
#: The number of innermost calls that tell the place of an error.
_FRAMES = 8
#: Enabled for INFO if progress may be shown.
_progress = logging.getLogger("bootstrap.progress")
_events = logging.getLogger("bootstrap.events")


@contextmanager
def configured_logging(command: str, level: int, file: Path | None) -> Iterator[None]:
    """Log messages of `level` and above to standard error within the context.

    A log file receives messages of INFO and above, or of `level` if that is lower. If it cannot be
    opened, an `InputError` is raised.
    """
    handlers: list[logging.Handler] = [_ErrorStream(level)]
    if file is not None:
        handlers.append(_LogFile(file, command, min(level, logging.INFO)))
    lowest = min(handler.level for handler in handlers)
    loggers = [logging.getLogger(name) for name in _PACKAGES]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(lowest)
        for handler in handlers:
            logger.addHandler(handler)
    _progress.setLevel(level)
    # Without any handler, Python would print warnings of other packages as they are.
    logging.getLogger().addHandler(others := logging.NullHandler())
    try:
        yield
    finally:
        _progress.setLevel(logging.NOTSET)
        logging.getLogger().removeHandler(others)
        for logger, old in zip(loggers, before, strict=True):
            logger.setLevel(old)
            for handler in handlers:
                logger.removeHandler(handler)
        for handler in handlers:
            handler.close()


def log_lines(logger: logging.Logger, level: int, lines: Iterable[str]) -> None:
    """Log a message for each line."""
    for line in lines:
        logger.log(level, "%s", line)


def log_event(message: str, **fields: Any) -> None:
    """Log an event with fields; standard error shows it only with ``--verbose``."""
    _events.info(message, extra={"fields": fields, "event": True})


def log_failure(message: str, error: BaseException) -> None:
    """Log the message with which a command fails.

    Debug messages and the log file also contain the place of the error. They contain neither the
    message of the exception nor values of variables, which may quote a note.
    """
    frames = traceback.extract_tb(error.__traceback__, limit=-_FRAMES)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    logger = logging.getLogger("bootstrap")
    logger.error("%s", message, extra={"fields": {"error": type(error).__name__, "at": places}})
    log_lines(logger, logging.DEBUG, [f"  {type(error).__name__}", *(f"  at {p}" for p in places)])


def progress_enabled() -> bool:
    """Return whether progress may be shown."""
    return _progress.isEnabledFor(logging.INFO)


class _ErrorStream(logging.StreamHandler[TextIO]):
    """A handler that writes messages to the current standard error, each in one plain line."""

    def __init__(self, level: int) -> None:
        logging.Handler.__init__(self, level)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        # A live display replaces it for a while, to print messages above itself.
        return sys.stderr

    def filter(self, record: logging.LogRecord) -> Any:
        if hasattr(record, "event") and self.level > logging.DEBUG:
            return False
        return super().filter(record)

    def format(self, record: logging.LogRecord) -> str:
        prefix = "bootstrap: " if record.levelno >= logging.ERROR else ""
        return one_line(prefix + record.getMessage())

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drop a message that cannot be written, such as to a closed stream."""


class _LogFile(logging.StreamHandler[TextIO]):
    """A handler that appends JSON lines to a file that only its owner can read."""

    def __init__(self, path: Path, command: str, level: int) -> None:
        super().__init__(_opened(path))
        self.setLevel(level)
        self._path, self._command, self._failed = path, command, False

    def emit(self, record: logging.LogRecord) -> None:
        if not self._failed:
            super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        row = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": one_line(record.getMessage(), _MESSAGE),
            "command": self._command,
        }
        fields = getattr(record, "fields", {})
        return json.dumps(row | ({"fields": fields} if fields else {}), default=str)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Continue the command without a log, and report that once."""
        self._failed = True
        line = one_line(f"bootstrap: {self._path} cannot be written: logging has ended")
        sys.stderr.write(f"{line}\n")

    def close(self) -> None:
        with suppress(OSError):  # reported when the message was written
            self.stream.close()
        super().close()


def _is_log(path: Path) -> bool:
    """Return whether a file is empty or begins as JSON lines do; nothing is appended to others."""
    with path.open("rb") as file:
        return file.read(1) in {b"", b"{"}


def _opened(path: Path) -> TextIO:
    try:
        if path.is_file() and not _is_log(path):
            raise InputError(f"{path} is no log: expected a new file, or JSON lines")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            path.chmod(0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")
    except OSError as error:
        raise InputError(f"log file {path} cannot be written: {error.strerror}") from None
