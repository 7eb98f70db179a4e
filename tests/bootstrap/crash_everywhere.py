"""Carry out a run again and again, each time killed one step on disk later, and resume it.

A script, since it forks: nothing else may go on in the process. It makes a folder for every place
at which a run can be killed, and says their names; the last one was not killed.
"""

import faulthandler
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bootstrap.advice.advice import Advice
from bootstrap.cli import display as _  # noqa: F401 - imported once, before the forks
from bootstrap.cli.main import main
from bootstrap.execution import parallel_tagger
from bootstrap.runs import runner
from bootstrap.runs.folder import Run
from corpus.kernels.registry import warm_up
from corpus.storage import write_atomically
from taggers import make_tagger
from taggers.base import kernels_of
from taggers.kinds import BUILTIN

KILLED = 99

#: The time after which a process is taken for hanging: it shows where, and ends.
SECONDS = 120

#: What changes a folder; between them, files that are not in their place yet are written.
STEPS = {"os.rename", "os.link", "os.mkdir", "os.symlink", "shutil.rmtree", "shutil.copytree"}


def train_here(
    work: Any, tasks: Sequence[tuple[Any]], *, jobs: int, reuse: bool = False
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Train in this process, for speed."""
    for index, task in enumerate(tasks):
        work(lambda step: None, *task)
        yield index, (1, 1)


def write_short_page(run: Run) -> None:
    """Write a page that takes no time to build."""
    write_atomically(run.folder / "report.html", b"a page")


def kill_at(place: int, folder: str) -> None:
    """End this process before the step of this number in a folder, as SIGKILL does."""
    places = itertools.count(1)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        here = any(str(argument).startswith(folder) for argument in arguments)
        if event in STEPS and here and next(places) == place:
            os._exit(KILLED)

    sys.addaudithook(hook)


def run(command: str, arguments: list[str], folder: Path, place: int) -> int:
    """Carry out a run in a process of its own and give its exit code."""
    process = os.fork()
    if not process:
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        kill_at(place, str(folder))
        os._exit(main([command, *arguments, "--out", str(folder), "--resume", "--jobs", "1"]))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


if __name__ == "__main__":
    # What is compiled is loaded once, before the forks.
    for kind in BUILTIN.values():
        options: Any = kind.options_type()
        named = {"names": ("census-es",)} if "names" in options.__dataclass_fields__ else {}
        warm_up(*kernels_of(make_tagger(kind.name, options(**named))))
    parallel_tagger.in_processes = train_here
    runner.write_run_page = write_short_page
    advice = Advice(("a",), 1, (), (), ())
    runner.advise = lambda *arguments, **others: advice  # it takes seconds
    out, command, *arguments = sys.argv[1:]
    names = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for place in itertools.count(1):
        folder = Path(out) / f"killed-at-{place:03d}"
        code = run(command, arguments, folder, place)
        again = run(command, arguments, folder, 0) if code == KILLED else code
        os.write(names, f"{folder.name}: {code}, {again}\n".encode())
        if code != KILLED:
            break
