"""Runs that are killed: resumed they end as if nothing had happened, and nothing is left behind."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from bootstrap.self_training.state import RELABEL
from tests.bootstrap.interruptions.killing import killed_everywhere

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="it looks for processes in /proc"
)

SETTINGS = ("--set", "loop.iterations=2", "--set", "loop.batch=3000")


class Killed:
    """A run in a folder, started again and again."""

    def __init__(self, launch: Any, project: Path, folder: Path) -> None:
        self.launch = launch
        self.folder = folder
        self._config = project / "config.toml"
        self._process: Any = None

    def start(self, jobs: int = 2) -> subprocess.Popen[str]:
        self._process = self.launch.start(
            "run", self._config, "--out", self.folder, "--resume", "--jobs", jobs, *SETTINGS
        )
        return self._process

    def finish(self) -> Any:
        result = self.launch.finish(self._process)
        assert result.code == 0, result
        return result

    def wait_for(self, part: str) -> list[int]:
        """Wait until a process of the run has this in its command line; give their ids."""
        while self._process.poll() is None:
            pids = [pid for pid, line in self.launch.members(self._process).items() if part in line]
            if pids:
                return pids
            time.sleep(0.005)
        raise AssertionError(f"the run ended without {part}: {self.launch.finish(self._process)}")

    def is_alone(self) -> Any:
        return self.launch.is_alone(self._process)

    def leftovers(self) -> list[str]:
        """Return what the run left outside of its folder."""
        shared = Path("/dev/shm")
        mine = f"-{self._process.pid}-", f"_{self._process.pid}_"
        names = [path.name for path in shared.iterdir()] if shared.is_dir() else []
        return [
            *(path.name for path in self.launch.scratch.iterdir()),
            *(name for name in names if any(part in name for part in mine)),
        ]


def new_draw() -> random.Random:
    """Draw other moments every time, and say from which seed where a test fails."""
    seed = random.SystemRandom().randrange(10**6)
    print(f"random seed {seed}")  # noqa: T201
    return random.Random(seed)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory, make_project: Callable[..., Path]) -> Path:
    return make_project(tmp_path_factory.mktemp("wide"), unlabeled=6000)


@pytest.fixture(scope="module")
def left_alone(launch, wide, tmp_path_factory) -> tuple[Path, float]:
    """A run with one process that nobody disturbs, and the seconds it took."""
    run = Killed(launch, wide, tmp_path_factory.mktemp("left-alone") / "run")
    begin = time.monotonic()
    run.start(jobs=1)
    run.finish()
    return run.folder, time.monotonic() - begin


@pytest.fixture
def run(launch: Any, wide: Path, tmp_path: Path) -> Iterator[Killed]:
    run = Killed(launch, wide, tmp_path / "run")
    yield run
    for pid in launch.members(run._process):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_as_if_left_alone(run, left_alone, contents) -> None:
    """With two processes, and as one process alone would."""
    draw = new_draw()
    alone, seconds = left_alone
    for _ in range(3):
        process = run.start()
        moment = draw.uniform(0.1, 1.2) * seconds
        print(f"killed after {moment:.3f} s")  # noqa: T201
        assert run.launch.killed_after(moment, process).code in (0, -signal.SIGKILL)
    run.start()
    run.finish()
    assert contents(run.folder) == contents(alone)
    assert run.leftovers() == []


@pytest.mark.slow
def test_killed_while_it_trains_and_while_it_tags(run, left_alone, contents) -> None:
    """The first and the second time as it trains, the third as two processes tag."""
    for _ in range(2):
        process = run.start()
        run.wait_for("popen_loky")
        process.kill()
        assert run.is_alone()
    process = run.start()
    workers = run.wait_for("popen_loky")
    time.sleep(new_draw().uniform(0, 0.6))  # while they start, or tag
    process.kill()
    process.wait()
    assert process.pid not in workers
    assert run.is_alone()
    run.start()
    run.finish()
    assert run.leftovers() == []
    assert contents(run.folder) == contents(left_alone[0])


@pytest.mark.slow
def test_the_training_process_killed_alone_ends_the_run_with_a_word(
    run: Killed, left_alone: tuple[Path, float], contents: Callable[[Path], Any]
) -> None:
    process = run.start()
    for pid in run.wait_for("popen_loky"):
        os.kill(pid, signal.SIGKILL)
    ended = run.launch.finish(process)
    assert ended.code == 1
    assert ended.err.splitlines()[3:] == [  # after the notes that it reads
        f"bootstrap: {run.folder}: a worker process was killed before its work was done; the "
        "system may have been out of memory or of processes (ulimit -u); use fewer --jobs; "
        "continue with --resume"
    ]
    run.start()
    run.finish()
    assert contents(run.folder) == contents(left_alone[0])


#: Python imports this first. Processes of a stage stop there, until they or their parent are ended.
PAUSE = """
import os, sys, time
from pathlib import Path

