"""Every command that writes, killed at each of its steps on disk, and on a disk that gets full.

What it writes is then absent or complete, what existed before is unchanged, and the same command
ends as one that nobody disturbed. Those that make a run folder: see `test_killing`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bootstrap.interruptions.crash_everywhere import contents
from tests.bootstrap.interruptions.killing import attempts
from tests.bootstrap.refusals import AS_READER

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="it looks for open files in /proc"
)

_EMBED = "embed train {prepared}/notes.jsonl --normalise lower --dimension 4 --epochs 2 -o"

#: The commands, in which ``{}`` is a copy of what the fixture `prepared` makes. Embeddings name the
#: notes that they were trained on, which are therefore those of the original.
COMMANDS = {
    "convert": "convert {}/notes.jsonl {}/new/out.jsonl",
    "convert to gzip": "convert {}/notes.jsonl {}/out.jsonl.gz",
    "convert to csv": "convert {}/notes.jsonl {}/out.csv",
    "convert to conll": "convert {}/notes.jsonl {}/out.conll",
    "convert to parquet": "convert {}/notes.jsonl {}/out.parquet",
    "convert to brat": "convert {}/few.jsonl {}/out --to brat",
    "convert to text": "convert {}/few.jsonl {}/out --to text",
    "tag": "tag {}/model {}/notes.jsonl {}/out.parquet --jobs 1",
    "tag to brat": "tag {}/model {}/few.jsonl {}/out --to brat --jobs 1",
    "tag by lists": "tag kind:lists {}/notes.jsonl {}/out.parquet --jobs 1",
    "tag a dataset": "tag {}/model {}/dataset {}/made --resume --jobs 1",
    "count": "count {}/notes.jsonl -o {}/out.parquet",
    "gazetteer import": "gazetteer import {}/names.csv --class name -o {}/out.parquet",
    "gazetteer merge": "gazetteer merge {}/names.parquet {}/places.parquet -o {}/out.parquet",
    "rules learn": "rules learn {}/notes.jsonl -o {}/out.toml",
    "init": "init {}/new",
    "embed train": f"{_EMBED} {{}}/embeddings --resume",
    "embed load": "embed load {}/vectors.txt -o {}/loaded",
    "cluster": "cluster {}/old --k 2,4 --jobs 1",
    "export": "export {}/model {}/out --gold {}/few.jsonl",
    "audit": "audit {}/model --against {}/places.parquet --notes {}/few.jsonl --json {}/audit.json",
    "plot": "plot {}/run -o {}/f1.svg",
    "report": "report {}/run -o {}/report.html --csv {}/tables --tensorboard {}/events",
}

#: The commands of the fast tests: this one writes a folder.
QUICK = ("convert to brat",)


#: The folders that appear with everything in them.
WHOLE = {"out", "loaded/vectors", "embeddings/lower-w5"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, project, finished, run_here) -> Path:
    """A folder with notes, a run, a model, embeddings, lists, and files that are replaced."""
    folder = tmp_path_factory.mktemp("prepared")
    lines = (project / "gold.jsonl").read_text().splitlines(keepends=True)
    (folder / "notes.jsonl").write_text("".join(lines))
    (folder / "few.jsonl").write_text("".join(lines[:3]))
    for name in ("a.parquet", "b/c.parquet"):
        done = run_here("convert", folder / "few.jsonl", folder / "dataset" / name)
        assert done.code == 0, done
    shutil.copytree(finished, folder / "run", symlinks=True)
    shutil.copytree(finished / "best" / "model", folder / "model")
    (folder / "names.csv").write_text("term,count\nanna,20\npuig,3\n")
    (folder / "places.csv").write_text("term,count\nolot,5\n")
    (folder / "vectors.txt").write_text("2 3\nanna 1 2 3\npuig 4 5 6\n")
    (folder / "report.html").write_text("an old page")
    (folder / "f1.svg").write_text("an old figure")
    for name in ("names", "places"):
        source, target = folder / f"{name}.csv", folder / f"{name}.parquet"
        done = run_here("gazetteer", "import", source, "--class", name, "-o", target)
        assert done.code == 0, done
    words = _EMBED.replace("{prepared}", str(folder)).split()
    assert run_here(*words, folder / "old").code == 0
    return folder


def seen(contents: dict[str, str]) -> dict[str, str]:
    """Return what is not hidden: no lock, staging folder or training that is continued."""
    return {
        name: digest
        for name, digest in contents.items()
        if not any(part.startswith(".") for part in name.split("/"))
    }


def check_left(left: dict[str, str], before: dict[str, str], complete: dict[str, str]) -> None:
    """Check that everything is as it was, or complete."""
    assert before.keys() <= left.keys()
    for name, digest in left.items():
        assert digest in (before.get(name), complete.get(name)), name
    for name in WHOLE & left.keys():
        assert {path for path in complete if path.startswith(name)} <= left.keys(), name


@pytest.mark.parametrize("how", ["killed", "full"])
@pytest.mark.parametrize(
    "command",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS],
)
def test_disturbed_at_every_step_on_disk_it_ends_as_if_left_alone(
    how: str, command: str, prepared: Path, tmp_path: Path
) -> None:
    words = COMMANDS[command].replace("{prepared}", str(prepared)).split()
    attempted, before = attempts(tmp_path, how, prepared, *words), contents(prepared)
    complete = attempted[-1]["after"]
    assert attempted[-1]["code"] == 0, attempted[-1]["messages"]
    assert complete != before
    assert len(attempted) > 3
    for attempt in attempted[:-1]:
        left = seen(attempt["after"])
        check_left(left, seen(before), seen(complete))
        if how == "full":
            assert "cannot be written: No space left on device; " in attempt["messages"], attempt
            assert (attempt["code"], attempt["messages"].count("\n")) == (1, 1), attempt
            assert not [name for name in attempt["after"] if ".partial-" in name], attempt
        is_refused = attempt["again"] == 2 and "exists" in attempt["said"]
        assert attempt["again"] == 0 or (is_refused and left == seen(complete)), attempt
        assert attempt["end"] == complete, attempt


#: Further commands that write.
MORE = (
    "embed train {}/notes.jsonl --output {}/new",
    "run {project}/config.toml --out {}/new",
    "run {project}/config.toml --out {}/run --resume",
    "run {project}/config.toml --out {}/empty",
    "active {project}/config.toml --set active.gold={}/notes.jsonl --set active.budget=80 "
    "--set active.round=10 --out {}/empty",
    "crossvalidate {project}/config.toml --set data.seed={}/notes.jsonl --out {}/new",
    "experiment {}/experiment.toml --out {}/empty",
    "demo --out {}/new",
    "check {project}/config.toml --problems {}/problems.jsonl",
    "evaluate {}/notes.jsonl {}/notes.jsonl --json {}/scores.json",
    "check {project}/config.toml --log {}/log.jsonl",
)

_CARRY_OUT = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from bootstrap.cli.main import main
done = []
for words in json.load(sys.stdin):
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        done.append([main(words), said.getvalue()])
print(json.dumps(done))
"""
_MOUNT = ["unshare", "-rm", "sh", "-c"]
_MOUNT += ['mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"']


