"""Something being done, as people are told of it."""

from __future__ import annotations

import time

from rich.text import Text


class Stage:
    """Something being done, since when, and how much of it is done.

    Parameters
    ----------
    name : str
        What it is.
    total : int
        How much there is to do; 0 where that is not known.
    what : str, optional
        What is counted; by default steps in training, and documents otherwise.
    """

    def __init__(self, name: str, total: int, what: str = "") -> None:
        self.name = name
        self.done = 0
        self.total = total
        self.what = what
        self._begin = time.monotonic()

    def text(self) -> Text:
        """Say what is being done, how fast and how long it will take."""
        if not self.name:
            return Text("")
        elapsed = time.monotonic() - self._begin
        if not self.done or elapsed <= 0:
            return Text(f"{self.name} ({elapsed:.0f} s)", style="dim")
        rate = self.done / elapsed
        what = self.what or ("steps" if "training" in self.name else "documents")
        if not self.total:
            told = f"{self.name}: {self.done:,} {what}, {_rate(rate)} a second ({elapsed:.0f} s)"
            return Text(told, style="dim")
        left = (self.total - self.done) / rate
        most = "at most " if what == "steps" else ""
        return Text(
            f"{self.name}: {self.done:,} of {most}{self.total:,} {what}, {_rate(rate)} a second, "
            f"{most}{left:.0f} s left",
            style="dim",
        )


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
