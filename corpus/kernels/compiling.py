"""Telling of functions that are compiled, which takes a while; numba need not be loaded for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Teller:
    """Who is to be told next."""

    tell: Callable[[], None] | None = None
    within = False


@contextmanager
def telling(tell: Callable[[], None]) -> Iterator[None]:
    """Tell of the first function that has to be compiled meanwhile.

    Within another one nothing is told twice: it is that one which tells.
    """
    if _Teller.within:
        yield
        return
    _Teller.tell, _Teller.within = tell, True
    try:
        yield
    finally:
        _Teller.tell, _Teller.within = None, False


def compiling() -> None:
    """Tell whoever waits for it that a function is compiled."""
    tell, _Teller.tell = _Teller.tell, None
    if tell is not None:
        tell()
