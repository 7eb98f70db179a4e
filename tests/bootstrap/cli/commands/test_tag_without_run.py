"""Notes tagged by a kind of tagger that needs no annotated notes, without any run."""

from __future__ import annotations

import os
import signal
import stat
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from bootstrap import tagging
from bootstrap.inference import tag_documents
from bootstrap.tagging import TagOptions
from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.formats import read, write
from taggers import make_tagger
from taggers.registry import BUILTIN, find_kind

NOTES = "synthetic:400?random_state=5"
#: The words of the synthetic notes are few: so many names are found.
OPTIONS = {
    "lists": {"place_label": "TOWN", "threshold": 3.0},
    "divergence": {"names": ("census-es",)},
    "dictionary": {"frequent": 1e-3},
    "patterns": {"languages": ("es",)},
}

#: A kind of another package, without word counts, whose fit does nothing.
MODULE = """
import numpy as np
from taggers.base import Tagging
from taggers.model_folder import write_model
from taggers.options import TaggerOptions

class Tagger:
    kind = "unseeded:Tagger"
    options_type = TaggerOptions
    needs_seed = False
    training = None

    def __init__(self, options=None):
        self.options, self.labels = options, ("O", "B-X", "I-X")

    def fit(self, train, validation=None, *, rng, **_):
        return self

    def save(self, folder):
        write_model(folder, {"kind": self.kind}, {})

    @classmethod
    def load(cls, folder):
        return cls()

    def tag(self, batch, **_):
        first = np.isin(np.arange(batch.n_tokens), batch.document_offsets[:-1])
        return Tagging(first.astype(np.int16), self.labels, np.ones(len(batch)))
"""


def documents_at(source):
    return list(read(source, problems=Problems()))


def toml(value) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_kind_tags_as_a_tagger_that_is_fitted_to_all_notes(kind, tmp_path, command) -> None:
    notes = documents_at(NOTES)
    notes += [Document(f"t{number}", f"Tel. 6123456{number}") for number in range(50, 75)]
    write(notes, tmp_path / "in.jsonl")
    settings = [f"--set={name}={toml(value)}" for name, value in OPTIONS[kind].items()]
    arguments = [*settings, "--jobs", 1, "--measure", "min_marginal"]
    done = command("tag", f"kind:{kind}", tmp_path / "in.jsonl", tmp_path / "out.jsonl", *arguments)
    assert done.code == 0, done
    tagger = make_tagger(kind, find_kind(kind).options_type()(**OPTIONS[kind]))
    tagger.fit(make_batch(notes, labelled=False), rng=np.random.default_rng(0))
    expected = list(tag_documents(notes, tagger, TagOptions(measure="min_marginal")))
    assert documents_at(tmp_path / "out.jsonl") == [tagged.document for tagged in expected]
    assert sum(len(tagged.spans) for tagged in expected) > 20


def test_every_kind_without_annotated_notes_is_tested() -> None:
    assert set(OPTIONS) == {name for name, kind in BUILTIN.items() if not kind.needs_seed}


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(tmp_path, command, monkeypatch) -> None:
    monkeypatch.setattr(tagging, "_ROWS", 50)
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.jsonl"
        assert command("tag", "kind:lists", NOTES, out, "--jobs", jobs).code == 0
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_a_kind_that_counts_no_words_tags_notes_that_are_read_once(tmp_path, launch) -> None:
    (tmp_path / "unseeded.py").write_text(MODULE)
    code = "from bootstrap.cli.main import main; import sys; sys.exit(main(sys.argv[2:]))"
    code = f"import sys; sys.path.insert(0, sys.argv[1]); {code}"
    pipe = tmp_path / "in.jsonl"
    os.mkfifo(pipe)
    line = '{"id": "1", "text": "Vive en Vic"}\n'
    threading.Thread(target=pipe.write_text, args=(line,), daemon=True).start()
    out = tmp_path / "out.jsonl"
    done = launch.python(code, tmp_path, "tag", "kind:unseeded:Tagger", pipe, out)
    assert done.code == 0, done
    assert [document.spans for document in documents_at(out)] == [(Span(0, 4, "X"),)]


def test_counts_of_a_file_replace_those_of_the_notes(tmp_path, command) -> None:
    assert command("count", NOTES, "-o", tmp_path / "words.parquet").code == 0
    counts = f"counts={tmp_path / 'words.parquet'}"
    write(documents_at(NOTES)[:40], tmp_path / "in.jsonl")
    for name, source, *settings in (
        ("all", NOTES),
        ("some", tmp_path / "in.jsonl", "--set", counts),
    ):
        assert command("tag", "kind:lists", source, tmp_path / f"{name}.jsonl", *settings).code == 0
    tagged, some = (documents_at(tmp_path / f"{name}.jsonl") for name in ("all", "some"))
    assert [document.spans for document in some] == [document.spans for document in tagged[:40]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("kind:crf {notes} {out}", 'kind = "crf" needs annotated documents; those without are div'),
        ("kind:person {notes} {out}", 'kind = "person" is unknown; known are crf, '),
        ("kind:lists - {out}", "standard input can be read only once"),
        ("kind:lists {pipe} {out}", "pipe.jsonl can be read only once"),
        ("kind:lists {notes} {notes}", "notes.jsonl exists"),
        (
            "kind:lists {notes} {out} --propagate NAME=text",
            "does not tag NAME; it tags LOCATION, PERSON",
        ),
        ("kind:lists {notes} {out} --set labels=NAME", "--set labels=NAME: there is no key in"),
        ("kind:lists {notes} {out} --set label", "--set label: expected KEY=VALUE"),
        ("kind:lists {notes} {out} --set label=3", "[initial_model] label = 3: expected a string"),
        ("kind:lists {notes} {out} --set place_labels.x=A", "place_labels names the class x"),
        ('kind:lists {notes} {out} --set names=["no.parquet"]', "no.parquet does not exist"),
        ("kind:lists {empty} {out}", 'kind = "lists": the notes contain no words'),
        ("{folder} {notes} {out} --set label=NAME", "--set is for kind:NAME, such as kind:lists; "),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(arguments, message, tmp_path, command) -> None:
    write([Document("1", "Vive en Vic")], tmp_path / "notes.jsonl")
    (tmp_path / "empty.jsonl").touch()
    os.mkfifo(tmp_path / "pipe.jsonl")
    paths = {name: tmp_path / f"{name}.jsonl" for name in ("notes", "out", "pipe", "empty")}
    done = command("tag", *arguments.format(folder=tmp_path, **paths).split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert not paths["out"].exists()


@pytest.mark.slow
def test_ctrl_c_leaves_no_model(tmp_path, launch) -> None:
    process = launch.start("tag", "kind:lists", "synthetic:30000", tmp_path / "out.jsonl")
    models: list[Path] = []
    while not models and process.poll() is None:
        models = list(launch.scratch.glob(f"bootstrap-{process.pid}-*/model"))
        time.sleep(0.01)
    assert stat.S_IMODE(models[0].parent.stat().st_mode) == 0o700
    process.send_signal(signal.SIGINT)
    assert launch.finish(process).code == 130
    assert launch.is_alone(process)
    assert not list(launch.scratch.glob("bootstrap-*"))
    assert not list(tmp_path.iterdir())
