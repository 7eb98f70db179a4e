"""Limits on what a file may contain, so that a small one cannot fill the memory.

A file of a few kilobytes can claim a billion words, or unpack to a thousand times its size. Limits
are checked before memory is taken.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from corpus.errors import InputError

#: What a file may contain for each of its bytes. Compressed text has 3 to 20 for each.
MOST_RATIO = 100
#: What any file may contain, in bytes.
ALWAYS = 1 << 24


def most_unpacked(size: int) -> int:
    """Return how many bytes a compressed file of `size` bytes may contain."""
    return max(ALWAYS, MOST_RATIO * size)


def unpacking_error(name: str, size: int) -> InputError:
    """Build the error of a compressed file that contains more than it may."""
    return InputError(
        f"{name} has {size:,} bytes and unpacks to more than {most_unpacked(size):,}, the limit "
        f"({MOST_RATIO} times as many, and at least {ALWAYS:,})"
    )


def refuse_more_than_memory(needed: int, what: str) -> None:
    """Raise an `InputError` if more memory is needed than is free; `what` needs it."""
    free = free_memory()
    if needed > free:
        raise InputError(
            f"{what} need {needed / 1e9:,.1f} GB of memory; {free / 1e9:,.1f} GB are free"
        )


def free_memory() -> float:
    """Return the bytes of memory that this process can take; infinity if that is unknown."""
    limits = [float("inf")]
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):  # in kB
                limits.append(int(line.split()[1]) * 1024)
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            with suppress(OSError, ValueError):
                pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
                limit -= pages * resource.getpagesize()
            limits.append(max(limit, 0))
    return min(limits)
