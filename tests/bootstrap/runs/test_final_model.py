"""The final model of a run: the best one, trained on the validation documents as well."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from bootstrap.config.configuration import load_configuration
from bootstrap.data.splits import read_notes
from bootstrap.export import export_model
from bootstrap.inference import find_model, read_unit_file
from bootstrap.runs.final_model import train_final
from bootstrap.runs.folder import Run
from corpus.document import Document
from corpus.errors import InputError
from corpus.formats import write
from corpus.storage.manifest import digest_of_file, read_manifest
from taggers.privacy.pruning import Pruning

Command = Callable[..., Any]
REFIT = ("--set", "loop.refit=true", "--jobs", "1")


def digests_of(folder: Path) -> dict[Path, str]:
    return {
        path.relative_to(folder): digest_of_file(path)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def refitted(project, notes, tmp_path_factory, run_here) -> tuple[Path, Path]:
    """A run with a final model, and test notes."""
    folder = tmp_path_factory.mktemp("refitted")
    made = [Document(n.id, f"{n.text} .", n.spans) for n in notes(150, 7, prefix="t")]
    write(made, folder / "test.jsonl")
    arguments = ("--set", f"data.test={folder / 'test.jsonl'}", *REFIT)
    done = run_here("run", project / "config.toml", "--out", folder / "run", *arguments)
    assert done.code == 0, done
    assert "The final model, which tags, is the model of iteration" in done.out
    assert "training on validation as well" in done.out
    return folder / "run", folder / "test.jsonl"


def test_it_has_learned_from_seed_and_validation(refitted, project) -> None:
    run = Run(refitted[0])
    record = read_manifest(run.final.metrics_file).description
    assert record["iteration"] == run.best_iteration() > 0
    assert (record["documents"], record["pseudo_labelled"]) == (60 + 120, 0)
    # Nearly all that the best model does not find in validation, as half of its notes are new.
    gold = list(bootstrap.read(project / "validation.jsonl"))
    f1 = [
        bootstrap.evaluate(gold, bootstrap.load(folder).tag(gold)).counts().f1
        for folder in (run.best_model(), run.model())
    ]
    assert f1[0] < f1[1] and f1[1] > 0.97


@pytest.mark.parametrize(
    ("helps", "number", "kept"), [(False, 40, False), (True, 40, True), (True, 70, False)]
)
def test_half_of_validation_shows_whether_pseudo_labels_help(
    project, notes, tmp_path, command, helps, number, kept
) -> None:
    """A patient who is like the seed teaches nothing about the other one, but the pool does.

    With more than twice the annotations of the seed, pseudo-labels are left out in any case.
    """

    def notes_of(patient: str, known: bool) -> list[Document]:
        drawn = enumerate(notes(number, 2, narrow=known, prefix=patient))
        return [replace(n, text=f"{n.text} ( {i} )", group=patient) for i, n in drawn]

    validation = tmp_path / "validation.jsonl"
    write([*notes_of("taught", helps), *notes_of("scored", not helps)], validation)
    settings = ("--set", f"data.validation={validation}", *REFIT)
    done = command("run", project / "config.toml", "--out", tmp_path / "run", *settings)
    record = read_manifest(Run(tmp_path / "run").final.metrics_file).description
    assert (record["pseudo_labelled"] > 0) == kept
    assert ("of them pseudo-labeled)" if kept else "all annotated documents (") in done.out


@pytest.mark.parametrize("teaches", [False, True])
def test_a_half_without_entities_does_not_take_pseudo_labels_away(
    project, notes, tmp_path, command, teaches
) -> None:
    blank = [Document(f"b{n}", f"alta {n}", group="p1") for n in range(9)]
    others = [replace(note, group="p2") for note in notes(40, 2, prefix="v")]
    write([*blank, *others] if teaches else [*others, *blank], tmp_path / "validation.jsonl")
    settings = ("--set", f"data.validation={tmp_path / 'validation.jsonl'}", *REFIT)
    command("run", project / "config.toml", "--out", tmp_path / "run", *settings)
    run = Run(tmp_path / "run")
    assert run.best_iteration() > 0
    assert read_manifest(run.final.metrics_file).description["pseudo_labelled"] > 0


def test_it_tags_with_the_thresholds_of_the_best_model(project, tmp_path, command) -> None:
    folder = tmp_path / "run"
    settings = ("--set", 'tagger.min_probability="auto"', *REFIT)
    assert command("run", project / "config.toml", "--out", folder, *settings).code == 0
    run = Run(folder)
    best, final = read_unit_file(run.best_model()), read_unit_file(run.final.model_folder)
    assert find_model(folder) == run.final.model_folder
    assert final == best


def test_test_documents_score_it_as_tagging_with_the_run_does(refitted) -> None:
    run, gold = Run(refitted[0]), list(bootstrap.read(refitted[1]))
    counts = run.final.test_counts()
    scores = bootstrap.evaluate(gold, bootstrap.load(refitted[0]).tag(gold))
    assert counts.total == scores.counts()


def test_a_run_killed_before_it_had_a_final_model_trains_the_same_one(
    refitted, project, tmp_path, command
) -> None:
    folder = Path(shutil.copytree(refitted[0], tmp_path / "run", symlinks=True))
    final = Run(folder).final
    before = digests_of(final.folder)
    final.metrics_file.unlink()
    arguments = ("--set", f"data.test={refitted[1]}", *REFIT, "--resume")
    assert command("run", project / "config.toml", "--out", folder, *arguments).code == 0
    assert digests_of(final.folder) == before
    assert not list(folder.glob("iterations/*/alternative-*"))


@pytest.mark.parametrize("warm", [True, False])
def test_it_starts_from_the_best_model_and_leaves_no_notes_behind(refitted, tmp_path, warm) -> None:
    """Blank documents for it are drawn from the pool, after the run has removed its batches."""
    run = Run(Path(shutil.copytree(refitted[0], tmp_path / "run", symlinks=True)))
    before = digests_of(run.model())
    run.final.metrics_file.unlink()
    configuration = load_configuration(run.config_file, [f"loop.warm_start={str(warm).lower()}"])
    notes = read_notes(configuration.data, configuration.labels, batch_size=600)
    run.batches_folder.mkdir()
    (run.batches_folder / "0000.arrow").write_bytes(b"notes")
    train_final(run, configuration, notes, jobs=1, report=lambda *_: None)
    assert run.final_model() and not run.batches_folder.exists()
    assert (digests_of(run.model()) == before) == warm


def test_a_final_model_that_has_changed_is_refused(refitted, tmp_path, command) -> None:
    folder = Path(shutil.copytree(refitted[0], tmp_path / "run", symlinks=True))
    description = Run(folder).final.model_folder / "model.json"
    description.write_bytes(description.read_bytes().replace(b'"window": 1', b'"window": 2'))
    with pytest.raises(InputError, match="it is not the file that was saved"):
        find_model(folder)
    done = command("tag", folder, refitted[1], tmp_path / "tagged.jsonl")
    assert done.code == 2 and not (tmp_path / "tagged.jsonl").exists()


def test_the_paper_and_an_untrained_best_model_have_none(finished, project, tmp_path) -> None:
    assert Run(finished).final_model() is None
    model = {"kind": "divergence", "names": ["census-es"], "label": "PERSON"}
    settings = {
        "initial_model": model,
        "data": {"seed": ""},
        "loop": {"iterations": 0, "refit": True},
    }
    run = bootstrap.train(project / "config.toml", out=tmp_path / "run", jobs=1, **settings)
    assert run.final_model() is None and find_model(tmp_path / "run") == run.best_model()


def test_recall_is_estimated_with_a_model_that_has_not_seen_validation(
    refitted, tmp_path, command
) -> None:
    run, estimates = Run(refitted[0]), []
    without = Path(shutil.copytree(refitted[0], tmp_path / "run", symlinks=True))
    shutil.rmtree(Run(without).final.folder)
    for folder in (run.folder, without):
        out = tmp_path / f"{folder.parent.name}.jsonl"
        report = out.with_suffix(".json")
        command("deidentify", folder, refitted[1], out, "--recall", "0.9", "--json", report)
        estimates.append(json.loads(report.read_text())["estimate"])
    assert estimates[0] == estimates[1]


def test_exports_are_scored_with_a_model_that_has_not_seen_validation(refitted, tmp_path) -> None:
    run = Run(refitted[0])
    exported = export_model(
        run.folder, tmp_path / "out", pruning=Pruning.from_choices(min_patients=20), gold=None
    )
    assert exported.f1[0] == run.metrics()[run.best_iteration()].f1 > exported.f1[1] > 0
    before = read_manifest(run.final.model_folder / "model.json").description
    after = read_manifest(tmp_path / "out" / "model.json").description
    assert after["options"] == before["options"]
