"""The list model that a run fits: to the words of its notes, in the languages of the notes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bootstrap.config.configuration import load_configuration
from bootstrap.runs.folder import Run
from corpus.document import Document, Span
from corpus.formats import write
from taggers import load_tagger
from taggers.crf.crf_options import LIST_TAGS

CONFIGURATION = """\
[tagger]
clusters = ""

[augment]
copies = 0

[loop]
iterations = 0
refit = false
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, make_project: Callable[..., Path]) -> Path:
    return make_project(tmp_path_factory.mktemp("lists"), configuration=CONFIGURATION)


@pytest.fixture(scope="module")
def finished(project: Path, run_here: Callable[..., object]) -> Callable[..., Run]:
    """Return a function that carries out a run with some settings."""

    def finished(name: str, *settings: str) -> Run:
        arguments = [part for setting in settings for part in ("--set", setting)]
        out = project / name
        done = run_here("run", project / "config.toml", "--out", out, "--jobs", "1", *arguments)
        assert done.code == 0, done
        return Run(out)

    return finished


def test_a_run_fits_a_list_model_and_its_crf_has_it(finished: Callable[..., Run]) -> None:
    run = finished("automatic")
    fitted = load_tagger(run.list_model_folder)
    assert run.counts_file.exists()
    assert load_tagger(run.best_model() / LIST_TAGS).contents() == fitted.contents()
    options = load_configuration(run.folder / "config.toml").tagger.options
    assert options.list_model == "auto"


def test_without_unlabeled_notes_it_knows_the_words_of_the_seed(
    finished: Callable[..., Run], project: Path
) -> None:
    write([], project / "none.jsonl")
    run, other = (
        finished("supervised", f"data.unlabeled={project / 'none.jsonl'}"),
        finished("again"),
    )
    models = [load_tagger(run.best_model() / LIST_TAGS) for run in (run, other)]
    names = "words of lists that occur in the notes"
    assert 0 < models[0].contents()[names] < models[1].contents()[names]


@pytest.mark.parametrize("setting", ["tagger.list_model=", "data.language=fr", "loop.preset=paper"])
def test_it_may_be_left_out(finished: Callable[..., Run], setting: str) -> None:
    """Without built-in lists of a language, there is none."""
    run = finished(setting.replace(".", "-"), setting)
    assert not run.list_model_folder.exists()
    assert not (run.best_model() / LIST_TAGS).exists()


def test_notes_without_any_name_of_the_lists_are_told_once(
    finished: Callable[..., Run], project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each of several trainings would fit it again."""
    settings = ["augment.copies=0", "loop.iterations=1", "loop.batch=8", "loop.refit=true"]
    for name in ("seed", "validation", "unlabeled"):
        texts = [f"qzxk qzwk{name}xz{'qx' * number}" for number in range(8)]
        spans = (Span(0, 4, "PERSON"),)
        file = project / f"nameless-{name}.jsonl"
        write([Document(f"{name}{n}", text, spans) for n, text in enumerate(texts)], file)
        settings.append(f"data.{name}={file}")
    run = finished("nameless", *settings)
    assert not run.list_model_folder.exists()
    assert caplog.text.count('list_model = "auto" has no effect') == 1
