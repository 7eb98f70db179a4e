"""The commands: what they say, what they write, how they end."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bootstrap.cli.commands.demo import gain_lines
from bootstrap.cli.main import build_parser, main
from bootstrap.config.configuration import load_configuration
from bootstrap.demo import make_demo
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.evaluation import Scores, score
from corpus.formats import Columns, read, write
from corpus.problems import Problems

Command = Callable[..., Any]
MakeNotes = Callable[..., list[Document]]

COMMANDS = ["init", "check", "run", "tag", "evaluate", "convert", "demo", "show", "plot"]


def documents_at(path: Path) -> list[Document]:
    return list(read(path, problems=Problems()))


# Help


def test_help_names_every_command(command: Command) -> None:
    done = command("--help")
    assert done.code == 0
    for name in COMMANDS:
        assert re.search(rf"^    {name} ", done.out, re.MULTILINE)
        helped = command(name, "--help")
        assert helped.code == 0
        assert helped.out.startswith(f"usage: bootstrap {name} ")


def test_help_waits_for_nothing_slow(launch: Any) -> None:
    """Half a second would not do for numpy and pyarrow."""
    code = (
        "import sys; from bootstrap.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('loaded', *sorted(sys.modules))"
    )
    done = launch.python(code)
    assert done.code == 0
    assert "usage: bootstrap" in done.out
    loaded = set(done.out.splitlines()[-1].split())
    assert {"loaded", "bootstrap.cli.main"} <= loaded
    slow = {"numpy", "pyarrow", "rich", "matplotlib", "scipy", "joblib", "pycrfsuite", "simplemma"}
    assert not slow & loaded


@pytest.mark.parametrize("name", ["cli", "commands.show", "commands.check", "commands.evaluate"])
def test_commands_that_compile_nothing_wait_for_no_compiler(launch: Any, name: str) -> None:
    done = launch.python(f"import sys, bootstrap.{name}; print(*sys.modules)")
    assert done.code == 0
    assert "numba" not in done.out.split()


def test_a_run_draws_nothing_before_its_end(launch: Any) -> None:
    """Matplotlib and the dictionaries of simplemma are slow, and not always needed."""
    done = launch.python("import sys, bootstrap.cli.commands.run; print(*sys.modules)")
    assert done.code == 0
    assert not {"matplotlib", "simplemma"} & set(done.out.split())


# How commands end


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("a.jsonl:3: no\ntext"), 2, "bootstrap: a.jsonl:3: no text"),
        (KeyboardInterrupt(), 130, "bootstrap: interrupted"),
        (OSError(28, "No space left on device", "x"), 1, "No space left on device"),
        (MemoryError(), 1, "bootstrap: out of memory; smaller batches ([loop] batch)"),
    ],
)
def test_an_error_is_one_line_and_a_code(
    error: BaseException, code: int, line: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(options: object) -> None:
        raise error

    monkeypatch.setitem(sys.modules, "bootstrap.cli.commands.show", SimpleNamespace(main=fail))
    done = command("show", "x")
    assert (done.code, done.out) == (code, "")
    assert line in done.err
    assert done.err.count("\n") == 1


def test_ctrl_c_while_a_command_is_loaded_is_no_traceback(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupted)
    done = command("show", "x")
    assert (done.code, done.err) == (130, "bootstrap: interrupted\n")


def test_a_reader_that_has_had_enough_is_no_error(finished: Path, launch: Any) -> None:
    process = launch.start("show", finished, "--json")
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


def test_the_parser_gives_what_commands_take() -> None:
    options = build_parser().parse_args(
        ["run", "c.toml", "--set", "a.b=1", "--set", "a.c=2", "--jobs", "3", "--resume"]
    )
    assert (options.config, options.overrides) == (Path("c.toml"), ["a.b=1", "a.c=2"])
    assert (options.jobs, options.resume, options.out) == (3, True, None)


# init


def test_init_writes_a_configuration_that_loads(tmp_path: Path, command: Command) -> None:
    done = command("init", tmp_path / "new" / "mine")
    path = tmp_path / "new" / "mine" / "config.toml"
    assert done.code == 0
    assert f"{path} has every setting with its default." in done.out
    assert f"bootstrap run {path} --out runs/NAME" in done.out
    assert load_configuration(path).loop.batch == 50_000
    assert len(re.findall("^# ", path.read_text(), re.MULTILINE)) > 25


def test_init_overwrites_nothing(tmp_path: Path, command: Command) -> None:
    (tmp_path / "config.toml").write_text("mine")
    refused = command("init", tmp_path)
    assert refused.code == 2
    assert "config.toml exists already and is not overwritten" in refused.err
    assert (tmp_path / "config.toml").read_text() == "mine"


# run


def test_a_run_says_what_it_gained_and_what_to_type_next(
    project: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("run", project / "config.toml", "--set", "loop.iterations=1", "--jobs", "1")
    assert done.code == 0
    assert [line.split() for line in done.err.splitlines()] == [
        [name, str(project / f"{name}.jsonl")] for name in ("seed", "validation", "unlabeled")
    ]
    folder = Path("runs") / project.name  # the folder of a config.toml
    assert Run(folder).is_finished()
    assert "Stopped: the number of iterations asked for is reached." in done.out
    assert f"The run is in {folder}" in done.out
    outcome = Run(folder).outcome()
    assert f"F1 went from {outcome.first.f1:.3f} with the seed alone to {outcome.best.f1:.3f}" in (
        " ".join(done.out.split())
    )
    # What it says to type works.
    for line in re.findall(r"^  bootstrap (.*)$", done.out, re.MULTILINE):
        arguments = line.replace("NOTES", str(project / "seed.jsonl")).split()
        assert command(*arguments).code == 0, line
    assert Path("f1.png").is_file() and Path("TAGGED.jsonl").is_file()


def test_training_that_failed_is_told(
    project: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L-BFGS can find no step and leave a model; it is hard to make it do so."""

    def failed_iterations(*arguments: Any, **options: Any) -> Any:
        for metrics in run.metrics():
            assert metrics.training is not None and not metrics.training.failed
            training = replace(metrics.training, outcome="no step is an improvement", failed=True)
            yield replace(metrics, training=training)

    config, folder = project / "config.toml", tmp_path / "run"
    arguments = (config, "--out", folder, "--jobs", "1", "--set", "loop.iterations=0")
    assert command("run", *arguments).code == 0
    run = Run(folder)
    monkeypatch.setattr("bootstrap.cli.commands.run.run_iterations", failed_iterations)
    monkeypatch.setattr(Run, "is_finished", lambda run: False)
    done = command("run", *arguments, "--resume")
    assert done.err.endswith("\niteration 0: no step is an improvement; its model may be poor\n")


