"""Runs from a configuration to a folder, and what is refused on the way."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bootstrap.config.configuration import load_configuration
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.formats import Columns, write
from corpus.storage.atomic import folder_lock
from tests.bootstrap.refusals import refusal

Command = Callable[..., Any]
Contents = Callable[[Path], dict[str, Any]]


def selected(run: Path, iteration: int) -> list[dict[str, Any]]:
    table = pq.read_table(run / "iterations" / f"{iteration:03d}" / "selected.parquet")
    return table.to_pylist()


# A run that is finished


def test_everything_in_a_run_folder_is_private(finished: Path) -> None:
    """It was made with a umask that lets everyone read."""
    for path in [finished, *finished.rglob("*")]:
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path
        if path.is_file():  # no pickle
            assert not path.read_bytes().startswith((b"\x80\x03", b"\x80\x04", b"\x80\x05")), path


def test_a_run_folder_holds_what_it_should_and_no_more(finished: Path) -> None:
    names = {path.relative_to(finished).as_posix() for path in finished.rglob("*")}
    arrays = (
        "hashes",
        "begins",
        "state_labels",
        "state",
        "transition",
        "names",
        "name_ends",
        "patients",
    )
    model = {"model", "model/model.json", "model/unit.json"}
    model |= {f"model/{name}.npy" for name in arrays}
    whole = {"metrics.json", "selected.parquet", "validation.parquet", *model}
    whole |= {"errors.parquet"}
    folders = [f"iterations/{number:03d}" for number in range(4)]
    assert names == {
        *(".lock", "best", "config.toml", "data.parquet", "environment.json", "iterations"),
        *("metrics.parquet", "ended.json", "report.html", "advice.json"),
        *("annotate.txt", "assessment.json"),
        *folders,
        *(f"{folder}/{name}" for folder in folders for name in whole),
    }


def test_the_configuration_kept_is_the_one_used(finished: Path, project: Path) -> None:
    kept = load_configuration(finished / "config.toml")
    assert kept == load_configuration(project / "config.toml")
    text = (finished / "config.toml").read_text()
    for name in ("min_delta", "random_state", "measure", "min_frequency", "conflicts"):
        assert f"{name} = " in text


def test_the_metrics_of_all_iterations_are_one_table(finished: Path, command: Command) -> None:
    rows = json.loads(command("show", finished, "--json").out)
    assert [row["iteration"] for row in rows] == [0, 1, 2, 3]
    assert [row["selected"] for row in rows] == [0, 150, 150, 150]
    assert [row["tagged"] for row in rows] == [0, 600, 600, 600]
    assert [row["training_documents"] for row in rows] == [60, 210, 360, 510]
    for row in rows:
        assert {"precision", "recall", "f1", "seconds_train", "seconds_validate"} <= row.keys()
        assert 0 < row["f1"] <= 1
        assert row["human_tokens"] == rows[0]["human_tokens"] > 60
    assert all({"seconds_tag", "seconds_select", "seconds_read"} <= row.keys() for row in rows[1:])
    table = pq.read_table(finished / "metrics.parquet").to_pylist()
    assert [{**row, **shown} for row, shown in zip(table, rows, strict=True)] == table


def test_a_run_that_selects_spans_leaves_the_rest_open(
    project, tmp_path, command, without_advice
) -> None:
    run = tmp_path / "run"
    done = command(
        "run", project / "config.toml", "--out", run, "--jobs", "1",
        "--set", "select.strategy=confident_spans", "--set", "select.confidence=0.95",
        "--set", "select.max_selected=600", "--set", "select.proportions=false",
        "--set", "loop.iterations=2",
    )  # fmt: skip
    assert done.code == 0, done
    rows = [row for number in (1, 2) for row in selected(run, number)]
    parts = [row for row in rows if row["open"]]
    assert rows and parts and len(parts) < len(rows)
    for row in parts:
        assert row["label"] and row["confidence"] < 1
        for span in row["label"]:  # what is open is outside of what was kept
            assert all(o["end"] <= span["start"] or span["end"] <= o["start"] for o in row["open"])


def test_every_document_selected_says_when_and_how_sure(finished: Path, project: Path) -> None:
    pool = [json.loads(line) for line in (project / "unlabeled.jsonl").open(encoding="utf-8")]
    assert selected(finished, 0) == []
    for iteration in (1, 2, 3):
        rows = selected(finished, iteration)
        batch = {row["id"]: row["text"] for row in pool[600 * (iteration - 1) : 600 * iteration]}
        assert {row["iteration"] for row in rows} == {iteration}
        assert min(row["confidence"] for row in rows) >= 0.6
        assert all(row["text"] == batch[row["id"]] for row in rows)
        labels = {span["label"] for row in rows for span in row["label"]}
        assert labels == {"PERSON", "LOCATION"}


# Resuming


@pytest.mark.parametrize("left", [0, pytest.param(1, marks=pytest.mark.slow), 3])
def test_iterations_that_are_missing_are_made_again_the_same(
    left: int, copied: Path, finished: Path, project: Path, command: Command, contents: Contents
) -> None:
    for iteration in range(left, 4):
        shutil.rmtree(copied / "iterations" / f"{iteration:03d}")
    done = command("run", project / "config.toml", "--out", copied, "--resume", "--jobs", 2)
    assert done.code == 0, done
    assert contents(copied) == contents(finished)
    # The iterations that were there are shown, too.
    assert [line.split()[1] for line in done.out.splitlines()[:4]] == ["0", "1", "2", "3"]


def test_metrics_that_went_missing_are_named_and_nothing_is_removed(
    copied: Path, project: Path, command: Command, contents: Contents
) -> None:
    (copied / "iterations" / "001" / "metrics.json").unlink()
    before = contents(copied)
    message = refusal(
        command, "run", project / "config.toml", "--out", copied, "--resume", "--jobs", 1
    )
    assert f"{copied / 'iterations' / '001'} has no metrics.json, and later" in message
    assert contents(copied) == before


@pytest.mark.slow
@pytest.mark.parametrize("broken", [700, None, 0, 1500])
def test_what_was_left_out_is_counted_the_same_after_resuming(
    broken: int | None, project: Path, tmp_path: Path, command: Command, contents: Contents
) -> None:
    lines = (project / "unlabeled.jsonl").read_text(encoding="utf-8").splitlines()
    if broken is not None:
        lines.insert(broken, "no JSON")
    (tmp_path / "pool.jsonl").write_text("\n".join(lines), encoding="utf-8")
    arguments = ["run", project / "config.toml", "--jobs", 1, "--set", "data.invalid=skip"]
    arguments += ["--set", f"data.unlabeled={tmp_path / 'pool.jsonl'}"]
    assert command(*arguments, "--out", tmp_path / "whole").code == 0
    left_out = [bool(row.left_out) for row in Run(tmp_path / "whole").metrics()]
    assert left_out == [broken is not None] * 4  # all notes are in the first record batch
    for left in (2, 3):
        part = tmp_path / f"part{left}"
        shutil.copytree(tmp_path / "whole", part, symlinks=True)
        for iteration in range(left, 4):
            shutil.rmtree(part / "iterations" / f"{iteration:03d}")
        assert command(*arguments, "--out", part, "--resume").code == 0
        assert contents(part) == contents(tmp_path / "whole")


def test_what_a_killed_run_was_writing_is_removed(copied, finished, project, command) -> None:
    for name in ("config.toml", "metrics.parquet", "report.html", "best"):
        (copied / f".{name}.partial-{'0' * 16}").mkdir()
        (copied / f".{name}.partial-{'0' * 16}" / "content").write_text("hal")
    (copied / ".nfs0001").write_text("of someone else")
    assert command("run", project / "config.toml", "--out", copied, "--resume").code == 0
    left = {path.name for path in copied.iterdir()}
    assert left == {path.name for path in finished.iterdir()} | {".nfs0001"}


def test_a_finished_run_is_not_overwritten(copied, project, command, contents) -> None:
    before = contents(copied)
    assert refusal(command, "run", project / "config.toml", "--out", copied) == (
        f"bootstrap: {copied} is a run already; continue with --resume, or name another folder "
        "with --out\n"
    )
    again = command("run", project / "config.toml", "--out", copied, "--resume")
    assert again.code == 0
    assert again.out.startswith(f"{copied} is finished.")
    assert contents(copied) == before


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("select.confidence=0.7", "was started with select.confidence = 0.6, not 0.7"),
        ("loop.keep=relabel", "was started with loop.keep = 'accumulate', not 'relabel'"),
        ("tagger.features=['form']", ", not ['form']"),
        ("labels.PERSON=NAME", "was started with labels.PERSON = nothing, not 'NAME'"),
        ("data.seed_columns.text=text", "data.seed_columns.text = nothing, not 'text'"),
        ("data.unit=line", "was started with data.unit = 'document', not 'line'"),
    ],
)
def test_another_configuration_is_named(finished, project, command, setting, message) -> None:
    config = project / "config.toml"
    said = refusal(command, "run", config, "--out", finished, "--resume", "--set", setting)
    assert message in said


def test_the_same_configuration_in_other_words_is_no_other(finished, project, command) -> None:
    settings = ["select.confidence=0.60", "loop.random_state=0", "select.proportions=true"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    assert (
        command("run", project / "config.toml", "--out", finished, "--resume", *arguments).code == 0
    )


@pytest.fixture
def small(tmp_path: Path, make_project: Callable[..., Path], command: Command) -> Path:
    """A project of its own with few notes and a finished run, to change."""
    folder = make_project(tmp_path / "small", unlabeled=150)
    (folder / "pool").mkdir()
    (folder / "unlabeled.jsonl").rename(folder / "pool" / "a.jsonl")
    config = folder / "config.toml"
    config.write_text(
        config.read_text()
        .replace("[data]", '[data]\nunlabeled = "pool"')
        .replace("iterations = 3", "iterations = 1")
    )
    done = command("run", config, "--out", folder / "run", "--jobs", 1)
    assert done.code == 0, done
    return folder


def test_other_notes_are_named(small: Path, command: Command) -> None:
    def refusal() -> str:
        refused = command("run", small / "config.toml", "--out", small / "run", "--resume")
        assert (refused.code, refused.out) == (2, "")
        message: str = refused.err
        assert len(message.splitlines()) == 1
        return message

    pool = small / "pool"
    (pool / "b.jsonl").write_text('{"id": "b", "text": "hola"}\n')
    assert f"unlabeled file {pool / 'b.jsonl'} is new since the run was started" in refusal()
    (pool / "b.jsonl").unlink()
    data = (pool / "a.jsonl").read_bytes()
    (pool / "a.jsonl").write_bytes(data.replace(b"Exitus", b"exitus"))  # of the same size
    assert f"unlabeled file {pool / 'a.jsonl'} has changed since" in refusal()
    (pool / "a.jsonl").rename(pool / "z.jsonl")
    assert f"unlabeled file {pool / 'a.jsonl'} is gone since" in refusal()
    (pool / "z.jsonl").unlink()
    (pool / "a.jsonl").write_bytes(data)
    seed = small / "seed.jsonl"
    seed.write_bytes(seed.read_bytes() + b"\n")
    assert f"seed file {seed} has changed since" in refusal()


def test_a_run_that_another_process_works_on_is_refused(copied, project, launch, contents) -> None:
    shutil.rmtree(copied / "iterations" / "003")
    before = contents(copied)
    with folder_lock(copied, "run"):
        refused = launch("run", project / "config.toml", "--out", copied, "--resume")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"bootstrap: {copied}: another process works on this run\n"
    assert contents(copied) == before


@pytest.mark.slow
def test_of_two_that_begin_at_once_one_is_refused(project, tmp_path, launch) -> None:
    settings = ("--jobs", 1, "--set", "loop.iterations=0")
    both = [
        launch.start("run", project / "config.toml", "--out", tmp_path / "run", *settings)
        for _ in range(2)
    ]
    results = sorted((launch.finish(process) for process in both), key=lambda done: done.code)
    assert [done.code for done in results] == [0, 2]
    assert (
        "is a run already; continue with --resume" in results[1].err
        or "another process" in results[1].err
    )
    assert Run(tmp_path / "run").is_finished()


def test_a_folder_that_is_no_run_is_left_alone(project, tmp_path, command) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for resume in ([], ["--resume"]):
        message = refusal(
            command, "run", project / "config.toml", "--out", tmp_path / "mine", *resume
        )
        assert "mine exists already and is not a run; name another folder with --out" in message
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_the_project_folder_of_init_is_no_run(tmp_path, project, command) -> None:
    """Both have a ``config.toml``."""
    assert command("init", tmp_path / "mine").code == 0
    for arguments in (["show"], ["plot", "-o", tmp_path / "x.png"]):
        assert "mine is not the folder of a run" in refusal(command, *arguments, tmp_path / "mine")
    message = refusal(
        command, "run", project / "config.toml", "--out", tmp_path / "mine", "--resume"
    )
    assert "mine exists already and is not a run" in message


@pytest.mark.slow
def test_a_terminal_shows_what_is_going_on(project: Path, tmp_path: Path, launch: Any) -> None:
    """What is being done while it is, and at the end the table alone."""
    arguments = ("--jobs", 1, "--set", "loop.iterations=1")
    done = launch.on_terminal("run", project / "config.toml", "--out", tmp_path / "run", *arguments)
    assert done.code == 0
    assert "iteration 1: " in done.out
    end = done.out.rpartition("whole run")[2].replace("iteration 1 of", "")
    assert "maximum" in end and "Stopped: " in end and "iteration 1: " not in end
    out = tmp_path / "out.jsonl"
    done = launch.on_terminal("tag", tmp_path / "run", project / "unlabeled.jsonl", out)
    assert done.code == 0
    assert "2,000 documents with " in done.out


# Notes that ask for a word


@pytest.fixture
def run_with(tmp_path, make_project, command, without_advice) -> Callable[..., Any]:
    """Carry out a run whose notes of some splits are other ones."""

    def run(number: int = 0, settings: tuple[str, ...] = (), **splits: list[Document]) -> Any:
        folder = make_project(tmp_path / "project", unlabeled=number)
        for split, documents in splits.items():
            (folder / f"{split}.jsonl").unlink()
            write(documents, folder / f"{split}.jsonl")
        arguments = [part for setting in settings for part in ("--set", setting)]
        out = ("--out", tmp_path / "run", "--jobs", 1)
        return command("run", folder / "config.toml", *out, *arguments)

    return run


@pytest.mark.parametrize(
    ("unlabeled", "said"),
    [
        ([], "there are no notes, so iteration 0 is the only one"),
        ([Document("u", "Pac Anna ve")], "1 document, fewer than one batch of 600"),
        ([Document(f"u{number}", " \n") for number in range(30)], "all documents are blank (30)\n"),
    ],
)
def test_few_unlabeled_notes_are_said_to_be(run_with, tmp_path, unlabeled, said) -> None:
    done = run_with(unlabeled=unlabeled)
    assert done.code == 0
    assert f"unlabeled: {said}" in done.err
    assert "Stopped: the unlabeled notes are used up." in done.out
    assert Run(tmp_path / "run").stopped() == "exhausted"
    assert len(Run(tmp_path / "run").metrics()) == 1 + bool(unlabeled)


def test_a_class_that_the_seed_lacks_is_a_warning(run_with, tmp_path, notes) -> None:
    """And what is not known of it is no obstacle to other programs that read the metrics."""
    aged = [Document(f"age{i}", f"Edad {i + 20}", (Span(5, 7, "AGE"),)) for i in range(20)]
    done = run_with(number=300, validation=[*notes(100, 2), *aged])
    assert done.code == 0
    line = "validation has AGE, which the seed lacks: all entities of such classes are missed"
    assert done.err.count(line) == done.err.count("AGE") == 1

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for path in (tmp_path / "run" / "iterations").rglob("metrics.json"):
        metrics = json.loads(path.read_text(), parse_constant=refuse)
        assert metrics["classes"]["AGE"]["recall"] == 0


TWICE = Document("a", "Ve Anna", (Span(3, 7, "PERSON"),))
REFERENCE = (
    "select.reference.empty=0.5",
    "select.reference.per_token={AGE = 0.05}",
    "select.reference.length={AGE = 1.5}",
)


@pytest.mark.parametrize(
    ("settings", "splits", "message"),
    [
        ((), {"seed": [Document("a", "Anna Puig")]}, "seed.jsonl: 1 document without any entity"),
        ((), {"validation": [TWICE] * 2}, "validation.jsonl: document a occurs twice; ids must be"),
        (("data.label=lable",), {}, "'lable', which was named as the column of the label"),
        (("data.group=lable",), {}, "'lable', which was named as the column of the group"),
        (("labels.NOMBRE=PERSON",), {}, "(does [labels] contain their labels?)"),
        (REFERENCE, {}, "[select.reference] names AGE, which the seed lacks"),
    ],
)
def test_notes_that_do_not_fit_are_refused_before_anything_is_made(
    run_with, tmp_path, settings, splits, message
) -> None:
    refused = run_with(settings=settings, **splits)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err
    assert not (tmp_path / "run").exists()


def test_a_seed_without_the_key_of_annotations_is_told_from_one_without_annotations(
    run_with: Callable[..., Any], tmp_path: Path, project: Path
) -> None:
    lines = (project / "seed.jsonl").read_text(encoding="utf-8").replace('"label"', '"labels"')
    (tmp_path / "other.jsonl").write_text(lines, encoding="utf-8")
    refused = run_with(settings=(f"data.seed={tmp_path / 'other.jsonl'}",))
    assert refused.code == 2
    assert "60 documents without any entity" in refused.err
    assert "it has no column or key 'label'; set [data] label or seed_columns" in refused.err


def test_notes_of_other_formats_and_names_are_one_run(run_with, tmp_path, notes) -> None:
    pool = [Document(note.id, note.text) for note in notes(100, 3)]
    write(pool, tmp_path / "pool.parquet", columns=Columns(id="noteid", text="nota"))
    names = ("data.unlabeled_columns.id=noteid", "data.unlabeled_columns.text=nota")
    done = run_with(settings=(f"data.unlabeled={tmp_path / 'pool.parquet'}", *names))
    assert done.code == 0
    assert Run(tmp_path / "run").metrics()[1].tagged == 100


def test_labels_are_renamed_and_the_others_dropped(run_with, tmp_path) -> None:
    assert run_with(number=100, settings=("labels.PERSON=WHO",)).code == 0
    assert Run(tmp_path / "run").metrics()[0].classes.keys() == {"WHO"}
    model = json.loads((tmp_path / "run/best/model/model.json").read_text())
    assert model["labels"] == ["O", "B-WHO", "I-WHO"]


def test_given_proportions_are_kept(run_with: Callable[..., Any], tmp_path: Path) -> None:
    """Half as many documents without entities as with, in every selection."""
    reference = (
        "select.reference.empty=0.5",
        "select.reference.per_token={PERSON = 0.05, LOCATION = 0.05}",
        "select.reference.length={PERSON = 1.5, LOCATION = 1}",
    )
    assert run_with(number=600, settings=("loop.batch=600", *reference)).code == 0
    row = Run(tmp_path / "run").metrics()[1]
    assert row.selected > 60
    assert row.deviation <= 1
    empty = [not document["label"] for document in selected(tmp_path / "run", 1)]
    assert row.proportions["documents without entities"] == sum(empty) / len(empty)
    assert abs(sum(empty) / len(empty) - 0.5) < 0.1


def test_selections_resemble_the_validation_notes_in_what_the_seed_teaches(
    run_with: Callable[..., Any], tmp_path: Path, notes: Callable[..., list[Document]]
) -> None:
    """What a tagger cannot find is no proportion that its documents could keep."""
    persons = [
        replace(note, spans=tuple(span for span in note.spans if span.label == "PERSON"))
        for note in notes(60, 1)
    ]
    settings = ("loop.batch=600", "select.confidence=0.1")
    assert run_with(number=600, seed=persons, settings=settings).code == 0
    row = Run(tmp_path / "run").metrics()[1]
    assert row.classes.keys() == {"PERSON", "LOCATION"}
    assert row.proportions.keys() == {
        *("PERSON per token", "PERSON length", "documents without entities")
    }
    assert row.deviation <= 1
    assert row.selected > 0.2 * row.confident


def test_selections_beyond_tolerance_are_said_with_what_may_help(
    run_with: Callable[..., Any], tmp_path: Path, command: Command
) -> None:
    """The pool has no document without entities of which nine in ten were to be selected."""
    pool = [Document(f"u{number}", "Pac Anna Puig ve") for number in range(40)]
    reference = (
        "select.reference.empty=0.9",
        "select.reference.per_token={PERSON = 0.05}",
        "select.reference.length={PERSON = 1.5}",
        "select.confidence=0",
    )
    done = run_with(unlabeled=pool, settings=reference)
    row = Run(tmp_path / "run").metrics()[1]
    assert row.deviation > 1 and row.selected == 4
    for shown in (done.out, command("show", tmp_path / "run").out):
        assert "! Proportions were not kept in 1 iteration (1)" in shown
        assert f"4 of 40 selected, {row.deviation:.1f} times the tolerance" in shown
        assert f'"{row.worst}"' in shown
        assert "select.proportions=false" in shown
    assert f"deviation {row.deviation:g} " in done.out.splitlines()[1]


def test_lines_are_units_of_their_own(run_with, tmp_path, notes) -> None:
    """Two notes a text; a model knows what it was trained on."""
    pairs = []
    for number, (left, right) in enumerate(zip(notes(40, 1), notes(40, 2), strict=True)):
        shift = len(left.text) + 2
        moved = [Span(s.start + shift, s.end + shift, s.label) for s in right.spans]
        text = f"{left.text}\r\n{right.text}"
        pairs.append(Document(f"d{number}", text, (*left.spans, *moved)))
    done = run_with(number=60, seed=pairs, settings=("data.unit=line",))
    assert done.code == 0
    row = Run(tmp_path / "run").metrics()[0]
    assert row.training_documents == 80
    unit = json.loads((tmp_path / "run/best/model/unit.json").read_text())
    assert unit["unit"] == "line"
