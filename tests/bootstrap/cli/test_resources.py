"""Commands that lack files, memory, threads, a working directory or standard streams."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bootstrap
from corpus.errors import InputError
from gazetteers.gazetteer import Gazetteer
from taggers.model_folder import errors_of_model
from tests.bootstrap.refusals import AS_READER

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")


def under(shell: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Carry out a command after a line of the shell, or with what follows the command in it."""
    before, _, after = shell.partition("|")
    command = [sys.executable, "-m", "bootstrap", *map(str, arguments)]
    return subprocess.run(
        ["sh", "-c", f'{before}\nexec "$@" {after}', "sh", *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_end_in_a_line_and_their_numbers_are_not_those_of_files(
    streams: str, project: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.jsonl"
    done = under(f"|{streams}", "convert", project / "gold.jsonl", target)
    assert target.read_text() == (project / "gold.jsonl").read_text()
    message = "bootstrap: the output cannot be written: Bad file descriptor\n"
    expected = {">&-": (1, message), "2>&-": (0, "")}.get(streams, (1, ""))
    assert (done.returncode, done.stderr) == expected
    version = under(f"|{streams}", "--version")
    assert (version.returncode, version.stderr) == expected


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("ulimit -v 700000", "the address space is limited to 700,000 kB (ulimit -v); at least"),
        ("ulimit -n 8", "model cannot be read: Too many open files; raise the limit (ulimit -n)"),
        ("mkdir gone; cd gone; rmdir ../gone", "the working directory cannot be used: No such"),
    ],
)
def test_what_is_lacking_is_named_in_a_line(limit, message, project, finished, tmp_path) -> None:
    model = finished / "best" / "model"
    done = under(f"cd {tmp_path}; {limit}", "tag", model, project / "gold.jsonl", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
    assert message in done.stderr


@pytest.mark.parametrize("limit", [8, 14])
def test_a_lack_of_files_for_processes_is_named_in_a_line(limit, project, tmp_path) -> None:
    source, target = project / "unlabeled.jsonl", tmp_path / "new"
    done = under(f"ulimit -n {limit}", "embed", "train", source, "-o", target, "--jobs", 2)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done
    assert "Too many open files" in done.stderr
    assert "; raise the limit (ulimit -n)" in done.stderr


@pytest.mark.skipif(not shutil.which("setpriv"), reason="it needs the programs of util-linux")
@pytest.mark.parametrize(
    "command",
    [
        "embed train {}/unlabeled.jsonl --output",
        pytest.param("run {}/config.toml --out", marks=pytest.mark.slow),
    ],
)
def test_a_lack_of_processes_is_named_in_a_line(command, project, tmp_path) -> None:
    """Which joblib waits for, or prints tracebacks about."""
    tmp_path.chmod(0o777)
    words = [*command.format(project).split(), str(tmp_path / "new"), "--jobs", "2"]
    program = [*AS_READER, "prlimit", "--nproc=8", sys.executable, "-m", "bootstrap", *words]
    done = subprocess.run(program, check=False, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    assert "of 14 processes and threads can be started: use fewer" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EIO])
def test_an_error_of_the_system_says_nothing_of_a_model(number: int) -> None:
    with pytest.raises(InputError) as caught, errors_of_model(Path("m"), "crf"):
        raise OSError(number, "x", "m/hashes.npy")
    assert str(caught.value).startswith(f"m/hashes.npy cannot be read: {os.strerror(number)}")


def test_a_lack_of_memory_is_no_damage(project, finished, tmp_path, command, monkeypatch) -> None:
    names, notes = tmp_path / "names.parquet", tmp_path / "notes.parquet"
    Gazetteer.from_table(pa.table({"term": ["anna"], "class": ["name"], "count": [3]})).save(names)
    assert command("convert", project / "gold.jsonl", notes).code == 0

    def fail(*_: object, **named: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 99 failed")

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", fail)
    for words in (
        ("convert", notes, tmp_path / "out.jsonl"),
        ("gazetteer", "show", names),
        ("show", finished),
        ("show", finished, "--verify"),
    ):
        done = command(*words)
        assert (done.code, done.err.count("\n")) == (2, 1), done
        assert ".parquet cannot be read: Cannot allocate memory" in done.err


def test_of_a_description_that_cannot_be_read_nothing_else_is_said(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise OSError(errno.EACCES, "x", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    model = finished / "best" / "model"
    with pytest.raises(InputError) as caught:
        bootstrap.load(model)
    assert str(caught.value) == f"{model}/model.json cannot be read: {os.strerror(errno.EACCES)}"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it looks for threads in /proc")
def test_reading_needs_no_thread(launch: Any, tmp_path: Path) -> None:
    """Arrow hangs or crashes where its own threads cannot start."""
    code = """if True:
        import os, sys
        from pathlib import Path
        from corpus.document import Document
        from corpus.errors import Problems
        from corpus.formats import read, write
        from gazetteers.gazetteer import Gazetteer
        import pyarrow as pa
        folder = Path(sys.argv[1])
        before = os.listdir("/proc/self/task")
        write([Document("a", "Anna")], folder / "notes.parquet")
        assert len(list(read(folder / "notes.parquet", problems=Problems()))) == 1
        table = pa.table({"term": ["anna"], "class": ["name"], "count": [3]})
        Gazetteer.from_table(table).save(folder / "names.parquet")
        assert Gazetteer.load(folder / "names.parquet").sizes()[0].terms == 1
        print(len(os.listdir("/proc/self/task")) - len(before))
    """
    done = launch.python(code, tmp_path)
    assert done.all == "0\n"
