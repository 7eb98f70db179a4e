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


def run_side_by_side(
    work: Callable[[int, Progress], None], in_processes: Sequence[bool], progress: Progress | None
) -> None:
    """Call a function with the number of each member and a callback for its progress.

    Those with processes of their own are called in threads, and the others in this thread. If a
    call fails, the threads end as soon as they report progress.
    """
    import joblib  # noqa: PLC0415 - it takes a quarter of a second, which tagging need not wait for

    done, lock, stopped = [0] * len(in_processes), threading.Lock(), threading.Event()

    def run(number: int) -> None:
        def report(steps: int, total: int) -> None:
            if stopped.is_set():
                raise _StoppedError
            with lock:
                done[number] = int(_STEPS * min(steps / total, 1.0)) if total else 0
                if progress:
                    progress(sum(done), _STEPS * len(done))

        work(number, report)
        report(1, 1)  # training may need fewer steps than its maximum

    with ThreadPoolExecutor(joblib.cpu_count()) as threads:
        futures = [threads.submit(run, number) for number, own in enumerate(in_processes) if own]
        try:
            for number, own in enumerate(in_processes):
                if not own:
                    run(number)
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stopped.set()
            threads.shutdown(wait=False, cancel_futures=True)
            raise
