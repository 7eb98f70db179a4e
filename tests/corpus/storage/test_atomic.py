"""Files that are complete at every moment, folders that are locked, and nothing left behind."""

from __future__ import annotations

import errno
import os
import pickle
import re
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from corpus.errors import InputError
from corpus.storage.atomic import (
    WriteError,
    folder_lock,
    new_file,
    new_folder,
    publish_folder,
    refuse_existing,
    remove_partial,
    write_atomically,
    write_link,
)

PARTIAL = "partial-0123456789abcdef"

LOCKING = """
import sys
from pathlib import Path
from corpus.storage.atomic import folder_lock

with folder_lock(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""

WRITING = """
import sys
from pathlib import Path
from corpus.storage.atomic import write_atomically

sys.stdin.read()  # until all are started
for number in range(150):
    write_atomically(Path(sys.argv[1]) / str(number % 5), b"whole")
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_lock_ends_with_its_process_however_that_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOCKING, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(InputError, match="another process"), folder_lock(tmp_path):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        with folder_lock(tmp_path):
            assert mode(tmp_path / ".lock") == 0o600


def test_a_file_is_replaced_at_once_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert names(tmp_path) == ["file"]


def test_what_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def killed_writer(folder: Path, name: str) -> Path:
    """Return what a process left that was killed as it wrote a file of this name."""
    left = folder / f".{name}.{PARTIAL}"
    left.mkdir(mode=0o700)
    (left / "content").write_text("Anna Puig")
    (left / ".lock").touch()
    return left


def new_anything(folder: Path, how: str) -> None:
    """Write something of another name."""
    if how == "file":
        with new_file(folder / "new") as file:
            file.write(b"whole")
    elif how == "folder":
        with new_folder(folder / "new"):
            pass
    elif how == "link":
        write_link(folder / "new", Path("anything"))
    else:
        write_atomically(folder / "new", b"whole")


@pytest.mark.parametrize("how", ["file", "folder", "link", "replaced file"])
def test_whoever_writes_anything_removes_what_killed_processes_left(tmp_path, how) -> None:
    killed_writer(tmp_path, "old")
    killed_writer(tmp_path, "new")
    new_anything(tmp_path, how)
    assert names(tmp_path) == ["new"]


