"""``import bootstrap``: training, tagging and evaluation from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bootstrap
from corpus.document import Document

SETTINGS: dict[str, Any] = {
    "tagger": {"features": ["lower", "shape", "suffix3"], "window": 1, "max_iterations": 15},
    "loop": {"iterations": 1, "batch": 300},
    "select": {"confidence": 0.6, "max_selected": 100},
}


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory, notes: Any) -> dict[str, Path]:
    """The files of a project's notes."""
    folder = tmp_path_factory.mktemp("notes")
    corpora = {
        "seed": notes(150, 1, narrow=True, prefix="s"),
        "validation": notes(200, 2, prefix="v"),
        "unlabeled": notes(300, 3),
    }
    paths = {name: folder / f"{name}.jsonl" for name in corpora}
    for name, path in paths.items():
        bootstrap.write(corpora[name], path)
    return paths


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, splits: dict[str, Path]) -> Any:
    """A finished run, and the iterations that were reported."""
    seen: list[int] = []
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = bootstrap.train(
        **splits,
        out=folder,
        jobs=1,
        on_iteration=lambda row: seen.append(row.iteration),
        **SETTINGS,
    )
    assert seen == [0, 1]
    return done


@pytest.mark.parametrize("name", ["corpus.py", "taggers.py", "gazetteers/__init__.py"])
def test_a_module_that_hides_a_package_is_named(tmp_path: Path, name: str) -> None:
    hiding = tmp_path / name
    hiding.parent.mkdir(exist_ok=True)
    hiding.touch()
    script = tmp_path / "script.py"
    script.write_text("import bootstrap\nbootstrap.train\n")
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    package = name.partition("/")[0].removesuffix(".py")
    *_, last = done.stderr.strip().splitlines()
    assert last == (
        f"ImportError: {hiding} hides the package {package} of bootstrap: rename it, or move the "
        "script to another folder"
    )


@pytest.mark.slow
def test_a_script_needs_no_guard(tmp_path: Path, splits: dict[str, Path]) -> None:
    """Its processes do not import it: they would train again."""
    files = {name: str(path) for name, path in splits.items()}
    script = tmp_path / "script.py"
    script.write_text(f"import bootstrap\nbootstrap.train(out='run', **{files | SETTINGS!r})\n")
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True)
    assert bootstrap.open_run(tmp_path / "run").is_finished()


def test_a_run_is_that_of_the_command_line(run: Any, splits: dict[str, Path]) -> None:
    assert run.is_finished()
    assert (run.folder / "report.html").is_file()
    tables = run.configuration()
    assert tables["data"]["seed"] == str(splits["seed"])
    assert tables["tagger"]["window"] == 1 and tables["loop"]["batch"] == 300
    assert [row.iteration for row in bootstrap.open_run(run.folder).metrics()] == [0, 1]


def test_a_finished_run_is_returned_when_it_is_resumed(run: Any, splits: dict[str, Path]) -> None:
    (run.folder / "report.html").unlink()  # as if it had been killed before its last step
    again = bootstrap.train(**splits, out=run.folder, resume=True, **SETTINGS)
    assert again.metrics() == run.metrics()
    assert (run.folder / "report.html").is_file()
    with pytest.raises(bootstrap.InputError, match="is a run"):
        bootstrap.train(**splits, out=run.folder, **SETTINGS)


def test_texts_and_documents_are_tagged_and_scored(run: Any, splits: dict[str, Path]) -> None:
    model = bootstrap.load(run.folder)
    assert model.classes == ("LOCATION", "PERSON")
    gold = list(bootstrap.read(splits["validation"]))
    tagged = list(model.tag(gold, span_confidence=True))
    assert [note.id for note in tagged] == [note.id for note in gold]
    for note in tagged:
        assert len(note.span_confidences) == len(note.spans)
        assert all(0 <= span.start < span.end <= len(note.text) for span in note.spans)
    scores = bootstrap.evaluate(gold, tagged)
    assert scores.counts().f1 > 0.5
    assert f"F1 {scores.counts().f1:.3f}" in repr(scores)
    texts = [note.text for note in gold]
    assert [note.spans for note in model.tag(texts)] == [note.spans for note in tagged]
    assert [note.id for note in model.tag(texts[:2])] == ["0", "1"]
    assert list(model.tag([])) == []
    with pytest.raises(TypeError, match=r"^notes: expected Iterable\[str .* not str$"):
        model.tag("Anna")
    for note in (5, None, b"x"):
        with pytest.raises(TypeError, match=r"^notes\[1\]: expected Document or TaggedDocument or"):
            list(model.tag(["Anna", note]))
    with pytest.raises(bootstrap.InputError, match=r"^notes\[1\]: text: half a surrogate pair"):
        list(model.tag(["Anna", "\ud800"]))


