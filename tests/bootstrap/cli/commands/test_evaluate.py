"""``bootstrap evaluate``, and the files that it and ``bootstrap plot`` write."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus.document import Document, Span
from corpus.formats import Columns, write
from tests.corpus.formats.reading import documents

Command = Callable[..., Any]


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
    predicted = [
        Document("a", text, (Span(4, 8, "PERSON"), Span(9, 13, "PERSON"), Span(17, 20, "PERSON"))),
        Document("c", "sin fiebre"),
        Document("d", "nueva", (Span(0, 5, "AGE"),)),
    ]
    write(gold, tmp_path / "gold.jsonl")
    write(predicted, tmp_path / "found.jsonl")
    return tmp_path / "gold.jsonl", tmp_path / "found.jsonl"


def test_evaluate_writes_all_figures(judged, tmp_path, command) -> None:
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
    assert "3 gold and 3 predicted documents; 1 only gold (all missed), 1 only predicted" in (
        done.out
    )
    assert "leak: 1.0000" in done.out


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
def test_a_report_replaces_nothing_but_a_file(report, tmp_path, make_report) -> None:
    (tmp_path / f"folder-{report}").mkdir()
    refused = make_report(tmp_path / f"folder-{report}")
    assert (refused.code, refused.out) == (2, "")
    noticed = "is a folder; expected a file"  # before the work
    message = noticed if report.endswith(".json") else "cannot be written: Is a directory"
    assert f"folder-{report} {message}" in refused.err
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


def test_the_sides_of_evaluate_may_have_other_columns(judged, tmp_path, command) -> None:
    named = Columns(text="nota", label="anotaciones")
    write(documents(judged[0]), tmp_path / "gold.parquet", columns=named)
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


def test_labels_are_renamed_and_dropped_as_in_a_run(labels, tmp_path, command) -> None:
    write([NAMED], tmp_path / "in.jsonl")
    done = command("convert", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--labels", labels)
    assert done.code == 0
    assert "left out, spans of labels that are not in [labels]: EDAD (1)" in done.out
    (converted,) = documents(tmp_path / "out.jsonl")
    assert converted.spans == (Span(0, 4, "PERSON"), Span(10, 14, "PERSON"))


def test_gold_labels_are_renamed_to_the_classes_that_were_predicted(
    labels: Path, tmp_path: Path, command: Command
) -> None:
    write([NAMED], tmp_path / "gold.jsonl")
    predicted = (Span(0, 4, "PERSON"), Span(5, 7, "LOCATION"))
    write([replace(NAMED, spans=predicted)], tmp_path / "found.jsonl")
    figures = tmp_path / "figures.json"
    sides = (tmp_path / "gold.jsonl", tmp_path / "found.jsonl")
    done = command("evaluate", *sides, "--labels", labels, "--json", figures)
    assert done.code == 0
    assert "left out, spans of labels that are not in [labels]: EDAD (1)" in done.out
    scores = json.loads(figures.read_text())
    assert scores["per_label"].keys() == {"PERSON", "LOCATION"}
    assert (scores["ner"]["precision"], scores["ner"]["recall"]) == (0.5, 0.5)


def test_labels_to_rename_by_must_be_there(judged, tmp_path, command) -> None:
    (tmp_path / "config.toml").write_text("")
    refused = command("evaluate", *judged, "--labels", tmp_path / "config.toml")
    assert (refused.code, refused.out) == (2, "")
    assert "config.toml has no [labels]" in refused.err


@pytest.mark.parametrize(
    ("content", "number"),
    [
        ("", "0 gold documents"),
        ('{"id": "z", "text": "Anna", "labels": [[0, 4, "PERSON"]]}\n', "1 gold document"),
    ],
)
def test_gold_notes_without_annotations_are_refused(
    content: str, number: str, judged: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    """Or nothing would be missed in them, and nothing seem to leak."""
    (tmp_path / "bare.jsonl").write_text(content)
    refused = command("evaluate", tmp_path / "bare.jsonl", judged[1], "--json", tmp_path / "x.json")
    assert (refused.code, refused.out) == (2, "")
    assert f"bare.jsonl: {number} without any entity" in refused.err
    assert not (tmp_path / "x.json").exists()


def test_the_name_of_a_class_is_whole(tmp_path: Path, launch: Any) -> None:
    """In a pipe, which has no edge, and on a terminal that is narrower than the table."""
    name = "ID_TITULACION_PERSONAL_SANITARIO_Y_ALGO_QUE_NO_CABE_EN_ELLAS"[:60]
    write([Document("a", "Anna", (Span(0, 4, name),))], tmp_path / "a.jsonl")
    arguments = ("evaluate", tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    assert f"  {name} " in launch(*arguments).out
    lines = filter(str.strip, launch.on_terminal(*arguments).out.splitlines())
    assert name in "".join(line.split()[0] for line in lines)
