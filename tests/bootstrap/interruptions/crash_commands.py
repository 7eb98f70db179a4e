"""Carry out a command again and again, each time disturbed one step on disk later, and repeat it.

A script, since it forks: nothing else may go on in the process. Its arguments are a folder to work
in, how to disturb (`killed` or `full`), a folder that each attempt begins with a copy of, and the
command, in which ``{}`` is the folder of the attempt. It prints what each attempt left as JSON.
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
import shutil
import sys
from pathlib import Path
from typing import Any

from bootstrap import embedding_training
from bootstrap.cli.commands import cluster
from bootstrap.cli.main import main
from tests.bootstrap.work_here import in_processes_here

KILLED = 99

#: The exit code of a command that could not be carried out as it was given.
MISTAKE = 2

#: The time after which a process is taken for hanging: it shows where, and ends.
SECONDS = 120

#: What a file system refuses when it is full, and what else a process can be killed before.
CREATING = {"os.rename", "os.link", "os.mkdir", "os.symlink"}
REMOVING = {"os.remove", "os.rmdir", "shutil.rmtree"}


def disturb(how: str, place: int, folder: str) -> None:
    """End this process at the step of this number in a folder, or fill the disk from then on."""
    steps = CREATING if how == "full" else CREATING | REMOVING
    places = itertools.count(1)

    def step() -> None:
        number = next(places)
        if how == "killed" and number == place:
            os._exit(KILLED)
        if how == "full" and number >= place:
            raise OSError(errno.ENOSPC, "No space left on device")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
            if writes and str(path).startswith(folder) and not str(path).endswith(".lock"):
                step()
        elif event in steps and any(str(argument).startswith(folder) for argument in arguments):
            step()

    flush = os.fsync

    def counted(descriptor: int) -> None:
        if str(Path(f"/proc/self/fd/{descriptor}").readlink()).startswith(folder):
            step()
        flush(descriptor)

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

    A file may name the folder, which is another one in each attempt.
    """
    here = str(folder).encode()
    return {
        path.relative_to(folder).as_posix(): ""
        if path.is_dir()
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


if __name__ == "__main__":
    embedding_training.in_processes = cluster.in_processes = in_processes_here
    out, how, prepared, *words = sys.argv[1:]
    first = Path(shutil.copytree(prepared, Path(out) / "first"))
    import_modules_of(words, first)
    found = []
    for place in itertools.count(1):
        folder = Path(shutil.copytree(prepared, Path(out) / f"{how}-{place:03d}"))
        code, messages = run(words, folder, how, place)
        after = contents(folder)
        again, said = run(words, folder) if code else (0, "")
        found.append(
            {
                "place": place,
                "code": code,
                "messages": messages,
                "after": after,
                "again": again,
                "said": said,
                "end": contents(folder),
            }
        )
        if code in (0, MISTAKE):
            break
    print(json.dumps({"before": contents(Path(prepared)), "attempts": found}))  # noqa: T201