def test_tagged_documents_are_written(run: Any, tmp_path: Path) -> None:
    model = bootstrap.load(run.folder)
    tagged = list(model.tag([Document("a", "Pac Anna Puig ve")]))
    assert bootstrap.write(tagged, tmp_path / "out.jsonl").documents == 1
    assert list(bootstrap.read(tmp_path / "out.jsonl")) == [tagged[0].document]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: bootstrap.load(5), "path: expected str | Path, not int"),
        (lambda _: bootstrap.open_run(None), "path: expected str | Path, not NoneType"),
        (lambda _: bootstrap.read(b"x"), "source: expected str | Path, not bytes"),
        (lambda _: bootstrap.read("x", columns="id"), "columns: expected Columns | None, not str"),
        (lambda _: bootstrap.write(5, "x"), "documents: expected Iterable[Document | Tagged"),
        (lambda to: bootstrap.write([5], to), "documents[0]: expected Document or Tagged"),
        (lambda _: bootstrap.evaluate([], ["x"]), "predicted[0]: expected Document or Tagged"),
        (lambda _: bootstrap.compare("/x"), "results: expected Sequence[RunResult], not str"),
        (lambda _: bootstrap.compare(["/x"]), "results[0]: expected RunResult, not str"),
        (lambda to: bootstrap.train(out=to, jobs="2"), "jobs: expected int | None, not str"),
        (lambda to: bootstrap.active(out=to, trust="x:Y"), "trust: expected Collection[str], not"),
        (lambda to: bootstrap.experiment(5, out=to), "file: expected str | Path, not int"),
    ],
)
def test_a_wrong_argument_is_named(call, message, tmp_path) -> None:
    with pytest.raises(TypeError) as raised:
        call(tmp_path / "new.jsonl")
    assert str(raised.value).startswith(message)
    assert not list(tmp_path.iterdir())
    with pytest.raises(bootstrap.InputError, match="jobs = 0: expected 1 or more"):
        bootstrap.load(tmp_path, jobs=0)
    for name in ("\0", "\ud800"):
        with pytest.raises(bootstrap.InputError, match=r"^target: no file can have this name"):
            bootstrap.write([], name)


def test_settings_replace_those_of_a_file(
    splits: dict[str, Path], tmp_path: Path, without_advice
) -> None:
    config = tmp_path / "config.toml"
    paths = "".join(f'{name} = "{path}"\n' for name, path in splits.items())
    config.write_text(f"[data]\n{paths}[loop]\nbatch = 7\niterations = 3\n")
    done = bootstrap.train(config, out=tmp_path / "run", loop={"iterations": 0}, jobs=1)
    loop = done.configuration()["loop"]
    assert (loop["batch"], loop["iterations"]) == (7, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sed": "x"}, 'no setting "sed"; expected seed'),
        ({"loop": 3}, "loop = 3: expected a mapping"),
        ({"loop": {"bach": 3}}, 'bootstrap.train: there is no key in [loop] "bach"'),
        ({"loop": {"batch": "x"}}, "bootstrap.train: [loop] batch = 'x'"),
        ({"start": {"kind": "divergence"}}, 'no setting "start"'),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(bootstrap.InputError) as raised:
        bootstrap.train(out=tmp_path / "run", **settings)
    assert message in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_what_is_no_model_and_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bootstrap.InputError, match="neither a run"):
        bootstrap.load(tmp_path)
    with pytest.raises(bootstrap.InputError, match="not the folder of a run"):
        bootstrap.open_run(tmp_path)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bootstrap.nothing


def test_importing_it_is_fast_and_lists_its_names() -> None:
    code = """
import sys, bootstrap
print("numpy" in sys.modules, set(bootstrap.__all__) <= set(dir(bootstrap)))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"]