if any("{stage}" in argument for argument in sys.orig_argv):
    parent = os.getppid()
    (Path(__file__).parent / "importing").touch()
    while os.getppid() == parent:
        time.sleep(0.01)
    os._exit(1)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "everyone"),
    [
        pytest.param(signal.SIGINT, False, id="ctrl-c to one"),
        pytest.param(signal.SIGINT, True, id="ctrl-c to all, as a terminal does"),
        pytest.param(signal.SIGTERM, False, id="the end"),
        pytest.param(signal.SIGHUP, True, id="the end of the terminal"),
    ],
)
def test_a_signal_ends_it_and_says_how_to_go_on(
    run, number, everyone, tmp_path, monkeypatch
) -> None:
    """While other processes start: not even their first instruction receives it."""
    (tmp_path / "sitecustomize.py").write_text(PAUSE.format(stage="popen_loky"))
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    monkeypatch.setitem(run.launch._environment, "PYTHONPATH", path)
    process = run.start()
    while not (tmp_path / "importing").exists():
        assert process.poll() is None
        time.sleep(0.005)
    others = [pid for pid in run.launch.members(process) if pid != process.pid]
    assert others
    assert not any(map(receives_sigint, others))
    if everyone:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    ended = run.launch.finish(process)
    assert ended.code == 128 + number
    assert re.search(r"finished: \d+ iterations?\. Continue with --resume", ended.err)
    # A process whose parent goes while it starts may complain, but not of Ctrl-C or from our code.
    assert "KeyboardInterrupt" not in ended.all
    assert str(Path(bootstrap.__file__).parent) not in ended.all
    assert run.is_alone()
    assert run.leftovers() == []
    assert not list(run.folder.rglob("*.partial*"))


def receives_sigint(pid: int) -> bool:
    """Check whether a process neither blocks nor ignores SIGINT."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:  # it ended meanwhile
        return False
    masks = dict(line.split(":\t") for line in lines if line.startswith("Sig") and ":" in line)
    return not (int(masks["SigBlk"], 16) | int(masks["SigIgn"], 16)) & 1 << signal.SIGINT - 1


def test_ctrl_c_before_anything_has_begun_is_no_traceback(run: Killed) -> None:
    process = run.start()
    while process.poll() is None and "numpy" not in Path(f"/proc/{process.pid}/maps").read_text():
        time.sleep(0.005)  # before, Python itself may complain
    time.sleep(new_draw().uniform(0, 0.4))  # while it imports, or reads notes
    process.send_signal(signal.SIGINT)
    ended = run.launch.finish(process)
    assert ended.code in (130, -signal.SIGINT)
    if ended.code == 130:
        assert ended.err.endswith("bootstrap: interrupted\n")
        assert str(Path(bootstrap.__file__).parent) not in ended.all


def settings(*values: str) -> Iterator[str]:
    """Yield the arguments that override settings."""
    return (part for value in values for part in ("--set", value))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "active"])
def test_killed_at_every_step_on_disk_it_ends_as_if_left_alone(
    command: str, project: Path, tmp_path: Path, contents: Callable[[Path], Any]
) -> None:
    """A run that relabels takes all the steps of one that does not, and keeps batches.

    One of hybrid active learning also keeps the documents of its rounds.
    """
    values = ["loop.iterations=1", "loop.batch=300", "select.proportions=false"]
    values.append(f"loop.keep={RELABEL}")
    if command == "active":
        values += [f"active.gold={project / 'gold.jsonl'}", "active.budget=80"]
        values += ["active.round=10", "active.hybrid=true"]
    last = ("--resume", "--jobs", 1, "--out")
    names = killed_everywhere(tmp_path, command, project / "config.toml", *settings(*values), *last)
    alone = contents(tmp_path / names[-1])
    assert alone["best"] and alone["metrics.parquet"]
    for name in names[:-1]:
        assert contents(tmp_path / name) == alone, name


#: The configuration of a run that takes no time.
SMALL = """\
[loop]
preset = "paper"

