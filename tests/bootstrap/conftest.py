"""Small notes with names and places, projects made of them, and ways to run commands on them."""

from __future__ import annotations

import io
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bootstrap.advice.advice import Advice
from bootstrap.cli.main import main
from bootstrap.execution import parallel_tagger, processes
from bootstrap.experiments import runner as experiment_runner
from bootstrap.runs import runner
from corpus.document import Document, Span
from corpus.formats import write
from tests.bootstrap.work_here import in_processes_here

MakeNotes = Callable[..., list[Document]]
Command = Callable[..., "Result"]

_NAMES = ["Anna", "Jordi", "Marta", "Pere", "Rosa", "Joan", "Laia", "Marc", "Núria", "Quim"]
_SURNAMES = ["Puig", "Serra", "Vila", "Roca", "García", "López", "Ferrer", "Soler", "Mas"]
_PLACES = ["Girona", "Vic", "Clot", "Reus", "Mataró", "Olot", "Lleida", "Berga", "Sabadell"]
_PATTERNS = (
    "Pac {P} ve por dolor de cabeza .",
    "Dr. {P} : fiebre y tos",
    "Vive en {L} con su hija",
    "derivado de {L} por mareo",
    "Se cita a {P} en {L}",
    "alta , control en 3 meses",
    "TA 120/80 , no refiere dolor",
    "hablo con {P} ( hija )",
    "trasladada desde {L} ayer",
    "Exitus",
    "sin cambios desde {L} , avisar a {P}",
)

CONFIGURATION = """\
[tagger]
features = ["lower", "shape", "suffix3"]
window = 1
max_iterations = 15

[loop]
preset = "paper"
iterations = 3
batch = 600
patience = 5

[select]
confidence = 0.6
max_selected = 150
"""


def _note(name: str, draw: random.Random, narrow: bool) -> Document:
    """Write one note; narrow ones know a part of the patterns, names and places."""
    text, spans = "", []
    for piece in draw.choice(_PATTERNS[:7] if narrow else _PATTERNS).split():
        if piece == "{P}":
            words = [draw.choice(_NAMES[:6] if narrow else _NAMES)]
            words += [draw.choice(_SURNAMES[:5] if narrow else _SURNAMES)] * (draw.random() < 0.6)
            label = "PERSON"
        elif piece == "{L}":
            words, label = [draw.choice(_PLACES[:5] if narrow else _PLACES)], "LOCATION"
        else:
            words, label = [piece], ""
        text += " " * bool(text)
        if label:
            spans.append(Span(len(text), len(text) + len(" ".join(words)), label))
        text += " ".join(words)
    return Document(name, text, tuple(spans))


@pytest.fixture(scope="session")
def notes() -> MakeNotes:
    """Make notes: `notes(number, random_state, narrow=False, prefix="n")`."""

    def make(
        number: int, random_state: int, narrow: bool = False, prefix: str = "n"
    ) -> list[Document]:
        draw = random.Random(random_state)
        return [_note(f"{prefix}{index}", draw, narrow) for index in range(number)]

    return make


@pytest.fixture(scope="session")
def make_project(notes: MakeNotes) -> Callable[..., Path]:
    """Make a folder with notes and a configuration: `make_project(folder, unlabeled=2000)`."""

    def make(folder: Path, unlabeled: int = 2000, configuration: str = CONFIGURATION) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        write(notes(60, 1, narrow=True, prefix="s"), folder / "seed.jsonl")
        # No note of the pool has the same text as one of these.
        validation = [
            replace(note, text=f"{note.text} ( {number} )")
            for number, note in enumerate(notes(120, 2, prefix="v"))
        ]
        write(validation, folder / "validation.jsonl")
        pool = [Document(note.id, note.text) for note in notes(unlabeled, 3, prefix="u")]
        write(pool, folder / "unlabeled.jsonl")
        write(notes(200, 3, prefix="u"), folder / "gold.jsonl")  # the first notes of the pool
        named = "" if "[data]" in configuration else '[data]\nvalidation = "validation.jsonl"\n\n'
        (folder / "config.toml").write_text(named + configuration, encoding="utf-8")
        return folder

    return make


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory, make_project: Callable[..., Path]) -> Path:
    """A project that tests read and do not change: `config.toml` and 2,000 unlabeled notes."""
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session", autouse=True)
def train_here() -> Iterator[pytest.MonkeyPatch]:
    """Train in the process of the tests: starting another one takes longer than their training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_tagger, "in_processes", in_processes_here)
        patch.setattr(experiment_runner, "in_processes", in_processes_here)
        yield patch


@pytest.fixture(autouse=True)
def train_in_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in other processes in tests with the mark `processes`."""
    if request.node.get_closest_marker("processes"):
        monkeypatch.setattr(parallel_tagger, "in_processes", processes.in_processes)
        monkeypatch.setattr(experiment_runner, "in_processes", processes.in_processes)


