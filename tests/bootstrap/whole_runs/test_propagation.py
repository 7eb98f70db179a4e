"""Names that come again in a note, in runs and in what their models tag."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bootstrap.inference import find_model, read_unit_file
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.formats import write
from gazetteers.gazetteer import Gazetteer

Command = Callable[..., Any]
MakeGazetteer = Callable[..., Gazetteer]

# With Puig no name begins, so that the dictionary finds it after Anna alone.
CONFIGURATION = """\
[data]
validation = "validation.jsonl"
unit = "line"

[initial_model]
kind = "dictionary"
names = ["names.parquet"]
not_names = ["nouns.parquet"]
blocked = ["blocked.parquet"]

[tagger]
features = ["lower", "shape"]
window = 1
max_iterations = 15

[loop]
iterations = 1
propagate = { PERSON = "words" }

[select]
proportions = false
"""

SEED = [
    Document(
        "s0", "Pac Anna Puig ve hoy\nvive en Vic", (Span(4, 13, "PERSON"), Span(29, 32, "LOC"))
    )
]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory, make_gazetteer: MakeGazetteer) -> Path:
    """A project in whose notes a name comes again, without its first word, in some of them."""
    folder = tmp_path_factory.mktemp("named")
    make_gazetteer(("anna", "given", 99), ("puig", "surname", 99)).save(folder / "names.parquet")
    make_gazetteer(("tos", "noun", 1)).save(folder / "nouns.parquet")
    make_gazetteer(("puig", "other", 1)).save(folder / "blocked.parquet")
    pool = [Document(f"full{i}", f"Pac Anna Puig ve\n\nPuig tiene tos {i}") for i in range(30)]
    pool += [Document(f"alone{i}", f"sin fiebre\nPuig tiene fiebre {i}") for i in range(30)]
    write(pool, folder / "unlabeled.jsonl")
    write(
        [Document("v", "hoy Anna Puig viene", (Span(4, 13, "PERSON"),))],
        folder / "validation.jsonl",
    )
    write(SEED, folder / "seed.jsonl")
    (folder / "config.toml").write_text(CONFIGURATION)
    seeded = CONFIGURATION[: CONFIGURATION.index("[initial_model]")]
    seeded += CONFIGURATION[CONFIGURATION.index("[tagger]") :]
    (folder / "seeded.toml").write_text(seeded)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, named: Path, run_here: Any) -> Path:
    """A folder with runs that propagate words, `again`, texts, `texts`, and nothing, `once`."""
    folder = tmp_path_factory.mktemp("runs")
    reaches = {"again": '{PERSON="words"}', "texts": '{PERSON="text"}', "once": "{}"}
    for name, propagate in reaches.items():
        arguments = ("--out", folder / name, "--jobs", 1, "--set", f"loop.propagate={propagate}")
        done = run_here("run", named / "config.toml", *arguments)
        assert done.code == 0, done
    return folder


def names_in(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the names that are marked in notes, by the letters that their ids begin with."""
    names: dict[str, set[str]] = {"full": set(), "alone": set()}
    for row in rows:
        spans = [s.values() if isinstance(s, dict) else s for s in row["label"]]
        for start, end, label in spans:
            assert label == "PERSON"
            line = row["text"][:start].count("\n") + 1
            names[row["id"].split("#")[0].rstrip("0123456789")].add(
                f"{row['text'][start:end]} in line {line}"
            )
    return names


def tagged(command: Command, model: Path, source: Path, out: Path, *given: object) -> Any:
    done = command("tag", model, source, out, "--jobs", 1, *given)
    assert done.code == 0, done
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


REACHES = {"again": {"PERSON": "words"}, "texts": {"PERSON": "text"}, "once": {}}
ONCE = {"full": {"Anna Puig in line 1"}, "alone": set()}
AGAIN = {"full": {"Anna Puig in line 1", "Puig in line 3"}, "alone": set()}


def test_a_run_learns_from_names_that_come_again_in_a_note(runs: Path) -> None:
    for run, names in (("again", {"Anna Puig", "Puig"}), ("once", {"Anna Puig"})):
        selected = pq.read_table(runs / run / "iterations/001/selected.parquet").to_pylist()
        assert len(selected) == 120, "every line is selected"
        mentioned = {
            (row["id"].rstrip("#0123456789"), row["text"][span["start"] : span["end"]])
            for row in selected
            for span in row["label"]
        }
        assert mentioned == {("full", name) for name in names}
        # Of each note that has the full name.
        assert sum(bool(row["label"]) for row in selected) == 30 * len(names)


def test_a_model_tags_names_again_as_its_run_did(runs, named, tmp_path, command) -> None:
    for run, names in (("again", AGAIN), ("once", ONCE)):
        model = runs / run / "iterations/000"
        rows = tagged(command, model, named / "unlabeled.jsonl", tmp_path / f"{run}.jsonl")
        assert names_in(rows) == names


def test_names_are_tagged_again_where_that_is_asked_for(runs, named, tmp_path, command) -> None:
    model, source = runs / "once/iterations/000", named / "unlabeled.jsonl"
    asked = ("--propagate", "PERSON=words", "--span-confidence")
    rows = tagged(command, model, source, tmp_path / "out.jsonl", *asked)
    assert names_in(rows) == AGAIN
    assert {len(row["span_confidences"]) for row in rows} == {0, 2}
    assert all(row["span_confidences"][1] == 0.9 for row in rows if row["label"])