# show


def test_show_tells_the_iterations(finished: Path, command: Command) -> None:
    done = command("show", finished)
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0][:2] == ["iteration", "selected"]
    for row, metrics in zip(rows[1:5], Run(finished).metrics(), strict=True):
        assert row[:2] == [str(metrics.iteration), str(metrics.selected)]
        assert row[5 if metrics.tagged else 4] == f"{metrics.f1:.3f}"
    assert rows[4][-1] == "maximum"
    assert "PERSON" in done.out and "LOCATION" in done.out
    assert "Stopped: the number of iterations asked for is reached." in done.out


def test_show_of_a_run_that_goes_on(copied: Path, command: Command) -> None:
    shutil.rmtree(copied / "iterations" / "003")
    done = command("show", copied)
    assert done.code == 0
    assert "Stopped: it is not finished." in done.out
    assert len(json.loads(command("show", copied, "--json").out)) == 3
    shutil.rmtree(copied / "iterations")
    assert "has no closed iteration yet" in command("show", copied).out
    assert json.loads(command("show", copied, "--json").out) == []


# demo


def test_the_notes_of_the_demonstration_are_private(tmp_path: Path) -> None:
    demo = make_demo(tmp_path / "demo", 10)
    for folder in (demo.folder, demo.folder / "notes"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (demo.folder / "notes").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_demonstration_may_start_from_a_list_of_names(tmp_path: Path, command: Command) -> None:
    out = ("--out", tmp_path / "demo", "--jobs", "1")
    few = command("demo", "--start", "divergence", "--notes", "10", *out)
    assert few.code == 2
    assert "10 notes are too few" in few.err
    assert not (tmp_path / "demo").exists()
    done = command("demo", "--start", "divergence", "--notes", "1000", *out)
    assert done.code == 0
    assert not (tmp_path / "demo" / "notes" / "seed.jsonl").exists()
    rows = Run(tmp_path / "demo" / "run").metrics()
    assert rows[0].training_documents == 0
    assert rows[0].f1 > 0.4
    assert rows[1].training_documents > 0
    assert list(rows[0].classes) == ["PERSON"]


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
    assert lines[5].startswith("Recall fell: it finds fewer")
    assert "Recall" not in "".join(gain_lines(taught, seed, 3))


# convert


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "brat"])
def test_convert_and_back_is_the_same(
    suffix: str, notes: MakeNotes, tmp_path: Path, command: Command
) -> None:
    some = [replace(document, group="p1") for document in notes(30, 8)]
    write(
        [*some, Document("odd/one", "\ufeffPac 😀 Ànna\u0301\r\n", (Span(7, 12, "P"),))],
        tmp_path / "a.jsonl",
    )
    target = tmp_path / ("brat" if suffix == "brat" else f"b.{suffix}")
    done = command("convert", tmp_path / "a.jsonl", target)
    assert (done.code, done.err) == (0, "")
    spans = sum(len(document.spans) for document in documents_at(tmp_path / "a.jsonl"))
    assert f"31 documents with {spans} spans are in {target}" in done.out
    assert ("30 groups" in done.out) == (suffix == "brat")
    back = command("convert", target, tmp_path / "c.jsonl")
    assert back.code == 0
    before, after = ({d.id: d for d in documents_at(tmp_path / n)} for n in ("a.jsonl", "c.jsonl"))
    if suffix == "brat":
        before = {name: replace(document, group=None) for name, document in before.items()}
    assert after == before


