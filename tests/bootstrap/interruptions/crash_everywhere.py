"""Carry out a command again and again, each time disturbed one step on disk later, and repeat it.

A script, since it forks: nothing else may go on in the process. Its arguments are a folder to work
in, how to disturb (a key of `STEPS`), a folder that each attempt begins with a copy of, or nothing,
and the command, in which ``{}`` is the folder of the attempt. It prints what each attempt left as
JSON; the last one was not disturbed.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import hashlib
import importlib
import itertools
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from bootstrap import embedding_training
from bootstrap.advice.advice import Advice
from bootstrap.cli.commands import cluster
from bootstrap.cli.main import main
from bootstrap.execution import parallel_tagger
from bootstrap.runs.folder import Run
from corpus.kernels.compiled import warm_up
from corpus.storage.atomic import write_atomically
from tests.bootstrap.work_here import in_processes_here

KILLED = 99

#: The time after which a process is taken for hanging: it shows where, and ends.
SECONDS = 120

CREATING = {"os.rename", "os.link", "os.mkdir", "os.symlink"}
#: What a file system refuses when it is full, and what a process can be killed before; of a run,
#: which takes many steps, what changes its folder, but not what writes files beside their place.
STEPS = {
    "full": CREATING,
    "killed": CREATING | {"os.remove", "os.rmdir", "shutil.rmtree"},
    "run killed": CREATING | {"shutil.rmtree", "shutil.copytree"},
}

#: What is in an iteration of a run of an experiment, where a run alone takes the same steps.
SKIPPED = re.compile("/runs/[^/]+/[^/]+/iterations/")
#: What is beside its place, in a folder that is about to get a final name.
STAGED = re.compile(r".*/\.[^/]+\.partial-[0-9a-f]{16}/")


def disturb(how: str, place: int, folder: str) -> None:
    """End this process at the step of this number in a folder, or fill the disk from then on."""
    places, steps = itertools.count(1), STEPS[how]
    skipped = (SKIPPED, STAGED) if how == "run killed" else (SKIPPED,)

    def step() -> None:
        number = next(places)
        if how != "full" and number == place:
            os._exit(KILLED)
        if how == "full" and number >= place:
            raise OSError(errno.ENOSPC, "No space left on device")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
            if writes and str(path).startswith(folder) and not str(path).endswith(".lock"):
                step()
        elif event in steps:
            paths = [str(argument) for argument in arguments if str(argument).startswith(folder)]
            if not all(any(part.match(path, len(folder)) for part in skipped) for path in paths):
                step()

    flush = os.fsync

    def counted(descriptor: int) -> None:
        if str(Path(f"/proc/self/fd/{descriptor}").readlink()).startswith(folder):
            step()
        flush(descriptor)

    if how == "run killed":
        sys.addaudithook(lambda event, arguments: event == "open" or hook(event, arguments))
    else:
        os.fsync = counted
        sys.addaudithook(hook)


def run(words: list[str], folder: Path, how: str = "", place: int = 0) -> tuple[int, str]:
    """Carry out a command in a process of its own, and return its exit code and messages."""
    messages = folder.with_name(f"{folder.name}.txt")
    process = os.fork()
    if not process:
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        os.dup2(os.open(messages, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if how:
            disturb(how, place, str(folder))
        code = 1
        with contextlib.suppress(SystemExit):
            code = main([word.replace("{}", str(folder)) for word in words])
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code, messages.read_text(encoding="utf-8")


def contents(folder: Path) -> dict[str, str]:
    """Return a digest of each file in a folder by its name.

    A file may name the folder, which is another one in each attempt. Events have the time at which
    they were written.
    """
    here = str(folder).encode()
    return {
        path.relative_to(folder).as_posix(): ""
        if path.is_dir() or path.is_symlink() or "tfevents" in path.name
        else hashlib.sha256(path.read_bytes().replace(here, b"{}")).hexdigest()
        for path in sorted(folder.rglob("*"))
    }


def import_modules_of(words: list[str], folder: Path) -> None:
    """Import what a command imports, once for all attempts."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        main([word.replace("{}", str(folder)) for word in words])
        os.write(writer, " ".join(sys.modules).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as names:
        loaded = names.read().split()
    os.waitpid(process, 0)
    for name in loaded:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def hurry_runs() -> None:
    """Load what is compiled before the forks, and leave out of runs what takes seconds."""
    from bootstrap.experiments import runner as experiment_runner
    from bootstrap.runs import runner
    from taggers import make_tagger
    from taggers.base import kernels_of
    from taggers.registry import BUILTIN

    for kind in BUILTIN.values():
        options: Any = kind.options_type()
        named = {"names": ("census-es",)} if "names" in options.__dataclass_fields__ else {}
        warm_up(*kernels_of(make_tagger(kind.name, options(**named))))
    parallel_tagger.in_processes = experiment_runner.in_processes = in_processes_here

    def write_short_page(run: Run) -> None:
        write_atomically(run.folder / "report.html", b"a page")

    advice = Advice(("a",), 1, (), (), ())
    runner.write_run_page = write_short_page
    runner.advise = lambda *arguments, **others: advice


if __name__ == "__main__":
    embedding_training.in_processes = cluster.in_processes = in_processes_here
    out, how, prepared, *words = sys.argv[1:]
    if how == "run killed":
        hurry_runs()

    def begun(name: str) -> Path:
        """Return the folder of an attempt."""
        folder = Path(out) / name
        return Path(shutil.copytree(prepared, folder)) if prepared else folder

    import_modules_of(words, begun("first"))
    attempts = []
    for place in itertools.count(1):
        folder = begun(f"attempt-{place:03d}")
        code, messages = run(words, folder, how, place)
        attempt = {"name": folder.name, "code": code, "messages": messages}
        attempt["after"] = contents(folder)
        attempt["again"], attempt["said"] = run(words, folder) if code else (0, "")
        attempts.append({**attempt, "end": contents(folder)})
        if code != (1 if how == "full" else KILLED):
            break
    print(json.dumps(attempts))  # noqa: T201
