"""Every module and a command work without what only POSIX or Linux has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

#: Modules and functions that Windows or macOS lack.
LACKING = """
import os, signal, sys

for name in ("fcntl", "resource", "pwd", "grp", "pty", "termios", "tty", "posix_ipc"):
    sys.modules[name] = None  # imports of it fail
for module, names in {
    os: ("sched_getaffinity", "memfd_create", "fork", "getuid", "geteuid", "O_NOFOLLOW"),
    signal: ("pthread_sigmask", "pthread_kill", "SIGKILL"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def no_links(*arguments, **options):
    raise OSError(1, "Operation not permitted")


os.link = os.symlink = no_links
"""

SCRIPT = """
import functools, importlib.util, json, pkgutil
from pathlib import Path


def send_twice(send, message):
    send(message)
    send(message)


if __name__ == "__main__":
    for package in ("corpus", "gazetteers", "taggers", "anonymizers", "bootstrap"):
        path = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(path, f"{package}."):
            if ".networks." in module.name and not importlib.util.find_spec("keras"):
                continue  # not installed, see the extra "neural"
            importlib.import_module(module.name)

    from bootstrap.cli.main import main
    from bootstrap.execution.processes import default_jobs, executor_for, in_processes
    from corpus.storage.atomic import folder_lock, write_link

    folder = Path(sys.argv[1])
    with folder_lock(folder):
        code = main(["convert", str(folder / "in.jsonl"), str(folder / "out.parquet")])
        write_link(folder / "best", Path("iterations") / "007")
    powers = list(executor_for(2).map(functools.partial(pow, 2), range(4)))
    sent = [message for _, message in in_processes(send_twice, [("a",)], jobs=1)]
    print(json.dumps([code, default_jobs() > 0, powers, sent]))
"""


def test_every_module_and_a_command_work_without_what_only_posix_has(tmp_path: Path) -> None:
    note = {"id": "a", "text": "Anna Puig", "spans": [{"start": 0, "end": 4, "label": "NAME"}]}
    (tmp_path / "in.jsonl").write_text(json.dumps(note) + "\n")
    (tmp_path / "script.py").write_text(LACKING + SCRIPT)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [0, True, [1, 2, 4, 8], ["a", "a"]]
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == ["Anna Puig"]
    assert (tmp_path / "best").read_text() == "iterations/007\n"
    names = {path.name for path in tmp_path.iterdir() if path.name != ".lock"}
    assert names == {"in.jsonl", "script.py", "out.parquet", "best"}