def test_convert_takes_formats_and_columns_by_name(tmp_path: Path, command: Command) -> None:
    (tmp_path / "notes.dat").write_text('{"key": 7, "note": "hola", "who": [[0, 4, "X"]]}\n')
    names = ("--id-column", "key", "--text-column", "note", "--label-column", "who")
    done = command(
        "convert",
        tmp_path / "notes.dat",
        tmp_path / "out.dat",
        "--from",
        "jsonl",
        "--to",
        "parquet",
        *names,
    )
    assert done.code == 0
    renamed = command("convert", tmp_path / "out.dat", tmp_path / "x", "--from", "parquet", *names)
    assert renamed.code == 0
    assert documents_at(tmp_path / "x") == [Document("7", "hola", (Span(0, 4, "X"),))]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", ["convert", "tag"])
def test_columns_that_are_not_kept_are_counted_and_named(
    name: str, suffix: str, finished: Path, tmp_path: Path, command: Command
) -> None:
    rows = [
        {"id": str(number), "text": "Anna ve", "ward": 3, "confidence": 0.5} for number in range(7)
    ]
    source = tmp_path / f"in.{suffix}"
    if suffix == "jsonl":
        source.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {**rows[0], "age": 9}]))
    else:
        pq.write_table(pa.Table.from_pylist(rows), source)
    arguments = ("convert", source) if name == "convert" else ("tag", finished, source)
    done = command(*arguments, tmp_path / "out.jsonl")
    line = "left out, columns or keys that are no part of a note: "
    found = "age (1), confidence (8), ward (8)" if suffix == "jsonl" else "confidence (7), ward (7)"
    assert (done.code, done.out.splitlines()[-1]) == (0, f"{line}{found}")


# evaluate


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Path, Path]:
    """Three gold notes and what was found in them; of one, nothing is predicted."""
    text = "Pac Anna Puig de Vic\nHosp. Clínic"
    gold = [
        Document(
            "a", text, (Span(4, 13, "PERSON"), Span(17, 20, "LOCATION"), Span(21, 33, "LOCATION"))
        ),
        Document("b", "Pere", (Span(0, 4, "PERSON"),)),
        Document("c", "sin fiebre"),
    ]
    found = [
        Document("a", text, (Span(4, 8, "PERSON"), Span(9, 13, "PERSON"), Span(17, 20, "PERSON"))),
        Document("c", "sin fiebre"),
        Document("d", "nueva", (Span(0, 5, "AGE"),)),
    ]
    write(gold, tmp_path / "gold.jsonl")
    write(found, tmp_path / "found.jsonl")
    return tmp_path / "gold.jsonl", tmp_path / "found.jsonl"


