"""Files of runs that were changed after they were written: found when they are used."""

import json
import random
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bootstrap.runs.folder import Run
from bootstrap.verification import verify
from corpus.errors import InputError
from tests.bootstrap.refusals import refusal

Command = Callable[..., Any]

#: What is written for people and other programs, and never read again.
OUTPUTS = {"report.html", "annotate.txt", ".lock"}


def read_again(path: Path) -> Any:
    """Read a file as the program understands it."""
    if path.suffix == ".json":
        return json.loads(path.read_bytes())
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return tomllib.loads(path.read_text()) if path.suffix == ".toml" else path.read_bytes()


def files_of(run: Path) -> list[Path]:
    """Return the files that the program reads again."""
    return sorted(
        path
        for path in run.rglob("*")
        if path.is_file() and path.name not in OUTPUTS and "best" not in path.parts
    )


def test_a_run_is_as_it_was_written(finished: Path, command: Command) -> None:
    done = command("show", finished, "--verify")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{len(files_of(finished)):,} files are as they were written\n"


@pytest.mark.slow
def test_a_flipped_bit_of_any_file_is_found(copied: Path) -> None:
    draw = random.Random(0)
    for path in files_of(copied):
        content, before = path.read_bytes(), read_again(path)
        for bit in draw.sample(range(8 * len(content)), min(12, 8 * len(content))):
            damaged = bytearray(content)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            try:
                verify(copied)
            except InputError as error:
                assert "\n" not in str(error)
            else:
                assert read_again(path) == before, (path, bit)
        path.write_bytes(content)
    verify(copied)


def test_a_file_that_is_missing_is_found(copied: Path) -> None:
    # Written again when the run is resumed.
    lost = {"metrics.parquet", "advice.json", "assessment.json", "ended.json"}
    for path in files_of(copied):
        if path.name in lost:
            continue
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(InputError):
            verify(copied)
        path.write_bytes(content)
    verify(copied)


@pytest.mark.parametrize("name", ["selected.parquet", "errors.parquet", "model/unit.json"])
def test_a_run_is_not_continued_with_files_that_have_changed(
    copied: Path, project: Path, command: Command, name: str
) -> None:
    shutil.rmtree(copied / "iterations" / "003")
    (copied / "metrics.parquet").unlink()
    path = copied / "iterations" / "002" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    message = refusal(command, "run", project / "config.toml", "--out", copied, "--resume")
    assert f"{path} is damaged" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "is damaged: it lacks the file unit.json"),
        (lambda path: path.write_text('{"unit": "line"}'), "unit.json is damaged"),
    ],
)
def test_a_model_does_not_tag_other_units(
    copied, project, tmp_path, command, change, message
) -> None:
    for model in (copied, copied / "best" / "model"):
        unit = Run(copied).best_model() / "unit.json"
        content = unit.read_bytes()
        change(unit)
        said = refusal(command, "tag", model, project / "seed.jsonl", tmp_path / "out.jsonl")
        assert message in said
        unit.write_bytes(content)


def test_the_model_of_another_iteration_is_not_used(copied, project, tmp_path, command) -> None:
    best = Run(copied).best_iteration()
    other = Run(copied).iteration(next(n for n in range(3) if n != best)).model_folder
    shutil.rmtree(Run(copied).iteration(best).model_folder)
    shutil.copytree(other, Run(copied).iteration(best).model_folder)
    message = refusal(command, "tag", copied, project / "seed.jsonl", tmp_path / "out.jsonl")
    assert "model.json is damaged: it is not the file that was saved" in message


def test_what_has_no_digests_is_refused(tmp_path: Path, command: Command) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        message = refusal(command, "show", path, "--verify")
        assert "has no digests to compare; expected a run" in message