@pytest.mark.parametrize("how", ["file", "folder", "link", "replaced file"])
def test_nothing_else_is_removed(tmp_path: Path, how: str) -> None:
    """Neither what is written at the moment, nor what only has such a name."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "content").write_text("precious")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / f".file.{PARTIAL}").write_text("a file")
    (folder / f".link.{PARTIAL}").symlink_to(outside, target_is_directory=True)
    (killed_writer(folder, "other-content") / "mine").write_text("precious")
    (folder / f".lock-is-a-link.{PARTIAL}").mkdir(mode=0o700)
    (folder / f".lock-is-a-link.{PARTIAL}" / ".lock").symlink_to(outside / "content")
    (folder / f".of-everyone.{PARTIAL}").mkdir()
    (folder / f".of-everyone.{PARTIAL}").chmod(0o777)
    for name in (f"file.{PARTIAL}", f".x.{PARTIAL}.txt", ".x.partial-0"):
        (folder / name).mkdir(mode=0o700)
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    with new_file(folder / "live") as file:
        (live,) = folder.glob(".live.*")
        new_anything(folder, how)
        file.write(b"text")
        assert live.is_dir()
    actual = [path.relative_to(folder) for path in folder.rglob("*")]
    assert sorted(actual) == sorted([*before, Path("live"), Path("new")])
    assert (outside / "content").read_text() == "precious"


def test_a_target_that_exists_is_refused_after_what_was_left_is_removed(tmp_path: Path) -> None:
    """A process may be killed when its file is complete, and its staging folder still there."""
    (tmp_path / "file").write_text("whole")
    killed_writer(tmp_path, "file")
    with pytest.raises(InputError, match="exists: nothing is overwritten"):
        refuse_existing(tmp_path / "file")
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS])
@pytest.mark.parametrize("how", ["file", "folder", "replaced file"])
def test_a_full_disk_names_the_target_and_how_to_go_on(tmp_path, monkeypatch, how, error) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(error, os.strerror(error))

    (tmp_path / "old").write_text("as it was")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError) as raised:
        new_anything(tmp_path, how)
    expected = rf".*/new cannot be written: {os.strerror(error)}; nothing incomplete is kept.*"
    assert re.fullmatch(expected, str(raised.value))
    assert names(tmp_path) == ["old"]
    again = pickle.loads(pickle.dumps(raised.value))  # as from a process of training
    assert (str(again), again.errno) == (str(raised.value), error)


def test_a_full_disk_names_the_folder_that_would_have_been_complete(tmp_path: Path) -> None:
    def write_a_model() -> None:
        with new_folder(tmp_path / "model") as folder:
            write_atomically(folder / "weights", b"1")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(WriteError, match=r"/model cannot be written: No space left on device; "):
        write_a_model()
    assert names(tmp_path) == []


def test_threads_that_write_the_same_file_do_not_fail(tmp_path: Path) -> None:
    """Each may take what another one is writing for what a killed process left."""
    path, errors = tmp_path / "file", []

    def write(data: bytes) -> None:
        try:
            for _ in range(20):
                write_atomically(path, data)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(data * 1000,)) for data in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_bytes() in (b"a" * 1000, b"b" * 1000)
    assert names(tmp_path) == ["file"]


def test_processes_that_write_into_the_same_folder_do_not_disturb_each_other(tmp_path) -> None:
    """Each may remove the staging folder that another one has created and not yet locked."""
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    for process in processes:
        process.stdin.close()
        process.stdin = None
    assert [process.communicate()[1] for process in processes] == [""] * 8
    assert names(tmp_path) == ["0", "1", "2", "3", "4"]


def test_a_folder_appears_complete_and_private(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "folder"
    with new_folder(target) as folder:
        (folder / "file").write_text("text")
        assert not target.exists()
    assert names(target) == ["file"]
    assert mode(target) == 0o700
    assert names(target.parent) == ["folder"]
    with pytest.raises(InputError, match="exists: nothing is overwritten"), new_folder(target):
        pass


def test_a_complete_folder_replaces_nothing(tmp_path: Path) -> None:
    for name in ("partial", "target"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="exists: nothing is overwritten"):
        publish_folder(tmp_path / "partial", tmp_path / "target")
    publish_folder(tmp_path / "partial", tmp_path / "other")
    assert names(tmp_path) == ["other", "target"]


@pytest.mark.parametrize("refused", [False, True])
def test_a_link_is_replaced_or_else_a_text_file(tmp_path, monkeypatch, refused) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(1, "Operation not permitted")

    if refused:
        monkeypatch.setattr(os, "symlink", refuse)
    for name in ("one", "two"):
        write_link(tmp_path / "link", Path("folder") / name)
        actual = (
            (tmp_path / "link").read_text()
            if refused
            else (tmp_path / "link").readlink().as_posix()
        )
        assert actual.strip() == f"folder/{name}"
    assert names(tmp_path) == ["link"]


def test_only_what_is_not_complete_is_removed(tmp_path: Path) -> None:
    kept = ["file", ".hidden", ".lock", ".file.partial"]
    for name in kept:
        (tmp_path / name).touch()
    (tmp_path / "deep").mkdir()
    for folder in (tmp_path, tmp_path / "deep"):
        (killed_writer(folder, "folder") / "content").unlink()
        (folder / f".folder.{PARTIAL}" / "content").mkdir()
    remove_partial(tmp_path)
    assert names(tmp_path) == sorted([*kept, "deep"])
    assert names(tmp_path / "deep") == []
