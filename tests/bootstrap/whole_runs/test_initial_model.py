"""Runs that start from dictionaries of names, without an annotated note to learn from."""

from __future__ import annotations

import html
import json
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bootstrap.runs.folder import Run
from corpus.counts import WordCounts, count_words
from corpus.document import Document
from corpus.formats import write
from corpus.formats.batches import batches_of
from corpus.synthetic import synthetic_notes
from gazetteers.gazetteer import Gazetteer
from tests.bootstrap.interruptions.killing import killed_everywhere

Command = Callable[..., Any]
Contents = Callable[[Path], dict[str, Any]]
MakeGazetteer = Callable[..., Gazetteer]

CONFIGURATION = """\
[initial_model]
kind = "divergence"
names = ["census-es"]
confidence = 0.4

[tagger]
features = ["lower", "shape", "suffix3"]
window = 1
max_iterations = 15
names = ["census-es"]

[loop]
preset = "paper"
iterations = 2
batch = 400

[select]
confidence = 0.6
max_selected = 100
"""


def persons(number: int, random_state: int) -> list[Document]:
    """Write notes in which people are marked, and nothing else."""
    return [
        replace(note, spans=tuple(span for span in note.spans if span.label == "PERSON"))
        for note in synthetic_notes(number, random_state=random_state)
    ]