@pytest.fixture(scope="session")
def run_here(train_here: pytest.MonkeyPatch) -> Command:
    """Run a command in this process, also for fixtures that tests share."""

    def call(*arguments: object) -> Result:
        out, err = io.StringIO(), io.StringIO()
        before = os.umask(0o022)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = main([str(argument) for argument in arguments])
        finally:
            os.umask(before)
        return Result(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, project: Path, run_here: Command) -> Path:
    """A run of the project from its beginning to its end, that tests do not change."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    done = run_here("run", project / "config.toml", "--out", folder, "--jobs", "1")
    assert done.code == 0, done
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run, to change."""
    return Path(shutil.copytree(finished, tmp_path / "copied", symlinks=True))


@pytest.fixture
def without_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """End runs without a page and advice, which take longer than the rest of a small run."""
    monkeypatch.setattr(runner, "write_run_page", lambda run: None)
    monkeypatch.setattr(runner, "advise", lambda *_, **__: Advice((), 0, (), (), ()))


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Carry out a command in this process: `command("show", folder)`."""
    before = os.umask(0o022)

    def call(*arguments: object) -> Result:
        capfd.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    yield call
    os.umask(before)


def _as_of_a_terminal() -> None:
    """Let the process end at SIGHUP, which the tests may ignore as they were started by nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Launch:
    """Carries out commands in processes of their own, each in a session of its own."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._program = (sys.executable, "-m", "bootstrap")
        self._environment = {**os.environ, "TMPDIR": str(scratch), "COLUMNS": "100"}

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._program, *map(str, arguments)],
            env=self._environment,
            umask=0o022,
            start_new_session=True,
            preexec_fn=_as_of_a_terminal,  # noqa: PLW1509 - no thread starts processes
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process: subprocess.Popen[str]) -> Result:
        out, err = process.communicate(timeout=100)
        return Result(process.returncode, out, err)

    def killed_after(self, seconds: float | None, process: subprocess.Popen[str]) -> Result:
        """Kill a command after some seconds, unless it has ended."""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        return self.finish(process)

    def is_alone(self, process: subprocess.Popen[str]) -> bool:
        """Wait until all processes that a command started have ended."""
        for _ in range(200):
            if not self.members(process):
                return True
            time.sleep(0.1)
        return False

    def __call__(self, *arguments: object) -> Result:
        return self.finish(self.start(*arguments))

    def on_terminal(self, *arguments: object) -> Result:
        """Carry out a command on a terminal of its own, as wide as it likes."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*self._program, *map(str, arguments)],
            env={**self._environment, "COLUMNS": "150", "TERM": "xterm-256color"},
            start_new_session=True,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # so ends a terminal that everyone has left
            while data := os.read(ours, 1 << 16):
                shown += data
        os.close(ours)
        return Result(process.wait(100), shown.decode(), "")

    def python(self, code: str, *arguments: object) -> Result:
        """Run a piece of Python."""
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            env=self._environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=100,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def members(self, process: subprocess.Popen[str]) -> dict[int, str]:
        """Return the command lines of all living processes that a command started, by their ids."""
        commands = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdecimal():
                continue
            try:
                state, *numbers = (folder / "stat").read_text().rpartition(")")[2].split()
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it ended meanwhile
                continue
            if int(numbers[2]) == process.pid and state not in "ZX":
                commands[int(folder.name)] = line
        return commands


@pytest.fixture(scope="session")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Launch:
    """Carry out a command in a process of its own: `launch("run", ...)`."""
    return Launch(tmp_path_factory.mktemp("scratch"))


def _contents(folder: Path) -> dict[str, object]:
    content: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name[0] == "." and name != ".lock":
            continue  # written beside, by a run that was killed before it could rename it
        if path.is_symlink():
            content[name] = str(path.readlink())
        elif path.name == "metrics.json" and path.parent.name != "final":
            metrics = json.loads(path.read_text(encoding="utf-8"))
            content[name] = {**metrics, "seconds": sorted(metrics["seconds"]), "digest": ""}
        elif path.name == "metrics.parquet":
            table = pq.read_table(path)
            timed = [column for column in table.column_names if column.startswith("seconds")]
            content[name] = (timed, table.drop_columns(timed).to_pylist())
        elif path.name == "report.html":
            content[name] = "it tells seconds too"
        elif path.is_file():
            content[name] = path.read_bytes()
    return content


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, object]]:
    """Read all that a run folder holds, but for what differs from time to time: the seconds."""
    return _contents
