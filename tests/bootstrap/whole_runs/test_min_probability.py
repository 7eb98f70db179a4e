"""Smallest probabilities of entities: chosen in a run, saved with the model, applied by `tag`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap.inference import find_model, read_unit_file
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.evaluation.scoring import score
from corpus.formats import read, write

Command = Callable[..., Any]

CONFIGURATION = """\
[data]
seed = "seed.jsonl"
validation = "validation.jsonl"
unlabeled = "unlabeled.jsonl"

[tagger]
features = ["lower", "shape", "suffix2"]
window = 1
max_iterations = 20
clusters = ""
names = []
phrases = []

[augment]
copies = 0

[loop]
iterations = 1
refit = false

[select]
strategy = "confident_documents"
proportions = false
"""

TOWNS = ("Vic", "Olot", "Reus", "Berga", "Salt", "Nules", "Onda", "Toro")


def notes(name: str, number: int, *, blank: bool) -> list[Document]:
    """Lines with a header and a town; and others, whose headers no seed has."""
    documents = []
    for n in range(number):
        town = TOWNS[n % len(TOWNS)]
        documents.append(
            Document(f"{name}{n}", f"Localidad: {town} {name}", (Span(11, 11 + len(town), "LOC"),))
        )
        if blank:
            documents.append(Document(f"{name}x{n}", f"NHC: {1000 + n}"))
            documents.append(Document(f"{name}y{n}", f"Estado: Bueno {n}"))
    return documents


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, run_here: Command) -> Path:
    """Runs from a seed in which every line has a town."""
    folder = tmp_path_factory.mktemp("positives")
    write(notes("s", 16, blank=False), folder / "seed.jsonl")
    write(notes("v", 40, blank=True), folder / "validation.jsonl")
    write(notes("u", 20, blank=True), folder / "unlabeled.jsonl")
    (folder / "config.toml").write_text(CONFIGURATION)
    for name, least in (("auto", '"auto"'), ("none", "{}"), ("given", "{ LOC = 0.97 }")):
        setting, out = f"tagger.min_probability={least}", ("--out", folder / name)
        done = run_here("run", folder / "config.toml", "--set", setting, *out, "--jobs", "1")
        assert done.code == 0, done
    return folder


def test_a_run_that_chooses_them_tags_less_and_better(runs: Path, run_here: Command) -> None:
    auto, none = (Run(runs / name).metrics() for name in ("auto", "none"))
    assert auto[0].min_probability.keys() == {"LOC"} and not none[0].min_probability
    assert auto[0].precision > none[0].precision and auto[0].f1 > none[0].f1
    assert "Smallest probabilities of entities" in run_here("show", runs / "auto").out
    assert Run(runs / "given").metrics()[0].min_probability == {"LOC": 0.97}


@pytest.mark.parametrize("name", ["auto", "none", "given"])
def test_a_model_tags_as_its_run_did(
    name: str, runs: Path, tmp_path: Path, run_here: Command
) -> None:
    gold, out = runs / "validation.jsonl", tmp_path / "out.jsonl"
    assert run_here("tag", runs / name, gold, out).code == 0
    tagged, expected = (list(read(path, problems=Problems())) for path in (out, gold))
    best = Run(runs / name).metrics()[Run(runs / name).best_iteration()]
    assert score(expected, tagged).counts().f1 == pytest.approx(best.f1)
    least = read_unit_file(find_model(runs / name)).min_probability
    assert least == best.min_probability
    assert run_here("export", runs / name, tmp_path / "model").code == 0
    assert read_unit_file(tmp_path / "model").min_probability == least


def test_the_command_line_overrides_them(runs: Path, tmp_path: Path, run_here: Command) -> None:
    def entities(name: str, *options: str) -> int:
        out = tmp_path / f"{name}{len(options)}.jsonl"
        assert run_here("tag", runs / name, runs / "validation.jsonl", out, *options).code == 0
        return sum(len(note.spans) for note in read(out, problems=Problems()))

    assert entities("given", "--min-probability", "LOC=0") > entities("given")
    assert entities("none", "--min-probability", "LOC=1") == 0


def test_classes_that_the_seed_lacks_are_refused(runs: Path, run_here: Command) -> None:
    done = run_here("check", runs / "config.toml", "--set", "tagger.min_probability={AGE=0.5}")
    assert done.code == 2 and "[tagger] min_probability names AGE" in done.err
    done = run_here("check", runs / "config.toml", "--set", 'tagger.min_probability="high"')
    assert done.code == 2 and 'expected "auto" or table of finite numbers' in done.err