[tagger]
features = ["lower", "shape"]
window = 1
max_iterations = 5

[data]
seed = "{project}/gold.jsonl"
validation = "{project}/seed.jsonl"
"""

#: What makes it an experiment of one run.
VARIANT = """\
test = "{project}/validation.jsonl"

[experiment]
random_states = [0]

[seed]
documents = 20
with_entities = 0.75

[variants.alone]
method = "supervised"
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["experiment", "crossvalidate"])
def test_an_experiment_killed_at_every_step_on_disk_ends_as_if_left_alone(
    command: str, project: Path, tmp_path: Path, contents: Callable[[Path], Any]
) -> None:
    file = tmp_path / "file.toml"
    words: tuple[object, ...] = (command, file)
    file.write_text(SMALL.format(project=project), encoding="utf-8")
    if command == "crossvalidate":
        words += ("--folds", 2, "--methods", "supervised")
    else:
        file.write_text((SMALL + VARIANT).format(project=project), encoding="utf-8")
    names = killed_everywhere(tmp_path, *words, "--jobs", 1, "--out")
    alone = contents(tmp_path / names[-1])
    for name in names[:-1]:
        after = contents(tmp_path / name)
        different = {path for path in {*alone, *after} if alone.get(path) != after.get(path)}
        # The first three name the folder of the experiment, the others the seconds of its runs.
        assert {Path(path).name for path in different} <= {
            *("config.toml", "experiment.toml", "data.parquet", "runs.csv", "variants.csv")
        }
        assert alone.keys() == after.keys()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["relabel", "experiment", "crossvalidate", "demo"])
def test_other_commands_killed_at_random_moments_end_as_if_left_alone(
    command: str, project: Path, tmp_path: Path, launch: Any, contents: Callable[[Path], Any]
) -> None:
    file, out = tmp_path / "file.toml", tmp_path / "out"
    file.write_text(
        (SMALL + VARIANT * (command == "experiment")).format(project=project), encoding="utf-8"
    )
    relabel = settings("loop.iterations=1", "loop.batch=900", f"loop.keep={RELABEL}")
    words = {
        "relabel": ("run", project / "config.toml", *relabel, "--resume"),
        "experiment": ("experiment", file),
        "crossvalidate": ("crossvalidate", file, "--folds", 2, "--methods", "supervised"),
        "demo": ("demo", "--notes", 600),
    }[command]
    #: What continues a demonstration, which refuses a folder that exists.
    again = ("run", out / "config.toml", "--resume") if command == "demo" else words

    def carry_out(seconds: float | None = None) -> int:
        begun = command != "demo" or (out / "config.toml").exists()
        if not begun:
            shutil.rmtree(out, ignore_errors=True)
        target = out / "run" if again != words and begun else out
        process = launch.start(*(again if begun else words), "--out", target, "--jobs", 2)
        return launch.killed_after(seconds, process).code

    begin = time.monotonic()
    assert carry_out() == 0
    draw, seconds = new_draw(), time.monotonic() - begin
    alone = contents(out)
    shutil.rmtree(out)
    for _ in range(3):
        assert carry_out(draw.uniform(0.1, 0.8) * seconds) in (0, -signal.SIGKILL)
    assert carry_out() == 0
    after = contents(out)
    different = {name for name in {*alone, *after} if alone.get(name) != after.get(name)}
    assert {Path(name).name for name in different} <= {"runs.csv", "variants.csv"}  # with seconds