@pytest.fixture(scope="module")
def seedless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project without a seed; two of its notes have the same text as one of validation."""
    folder = tmp_path_factory.mktemp("seedless")
    validation = persons(300, 2)
    pool = [Document(f"u{i}", note.text) for i, note in enumerate(persons(1200, 3))]
    pool[5:5] = [Document("copy", validation[0].text), Document("other", validation[1].text)]
    write(validation, folder / "validation.jsonl")
    write(pool, folder / "unlabeled.jsonl")
    write(persons(200, 4), folder / "seed.jsonl")
    (folder / "config.toml").write_text(CONFIGURATION)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory, seedless, run_here) -> Callable[[str], Path]:
    """Return a run of a kind from its beginning to its end, that tests do not change."""
    folder = tmp_path_factory.mktemp("runs")

    def of(kind: str) -> Path:
        if not (folder / kind).exists():
            arguments = ("--out", folder / kind, "--jobs", 1, "--set", f"initial_model.kind={kind}")
            done = run_here("run", seedless / "config.toml", *arguments)
            assert done.code == 0, done
        return folder / kind

    return of


@pytest.fixture(params=["divergence", "dictionary"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def settings(*given: str) -> list[str]:
    return [part for setting in given for part in ("--set", setting)]


def models(run: Path) -> list[str]:
    """Return the kinds of the models of all iterations."""
    folders = sorted((run / "iterations").iterdir())
    return [json.loads((folder / "model/model.json").read_text())["kind"] for folder in folders]


# A run from beginning to end


def test_a_run_without_a_seed_teaches_a_tagger(kind, finished, command) -> None:
    run = finished(kind)
    assert models(run) == [kind, "crf", "crf"]
    first, *others = rows = Run(run).metrics()
    assert Run(run).stopped() == "maximum"
    assert (first.training, first.training_documents, first.human_tokens) == (None, 0, 0)
    assert first.recall > 0.3
    assert [row.training_documents for row in others] == [
        *(rows[1].selected, rows[1].selected + rows[2].selected)
    ]
    assert all(row.selected and row.training.iterations for row in others)
    assert [list(row.classes) for row in rows] == [["PERSON"]] * 3
    selected = pq.read_table(run / "iterations/001/selected.parquet").to_pylist()
    assert min(row["confidence"] for row in selected) >= 0.4
    assert {span["label"] for row in selected for span in row["label"]} == {"PERSON"}
    shown = command("show", run)
    assert shown.code == 0
    assert f"with the {kind} model alone" in shown.out
    assert "seed" not in shown.out.lower()
    assert [row["iteration"] for row in json.loads(command("show", run, "--json").out)] == [0, 1, 2]
    assert f'kind = "{kind}"' in html.unescape((run / "report.html").read_text())


def test_the_folder_of_such_a_run_is_private_and_has_the_counts(finished, seedless) -> None:
    run = finished("divergence")
    modes = {
        (path.is_dir(), oct(stat.S_IMODE(path.stat().st_mode)))
        for path in [run, *run.rglob("*")]
        if not path.is_symlink()
    }
    assert modes == {(True, "0o700"), (False, "0o600")}
    assert {path.name for path in run.iterdir()} == {
        *(".lock", "best", "config.toml", "data.parquet", "environment.json", "iterations"),
        *(
            "metrics.parquet",
            "ended.json",
            "report.html",
            "words.parquet",
            "advice.json",
            "assessment.json",
            "annotate.txt",
        ),
    }
    assert {path.name for path in (run / "iterations/000/model").iterdir()} == {
        *("model.json", "names-divergence.npy", "names-joins.npy", "names-words.npy", "unit.json"),
        "names-patients.npy",
    }
    # Notes that are held out are not counted.
    lines = (seedless / "unlabeled.jsonl").read_text().splitlines()
    kept = [row for row in map(json.loads, lines) if row["id"] not in ("copy", "other")]
    expected = count_words(batches_of(Document(row["id"], row["text"]) for row in kept))
    counts = WordCounts.load(run / "words.parquet")
    assert counts.words.equals(expected.words)
    assert (counts.counts == expected.counts).all() and counts.total == 1200


def test_a_run_without_a_seed_tags_notes(kind, finished, seedless, tmp_path, command) -> None:
    model = finished(kind) / "iterations/000"
    out = tmp_path / "tagged.jsonl"
    done = command("tag", model, seedless / "unlabeled.jsonl", out, "--span-confidence")
    assert done.code == 0, done
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 1202
    assert any(row["label"] for row in rows)
    for row in rows:
        assert len(row["label"]) == len(row["span_confidences"])
        assert 0 <= row["confidence"] <= min([*row["span_confidences"], 1]) + 1e-9
        assert all(label == "PERSON" for _, _, label in row["label"])
    for measure in ("min_marginal", "normalised"):
        again = tmp_path / f"{measure}.jsonl"
        done = command("tag", model, seedless / "unlabeled.jsonl", again, "--measure", measure)
        assert done.code == 0, done


# What is blocked


@pytest.mark.slow
def test_no_name_begins_with_what_own_lists_block(
    kind: str, seedless: Path, tmp_path: Path, make_gazetteer: MakeGazetteer, command: Command
) -> None:
    """But it goes on with it, and without a list nothing is blocked."""
    own = tmp_path / "own.parquet"
    make_gazetteer(("vidal", "other", 1), ("garcia", "other", 1)).save(own)
    make_gazetteer(
        *((name, "x", 9999) for name in ("garcia", "vidal", "martinez", "ana", "addison"))
    ).save(tmp_path / "names.parquet")
    pool = [Document(f"u{i}", f"nota {i} sin fiebre Garcia Ana") for i in range(50)]
    write(pool, tmp_path / "pool.jsonl")
    texts = ["Garcia ve", "Ana Vidal", "Vidal", "Enfermedad de Addison", "Ana Addison"]
    write([Document(str(i), text) for i, text in enumerate(texts)], tmp_path / "in.jsonl")
    wanted = {
        '["blocking"]': ["Garcia", "Ana Vidal", "Vidal", "", "Ana Addison"],
        "[]": ["Garcia", "Ana Vidal", "Vidal", "Addison", "Ana Addison"],
        f'["{own}"]': ["", "Ana Vidal", "", "Addison", "Ana Addison"],
        f'["blocking", "{own}"]': ["", "Ana Vidal", "", "", "Ana Addison"],
    }
    for number, (blocked, names) in enumerate(wanted.items()):
        run = tmp_path / f"run{number}"
        given = settings(
            *(
                f"initial_model.kind={kind}",
                f"initial_model.blocked={blocked}",
                "loop.iterations=0",
            ),
            f'initial_model.names=["{tmp_path / "names.parquet"}"]',
            *(
                ["initial_model.frequent=0.9"]
                if kind == "dictionary"
                else ["initial_model.threshold=99"]
            ),
            f"data.unlabeled={tmp_path / 'pool.jsonl'}",
        )
        done = command("run", seedless / "config.toml", "--out", run, *given)
        assert done.code == 0, done
        # The model has the list in it.
        done = command("tag", run, tmp_path / "in.jsonl", run / "out.jsonl")
        assert done.code == 0, done
        rows = [json.loads(line) for line in (run / "out.jsonl").read_text().splitlines()]
        tagged = [[row["text"][start:end] for start, end, _ in row["label"]] for row in rows]
        assert tagged == [[name] if name else [] for name in names], blocked


# Seeds beside a start, other trust, other counts


def test_a_seed_beside_a_start_is_learned_from_too(
    seedless, tmp_path, command, contents, without_advice
) -> None:
    """It knows a class that the dictionary does not, and is the same run when it is resumed."""
    notes = synthetic_notes(200, random_state=4)
    seed = [
        replace(note, spans=tuple(s for s in note.spans if s.label in ("PERSON", "LOCATION")))
        for note in notes
    ]
    write(seed, tmp_path / "both.jsonl")
    validation = f"data.validation={seedless / 'validation.jsonl'}"
    given = settings(f"data.seed={tmp_path / 'both.jsonl'}", validation, "loop.keep=relabel")
    arguments = ["run", seedless / "config.toml", "--jobs", 1, *given]
    done = command(*arguments, "--out", tmp_path / "run")
    assert done.code == 0, done
    assert models(tmp_path / "run") == ["divergence", "crf", "crf"]
    rows = Run(tmp_path / "run").metrics()
    assert rows[0].human_tokens > 1000
    assert [row.training_documents for row in rows] == [200 + row.selected for row in rows]
    description = json.loads((tmp_path / "run/iterations/001/model/model.json").read_text())
    assert description["labels"] == ["O", "B-LOCATION", "I-LOCATION", "B-PERSON", "I-PERSON"]
    part = Path(shutil.copytree(tmp_path / "run", tmp_path / "part", symlinks=True))
    shutil.rmtree(part / "iterations/002")
    assert command(*arguments, "--out", part, "--resume").code == 0
    assert contents(part) == contents(tmp_path / "run")


def test_given_counts_are_used_instead(
    finished, seedless, tmp_path, command, without_advice
) -> None:
    run = finished("divergence")
    shutil.copy(run / "words.parquet", tmp_path / "counted.parquet")
    write([Document("a", "García fiebre fiebre fiebre fiebre")], tmp_path / "few.jsonl")
    assert command("count", tmp_path / "few.jsonl", "-o", tmp_path / "few.parquet").code == 0
    names = ("iterations/000/model/names-divergence.npy", "iterations/000/model/names-joins.npy")
    same = {}
    for name in ("counted", "few"):
        given = settings(f"initial_model.counts={tmp_path / name}.parquet", "loop.iterations=0")
        done = command("run", seedless / "config.toml", "--out", tmp_path / name, *given)
        assert done.code == 0, done
        assert not (tmp_path / name / "words.parquet").exists()
        same[name] = [(tmp_path / name / file).read_bytes() for file in names]
    assert same["counted"] == [(run / file).read_bytes() for file in names]
    assert same["few"] != same["counted"]


# Going on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "left", "counted"),
    [("divergence", 0, False), ("divergence", 1, True), ("dictionary", 0, True)],
)
def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(
    kind, left, counted, finished, seedless, tmp_path, command, contents, monkeypatch
) -> None:
    """Words that were counted are not counted again."""

    def count_again(*arguments: object, **options: object) -> None:
        raise AssertionError("they are counted again")

    run = Path(shutil.copytree(finished(kind), tmp_path / "run", symlinks=True))
    for iteration in range(left, 3):
        shutil.rmtree(run / "iterations" / f"{iteration:03d}")
    if counted:
        monkeypatch.setattr("bootstrap.runs.loop_parts.count_words", count_again)
    else:  # it was killed while it wrote them
        partial = run / f".words.parquet.partial-{'0' * 16}"
        partial.mkdir()
        (run / "words.parquet").rename(partial / "content")
    given = settings(f"initial_model.kind={kind}")
    done = command("run", seedless / "config.toml", "--out", run, "--resume", "--jobs", 2, *given)
    assert done.code == 0, done
    assert contents(run) == contents(finished(kind))
    assert {path.name for path in run.iterdir()} == {path.name for path in finished(kind).iterdir()}


@pytest.mark.slow
def test_killed_at_every_step_on_disk_it_ends_as_if_left_alone(
    seedless: Path, tmp_path: Path, contents: Contents
) -> None:
    """From the beginning to the end of iteration 0, and so while words are counted."""
    few = "".join((seedless / "unlabeled.jsonl").open(encoding="utf-8").readlines()[:200])
    (tmp_path / "few.jsonl").write_text(few, encoding="utf-8")
    runs = tmp_path / "runs"
    names = killed_everywhere(
        *(runs, "run", seedless / "config.toml"),
        *settings("loop.iterations=0", f"data.unlabeled={tmp_path / 'few.jsonl'}"),
        *("--resume", "--jobs", 1, "--out"),
    )
    alone = contents(runs / names[-1])
    assert alone["best"] and alone["words.parquet"]
    for name in names[:-1]:
        assert contents(runs / name) == alone, name
        assert not [*(runs / name).glob(".words*")]
