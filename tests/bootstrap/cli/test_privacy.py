"""No text of a note is shown, logged or reported; it is in the models and in what was asked for."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bootstrap.execution import parallel_tagger
from bootstrap.reports.exports import scalars_of
from bootstrap.reports.groups import RunRecord
from bootstrap.reports.run_report import environment_of, settings_of
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.formats import write
from tests.bootstrap.experiments.conftest import QUICK

pytestmark = pytest.mark.processes

Command = Callable[..., Any]

SECRET = "Zyxwvutson"


@dataclass(frozen=True)
class Secret:
    """A run on notes that all hold the secret, and all that was said on the way."""

    folder: Path
    run: Path
    said: str


def whispering(documents: list[Document], label: str = "PERSON") -> list[Document]:
    """Return notes with the secret at their end, as a name."""
    return [
        Document(
            note.id,
            f"{note.text} Sr {SECRET}",
            (*note.spans, Span(len(note.text) + 4, len(note.text) + 4 + len(SECRET), label)),
            f"patient-{number}",
        )
        for number, note in enumerate(documents)
    ]


@pytest.fixture(scope="module")
def secret(tmp_path_factory, make_project, notes, launch) -> Secret:
    """Check and run in processes of their own, so that whatever is written is caught."""
    folder = make_project(tmp_path_factory.mktemp("secret"), unlabeled=0)
    odd = Document("odd", f"{SECRET}{SECRET.lower()} x", (Span(0, 10, "PERSON"),))  # does not align
    splits = {
        "seed": [*whispering(notes(60, 1, narrow=True)), odd],
        "validation": whispering(notes(120, 2)),
        "unlabeled": whispering(notes(1200, 3)),
    }
    for split, documents in splits.items():
        (folder / f"{split}.jsonl").unlink()
        write(documents, folder / f"{split}.jsonl")
    config, run = folder / "config.toml", folder / "run"
    settings = ("--set", "loop.batch=1100", "--set", "data.conflicts=longest")
    commands = [
        ("check", config, *settings),
        ("run", config, "--out", run, "--jobs", 2, *settings),
        ("run", config, "--out", run, "--resume", *settings),
    ]
    results = [launch(*command) for command in commands]
    assert [result.code for result in results] == [0, 0, 0], results
    assert "annotations that do not align with tokens: 1" in results[1].err
    return Secret(folder, run, "".join(result.all for result in results))


def test_commands_say_nothing_of_it(secret: Secret) -> None:
    assert "iteration" in secret.said
    assert SECRET not in secret.said


def test_of_a_run_only_the_models_and_what_was_selected_hold_it(secret: Secret) -> None:
    """Looked for as it is and, in tables, in every value."""
    holds, files = set(), 0
    for path in secret.run.rglob("*"):
        if not path.is_file():
            continue
        files += 1
        data = path.read_bytes()
        if path.suffix == ".parquet":
            data += str(pq.read_table(path).to_pydict()).encode()
        if SECRET.lower() in data.decode("utf-8", "replace").lower():
            holds.add(path.relative_to(secret.run).as_posix())
    assert files > 10
    # Iteration 0 selects nothing.
    numbers = range(len(list((secret.run / "iterations").iterdir())))
    assert holds == {
        *(f"iterations/{number:03d}/model/names.npy" for number in numbers),
        *(f"iterations/{number:03d}/selected.parquet" for number in numbers if number),
    }


def test_what_shows_a_run_holds_nothing_of_it(secret: Secret, command: Command) -> None:
    picture, page = secret.folder / "plot.svg", secret.folder / "page.html"
    tables = secret.folder / "tables"
    said = [
        command("show", secret.run),
        command("show", secret.run, "--json"),
        command("plot", secret.run, "-o", picture),
        command("report", secret.run, "-o", page, "--csv", tables),
        command("report", secret.run, f"again={secret.run}", "-o", secret.folder / "two.html"),
    ]
    assert [done.code for done in said] == [0] * 5
    assert SECRET not in "".join(done.all for done in said)
    files = [picture, page, secret.folder / "two.html", *tables.iterdir()]
    assert len(files) > 10
    assert all(SECRET not in path.read_text(encoding="utf-8") for path in files)
    assert not [path for path in (tables, *files) if path.stat().st_mode & 0o077]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "library"), [("--mlflow", "mlflow"), ("--tensorboard", "tensorflow")]
)
def test_what_other_programs_show_holds_nothing_of_it(secret, command, option, library) -> None:
    if not find_spec(library):  # what would be written there
        record = RunRecord.load(Run(secret.run), "run")
        written = f"{[*scalars_of(record)]} {settings_of(record)} {environment_of(record)}"
        assert "validation/f1" in written and SECRET not in written
        pytest.skip(f"{library} is not installed: its files are not searched")
    folder, page = secret.folder / "shown" / library, secret.folder / "shown.html"
    assert command("report", secret.run, "-o", page, option, folder).code == 0
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files and not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert all(not path.stat().st_mode & 0o077 for path in (folder.parent, folder, *files))


def test_a_page_with_text_is_private(secret: Secret, command: Command) -> None:
    page = secret.folder / "text.html"
    done = command("report", secret.run, "--show-text", "-o", page)
    assert done.code == 0 and SECRET not in done.all
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_tagging_says_nothing_and_writes_in_private(secret, command, monkeypatch) -> None:
    monkeypatch.setattr(parallel_tagger, "_CHUNK", 400)
    source = secret.folder / "unlabeled.jsonl"
    for name in ("tagged.jsonl", "tagged.parquet", "tagged", "text"):
        target = secret.folder / "out" / name
        form = ("--to", "text") if name == "text" else ()
        done = command("tag", secret.run, source, target, "--jobs", 2, *form)
        assert done.code == 0
        assert SECRET not in done.all
        for path in (target, *target.rglob("*")):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600)
        files = [target] if target.is_file() else list(target.iterdir())
        tables = [pq.read_table(path).to_pydict() for path in files if path.suffix == ".parquet"]
        text = str(tables) or ""
        text += "".join(p.read_text(encoding="utf-8") for p in files if p.suffix != ".parquet")
        assert SECRET in text


def test_scores_and_conversions_say_nothing_of_it(secret, tmp_path, command) -> None:
    gold, other = secret.folder / "validation.jsonl", secret.folder / "seed.jsonl"
    figures = tmp_path / "figures.json"
    done = command("evaluate", gold, gold, "--json", figures)
    assert done.code == 0
    assert SECRET not in done.all + figures.read_text()
    assert stat.S_IMODE(figures.stat().st_mode) == 0o600
    for name in ("a", "a.parquet", "a.jsonl"):
        done = command("convert", other, tmp_path / name)
        assert done.code == 0
        assert SECRET not in done.all


def test_what_is_unforeseen_says_nothing_of_it(secret, tmp_path, command) -> None:
    """A model that is damaged, notes that changed: whatever stops a command repeats no text."""
    model = tmp_path / "model"
    model.mkdir()
    for path in (secret.run / "best" / "model").iterdir():
        (model / path.name).write_bytes(path.read_bytes()[:-1])
    (model / "model.json").write_bytes((secret.run / "best/model/model.json").read_bytes())
    done = command("tag", model, secret.folder / "seed.jsonl", tmp_path / "x.jsonl")
    assert done.code == 2
    assert SECRET not in done.all
    other = tmp_path / "other.jsonl"
    write([Document("n3", f"{SECRET} x")], other)
    for arguments in (
        ("evaluate", secret.folder / "validation.jsonl", other),
        ("run", secret.folder / "config.toml", "--set", f"data.validation={other}"),
        ("run", secret.folder / "config.toml", "--out", secret.run, "--resume"),
    ):
        done = command(*arguments)
        assert done.code == 2
        assert SECRET not in done.all


@pytest.mark.slow
def test_a_class_that_may_be_text_is_on_no_page(project, tmp_path, command) -> None:
    for path in project.glob("*.jsonl"):
        renamed = path.read_text().replace('"PERSON"', f'"Sr {SECRET}"')
        (tmp_path / path.name).write_text(renamed.replace('"LOCATION"', f'"Dr {SECRET}"'))
    shutil.copy(project / "config.toml", tmp_path)
    (tmp_path / "experiment.toml").write_text(QUICK)
    gold, runs, new = tmp_path / "gold.jsonl", (tmp_path / "a", tmp_path / "b"), tmp_path / "new"
    at_once, said = ("--set", "loop.iterations=0"), ""
    for words in (
        *(("run", tmp_path / "config.toml", "--out", run, *at_once) for run in runs),
        ("experiment", tmp_path / "experiment.toml", "--out", new / "experiment"),
        ("show", runs[0]),
        ("show", new / "experiment"),
        ("report", *runs, "-o", new / "page.html", "--csv", new / "tables"),
        ("plot", *runs, "-o", new / "f1.svg"),
        ("evaluate", gold, gold),
    ):
        done = command(*words)
        assert done.code == 0, done
        said += done.all
    assert SECRET not in said
    written = [path for path in tmp_path.rglob("*") if path.suffix in (".html", ".csv", ".svg")]
    assert len(written) > 6
    for path in written:
        assert SECRET not in path.read_text(), path
    names = {scalar.name for scalar in scalars_of(RunRecord.load(Run(runs[0]), "a"))}
    assert {"class/f1 number 1", "class/f1 number 2"} <= names
    assert SECRET not in str(names)