def test_the_notes_of_a_patient_lend_names_to_each_other(runs, tmp_path, command) -> None:
    notes = [
        Document("full1", "Puig ve", (), "p"),
        Document("full2", "Anna Puig", (), "p"),
        Document("alone1", "Puig ve", (), "q"),
        Document("alone2", "Puig ve"),
    ]
    write(notes, tmp_path / "in.jsonl")
    model = runs / "again/iterations/000"
    rows = tagged(command, model, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert [len(row["label"]) for row in rows] == [1, 1, 0, 0]


def test_tagging_an_unknown_class_again_is_refused(runs, named, tmp_path, command) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    for source in (named / "unlabeled.jsonl", tmp_path / "empty.jsonl"):
        out = tmp_path / "out.jsonl"
        done = command("tag", runs / "once", source, out, "--propagate", "PERSON=text,DOCTOR=text")
        assert done.code == 2
        assert "does not tag DOCTOR; it tags PERSON" in done.err
        assert len(done.err.splitlines()) == 1
        assert not out.exists()


def test_a_model_names_the_classes_that_its_run_propagated(runs: Path) -> None:
    for run, propagate in REACHES.items():
        for iteration in ("000", "001"):
            model = runs / run / "iterations" / iteration / "model"
            assert read_unit_file(model).propagate == propagate


def test_an_exported_model_keeps_the_unit_and_the_propagation(runs, tmp_path, command) -> None:
    for run, propagate in REACHES.items():
        assert command("export", runs / run, tmp_path / run).code == 0
        exported = read_unit_file(tmp_path / run)
        assert exported.propagate == propagate
        assert exported == read_unit_file(find_model(runs / run))


@pytest.mark.parametrize(
    ("config", "given", "wrong", "message"),
    [
        ("config.toml", (), "DOCTOR", "[initial_model] tags only PERSON"),
        ("config.toml", ("data.seed={}/seed.jsonl",), "LOC", "[initial_model] tags only PERSON"),
        ("seeded.toml", (), "DOCTOR", "the seed has only LOC, PERSON"),
    ],
)
def test_a_run_whose_first_model_does_not_know_a_class_of_names_does_not_begin(
    config, given, wrong, message, named, tmp_path, command
) -> None:
    """Not even where a seed beside the start has it."""
    settings = [setting.format(named) for setting in given] + [
        f'loop.propagate={{PERSON="text", {wrong}="text"}}'
    ]
    overrides = [part for setting in settings for part in ("--set", setting)]
    done = command("run", named / config, "--out", tmp_path / "run", *overrides)
    assert (done.code, done.out) == (2, ""), done
    assert done.err == f"bootstrap: [loop] propagate names {wrong}; {message}\n"
    checked = command("check", named / config, *overrides)
    assert (checked.code, checked.err) == (2, done.err)
    assert not (tmp_path / "run").exists()


AUTO = """\
[data]
validation = "validation.jsonl"
unit = "line"

[tagger]
features = ["form[-1..1]"]
names = []
phrases = []
clusters = ""

[loop]
iterations = 1

[augment]
copies = 0

[select]
strategy = "confident_documents"
proportions = false
"""


def test_validation_chooses_what_tagging_propagates(tmp_path, command) -> None:
    """The seed has names after Dr. alone, and the other notes have them after other words too."""

    def notes(part: str, *, again: bool) -> list[Document]:
        texts = [f"Dr. {part}{'abcdefghij'[n % 10] * (n // 10 + 2)} va" for n in range(20)]
        return [
            Document(
                f"{part}{n}",
                f"{text}\ncon {text[4:-3]} en casa",
                (
                    Span(4, len(text) - 3, "PERSON"),
                    *[Span(len(text) + 5, 2 * len(text) - 2, "PERSON")] * again,
                ),
            )
            for n, text in enumerate(texts)
        ]

    write(notes("Sa", again=False), tmp_path / "seed.jsonl")
    write(notes("Va", again=True), tmp_path / "validation.jsonl")
    write(notes("Po", again=True), tmp_path / "unlabeled.jsonl")
    (tmp_path / "config.toml").write_text(AUTO)
    run = tmp_path / "run"
    assert command("run", tmp_path / "config.toml", "--out", run, "--jobs", 1).code == 0
    assert Run(run).metrics()[0].propagate == {"PERSON": "text"}
    assert Run(run).metrics()[0].recall == 1
    selected = pq.read_table(run / "iterations/001/selected.parquet").to_pylist()
    assert {len(row["label"]) for row in selected if row["text"].startswith("con")} == {0}
    assert {len(row["label"]) for row in selected if row["text"].startswith("Dr")} == {1}
    for given, number in (((), 2), (("--propagate", "PERSON=none"), 1)):
        out = tmp_path / f"{number}.jsonl"
        rows = tagged(command, run / "iterations/000", tmp_path / "unlabeled.jsonl", out, *given)
        assert {len(row["label"]) for row in rows} == {number}
