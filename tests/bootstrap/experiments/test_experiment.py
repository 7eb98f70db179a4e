"""Experiments from a file to a table, continued after changes, failures and kills."""

from __future__ import annotations

import csv
import json
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from bootstrap.config.configuration import load_configuration
from bootstrap.experiments import runner
from bootstrap.experiments.folder import ExperimentFolder, folder_name
from bootstrap.experiments.results import read_results
from bootstrap.reports.comparison import compare
from bootstrap.runs.folder import Run
from corpus.formats import write
from corpus.storage.atomic import folder_lock
from tests.bootstrap.experiments.conftest import EXPERIMENT, QUICK
from tests.bootstrap.refusals import refusal

Command = Callable[..., Any]
OwnFile = Callable[[str], Path]


def texts(path: Path) -> list[tuple[str, Any]]:
    return [(note.text, note.spans) for note in bootstrap.read(path)]


def test_seed_and_others_are_all_gold_documents(carried_out, experiment_file) -> None:
    gold = texts(experiment_file.parent / "gold.jsonl")
    seeds = []
    for state in (0, 1):
        (drawn,) = (carried_out[0] / "documents" / "train").glob(f"seed-{state}-*")
        seed, others = texts(drawn / "seed.parquet"), texts(drawn / "others.parquet")
        assert sorted([*seed, *others]) == sorted(gold)
        assert (len(seed), sum(bool(spans) for _, spans in seed)) == (40, 30)
        seeds.append(seed)
    assert seeds[0] != seeds[1]


def test_every_run_is_a_run_that_its_configuration_repeats(carried_out, tmp_path, command) -> None:
    done = carried_out[0] / "runs" / "trained" / "1-half-0"
    again = tmp_path / "again"
    assert command("run", done / "config.toml", "--out", again, "--jobs", 1).code == 0
    rows, expected = Run(again).metrics(), Run(done).metrics()
    assert [replace(row, seconds={}) for row in rows] == [
        replace(row, seconds={}) for row in expected
    ]


def test_the_methods_train_on_what_they_name(carried_out: tuple[Path, Any]) -> None:
    runs = carried_out[0] / "runs"
    of = {
        name: Run(runs / name / "0-half-1").metrics() for name in ("alone", "trained", "everything")
    }
    assert [row.training_documents for row in of["alone"]] == [40]
    assert [row.training_documents for row in of["everything"]] == [200]
    assert of["trained"][0].training_documents == 40
    assert of["trained"][-1].training_documents > 40
    assert of["trained"][0].f1 == of["alone"][0].f1


def test_each_half_validates_one_run_and_tests_the_other(carried_out: tuple[Path, Any]) -> None:
    folder = carried_out[0] / "runs" / "alone"
    left, right = Run(folder / "0-half-0"), Run(folder / "0-half-1")
    for one, other in ((left, right), (right, left)):
        validated, tested = one.validation_counts(0), other.test_counts(0)
        assert validated.ids == tested.ids


def test_tables_are_written(carried_out: tuple[Path, Any]) -> None:
    folder = carried_out[0]
    results = read_results(ExperimentFolder(folder))
    rows = table(folder, "runs")
    assert [float(row["F1"]) for row in rows] == [result.f1 for result in results]
    variants = table(folder, "variants")
    assert [row["name"] for row in variants] == ["alone", "trained", "everything"]
    assert variants[0]["difference"] == ""
    compared = compare(results)[1]
    assert float(variants[1]["difference"]) == compared.difference.spread.mean
    assert {row["class"] for row in table(folder, "classes")} == {"LOCATION", "PERSON"}


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_page_shows_the_variants_without_any_text(carried_out, command, tmp_path) -> None:
    page = (carried_out[0] / "report.html").read_text(encoding="utf-8")
    for part in ("Scores on the test documents", "everything", "Differences are between runs"):
        assert part in page
    assert "Anna" not in page and "Puig" not in page
    done = command("report", carried_out[0], "-o", tmp_path / "again.html")
    assert done.code == 0, done
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    rows = compare(read_results(ExperimentFolder(carried_out[0])))
    assert f"The upper bound, everything, has {rows[2].f1.mean:.3f}." in done.out


