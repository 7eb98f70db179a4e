"""Work in a process of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from bootstrap.processes import KilledError, in_process


def count(send: Callable[[int], None], most: int) -> None:
    for number in range(most):
        send(number)


def fail(send: Callable[[int], None]) -> None:
    send(1)
    raise LookupError("nothing there")


def die(send: Callable[[int], None]) -> None:
    os._exit(1)


def wait(send: Callable[[int], None]) -> None:
    send(os.getpid())
    time.sleep(200)


def test_yields_what_the_work_sends() -> None:
    assert list(in_process(count, 3)) == [0, 1, 2]


def test_raises_what_the_work_raises() -> None:
    messages = in_process(fail)
    assert next(messages) == 1
    with pytest.raises(LookupError, match="nothing there"):
        next(messages)


def test_a_process_that_dies_is_an_error() -> None:
    with pytest.raises(KilledError, match="ended before"):
        list(in_process(die))


def test_a_process_that_nobody_listens_to_any_more_ends() -> None:
    messages = in_process(wait)
    number = next(messages)
    messages.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_process_ends_soon_after_the_one_it_works_for(launch: Any) -> None:
    """Its parent does not wait for it."""
    code = """if True:
        import multiprocessing, os, time
        from bootstrap.processes import end_with

        def work(parent):
            end_with(parent)
            time.sleep(200)

        worker = multiprocessing.get_context("fork").Process(target=work, args=(os.getpid(),))
        worker.start()
        os._exit(7)
        """
    assert launch.python(code).code == 7  # returns when nobody holds its output any more
