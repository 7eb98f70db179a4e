"""Functions applied to items on a cluster, by Dask.

Notes leave this machine only by TLS. Dask is configured as always: certificates are those of its
configuration files and of environment variables, such as ``DASK_DISTRIBUTED__COMM__TLS__CA_FILE``.
"""

from __future__ import annotations

import functools
import ipaddress
import logging
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import current_process
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from bootstrap.execution.environment import versions
from bootstrap.execution.processes import (
    Executor,
    Item,
    KilledError,
    Result,
    applying,
    carry_out,
    messages_of,
)
from corpus.errors import InputError
from corpus.storage.fields import Fields, parse_json

#: Seconds between two looks at the scheduler, and after which a silent one is gone.
_LOOK, _SILENT = 5, 15
#: Seconds for which a cluster may be without a worker that can work.
_NO_WORKERS = 60
#: The items that are sent ahead for each worker.
_AHEAD = 2

#: Held while a worker works: taggers are not made for several threads.
_WORKING = threading.Lock()


class ClusterExecutor(Executor):
    """Applies functions on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        A client of its scheduler; see `connected`.
    name : str
        The name of the scheduler, for errors.

    Raises
    ------
    InputError
        If the machines speak to each other without TLS, or there is no worker.
    """

    shares_memory = False

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._known: set[str] = set()
        self._looked, self._worked = 0.0, time.monotonic()
        self._workers = self._look()
        while not self._workers:
            if time.monotonic() - self._worked > _NO_WORKERS / 2:
                raise InputError(
                    f"{name} has no workers: start one, such as dask worker {name} --nthreads 1"
                )
            time.sleep(1)
            self._workers = self._look()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        call = functools.partial(_on_worker, versions(), function)
        waiting: deque[Any] = deque()
        try:
            for item in items:
                while len(waiting) >= _AHEAD * self._workers:
                    yield self._result(waiting.popleft())
                waiting.append(self._submit(call, item))
            while waiting:
                yield self._result(waiting.popleft())
        finally:
            self._cancel(waiting)

    def in_workers(
        self, work: Callable[..., None], tasks: Sequence[Sequence[Any]], *, folder: Path
    ) -> Iterator[tuple[int, Any]]:
        """Run a function on workers, once for each task, and yield the messages they send.

        It is `bootstrap.execution.processes.in_processes` on a cluster. Messages are written to
        files of a folder that all machines share. Without the folder, the work ends.
        """
        paths = [folder / str(index) for index in range(len(tasks))]
        for path in paths:
            path.touch()
        call = functools.partial(_on_worker, versions(), functools.partial(_in_worker, work))
        calls = zip(paths, tasks, strict=True)
        futures = [self._submit(call, (str(path), *task)) for path, task in calls]
        waiting = set(futures)

        def raise_errors() -> bool:
            if self._look_again():
                for future in [future for future in waiting if future.status != "pending"]:
                    self._result(future)
                    waiting.remove(future)
            return False

        try:
            yield from messages_of(paths, raise_errors)
            while waiting:  # all have ended, or one has failed
                raise_errors()
                time.sleep(0.1)
        finally:
            for path in paths:
                path.unlink(missing_ok=True)
            self._cancel(futures)

    def _cancel(self, futures: Iterable[Any]) -> None:
        with suppress(Exception):  # without a connection there is nothing to cancel
            self._client.cancel(list(futures))

    def _submit(self, call: Callable[[Item], Result], item: Item) -> Any:
        self._look_again()
        with warnings.catch_warnings():  # of the size of an item
            warnings.simplefilter("ignore", UserWarning)
            return self._client.submit(call, item, pure=False)

    def _result(self, future: Any) -> Any:
        """Wait for the result of a call."""
        from distributed import KilledWorker  # noqa: PLC0415 - slow, and an extra

        while True:
            try:
                result = future.result(timeout=_LOOK)
                break
            except TimeoutError:
                self._look_again()
            except CancelledError:
                self._refuse_silence()
            except KilledWorker:
                raise KilledError(
                    f"{self._name}: the same work ended several workers; they may have been out of "
                    "memory: start them with more (--memory-limit)"
                ) from None
            except (ImportError, RuntimeError):  # it cannot read the function
                raise InputError(
                    f"{self._name}: the scheduler cannot import bootstrap: install the same "
                    "packages on all machines"
                ) from None
        if isinstance(result, _Failure):
            result.raise_again()
        return result

    def _look_again(self) -> bool:
        """Ask the scheduler for its workers, unless that was just done."""
        if time.monotonic() - self._looked < _LOOK:
            return False
        if time.monotonic() - self._looked > _SILENT:  # there was something else to do meanwhile
            self._worked = time.monotonic()
        self._workers = self._look() or self._workers
        if time.monotonic() - self._worked > _NO_WORKERS:
            raise KilledError(
                f"{self._name} has no worker that works: all are gone, or use over 80 % of their "
                "memory (--memory-limit)"
            )
        return True

    def _look(self) -> int:
        """Return the number of workers that can work, after a check of how machines speak."""
        client = self._client
        if client.status == "closed" or client.scheduler is None:
            self._refuse_silence()
        try:
            known = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=_SILENT)
        except (OSError, TimeoutError):
            self._refuse_silence()
        for address in (known["address"], *known["workers"]):
            if not (address.startswith("tls://") or is_loopback(address)):
                raise InputError(
                    f"{self._name} would send notes to {address} without TLS: start the scheduler "
                    "and the workers with certificates (--protocol tls), or on this machine with "
                    "--host 127.0.0.1"
                )
        self._refuse_others([address for address in known["workers"] if address not in self._known])
        self._known = set(known["workers"])
        self._looked = time.monotonic()
        statuses = [worker["status"] for worker in known["workers"].values()]
        running = statuses.count("running")
        self._worked = self._looked if running else self._worked
        return running

    def _refuse_others(self, workers: list[str]) -> None:
        """Refuse workers with other versions, or without this package."""
        if not workers:
            return
        answers = self._client.run(_difference, versions(), workers=workers, on_error="return")
        for worker, answer in answers.items():
            is_there = not isinstance(answer, OSError)
            if isinstance(answer, Exception) and is_there:
                difference = "cannot import bootstrap: install the same packages on all machines"
            else:
                difference = answer if is_there else ""
            if difference:
                raise InputError(f"{self._name}: the worker {worker} {difference}")

    def _refuse_silence(self) -> NoReturn:
        raise KilledError(f"{self._name}: the scheduler is gone, or cannot be reached any more")