def test_evaluate_writes_all_figures(
    judged: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    done = command("evaluate", *judged, "--json", tmp_path / "figures.json")
    assert (done.code, done.err) == (0, "")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures.keys() >= {"ner", "span", "span_merged", "covered", "leak", "per_label"}

    def counts(measure: Any) -> tuple[int, int, int]:
        true, false, missed = (
            measure[f"{kind}s"] for kind in ("true_positive", "false_positive", "false_negative")
        )
        precision, recall = true / max(true + false, 1), true / max(true + missed, 1)
        assert (measure["precision"], measure["recall"]) == (precision, recall)
        assert measure["f1"] == pytest.approx(2 * true / max(2 * true + false + missed, 1))
        return true, false, missed

    assert counts(figures["ner"]) == (0, 4, 4)
    assert counts(figures["span"]) == (1, 3, 3)  # Vic
    # Anna and Puig join; so do Vic and Hosp. Clínic of the gold side, which match nothing.
    assert counts(figures["span_merged"]) == (2, 1, 2)
    # Anna, Puig and Vic of Anna, Puig, Vic, Hosp, ., Clínic and Pere; nueva is spurious.
    assert counts(figures["covered"]) == (3, 1, 4)
    assert figures["leak"] == 4 / 4  # lines; nothing can leak from what is only predicted
    assert {name: counts(label) for name, label in figures["per_label"].items()} == {
        "AGE": (0, 1, 0),
        "LOCATION": (0, 0, 2),
        "PERSON": (0, 3, 2),
    }
    for measure in ("ner", "span", "span_merged", "covered"):
        low, high = figures[measure]["f1_interval"]
        assert 0 <= low <= figures[measure]["f1"] <= high <= 1
    assert "3 gold and 3 predicted documents; 1 are only gold (all missed), 1 only predicted" in (
        done.out
    )
    assert "leak: 1.0000" in done.out


def test_evaluate_says_the_same_every_time(
    judged: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    for name in ("a.json", "b.json"):
        assert command("evaluate", *judged, "--json", tmp_path / name).code == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


REPORTS = pytest.mark.parametrize("report", ["figures.json", "f1.png"])


@pytest.fixture
def make_report(judged: tuple[Path, Path], finished: Path, command: Command) -> Callable[..., Any]:
    """Write a report into a file: `make_report(path)`."""

    def make(path: Path) -> Any:
        if path.suffix == ".json":
            return command("evaluate", *judged, "--json", path)
        return command("plot", finished, "-o", path)

    return make


@REPORTS
def test_a_report_takes_the_place_of_an_earlier_one(
    report: str, tmp_path: Path, make_report: Callable[..., Any]
) -> None:
    path, link = tmp_path / "out" / report, tmp_path / f"latest-{report}"
    assert make_report(path).code == 0
    whole = path.read_bytes()
    path.write_bytes(b"of last week" + whole)
    link.symlink_to(path)
    assert make_report(link).code == 0
    assert (link.readlink(), path.read_bytes()) == (path, whole)
    assert list(path.parent.iterdir()) == [path]


@REPORTS
@pytest.mark.parametrize(
    ("error", "code"),
    [(OSError(28, "No space left on device"), 2), (KeyboardInterrupt(), 130)],
)
def test_a_report_that_is_not_written_leaves_the_earlier_one(
    report: str,
    error: BaseException,
    code: int,
    tmp_path: Path,
    make_report: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "out" / report
    path.parent.mkdir()
    path.write_bytes(b"of last week")

    def fail(descriptor: int) -> None:
        assert path.read_bytes() == b"of last week"
        assert len(list(path.parent.iterdir())) == 2  # it is being written beside
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    done = make_report(path)
    assert done.code == code
    assert len(done.err.splitlines()) == 1
    assert path.read_bytes() == b"of last week"
    assert list(path.parent.iterdir()) == [path]


@REPORTS
def test_a_report_replaces_nothing_but_a_file(
    report: str, tmp_path: Path, make_report: Callable[..., Any]
) -> None:
    (tmp_path / f"folder-{report}").mkdir()
    refused = make_report(tmp_path / f"folder-{report}")
    assert (refused.code, refused.out) == (2, "")
    assert f"folder-{report} cannot be written: Is a directory" in refused.err
    # A pipe is not replaced but written to.
    pipe = tmp_path / f"pipe-{report}"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as readers:
        read = readers.submit(pipe.read_bytes)
        assert make_report(pipe).code == 0
    assert make_report(tmp_path / report).code == 0
    assert read.result() == (tmp_path / report).read_bytes()
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_figures_go_to_a_pipe(judged: tuple[Path, Path], launch: Any) -> None:
    done = launch("evaluate", *judged, "--json", "/dev/stdout")
    assert (done.code, done.err) == (0, "")
    figures, end = json.JSONDecoder().raw_decode(done.out)
    assert figures["documents"] == 4
    assert "leak:" in done.out[end:]


def test_what_is_right_is_all_ones(judged: tuple[Path, Path], command: Command) -> None:
    done = command("evaluate", judged[0], judged[0])
    rows = [line.split() for line in done.out.splitlines() if "1.0000" in line]
    assert len(rows) == 6  # four measures and two classes
    assert all(row.count("1.0000") >= 3 for row in rows)
    assert "leak: 0.0000" in done.out


def test_the_sides_of_evaluate_may_have_other_columns(
    judged: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    named = Columns(text="nota", label="anotaciones")
    write(documents_at(judged[0]), tmp_path / "gold.parquet", columns=named)
    other = ("--gold-text-column", "nota", "--gold-label-column", "anotaciones")
    done = command("evaluate", tmp_path / "gold.parquet", judged[1], *other)
    assert (done.code, done.out) == (0, command("evaluate", *judged).out)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Classes by the labels of a source, as in the configuration of a run."""
    (tmp_path / "labels.toml").write_text(
        '[labels]\nNOMBRE = "PERSON"\nSANITARIO = "PERSON"\nCALLE = "LOCATION"\n'
    )
    return tmp_path / "labels.toml"


NAMED = Document(
    "a",
    "Anna ve a Pere 30",
    (Span(0, 4, "NOMBRE"), Span(10, 14, "SANITARIO"), Span(15, 17, "EDAD")),
)


def test_labels_are_renamed_and_dropped_as_in_a_run(
    labels: Path, tmp_path: Path, command: Command
) -> None:
    write([NAMED], tmp_path / "in.jsonl")
    done = command("convert", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--labels", labels)
    assert done.code == 0
    assert "left out, spans of labels that [labels] does not name: EDAD (1)" in done.out
    (found,) = documents_at(tmp_path / "out.jsonl")
    assert found.spans == (Span(0, 4, "PERSON"), Span(10, 14, "PERSON"))


def test_gold_labels_are_renamed_to_the_classes_that_were_predicted(
    labels: Path, tmp_path: Path, command: Command
) -> None:
    write([NAMED], tmp_path / "gold.jsonl")
    found = (Span(0, 4, "PERSON"), Span(5, 7, "LOCATION"))
    write([replace(NAMED, spans=found)], tmp_path / "found.jsonl")
    figures = tmp_path / "figures.json"
    sides = (tmp_path / "gold.jsonl", tmp_path / "found.jsonl")
    done = command("evaluate", *sides, "--labels", labels, "--json", figures)
    assert done.code == 0
    assert "left out, spans of labels that [labels] does not name: EDAD (1)" in done.out
    scores = json.loads(figures.read_text())
    assert scores["per_label"].keys() == {"PERSON", "LOCATION"}
    assert (scores["ner"]["precision"], scores["ner"]["recall"]) == (0.5, 0.5)


def test_labels_to_rename_by_must_be_there(
    judged: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    (tmp_path / "config.toml").write_text("")
    refused = command("evaluate", *judged, "--labels", tmp_path / "config.toml")
    assert (refused.code, refused.out) == (2, "")
    assert "config.toml has no [labels] to rename by" in refused.err


@pytest.mark.parametrize(
    ("content", "number"),
    [("", 0), ('{"id": "z", "text": "Anna", "labels": [[0, 4, "PERSON"]]}\n', 1)],
)
def test_gold_notes_without_annotations_are_refused(
    content: str, number: int, judged: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    """Or nothing would be missed in them, and nothing seem to leak."""
    (tmp_path / "bare.jsonl").write_text(content)
    refused = command("evaluate", tmp_path / "bare.jsonl", judged[1], "--json", tmp_path / "x.json")
    assert (refused.code, refused.out) == (2, "")
    assert f"bare.jsonl: {number} gold documents and not one entity" in refused.err
    assert not (tmp_path / "x.json").exists()


def test_predicted_notes_without_annotations_are_all_missed(
    judged: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    (tmp_path / "none.jsonl").write_text("")
    done = command("evaluate", judged[0], tmp_path / "none.jsonl")
    assert done.code == 0
    assert "3 gold and 0 predicted documents; 3 are only gold (all missed)" in done.out


def test_a_class_with_an_odd_name_is_shown(tmp_path: Path, command: Command) -> None:
    write([Document("a", "Anna", (Span(0, 4, "[/b]:x:"),))], tmp_path / "a.jsonl")
    done = command("evaluate", tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    assert done.code == 0
    assert "  [/b]:x:" in done.out
    write([Document("a", "Anna", (Span(0, 4, "A\nB\x1b[2J"),))], tmp_path / "b.jsonl")
    done = command("evaluate", tmp_path / "b.jsonl", tmp_path / "b.jsonl")
    assert r"  A\nB\x1b[2J" in done.out


def test_the_name_of_a_class_is_whole(tmp_path: Path, launch: Any) -> None:
    """In a pipe, which has no edge, and on a terminal that is narrower than the table."""
    name = "ID_TITULACION_PERSONAL_SANITARIO_" * 4
    write([Document("a", "Anna", (Span(0, 4, name),))], tmp_path / "a.jsonl")
    arguments = ("evaluate", tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    assert f"  {name} " in launch(*arguments).out
    shown = "".join(line.split()[0] for line in launch.on_terminal(*arguments).out.splitlines())
    assert name in shown


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_the_output_has_no_letter_for_is_escaped(
    encoding: str, tmp_path: Path, launch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write([Document("a", "Anna", (Span(0, 4, "Ñandú☃"),))], tmp_path / "a.jsonl")
    monkeypatch.setitem(launch._environment, "PYTHONIOENCODING", encoding)
    code = "import sys; from bootstrap.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", tmp_path / "a.jsonl", tmp_path / "a.jsonl"],
        env=launch._environment,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Ñandú☃".encode(encoding, "backslashreplace") in done.stdout


def test_main_reads_the_arguments_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["bootstrap", "show", str(tmp_path)])
    assert main() == 2
    assert "is not the folder of a run" in capsys.readouterr().err


def test_an_unforeseen_error_tells_its_place_and_not_its_message(
    project: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_notes(*arguments: Any, **options: Any) -> Any:
        raise KeyError("Joana Puig")

    monkeypatch.setattr("bootstrap.cli.commands.check.check_notes", check_notes)
    done = command("check", project / "config.toml")
    assert done.code == 1
    assert "Joana" not in done.err and "Traceback" not in done.err
    assert "KeyError in test_cli.py, line" in done.err


def test_a_bad_note_costs_no_iteration_and_can_be_skipped_on_resuming(
    project: Path, tmp_path: Path, command: Command
) -> None:
    notes = tmp_path / "notes"
    shutil.copytree(project, notes)
    unlabeled = notes / "unlabeled.jsonl"
    lines = unlabeled.read_text(encoding="utf-8").splitlines(keepends=True)
    middle = len(lines) // 2
    unlabeled.write_text("".join([*lines[:middle], "{broken\n", *lines[middle:]]), encoding="utf-8")
    run = ("run", notes / "config.toml", "--out", tmp_path / "r", "--jobs", "1")
    some = ("--set", f"loop.batch={len(lines) // 4}", "--set", "loop.iterations=4")
    stopped = command(*run, *some)
    assert stopped.code == 2 and "JSON" in stopped.err
    closed = len(Run(tmp_path / "r").metrics())
    assert closed == 3  # the seed and the two batches before the bad note
    resumed = command(*run, *some, "--resume", "--set", "data.invalid=skip")
    assert resumed.code == 0
    rows = Run(tmp_path / "r").metrics()
    assert len(rows) > closed and sum(rows[-1]["left_out"].values()) == 1
    assert load_configuration(tmp_path / "r" / "config.toml").data.invalid == "skip"