def test_a_browser_shows_an_experiment(carried_out, browse) -> None:
    seen = browse(carried_out[0] / "report.html", width=360)
    assert (seen["drawn"], seen["overflow"], seen["wide"], seen["console"]) == (6, [0, 0], 0, [])
    assert "everything" in seen["words"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plot", "EXPERIMENT", "--what", "confusion", "-o", "f.png"), "has no figure confusion"),
        (("plot", "EXPERIMENT", "--what", "classes", "--axis", "tokens", "-o", "f.png"), "--axis"),
        (("report", "EXPERIMENT", "--test", "-o", "p.html"), "--test is for runs"),
        (("plot", "EXPERIMENT", "--test", "-o", "f.png"), "--test is for runs"),
        (("report", "EXPERIMENT", "--show-text", "-o", "p.html"), "--show-text is for runs"),
        (("report", "EXPERIMENT", "RUN", "-o", "p.html"), "name it alone"),
    ],
)
def test_what_an_experiment_has_not_is_refused(
    arguments, message, carried_out, command, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = {"EXPERIMENT": carried_out[0], "RUN": carried_out[0] / "runs" / "alone" / "0-half-0"}
    assert message in refusal(command, *(named.get(argument, argument) for argument in arguments))
    assert not list(tmp_path.iterdir())


def forbid_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def carry_out(*arguments: Any) -> None:
        raise AssertionError("nothing is left to do")

    monkeypatch.setattr(runner, "carry_out", carry_out)


@pytest.mark.slow
def test_variants_and_random_states_may_be_added(copy, own_file, command) -> None:
    text = QUICK.replace("[0]", "[0, 1, 7]") + '[variants.another]\nmethod = "supervised"\n'
    done = command("experiment", own_file(text), "--out", copy, "--jobs", 1)
    assert done.code == 0, done
    assert "4 of 12 runs are finished" in done.err
    rows = compare(read_results(ExperimentFolder(copy)))
    assert {row.variant: row.f1.number for row in rows} == {"alone": 6, "another": 6}


def test_changed_notes_are_refused(carried_out, own_file, tmp_path, command) -> None:
    path = own_file(QUICK)
    changed = tmp_path / "gold.jsonl"
    gold = path.read_text().split('seed = "')[1].split('"')[0]
    shutil.copy(gold, changed)
    path.write_text(path.read_text().replace(gold, str(changed)))
    assert command("experiment", path, "--out", tmp_path / "e", "--jobs", 1).code == 0
    notes = list(bootstrap.read(changed))
    changed.unlink()
    write(notes[1:], changed)
    message = refusal(command, "experiment", path, "--out", tmp_path / "e")
    assert "gold.jsonl has changed since the experiment was started" in message


def test_the_runs_are_listed_without_being_carried_out(
    carried_out, own_file, tmp_path, command, monkeypatch
) -> None:
    forbid_runs(monkeypatch)
    done = command("experiment", own_file(EXPERIMENT), "--out", tmp_path / "no", "--list")
    assert done.code == 0
    assert done.out.count("not begun") == 12
    assert not (tmp_path / "no").exists()
    done = command("experiment", own_file(EXPERIMENT), "--out", carried_out[0], "--list")
    assert done.out.count(" finished") == 12
    assert "Scores on the test documents" in done.out


def test_the_tables_are_shown_again(carried_out: tuple[Path, Any], command: Command) -> None:
    folder, done = carried_out
    assert command("show", folder).out.strip() in done.out
    rows = json.loads(command("show", folder, "--json").out)
    expected = compare(read_results(ExperimentFolder(folder)))
    assert [row["variant"] for row in rows] == [row.variant for row in expected]
    assert [row["f1"]["mean"] for row in rows] == [row.f1.mean for row in expected]
    assert [row["counts"]["recall"] for row in rows] == [row.counts.recall for row in expected]


def test_many_runs_need_a_confirmation(own_file: OwnFile, tmp_path: Path, command: Command) -> None:
    grid = f"[grid]\nselect.confidence = {[n / 100 for n in range(100)]}\n"
    grid += f"loop.patience = {list(range(1, 101))}\n"
    path = own_file(QUICK.replace('method = "supervised"', "") + grid)
    message = refusal(command, "experiment", path, "--out", tmp_path / "no")
    assert "20,000 runs: 10,000 variants with 1 random state on 2 splits" in message
    assert "--yes" in message
    assert not (tmp_path / "no").exists()


def test_a_missing_resource_is_named_before_any_run(own_file, tmp_path, command) -> None:
    bad = '[variants.bad]\ntagger.names = ["absent.parquet"]\n'
    message = refusal(
        command, "experiment", own_file(QUICK + bad), "--out", tmp_path / "e", "--jobs", 1
    )
    assert "absent.parquet does not exist" in message and "(variant bad)" in message
    assert not (tmp_path / "e" / "runs").exists()


def test_a_run_that_fails_does_not_end_the_others(own_file, tmp_path, command) -> None:
    bad = '[variants.bad]\nmethod = "active"\nactive.budget = 999\n'
    bad += 'active.gold = "gold.jsonl"\n'
    text = QUICK.replace("[variants.alone]", f"{bad}[variants.alone]")
    done = command("experiment", own_file(text), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 2
    assert "bad/0-half-0 failed: [active] budget = 999" in done.err
    assert "2 of 4 runs failed" in done.err
    assert "alone" in done.out
    assert "Traceback" not in done.all


def test_an_internal_error_shows_no_text_of_notes(own_file, tmp_path, command, monkeypatch) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise ValueError("Anna Puig")

    monkeypatch.setattr("bootstrap.experiments.runner.run_iterations", fail)
    done = command("experiment", own_file(QUICK), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 2
    assert "failed: internal error: ValueError" in done.err
    assert "Anna" not in done.all


def test_active_learning_asks_for_what_is_not_in_the_seed(own_file, tmp_path, command) -> None:
    text = EXPERIMENT[: EXPERIMENT.index("[variants")].replace(
        "[0, 1]", "[0]\nat_documents = [50, 60]"
    )
    text += "[active]\nbudget = 60\nround = 10\n"
    text += '[variants.active]\nmethod = "active"\n[variants.random]\nmethod = "active"\n'
    text += 'active.query = "random"\n'
    done = command("experiment", own_file(text), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 0, done
    rows = Run(tmp_path / "e" / "runs" / "active" / "0-half-0").metrics()
    assert [row.human_documents for row in rows] == [40, 50, 60]
    printed = done.out[done.out.index("Scores by annotated documents:") :]
    assert [line.split()[:2] for line in printed.splitlines()[2:6]] == [
        *(["active", "50"], ["active", "60"], ["random", "50"], ["random", "60"])
    ]
    for axis in ("documents", "tokens"):
        plotted = ("plot", tmp_path / "e", "--axis", axis, "-o", tmp_path / f"{axis}.png")
        assert command(*plotted).code == 0
    page = (tmp_path / "e" / "report.html").read_text(encoding="utf-8")
    assert "Scores by annotated documents" in page


def test_cross_validation_tests_every_annotated_note_once(
    experiment_file: Path, own_file: OwnFile, tmp_path: Path, command: Command
) -> None:
    begin, end = EXPERIMENT.index("[data]"), EXPERIMENT.index("[experiment]")
    text = EXPERIMENT[begin:end].replace("[tagger]", 'unlabeled = "unlabeled.jsonl"\n[tagger]', 1)
    text = text.replace('validation = "validation.jsonl"\n', 'test = "validation.jsonl"\n')
    path = own_file(text)
    out = ("--out", tmp_path / "folds", "--jobs", 1)
    done = command("crossvalidate", path, "--folds", 3, *out)
    assert done.code == 0, done
    assert "[data] test is not used" in done.err
    results = read_results(ExperimentFolder(tmp_path / "folds"))
    assert {result.variant for result in results} == {"supervised", "self-training"}
    tested = [
        name for result in results if result.variant == "supervised" for name in result.tested.ids
    ]
    gold = [note.id for note in bootstrap.read(experiment_file.parent / "gold.jsonl")]
    assert sorted(tested) == sorted(gold)
    assert done.out.count("self-training") >= 1


def test_two_processes_cannot_work_on_one_experiment(copy, own_file, command) -> None:
    with folder_lock(copy):
        done = command("experiment", own_file(EXPERIMENT), "--out", copy)
    assert done.code == 2
    assert "another process works on this experiment" in done.err


def test_a_damaged_run_is_named(copy: Path, own_file: OwnFile, command: Command) -> None:
    path = copy / "runs" / "trained" / "0-half-0" / "iterations" / "001" / "metrics.json"
    path.write_text("{")
    message = refusal(command, "experiment", own_file(EXPERIMENT), "--out", copy)
    assert f"{path} is not JSON" in message
    assert f"remove {copy / 'runs' / 'trained' / '0-half-0'} to carry" in message
    shutil.rmtree(copy / "runs" / "trained" / "0-half-0")
    done = command("experiment", own_file(EXPERIMENT), "--out", copy, "--jobs", 1)
    assert done.code == 0, done


def test_names_of_variants_may_be_any_text(own_file, tmp_path, command) -> None:
    text = QUICK.replace("[variants.alone]", '[variants."../ñ /\\\\ :*\\u0007"]')
    done = command("experiment", own_file(text), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 0, done
    assert [path.parent for path in (tmp_path / "e" / "runs").iterdir()] == [
        tmp_path / "e" / "runs"
    ]
    assert "\x07" not in done.all
    assert folder_name("..") and "/" not in folder_name("a/b") and len(folder_name("a" * 999)) < 99
    text = QUICK + '[variants."a b"]\n[variants."A-b"]\n'
    message = refusal(command, "experiment", own_file(text), "--out", tmp_path / "f")
    assert "would have the same folder" in message


@pytest.mark.parametrize("test_text", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_shared_embeddings_are_trained_once_for_each_split(
    test_text, own_file, tmp_path, command, notes
) -> None:
    text = QUICK.replace("[loop]", 'clusters = "auto"\n[loop]')
    text = text.replace("[tagger]", f'unlabeled = "{tmp_path}/pool.jsonl"\n[tagger]')
    text = text.replace("[experiment]", f"[experiment]\ntest_text = {str(test_text).lower()}")
    write(notes(3000, 5, prefix="p"), tmp_path / "pool.jsonl")
    done = command("experiment", own_file(text), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 0, done
    for split in ("half-0", "half-1"):
        shared = tmp_path / "e" / "documents" / split / "embeddings" / "trained.json"
        own = tmp_path / "e" / "runs" / "alone" / f"0-{split}" / "embeddings" / "trained.json"
        assert own.read_bytes() == shared.read_bytes()
        assert own.stat().st_ino == shared.stat().st_ino
        # All gold documents, the pool, and one half of the validation documents or both.
        documents = 200 + 3000 + (120 if test_text else 60)
        assert json.loads(shared.read_text())["documents"] == documents


def test_without_a_seed_the_initial_model_is_compared(own_file, tmp_path, command, notes) -> None:
    text = QUICK[: QUICK.index("[seed]")].replace('seed = "gold.jsonl"', 'unlabeled = "pool"')
    text = text.replace('"pool"', f'"{tmp_path}/pool.jsonl"')
    text = text.replace("[tagger]", '[labels]\nPERSON = "PERSON"\n[tagger]\nclusters = "auto"', 1)
    text += '[initial_model]\nkind = "divergence"\nnames = ["census-es"]\n'
    text += '[variants.alone]\nmethod = "supervised"\n[variants.trained]\n'
    write(notes(3000, 5, prefix="p"), tmp_path / "pool.jsonl")
    done = command("experiment", own_file(text), "--out", tmp_path / "e", "--jobs", 1)
    assert done.code == 0, done
    results = read_results(ExperimentFolder(tmp_path / "e"))
    assert [result.variant for result in results] == ["alone", "alone", "trained", "trained"]


def test_the_function_returns_the_results(experiment_file, carried_out) -> None:
    results = bootstrap.experiment(experiment_file, out=carried_out[0], jobs=1)
    assert len(results) == 12
    assert bootstrap.compare(results)[1].variant == "trained"


@pytest.mark.slow
@pytest.mark.processes
def test_an_experiment_that_is_killed_goes_on(
    experiment_file, carried_out, tmp_path, launch, contents
) -> None:
    arguments = ("experiment", experiment_file, "--out", tmp_path / "e", "--jobs", 2)
    for seconds in (4.0, 8.0, 6.0):
        process = launch.start(*arguments)
        launch.killed_after(seconds, process)
        assert launch.is_alone(process)
    done = launch(*arguments)
    assert done.code == 0, done
    for run in (carried_out[0] / "runs").glob("*/*"):
        again = tmp_path / "e" / run.relative_to(carried_out[0])
        left, right = contents(run), contents(again)
        different = {name for name in {*left, *right} if left.get(name) != right.get(name)}
        assert different <= {"config.toml", "data.parquet", "environment.json"}
    configuration = load_configuration(
        tmp_path / "e" / "runs" / "alone" / "0-half-0" / "config.toml"
    )
    assert configuration.loop.iterations == 0


def test_a_folder_that_exists_keeps_its_mode(own_file, tmp_path, command) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    shared.chmod(0o755)
    assert command("experiment", own_file(QUICK), "--out", shared, "--jobs", 1).code == 0
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    for path in shared.rglob("*"):
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert path.is_symlink() or mode == (0o700 if path.is_dir() else 0o600), path
