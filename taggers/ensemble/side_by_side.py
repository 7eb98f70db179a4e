"""Training the members of an ensemble side by side, with one progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from taggers.base import Progress

#: The training steps that are reported for each member, whatever the member itself counts.
_STEPS = 100


class _StoppedError(Exception):
    """Ends the training of a member, because another one failed."""


class MemberProgress:
    """The progress of an ensemble, from the progress of its members; see `EnsembleTagger.fit`."""

    def __init__(self, report: Progress | None, members: int) -> None:
        self._report = report
        self._done = [0] * members
        self._lock = threading.Lock()
        self.stopped = False

    def callback(self, number: int) -> Progress:
        """Return a callback for the progress of one member."""

        def part(done: int, total: int) -> None:
            if self.stopped:
                raise _StoppedError
            share = min(done / total, 1.0) if total else 0.0
            with self._lock:
                self._done[number] = int(_STEPS * share)
                if self._report:
                    self._report(sum(self._done), _STEPS * len(self._done))

        return part


def run_side_by_side(
    work: Callable[[int], None],
    in_processes: Sequence[int],
    others: Sequence[int],
    progress: MemberProgress,
) -> None:
    """Call a function with numbers: the first ones in threads, and the others in this thread.

    If a call fails, the threads end as soon as they report progress.
    """
    import joblib  # noqa: PLC0415 - it takes a quarter of a second, which tagging need not wait for

    with ThreadPoolExecutor(joblib.cpu_count()) as threads:
        futures = [threads.submit(work, number) for number in in_processes]
        try:
            for number in others:
                work(number)
            for future in as_completed(futures):
                future.result()
        except BaseException:
            progress.stopped = True
            for future in futures:
                future.cancel()
            raise