@pytest.mark.slow
@pytest.mark.parametrize("how", ["permissions", "mount"])
def test_in_a_folder_that_is_read_only_one_line_says_so(how, prepared, project, tmp_path) -> None:
    folder = Path(shutil.copytree(prepared, tmp_path / "prepared", symlinks=True))
    (folder / "empty").mkdir()
    experiment = '[data]\nseed = "notes.jsonl"\n[experiment]\nfolds = 3\n[variants.alone]\n'
    (folder / "experiment.toml").write_text(f'{experiment}method = "supervised"\n')
    prefix = AS_READER if how == "permissions" else [*_MOUNT, str(folder)]
    if prefix and subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode:
        pytest.skip(f"no {prefix[0]} here")
    before = contents(folder)
    lines = [*COMMANDS.values(), *MORE]
    filled = [line.replace("{prepared}", "{}").replace("{project}", str(project)) for line in lines]
    commands = [line.replace("{}", str(folder)).split() for line in filled]
    for path in (folder, *filter(Path.is_dir, folder.rglob("*"))):
        path.chmod(0o555)
    program = [*prefix, sys.executable, "-c", _CARRY_OUT]
    given = json.dumps(commands).encode()
    done = subprocess.run(program, check=False, input=given, capture_output=True)
    for path in (folder, *filter(Path.is_dir, folder.rglob("*"))):
        path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    for line, (code, said) in zip(lines, json.loads(done.stdout), strict=True):
        errors = [line for line in said.splitlines() if line.startswith("bootstrap: ")]
        assert (code, len(errors)) == (2, 1), (line, said)
        assert str(folder) in errors[0] and " cannot be " in errors[0], (line, said)
        assert "Traceback" not in said
    assert contents(folder) == before
