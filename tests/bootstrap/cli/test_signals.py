"""Signals that end a command: nothing incomplete is left, and there is no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bootstrap.cli.main import EndingSignals, Terminated, ending_signals

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has other signals")

NOTE = b'{"id": "%d", "text": "Anna Puig"}\n'

#: Python imports this first: the program waits as it imports its first module, or as it
#: closes, until it is let go on.
PAUSES = """
import atexit, os, sys, time
from pathlib import Path

def pause():
    reached = Path(os.environ["REACHED"])
    reached.touch()
    while reached.exists():
        time.sleep(0.01)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "bootstrap.cli.main":
            pause()

if os.environ["PAUSE"] == "importing":
    sys.meta_path.insert(0, Finder())
else:
    atexit.register(pause)
"""


def wait_for(is_there: Callable[[], object]) -> None:
    """Wait until something is there."""
    for _ in range(6000):
        if is_there():
            return
        time.sleep(0.01)
    raise AssertionError("it is not there after a minute")


@contextmanager
def inherited(number: signal.Signals, handler: signal.Handlers) -> Iterator[None]:
    """Start processes that begin with this handler."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.fixture
def converting(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command that writes a file, and waits for more notes on standard input."""
    (tmp_path / "out").mkdir()
    with (
        inherited(signal.SIGHUP, signal.SIG_DFL),
        subprocess.Popen(
            [sys.executable, "-m", "bootstrap", "convert", "-", str(tmp_path / "out/notes.csv")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        process.stdin.write(b"".join(NOTE % number for number in range(20_000)))
        process.stdin.flush()
        wait_for(lambda: list((tmp_path / "out").glob(".notes.csv.*/content")))
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (signal.SIGINT, 130, b"bootstrap: interrupted\n"),
        (signal.SIGTERM, 143, b"bootstrap: ended by SIGTERM\n"),
        (signal.SIGHUP, 129, b"bootstrap: ended by SIGHUP\n"),
    ],
)
def test_a_signal_ends_a_command_and_nothing_is_left(
    converting, tmp_path, number, code, message
) -> None:
    converting.send_signal(number)
    assert converting.wait(60) == code
    assert converting.stderr.read() == message
    assert list((tmp_path / "out").iterdir()) == []


def test_a_hangup_that_is_ignored_ends_nothing(tmp_path: Path) -> None:
    """As after ``nohup``."""
    command = [sys.executable, "-m", "bootstrap", "convert", "-", str(tmp_path / "notes.csv")]
    with (
        inherited(signal.SIGHUP, signal.SIG_IGN),
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process,
    ):
        process.stdin.write(b"".join(NOTE % number for number in range(20_000)))
        process.stdin.flush()
        wait_for(lambda: list(tmp_path.glob(".notes.csv.*")))
        process.send_signal(signal.SIGHUP)
        process.communicate(NOTE % 0, timeout=60)
    assert process.returncode == 0
    assert (tmp_path / "notes.csv").exists()


@pytest.mark.parametrize(
    ("pause", "codes"), [("importing", (-signal.SIGINT, 130)), ("closing", (0,))]
)
def test_ctrl_c_is_no_traceback_while_it_imports_or_closes(tmp_path, pause, codes) -> None:
    (tmp_path / "sitecustomize.py").write_text(PAUSES)
    reached = tmp_path / "reached"
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, "-m", "bootstrap", "help"],
        env={**os.environ, "PYTHONPATH": path, "PAUSE": pause, "REACHED": str(reached)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        wait_for(reached.exists)
        process.send_signal(signal.SIGINT)
        reached.unlink()
        _, errors = process.communicate(timeout=60)
    assert b"Traceback" not in errors
    assert b"KeyboardInterrupt" not in errors
    assert process.returncode in codes


def test_signals_that_follow_at_once_are_ignored() -> None:
    signals = EndingSignals()
    with pytest.raises(Terminated):
        signals.handle(signal.SIGTERM, None)
    signals.handle(signal.SIGTERM, None)
    signals.handle(signal.SIGINT, None)
    assert signals.ending() == ("ended by SIGTERM", 143)
    signals._time -= 60  # as if the command did not end
    with pytest.raises(KeyboardInterrupt):
        signals.handle(signal.SIGINT, None)
    assert signals.ending() == ("ended by SIGTERM", 143)


def test_handlers_of_a_program_that_calls_a_command_are_kept() -> None:
    def own(number: int, frame: object) -> None:
        raise AssertionError

    before = signal.signal(signal.SIGTERM, own)
    try:
        with ending_signals():
            assert signal.getsignal(signal.SIGTERM) is own
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)
