"""The advice at the end of runs: what it proposes, its files, and what it never repeats."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.advice.advice import (
    ADVICE,
    ANNOTATE,
    PROPOSED,
    Advice,
    advise,
    read_advice,
    save_advice,
)
from bootstrap.advice.lists import ListedRecall, UnusedList
from bootstrap.advice.words import advice_lines, missed_lines, most_missed
from bootstrap.config.configuration import load_configuration
from bootstrap.data.splits import read_notes
from bootstrap.runs import runner
from bootstrap.runs.folder import Run
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.evaluation.error_analysis import EntityError
from corpus.evaluation.measures import ConfusionCounts
from corpus.formats import read, write
from taggers import CRFOptions, load_tagger
from tests.taggers.conftest import plain

Command = Callable[..., Any]

ADVICE_OF_ALL = Advice(
    annotate=("a", "b", "c", "d"),
    considered=1500,
    listed=(ListedRecall("PLACE", 0.25, 0.8, 0.5),),
    unused=(UnusedList("phrases", "places-es", "PLACE", 120, 0.4),),
    warnings=("seed: it is of another kind",),
)


def test_advice_is_read_back_as_it_was(tmp_path: Path) -> None:
    assert read_advice(tmp_path) is None
    save_advice(tmp_path, ADVICE_OF_ALL)
    assert read_advice(tmp_path) == ADVICE_OF_ALL
    assert (tmp_path / ANNOTATE).read_text() == "a\nb\nc\nd\n"
    record = json.loads((tmp_path / ADVICE).read_text())
    for damaged in ("{", "[]", json.dumps(record | {"listed": [{"name": "x"}]})):
        (tmp_path / ADVICE).write_text(damaged)
        with pytest.raises(InputError, match=r"advice\.json is damaged"):
            read_advice(tmp_path)


@given(st.lists(st.text() | st.sampled_from(["a\nb", "a\u2028b", '"a"', " a", "\ud800", "núm 1"])))
def test_every_id_to_annotate_is_one_line(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save_advice(Path(folder), replace(ADVICE_OF_ALL, annotate=tuple(names)))
        text = (Path(folder) / ANNOTATE).read_bytes().decode()
        assert read_advice(Path(folder)) == replace(ADVICE_OF_ALL, annotate=tuple(names))
    lines = [line.strip() for line in text.splitlines()]
    assert [json.loads(line) if line.startswith('"') else line for line in lines] == names
    assert ("núm 1" in lines) == ("núm 1" in names)


def test_advice_in_words() -> None:
    assert list(advice_lines(ADVICE_OF_ALL, Path("r/annotate.txt"))) == [
        "seed: it is of another kind",
        "annotate these 4 of 1,500 unlabeled documents; the best model is least certain about "
        "them: "
        "a, b, c, ... (r/annotate.txt)",
        'try the builtin list places-es, [tagger] phrases = ["places-es"]: it contains 40 % of '
        "the 120 missed entities of PLACE and hardly any other words of the validation notes",
        "import a gazetteer with more entities of PLACE: the model's lists contain 25 % of them, "
        "with a recall of 0.800; the recall of the others is 0.500",
    ]
    one = replace(ADVICE_OF_ALL, annotate=("a",))
    assert ": a (annotate.txt)" in list(advice_lines(one, Path("annotate.txt")))[1]
    assert list(advice_lines(None, Path("annotate.txt"))) == []


def test_a_run_proposes_uncertain_documents_of_its_first_batch(project, finished) -> None:
    advice = read_advice(finished)
    assert advice is not None and 0 < len(advice.annotate) <= PROPOSED
    lines = (finished / ANNOTATE).read_text().splitlines()
    assert tuple(lines) == advice.annotate and len(set(lines)) == len(lines)
    pool = list(read(project / "unlabeled.jsonl", problems=Problems()))[:600]
    places = {document.id: place for place, document in enumerate(pool)}
    assert set(lines) <= set(places)
    assert advice.considered <= 600
    # The model is less sure of them than of the others.
    tagger = load_tagger(Run(finished).best_model())
    batch = make_batch(pool, labelled=False)
    confidence = tagger.tag(batch, measure="min_marginal").confidence
    chosen = confidence[[places[name] for name in lines]]
    assert chosen.tolist() == sorted(chosen.tolist())
    assert chosen.mean() < confidence.mean()


def test_documents_that_may_not_be_annotated_are_left_out(project, finished, tmp_path) -> None:
    """Those of patients of validation, and those whose text the seed has."""
    folder = Path(shutil.copytree(project, tmp_path / "project"))
    seed, validation, pool = (
        list(read(folder / f"{name}.jsonl", problems=Problems()))
        for name in ("seed", "validation", "unlabeled")
    )
    for name in ("validation", "unlabeled"):
        (folder / f"{name}.jsonl").rename(tmp_path / f"{name}.jsonl")
    write([replace(validation[0], group="p"), *validation[1:]], folder / "validation.jsonl")
    odd = "xyz qwrt [ 7 ] Qqq"
    pool = [
        Document("patient", f"{odd} a b c", (), "p"),
        Document("known", seed[0].text),
        Document("odd", odd),
        *pool[:50],
    ]
    write(pool, folder / "unlabeled.jsonl")
    configuration = load_configuration(folder / "config.toml")
    notes = read_notes(configuration.data, batch_size=40)
    problems = notes.unlabeled.problems
    tagger = load_tagger(Run(finished).best_model())
    advice = advise(tagger, configuration.tagger.options, notes, ["PERSON"], batch_size=40)
    texts = {document.text for document in seed}
    assert advice.considered == sum(
        document.group != "p" and document.text not in texts for document in pool[:40]
    )
    assert not {"patient", "known"} & set(advice.annotate)
    assert "odd" in advice.annotate
    assert notes.unlabeled.problems is problems


def test_a_seed_is_judged_by_the_pool_as_well(project, finished, tmp_path, notes) -> None:
    """Where validation is of another kind than the pool, a seed like the pool is not biased."""
    folder = Path(shutil.copytree(project, tmp_path / "project"))
    configuration = load_configuration(folder / "config.toml")
    tagger = load_tagger(Run(finished).best_model())

    def headed(documents: list[Document]) -> list[Document]:
        return [
            Document(
                f"h{document.id}",
                f"Nota: {document.text}",
                tuple(Span(s.start + 6, s.end + 6, s.label) for s in document.spans),
            )
            for document in documents
        ]

    def advised(seed: list[Document], validation: list[Document]) -> Advice:
        for name, documents in (("seed", seed), ("validation", validation)):
            (folder / f"{name}.jsonl").unlink()
            write(documents, folder / f"{name}.jsonl")
        data = read_notes(configuration.data, batch_size=600)
        return advise(tagger, plain(CRFOptions), data, ["LOCATION"], batch_size=600)

    ours, theirs = notes(200, 5, prefix="s"), notes(300, 6, prefix="v")
    assert advised(ours, headed(theirs)).warnings == ()
    biased = advised(headed(ours), theirs)
    (line,) = biased.warnings
    assert line.startswith("seed: its documents differ")
    # Lists are advised all the same.
    assert biased.unused == advised(ours, theirs).unused
    assert [unused.list for unused in biased.unused] == ["places-es"]


def test_an_initial_model_is_advised_by_its_own_options(project, tmp_path, command) -> None:
    """The [tagger] of the run was not trained, so that its lists say nothing about the model."""
    folder = Path(shutil.copytree(project, tmp_path / "project"))
    text = (folder / "config.toml").read_text()
    initial = '[initial_model]\nkind = "dictionary"\nnames = ["census-es"]\nlabel = "PERSON"\n'
    (folder / "config.toml").write_text(initial + text)
    arguments = ("--out", tmp_path / "run", "--jobs", "1", "--set", "loop.iterations=0")
    done = command("run", folder / "config.toml", *arguments)
    assert done.code == 0, done
    configuration = load_configuration(folder / "config.toml")
    data = read_notes(configuration.data, batch_size=600)
    tagger = load_tagger(Run(tmp_path / "run").best_model())
    missed = [row.name for row in Run(tmp_path / "run").missed()]
    assert advise(tagger, configuration.tagger.options, data, missed, batch_size=600).unused
    advice = read_advice(tmp_path / "run")
    assert advice is not None and advice.unused == advice.listed == ()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ZeroDivisionError("Anna Puig"), "is finished, but has no advice: ZeroDivisionError; "),
        (InputError("notes.jsonl is gone"), "has no advice: notes.jsonl is gone"),
    ],
)
def test_a_finished_run_has_a_report_even_if_its_advice_fails(
    error, message, copied, project, command, monkeypatch
) -> None:
    def fail(*arguments: Any, **others: Any) -> Advice:
        assert (copied / "report.html").is_file()  # even if the process is killed now
        raise error

    for name in (ADVICE, ANNOTATE, "report.html"):
        (copied / name).unlink()
    monkeypatch.setattr(runner, "advise", fail)
    done = command("run", project / "config.toml", "--out", copied, "--resume", "--jobs", "1")
    assert done.code == 0 and f"{copied} is finished." in done.out
    assert f"{copied} {message}" in " ".join(done.err.split()) and "Anna" not in done.all
    assert "<h3>Where recall is lost</h3>" in (copied / "report.html").read_text("utf-8")
    assert read_advice(copied) is None


def test_a_run_says_what_it_did_and_what_to_do_next(finished: Path, command: Command) -> None:
    shown = command("show", finished).out
    outcome = Run(finished).outcome()
    low, high = outcome.interval
    assert low < outcome.gain < high
    assert f"95 % interval {low:+.3f} to {high:+.3f}" in shown
    assert "Where recall is lost:" in shown and "What to do next:" in shown
    page = (finished / "report.html").read_text(encoding="utf-8")
    for title in ("Where recall is lost", "What to annotate, or add"):
        assert f"<h3>{title}</h3>" in page
    for missed in Run(finished).missed():
        counts = Run(finished).validation_counts(outcome.iteration)
        assert missed.counts == counts.class_counts()[missed.name]
        assert sum(missed.kinds.values()) == missed.counts.false_negatives
        assert f"- {missed.name}: {missed.kinds['missed']:,} missed" in shown


def test_classes_with_a_tenth_of_the_missed_entities_are_named() -> None:
    classes = {
        "AGE": ConfusionCounts(50, 0, 9),
        "DATE": ConfusionCounts(1, 1, 30),
        "PERSON": ConfusionCounts(40, 10, 60),
        "ZIP": ConfusionCounts(9, 0, 1),
    }
    whole, part = Span(0, 9, "PERSON"), Span(0, 4, "PERSON")
    errors = [EntityError(0, whole, part)] + [EntityError(1, whole, None)] * 59
    errors += [EntityError(2, Span(0, 9, "DATE"), whole)]
    missed = most_missed(classes, errors)
    assert [(row.name, row.share) for row in missed] == [("PERSON", 0.6), ("DATE", 0.3)]
    assert list(missed_lines(missed)) == [
        "PERSON: 59 missed, 1 with another border; 60 % of all that is lost "
        "(recall 0.400, precision 0.800)",
        "DATE: 1 with another class; 30 % of all that is lost (recall 0.032, precision 0.500)",
    ]


def test_where_nothing_is_missed_nothing_is_said() -> None:
    assert most_missed({"AGE": ConfusionCounts(5, 2, 0)}, []) == []
    assert most_missed({}, []) == []
