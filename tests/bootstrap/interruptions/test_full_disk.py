"""A disk that gets full: the error names the file, what is kept, and how to go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

resource = pytest.importorskip("resource", reason="there are no limits of file sizes on Windows")


def limited(size: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Carry out a command that cannot write files of more bytes, as under a quota."""
    return subprocess.run(
        [sys.executable, "-m", "bootstrap", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )


@pytest.mark.parametrize(
    ("name", "size"), [("out.jsonl", 4000), ("out.csv.gz", 400), ("out.parquet", 400), ("out", 10)]
)
def test_a_file_that_gets_too_large_leaves_nothing(project, tmp_path, name, size) -> None:
    (tmp_path / "precious").write_text("as it was")
    target = tmp_path / name
    done = limited(size, "convert", project / "gold.jsonl", target)
    assert done.returncode == 1
    assert done.stderr == (
        f"bootstrap: {target} cannot be written: File too large; nothing incomplete is kept, and "
        "what existed before is unchanged; make space, or name another place, and run the command "
        "again\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


@pytest.mark.slow
def test_a_run_says_what_is_kept_and_goes_on(project, tmp_path, finished, contents) -> None:
    """The page of a run is its largest file."""
    size = max(path.stat().st_size for path in (finished / "iterations").rglob("*.parquet")) + 1000
    command = ["run", project / "config.toml", "--out", tmp_path / "run", "--jobs", "1"]
    done = limited(size, *command)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"bootstrap: {tmp_path / 'run'}")
    assert message.endswith(
        " cannot be written: File too large; finished iterations are kept; make space, and "
        "continue with --resume"
    )
    assert "partial-" not in message
    assert not list((tmp_path / "run").rglob("*.partial-*"))
    assert limited(2**30, *command, "--resume").returncode == 0
    assert contents(tmp_path / "run") == contents(finished)


def test_embeddings_say_how_to_go_on(project: Path, tmp_path: Path) -> None:
    done = limited(
        3000, "embed", "train", project / "gold.jsonl", "-o", tmp_path / "e", "--min-count", "1"
    )
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"bootstrap: {tmp_path / 'e'}")
    assert message.endswith(
        "cannot be written: File too large; what is trained is kept; make space, and continue with "
        "the same command and --resume"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["help"], ["convert", "{}", "-"], ["completion", "bash"], ["show", "{run}"]]
)
def test_standard_output_that_is_full_is_one_line(project, finished, arguments) -> None:
    words = [argument.format(project / "gold.jsonl", run=finished) for argument in arguments]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bootstrap", *words],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    expected = f"bootstrap: the output cannot be written: {os.strerror(28)}"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, expected)