def is_loopback(address: str) -> bool:
    """Return whether an address, such as ``tcp://127.0.0.1:8786``, is of this machine alone."""
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def connected(cluster: str) -> Iterator[ClusterExecutor | None]:
    """Apply functions on a cluster for as long as the context lasts; "" is none.

    Parameters
    ----------
    cluster : str
        The address of a scheduler, such as ``tls://10.0.0.5:8786``, or the path of its file.

    Raises
    ------
    InputError
        If Dask is not installed, or the scheduler does not answer within 30 seconds, or has no
        worker, or does not use TLS.
    """
    if not cluster:
        yield None
        return
    try:
        from distributed import Client, Security  # noqa: PLC0415 - slow, and an extra
    except ImportError:
        raise InputError(
            "a cluster needs Dask: install it with pip install 'bootstrap-ner[cluster]'"
        ) from None
    address = _address(cluster)
    security = Security(require_encryption=not is_loopback(address))
    if address.startswith("tls:") and not _has_certificates(security):
        raise InputError(
            f"{address}: TLS needs certificates: name them in Dask's configuration, or set "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, __CLIENT__CERT and __CLIENT__KEY"
        )
    logger = logging.getLogger("distributed")  # it tells of each attempt to connect
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings(), ExitStack() as stack:
            # Of versions, which are checked.
            warnings.filterwarnings("ignore", module="distributed")
            try:
                client = Client(address, timeout=_SILENT, security=security, set_as_default=False)
            except (OSError, TimeoutError):
                raise InputError(
                    f"{address}: no scheduler answers (dask scheduler), or it has other "
                    "certificates"
                ) from None
            stack.callback(client.close, timeout=2)
            executor = ClusterExecutor(client, address)
            stack.enter_context(applying(executor))
            yield executor
    finally:
        logger.setLevel(level)


def _has_certificates(security: Any) -> bool:
    try:
        return bool(security.get_connection_args("client").get("ssl_context"))
    except (OSError, TypeError, ValueError):  # of a file that is missing or damaged
        return False


def _address(cluster: str) -> str:
    """Return an address, which may be in a scheduler file."""
    if "://" not in cluster:
        try:
            content = parse_json(Path(cluster).read_bytes(), cluster)
            cluster = Fields(content, cluster).text("address")
        except OSError:
            raise InputError(
                f"{cluster}: expected the address of a scheduler, such as tls://10.0.0.5:8786, or "
                "the file that it writes (dask scheduler --scheduler-file)"
            ) from None
    if not cluster.startswith(("tcp://", "tls://")):
        raise InputError(f"{cluster}: expected tls://HOST:PORT, or tcp:// on this machine")
    if not (cluster.startswith("tls://") or is_loopback(cluster)):
        raise InputError(f"{cluster}: notes leave this machine only by TLS; expected tls://")
    return cluster


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error on a worker, which names no text of notes: nothing is raised or logged there."""

    kind: type[InputError | KilledError]
    text: str

    def raise_again(self) -> NoReturn:
        raise self.kind(self.text)


def _on_worker(
    expected: Mapping[str, str], function: Callable[[Item], Result], item: Item
) -> Result | _Failure:
    """Apply a function on a worker."""
    if difference := _difference(expected):  # it came after the others were asked
        return _Failure(InputError, f"a worker {difference}")
    try:
        with _WORKING:
            return function(item)
    except InputError as error:
        return _Failure(InputError, str(error))
    except KilledError as error:
        return _Failure(KilledError, str(error))
    except MemoryError:
        text = "a worker is out of memory: start it with more (--memory-limit)"
        return _Failure(KilledError, text)
    except Exception as error:  # its message may contain text of notes
        place = traceback.extract_tb(error.__traceback__)[-1]
        name = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
        return _Failure(KilledError, f"internal error on a worker: {name}; please report it")


def _difference(expected: Mapping[str, str]) -> str:
    """Describe the versions of a worker that differ from those expected; empty if none."""
    here = versions()
    for name in {**expected, **here}:
        mine, other = here.get(name, "(none)"), expected.get(name, "(none)")
        if mine != other:
            return f"has {name} {mine}, and this machine {other}: install the same on both"
    return ""


def _in_worker(work: Callable[..., None], task: Sequence[Any]) -> None:
    """Carry out a task, which may start processes of its own."""
    if current_process().daemon:
        raise InputError(
            "runs start processes, which a worker may not: start workers with "
            "DASK_DISTRIBUTED__WORKER__DAEMON=false"
        )
    carry_out(work, *task)
