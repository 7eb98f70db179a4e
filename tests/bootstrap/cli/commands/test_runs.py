"""``bootstrap init``, ``run``, ``show`` and ``demo``."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from bootstrap.cli.commands.demo import gain_lines
from bootstrap.config.configuration import load_configuration
from bootstrap.experiments.configurations import check_variants
from bootstrap.experiments.plan import Plan
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.evaluation.measures import Scores
from corpus.evaluation.scoring import score

Command = Callable[..., Any]


# init


@pytest.mark.parametrize("every", [False, True])
def test_init_writes_a_configuration_that_loads(tmp_path, command, every: bool) -> None:
    done = command("init", tmp_path / "new" / "mine", *["--all"] * every)
    path = tmp_path / "new" / "mine" / "config.toml"
    assert done.code == 0
    assert f"bootstrap run {path} --out runs/NAME" in done.out
    (tmp_path / "new" / "mine" / "empty.toml").write_text("")
    assert load_configuration(path) == load_configuration(path.with_name("empty.toml"))
    lines = path.read_text().splitlines()
    assert len(lines) > 100 if every else len(lines) <= 11


def test_init_overwrites_nothing(tmp_path: Path, command: Command) -> None:
    (tmp_path / "config.toml").write_text("mine")
    refused = command("init", tmp_path)
    assert refused.code == 2
    assert "config.toml exists: nothing is overwritten" in refused.err
    assert (tmp_path / "config.toml").read_text() == "mine"


# run


def test_a_run_reports_its_gain_and_commands_that_work(
    project: Path, finished: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("runs") / project.name  # the folder of a config.toml
    shutil.copytree(finished, folder, symlinks=True)
    done = command("run", project / "config.toml", "--resume")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{folder} is finished.\n")
    assert "Stopped: the maximum number of iterations is reached." in done.out
    assert f"The run is in {folder}" in done.out
    outcome = Run(folder).outcome()
    assert f" from {outcome.first.f1:.3f} with the seed alone to {outcome.best.f1:.3f}" in (
        " ".join(done.out.split())
    )
    lines = re.findall(r"^  bootstrap (.*)$", done.out, re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["show", "plot", "tag"]
    for line in lines:
        arguments = line.replace("NOTES", str(project / "seed.jsonl")).split()
        assert command(*arguments).code == 0, line
    assert Path("f1.png").is_file() and Path("TAGGED.jsonl").is_file()


def test_a_training_that_failed_is_a_warning(project, copied, command, monkeypatch) -> None:
    """L-BFGS may find no step and leave a model; it is hard to make it do so."""
    (*_, last) = Run(copied).metrics()
    assert not last.training.failed
    training = replace(last.training, outcome="no step is an improvement", failed=True)
    failed = replace(last, training=training)
    monkeypatch.setattr(
        "bootstrap.cli.commands.run.run_iterations", lambda *_, **__: iter([failed])
    )
    monkeypatch.setattr(Run, "is_finished", lambda run: False)
    done = command("run", project / "config.toml", "--out", copied, "--resume", "--jobs", "1")
    assert done.code == 0
    *sources, warning = done.err.splitlines()
    assert [line.split() for line in sources] == [
        [name, str(project / f"{name}.jsonl")] for name in ("seed", "validation", "unlabeled")
    ]
    assert warning == "iteration 3: no step is an improvement; its model may be poor"


def test_an_interrupted_run_says_how_to_continue(project, copied, command, monkeypatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("bootstrap.cli.commands.run.run_iterations", interrupted)
    monkeypatch.setattr(Run, "is_finished", lambda run: False)
    for left, number in (("003", "3 iterations"), ("001", "1 iteration")):
        for iteration in range(int(left), 4):
            shutil.rmtree(copied / "iterations" / f"{iteration:03d}", ignore_errors=True)
        done = command("run", project / "config.toml", "--out", copied, "--resume", "--jobs", "1")
        assert done.code == 130
        assert done.err.splitlines()[-2:] == [
            f"interrupted; finished: {number}. Continue with --resume",
            "bootstrap: interrupted",
        ]


def test_quiet_prints_the_result_alone(project, finished, command, tmp_path) -> None:
    again = ("run", project / "config.toml", "--out", finished, "--resume")
    shown = command("show", finished).out
    for quiet in ((*again, "--quiet"), ("--quiet", *again)):
        done = command(*quiet)
        assert (done.code, done.err) == (0, "")
        assert " with the seed alone to " in done.out and "Stopped: " in shown


# show


def test_show_tells_the_iterations(finished: Path, command: Command) -> None:
    done = command("show", finished)
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0][:2] == ["iteration", "selected"]
    for row, metrics in zip(rows[1:5], Run(finished).metrics(), strict=True):
        assert row[:2] == [str(metrics.iteration), str(metrics.selected)]
        assert f"{metrics.f1:.3f}" in row
    assert "PERSON" in done.out and "LOCATION" in done.out
    assert "Stopped: the maximum number of iterations is reached." in done.out


def test_show_of_a_run_that_goes_on(copied: Path, command: Command) -> None:
    shutil.rmtree(copied / "iterations" / "003")
    done = command("show", copied)
    assert done.code == 0
    assert "Stopped: it is not finished." in done.out
    assert len(json.loads(command("show", copied, "--json").out)) == 3
    shutil.rmtree(copied / "iterations")
    assert "has no finished iteration yet" in command("show", copied).out
    assert json.loads(command("show", copied, "--json").out) == []


# demo


def test_a_demonstration_needs_enough_notes_and_a_comparison_a_seed(tmp_path, command) -> None:
    few, lists = ("--notes", "10"), ("--initial-model", "divergence")
    for arguments, message in (
        (("--compare", *lists), "--compare begins with a seed"),
        (("--compare", *few), "10 notes are too few; --compare needs 1,000 or more"),
        ((*lists, *few), "10 notes are too few"),
    ):
        done = command("demo", *arguments, "--out", tmp_path / "demo")
        assert (done.code, message in done.err) == (2, True)
        assert not (tmp_path / "demo").exists()


def test_the_comparison_is_an_experiment_on_its_notes(tmp_path, command, monkeypatch) -> None:
    planned: list[Plan] = []

    def run_plan(plan: Plan, folder: Path, *, jobs: int | None) -> None:
        planned.append(plan)
        assert folder == tmp_path / "demo" / "compare"

    monkeypatch.setattr("bootstrap.cli.commands.demo.run_plan", run_plan)
    arguments = ("--compare", "--notes", "1000", "--out", tmp_path / "demo")
    assert command("demo", *arguments).code == 0
    (plan,) = planned
    check_variants(plan)
    methods = {variant.method for variant in plan.variants}
    assert methods == {"supervised", "self-training", "active", "full-supervision"}
    assert len(list(bootstrap.read(plan.data.seed))) == 1000
    texts = [
        {note.text for note in bootstrap.read(source)}
        for source in (plan.data.validation, plan.data.test)
    ]
    assert all(texts)


@pytest.mark.parametrize(
    "arguments, config, continued",
    [
        ((), "demo.toml", "bootstrap run {0}/demo.toml --out {0}/run --resume"),
        (("--compare",), "compare.toml", "bootstrap experiment {0}/compare.toml --out {0}/compare"),
    ],
)
def test_a_demonstration_appears_complete_and_is_continued_when_it_was_interrupted(
    arguments, config, continued, tmp_path, command, monkeypatch
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "demo"
    demo = ("demo", *arguments, "--notes", "1000", "--out", folder)
    with monkeypatch.context() as patch:
        patch.setattr("bootstrap.demo.write_atomically", interrupted)  # the last of its files
        assert command(*demo).code == 130
    assert list(tmp_path.iterdir()) == []
    for name in ("run_and_show", "run_plan"):
        monkeypatch.setattr(f"bootstrap.cli.commands.demo.{name}", interrupted)
    assert command(*demo).code == 130
    assert sorted(path.name for path in folder.iterdir()) == [config, "notes"]
    assert stat.S_IMODE((folder / "notes").stat().st_mode) == 0o700
    again = command(*demo)
    assert again.code == 2
    assert f"name a new folder with --out, or continue: {continued.format(folder)}" in again.err


@pytest.mark.parametrize("initial_model", ["seed", "divergence"])
def test_the_demonstration_runs_what_it_prints(
    initial_model, finished, tmp_path, command, monkeypatch
) -> None:
    """With another run in place of its own; its notes are private."""
    called: list[Any] = []
    runs: list[Any] = []

    def run_and_show(configuration: Any, folder: Path, **options: Any) -> Run:
        runs.append(configuration)
        return Run(finished)

    gold = [Document("a", "Anna", (Span(0, 4, "PERSON"),))]
    monkeypatch.setattr("bootstrap.cli.commands.demo.run_and_show", run_and_show)
    monkeypatch.setattr(
        "bootstrap.cli.commands.demo.scores_on_test", lambda *arguments: score(gold, gold)
    )
    monkeypatch.setattr(
        "bootstrap.cli.commands.demo.deidentified_on_test", lambda *_: [("Anna", "Rosa")]
    )
    for name in ("embed.train", "cluster.main"):
        monkeypatch.setattr(f"bootstrap.cli.commands.{name}", called.append)
    out = tmp_path / "demo"
    asked = (
        "--initial-model",
        initial_model,
        "--notes",
        "10" if initial_model == "seed" else "1000",
    )
    done = command("demo", *asked, "--out", out, "--jobs", "1")
    assert (done.code, done.err) == (0, "")
    for folder in (out, out / "notes"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (out / "notes").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "  - Anna\n  + Rosa\n" in done.out
    (configuration,) = runs
    printed = re.findall(r"^  bootstrap (embed|cluster) ", done.out, re.MULTILINE)
    if initial_model == "seed":
        assert (called, printed) == ([], [])
        return
    assert configuration.initial_model.kind == "divergence"
    assert not (out / "notes" / "seed.jsonl").exists()
    train, cluster = called
    assert printed == ["embed", "cluster"]
    assert (train.window, train.normalise, train.jobs) == ([1, 5], ["digits"], 1)
    assert (cluster.k, cluster.folder) == ([16, 64], train.output)


def test_the_demonstration_says_what_was_gained_and_what_was_lost() -> None:
    gold = [Document("a", "Anna Pere Vic", (Span(0, 4, "PERSON"), Span(5, 9, "PERSON")))]

    def scores(*spans: Span) -> Scores:
        return score(gold, [replace(gold[0], spans=spans)])

    seed = scores(Span(0, 4, "PERSON"), Span(5, 9, "PERSON"), Span(10, 13, "PERSON"))
    taught = scores(Span(0, 4, "PERSON"))
    lines = gain_lines(seed, taught, 3)
    figures = "precision 0.667 to 1.000, recall 1.000 to 0.500, F1 0.800 to 0.667 (-0.133)"
    assert [line.split(maxsplit=1) for line in lines[2:4]] == [
        ["PERSON", figures],
        ["all", figures],
    ]
    assert "the model of iteration 3" in lines[4]
    assert lines[5].startswith("Recall fell and precision rose")
    assert "Recall" not in "".join(gain_lines(taught, seed, 3))


def test_a_bad_note_costs_no_iteration_and_can_be_skipped_on_resuming(
    project: Path, tmp_path: Path, command: Command
) -> None:
    notes = tmp_path / "notes"
    shutil.copytree(project, notes)
    unlabeled = notes / "unlabeled.jsonl"
    lines = unlabeled.read_text(encoding="utf-8").splitlines(keepends=True)
    place = 3 * len(lines) // 4
    unlabeled.write_text("".join([*lines[:place], "{broken\n", *lines[place:]]), encoding="utf-8")
    run = ("run", notes / "config.toml", "--out", tmp_path / "r", "--jobs", "1")
    some = ("--set", f"loop.batch={len(lines) // 2}", "--set", "loop.iterations=2")
    stopped = command(*run, *some)
    assert stopped.code == 2 and "JSON" in stopped.err
    closed = len(Run(tmp_path / "r").metrics())
    assert closed == 2  # the seed and the batch before the bad note
    resumed = command(*run, *some, "--resume", "--set", "data.invalid=skip")
    assert resumed.code == 0
    rows = Run(tmp_path / "r").metrics()
    assert len(rows) > closed and sum(rows[-1].left_out.values()) == 1
    assert load_configuration(tmp_path / "r" / "config.toml").data.invalid == "skip"
