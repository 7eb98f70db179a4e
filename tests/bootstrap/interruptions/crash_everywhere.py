"""Carry out a command again and again, each time killed one step on disk later, and continue it.

A script, since it forks: nothing else may go on in the process. Its arguments are a folder to work
in and a command, which ends in the option that names its folder. It makes a folder for every place
at which the command can be killed, and prints their names; the last one was not killed.
"""

import faulthandler
import itertools
import os
import re
import sys
from pathlib import Path
from typing import Any

import sklearn.model_selection  # noqa: F401 - imported once, before the forks

from bootstrap.advice.advice import Advice
from bootstrap.cli import display as _  # noqa: F401
from bootstrap.cli.main import main
from bootstrap.execution import parallel_tagger
from bootstrap.experiments import runner as experiment_runner
from bootstrap.runs import runner
from bootstrap.runs.folder import Run
from corpus.kernels.compiled import warm_up
from corpus.storage.atomic import write_atomically
from taggers import make_tagger
from taggers.base import kernels_of
from taggers.registry import BUILTIN
from tests.bootstrap.work_here import in_processes_here

KILLED = 99

#: The time after which a process is taken for hanging: it shows where, and ends.
SECONDS = 120

#: What changes a folder; between them, files that are not in their place yet are written.
STEPS = {"os.rename", "os.link", "os.mkdir", "os.symlink", "shutil.rmtree", "shutil.copytree"}

#: What is in an iteration of a run of an experiment, where a run alone takes the same steps.
SKIPPED = re.compile("/runs/[^/]+/[^/]+/iterations/")


def write_short_page(run: Run) -> None:
    """Write a page that takes no time to build."""
    write_atomically(run.folder / "report.html", b"a page")


def kill_at(place: int, folder: str) -> None:
    """End this process before the step of this number in a folder, as SIGKILL does."""
    places = itertools.count(1)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        paths = [str(argument) for argument in arguments if str(argument).startswith(folder)]
        here = any(not SKIPPED.match(path, len(folder)) for path in paths)
        if event in STEPS and here and next(places) == place:
            os._exit(KILLED)

    sys.addaudithook(hook)


def run(arguments: list[str], folder: Path, place: int) -> int:
    """Carry out a command in a process of its own and return its exit code."""
    process = os.fork()
    if not process:
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        kill_at(place, str(folder))
        os._exit(main([*arguments, str(folder)]))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


if __name__ == "__main__":
    # What is compiled is loaded once, before the forks.
    for kind in BUILTIN.values():
        options: Any = kind.options_type()
        named = {"names": ("census-es",)} if "names" in options.__dataclass_fields__ else {}
        warm_up(*kernels_of(make_tagger(kind.name, options(**named))))
    parallel_tagger.in_processes = experiment_runner.in_processes = in_processes_here
    runner.write_run_page = write_short_page
    advice = Advice(("a",), 1, (), (), ())
    runner.advise = lambda *arguments, **others: advice  # it takes seconds
    out, *arguments = sys.argv[1:]
    names = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for place in itertools.count(1):
        folder = Path(out) / f"killed-at-{place:03d}"
        code = run(arguments, folder, place)
        again = run(arguments, folder, 0) if code == KILLED else code
        os.write(names, f"{folder.name}: {code}, {again}\n".encode())
        if code != KILLED:
            break
