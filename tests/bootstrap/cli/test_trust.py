"""Runs, models and folders from others: no command imports what they name or contain."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from corpus.formats import write
from corpus.storage.fields import with_digest
from corpus.storage.manifest import DIGEST, FILES, manifest_bytes
from tests.bootstrap.changed_runs import rewrite_manifests

Command = Callable[..., Any]

KIND = "hostile:Tagger"
MODULE = 'from pathlib import Path\nPath(__file__).with_suffix(".imported").touch()\n'


@pytest.fixture
def hostile(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose taggers and models are all of a class of a module that can be imported."""
    copied.joinpath("hostile.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(copied))
    monkeypatch.delitem(sys.modules, "hostile", raising=False)
    configuration = copied / "config.toml"
    tables = re.sub(r"(?m)^kind = .*", f'kind = "{KIND}"', configuration.read_text())
    tables = re.sub(r"(?m)^random_state = .*", "", tables)  # which experiments refuse
    configuration.write_bytes(with_digest(tables.rpartition("# blake2b")[0]))
    for model in copied.glob("iterations/*/model/model.json"):
        record = json.loads(model.read_bytes())
        digests = record.pop(FILES)
        del record[DIGEST]
        model.write_bytes(manifest_bytes({**record, "kind": KIND}, digests))
    rewrite_manifests(copied)
    return copied


#: What reads only records.
RECORDS = (
    "show {run}",
    "show {run} --json",
    "show {run} --verify",
    "show {run}/iterations/000/model --verify",
    "report {run} -o {new}/page.html --show-text --csv {new}/tables",
    "plot {run} -o {new}/f1.png",
    "convert {notes} {new}/notes.jsonl --labels {run}/config.toml",
    "evaluate {notes} {notes} --labels {run}/config.toml",
)
#: What needs the class.
NEEDING = (
    "tag {run} {notes} {new}/tagged.jsonl --jobs 1",
    "tag {run}/iterations/000 {notes} {new}/tagged.jsonl",
    "export {run} {new}/exported",
    "audit {run} --against census-es --notes {notes}",
    "check {run}/config.toml",
    "run {run}/config.toml --out {run} --resume",
    "active {run}/config.toml --out {run} --resume",
    "crossvalidate {run}/config.toml --out {new}/folds",
    "experiment {run}/config.toml --out {new}/experiment",
)


@pytest.mark.parametrize("line", [*RECORDS, *NEEDING])
def test_no_command_imports_the_class_that_a_run_names(
    line: str, hostile: Path, project: Path, tmp_path: Path, command: Command
) -> None:
    notes = project / "validation.jsonl"
    words = line.format(run=hostile, notes=notes, new=tmp_path / "new").split()
    if "--labels" in words:
        with (hostile / "config.toml").open("a") as file:
            file.write('[labels]\nPERSON = "PERSON"\n')
    done = command(*words)
    assert not (hostile / "hostile.imported").exists()
    if line in RECORDS:
        assert done.code == 0, done
        return
    assert done.code == 2 and f"add --trust {KIND} " in done.err
    done = command(*words, "--trust", KIND)
    assert done.code == 2 and "hostile:Tagger cannot be imported: AttributeError" in done.err
    assert (hostile / "hostile.imported").exists()


@pytest.mark.parametrize("line", [line for line in NEEDING if "config.toml" in line])
def test_a_run_is_one_without_its_list_of_files(
    line: str, hostile: Path, project: Path, tmp_path: Path, command: Command
) -> None:
    (hostile / "data.parquet").unlink()
    done = command(*line.format(run=hostile, new=tmp_path / "new").split())
    assert done.code == 2 and f"add --trust {KIND} " in done.err
    assert not (hostile / "hostile.imported").exists()


def test_no_function_imports_the_class_that_a_run_names(hostile: Path, tmp_path: Path) -> None:
    bootstrap.open_run(hostile).outcome()
    calls: list[Callable[..., object]] = [
        lambda **trust: bootstrap.load(hostile, **trust),
        lambda **trust: bootstrap.train(hostile / "config.toml", out=tmp_path / "new", **trust),
        lambda **trust: bootstrap.experiment(hostile / "config.toml", out=tmp_path / "x", **trust),
    ]
    for call in calls:
        with pytest.raises(bootstrap.InputError, match=re.escape(f'trust=["{KIND}"]')):
            call()
    assert not (hostile / "hostile.imported").exists()
    for call in calls:
        with pytest.raises(bootstrap.InputError, match="cannot be imported: AttributeError"):
            call(trust=[KIND])
    own = {"tagger": {"kind": KIND}, "initial_model": {"kind": "seed"}}
    with pytest.raises(bootstrap.InputError, match="cannot be imported: AttributeError"):
        bootstrap.train(hostile / "config.toml", out=tmp_path / "new", **own)  # the user names it


@pytest.mark.slow
@pytest.mark.processes
def test_nothing_is_imported_from_the_current_folder(copied, notes, tmp_path) -> None:
    """Neither a module, nor one of an entry point, nor one by a process that tags."""
    write(notes(2600, 7), tmp_path / "notes.jsonl")
    for name in ("joblib", "numba", "hostile"):
        (copied / f"{name}.py").write_text(MODULE)
    information = copied / "hostile-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[bootstrap.taggers]\nhostile = hostile:Tagger\n")
    (copied / "model").mkdir()
    (copied / "model/model.json").write_text('{"kind": "hostile"}')
    for model, code in (("model", 2), (".", 0)):
        words = ["tag", model, str(tmp_path / "notes.jsonl"), str(tmp_path / "tagged.jsonl")]
        command = [sys.executable, "-m", "bootstrap", *words, "--jobs", "2"]
        assert subprocess.run(command, cwd=copied, check=False).returncode == code
    assert not list(copied.glob("*.imported"))
