"""Commands that are refused."""

from collections.abc import Callable
from typing import Any


def refusal(command: Callable[..., Any], *arguments: Any) -> str:
    """Return what a refused command says."""
    done = command(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    message: str = done.err
    return message
