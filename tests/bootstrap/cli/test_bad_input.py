"""Bad input gets one clear line, loses nothing and is not quoted.

Every text holds a secret. No message may repeat it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus.document import Document, Span
from corpus.errors import LONGEST_MESSAGE, Problems, number_of
from corpus.formats import read, write

Command = Callable[..., Any]

SECRET = "Zyxwvutson"
TEXT = f"Pac {SECRET} Puig ve"
GOOD = {"id": "good", "text": TEXT, "label": [[4, 19, "PERSON"]]}


def jsonl(folder: Path, *records: Any) -> Path:
    path = folder / "in.jsonl"
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
    return path


def brat(folder: Path, annotations: str | bytes | None, text: str | bytes | None = TEXT) -> Path:
    path = folder / "in"
    path.mkdir()
    for suffix, content in ((".ann", annotations), (".txt", text)):
        if content is not None:
            data = content if isinstance(content, bytes) else content.encode()
            (path / f"note{suffix}").write_bytes(data)
    return path


def parquet(folder: Path, **columns: Any) -> Path:
    path = folder / "in.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def labels(*spans: tuple[int, int, str]) -> pa.Array:
    kind = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string())])
    rows = [[{"start": start, "end": end, "label": name} for start, end, name in spans]]
    return pa.array(rows, pa.list_(kind))


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-20])
    return path


#: What makes a source, and what is said of it.
SOURCES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "nothing there": (lambda f: f / "in.jsonl", "in.jsonl: there is no such file or folder"),
    "a pattern that matches nothing": (lambda f: f / "*.jsonl", "no file matches this pattern"),
    "a line that is not UTF-8": (
        lambda f: jsonl(f, GOOD, f'{{"text": "{SECRET} \udcff"}}'),
        "in.jsonl:2: text that is not UTF-8: character",
    ),
    "a text that is not UTF-8": (
        lambda f: brat(f, "", TEXT.encode() + b"\xe9"),
        "note.txt: text that is not UTF-8: byte 22",
    ),
    "annotations without a text": (
        lambda f: brat(f, f"T1\tPERSON 4 19\t{SECRET} Puig", None),
        "note.ann: annotations without a text: expected a .txt of the same name",
    ),
    "no JSON": (
        lambda f: jsonl(f, GOOD, json.dumps(GOOD)[:-1]),
        "in.jsonl:2: lines that are not a JSON object: no JSON from character",
    ),
    "no text": (
        lambda f: jsonl(f, {"id": "a", "note": TEXT}),
        "in.jsonl:1: keys that are missing or of another type: 'text' must be a string",
    ),
    "a label that is none": (
        lambda f: jsonl(f, GOOD | {"label": [[SECRET, 4, 5]]}),
        'in.jsonl:1: malformed annotations: expected [start, end, "CLASS"] with whole numbers',
    ),
    "a span outside of the text": (
        lambda f: jsonl(f, GOOD | {"label": [[4, 99, "PERSON"]]}),
        "in.jsonl:1: annotations outside of the text: 4-99 (PERSON) is empty or outside of the "
        "text of 22 characters",
    ),
    "spans that overlap": (
        lambda f: jsonl(f, GOOD | {"label": [[4, 14, "NAME"], [4, 19, "PERSON"]]}),
        "in.jsonl:1, document good: overlapping annotations: 4-19 (PERSON) and 4-14 (NAME)",
    ),
    "brat spans that overlap": (
        lambda f: brat(f, f"T1\tNAME 4 14\t{SECRET}\nT2\tPERSON 4 19\t{SECRET} Puig\n"),
        "note.ann, document note: overlapping annotations: 4-19 (PERSON) and 4-14 (NAME)",
    ),
    "a brat span in pieces": (
        lambda f: brat(f, f"T1\tPERSON 4 14;20 22\t{SECRET} ve\n"),
        "note.ann:1: discontinuous annotations: 4-14 (PERSON) and 20-22 (PERSON)",
    ),
    "a brat line of no kind": (
        lambda f: brat(f, f"{SECRET}\n"),
        "note.ann:1: malformed annotations: the line begins with no kind that brat knows",
    ),
    "a column that is not there": (
        lambda f: parquet(f, id=["a"], note=[TEXT]),
        "in.parquet has no column 'text': it has 2 columns, among them id, note; name those of",
    ),
    "a row without a text": (
        lambda f: parquet(f, id=["a", SECRET], text=[TEXT, None]),
        "in.parquet, row 1: rows without an id or a text: the text is null",
    ),
    "Parquet spans that overlap": (
        lambda f: parquet(f, id=["a"], text=[TEXT], label=labels((4, 9, "A"), (4, 19, "B"))),
        "row 0, document a: overlapping annotations: 4-19 (B) and 4-9 (A)",
    ),
    "a Parquet file cut short": (
        lambda f: cut(parquet(f, id=["a"], text=[TEXT])),
        "in.parquet is not a complete Parquet file: was it cut off while it was written?",
    ),
}


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_refused(done: Any, message: str) -> None:
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("bootstrap: ") and done.err.count("\n") == 1, done.err
    assert message in done.err
    assert SECRET not in done.err


@pytest.fixture
def commands(tmp_path: Path, project: Path) -> dict[str, Callable[..., Any]]:
    """Return the arguments of each command that reads a source."""
    others = (project / "validation.jsonl", project / "unlabeled.jsonl")
    config = tmp_path / "run.toml"

    def configured(source: Path) -> Path:
        config.write_text(
            f"[data]\nseed = '{source}'\nvalidation = '{others[0]}'\nunlabeled = '{others[1]}'"
        )
        return config

    return {
        "convert": lambda source: ("convert", source, tmp_path / "out.jsonl"),
        "run": lambda source: ("run", configured(source), "--out", tmp_path / "new"),
    }


@pytest.mark.parametrize("name", ["convert", "run"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_that_cannot_be_read_is_refused(source, name, tmp_path, commands, command) -> None:
    make, message = SOURCES[source]
    path = make(tmp_path)
    before = files(tmp_path)
    assert_refused(command(*commands[name](path)), message)
    after = files(tmp_path)
    after.pop("run.toml", None)
    assert after == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("source", SOURCES)
def test_check_names_what_it_can_and_repeats_no_text(source, tmp_path, commands, command) -> None:
    """It goes on, where there is something to go on with."""
    make, message = SOURCES[source]
    _, config, *_ = commands["run"](make(tmp_path))
    done = command("check", config)
    assert SECRET not in done.all
    assert done.code == 2  # a run will not start
    if not done.out:
        assert_refused(done, message)
    else:
        kind = message.split(": ")[1] if ": " in message else message
        assert done.err.startswith(f"bootstrap: {config}: not ready: seed")
        assert f"! seed: {kind}: 1" in done.out
        stops = r"not ready: seed: a run stops at the first of the [a-z ]+ \(1\)"
        assert re.search(stops, done.out)


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("spans that overlap", [(4, 19, "PERSON")]),
        ("brat spans that overlap", [(4, 19, "PERSON")]),
        ("a brat span in pieces", [(4, 14, "PERSON")]),
        ("Parquet spans that overlap", [(4, 19, "B")]),
    ],
)
def test_the_longest_is_kept_where_the_user_says_so(source, kept, tmp_path, command) -> None:
    path = SOURCES[source][0](tmp_path)
    out = tmp_path / "out.jsonl"
    done = command("convert", path, out, "--conflicts", "longest")
    assert done.code == 0
    assert "annotations: 1\n" in done.err  # counted and named
    ((start, end, name),) = kept
    assert f"{start}-{end} ({name}) is kept" in done.err
    assert SECRET not in done.all
    (document,) = read(out, problems=Problems())
    assert document.text == TEXT
    assert document.spans == tuple(Span(*span) for span in kept)


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("a line that is not UTF-8", 1),
        ("no JSON", 1),
        ("a row without a text", 1),
        ("a span outside of the text", 1),
        ("a brat line of no kind", 1),
    ],
)
def test_the_rest_is_read_where_the_user_says_so(source, left, tmp_path, command) -> None:
    path = SOURCES[source][0](tmp_path)
    out = tmp_path / "out.jsonl"
    done = command("convert", path, out, "--invalid", "skip")
    assert done.code == 0
    assert f"wrote {number_of(left, 'document')} " in done.out
    assert ": 1\n" in done.err
    assert SECRET not in done.all
    assert len(list(read(out, problems=Problems()))) == left


def test_a_run_keeps_the_longest_where_its_configuration_says_so(
    tmp_path: Path,
    notes: Callable[..., list[Document]],
    project: Path,
    command: Command,
    without_advice,
) -> None:
    write(notes(40, 1), tmp_path / "some.jsonl")
    overlap = GOOD | {"label": [[4, 14, "NAME"], [4, 19, "PERSON"]]}
    with (tmp_path / "some.jsonl").open("a") as file:
        file.write(json.dumps(overlap) + "\n")
    (tmp_path / "run.toml").write_text(
        f"[data]\nseed = 'some.jsonl'\nvalidation = '{project}/validation.jsonl'\n"
        f"unlabeled = '{project}/seed.jsonl'\nconflicts = 'longest'\n"
        "[loop]\npreset = 'paper'\niterations = 0\n"
    )
    done = command("run", tmp_path / "run.toml", "--out", tmp_path / "run")
    assert done.code == 0
    assert "overlapping annotations: 1" in done.err
    model = json.loads((tmp_path / "run/best/model/model.json").read_text())
    assert "B-NAME" not in model["labels"]
    assert SECRET not in done.all


# What a file holds in another place than expected

#: A note, an id and a class, with and without characters that ids do not have.
FIELDS = (SECRET, f"{SECRET} Puig", TEXT, json.dumps([[4, 19, f"{SECRET} Puig"]]))


def table(
    folder: Path, name: str, delimiter: str, header: str = "", encoding: str = "utf-8"
) -> Path:
    """A table with the secret in every field."""
    quoted = delimiter.join('"{}"'.format(field.replace('"', '""')) for field in FIELDS)
    rows = f"{header}{quoted}, niño\n{quoted}, niña\n"
    path = folder / name
    path.write_bytes(rows.encode(encoding))
    return path


def columns_named_by_notes(folder: Path) -> Path:
    """A Parquet file whose columns and types are named after the secret."""
    kind = pa.array([{SECRET: 1}])
    return parquet(folder, **{"text": kind, SECRET: kind, f"{SECRET} Puig": ["x"]})


HEADER = "id,text,nota,label\n"
MISPLACED: dict[str, Callable[[Path], Path]] = {
    "no header": lambda f: table(f, "in.csv", ","),
    "another delimiter": lambda f: table(f, "in.csv", ";"),
    "tabs": lambda f: table(f, "in.csv", "\t", HEADER),
    "Latin-1": lambda f: table(f, "in.csv", ",", HEADER, "latin-1"),
    "UTF-16": lambda f: table(f, "in.csv", ",", HEADER, "utf-16"),
    "CSV as JSON lines": lambda f: table(f, "in.jsonl", ","),
    "CSV as Parquet": lambda f: table(f, "in.parquet", ","),
    "CSV as CoNLL": lambda f: table(f, "in.conll", "\t"),
    "CSV as brat": lambda f: table(brat(f, None), "note.ann", "\t").parent,
    "JSON lines as CSV": lambda f: jsonl(f, {SECRET: TEXT, "text": TEXT}).rename(f / "in.csv"),
    "texts as classes": lambda f: jsonl(f, GOOD | {"label": [[4, 19, f"{SECRET} Puig"]]}),
    "columns of another type": columns_named_by_notes,
}

#: The commands that read, with the place of a file, of a run, of other notes and of a new file.
READERS = [
    "convert {file} {new} --conflicts longest",
    "count {file} -o {new}",
    "tag {run} {file} {new}",
    "tag {file} {notes} {new}",
    "evaluate {file} {notes}",
    "evaluate {notes} {file}",
    "embed train {file} -o {new} --jobs 1",
    "embed load {file} -o {new}",
    "embed show {file} word",
    "cluster {file}",
    "gazetteer import {file} -o {new}",
    "gazetteer import {file} -o {new} --term nombre",
    "gazetteer merge {file} -o {new}",
    "gazetteer show {file} word",
    "rules learn {file} -o {new}",
    "audit {run} --against census-es --notes {file}",
    "export {run} {new} --gold {file}",
    "check {file}",
    "check {config}",
    "check {config} --set data.unlabeled={file}",
    "run {file} --out {new}",
    "run {config} --out {new}",
    "run {config} --set data.seed={notes} --set data.validation={file} --out {new}",
    "active {config} --out {new} --set active.gold={file}",
    "experiment {file} --out {new}",
    "crossvalidate {config} --out {new}",
    "show {file}",
    "report {file} -o {new}",
]


@pytest.mark.parametrize(
    "reader",
    [
        reader
        if reader.startswith(("tag", "convert"))
        else pytest.param(reader, marks=pytest.mark.slow)
        for reader in READERS
    ],
)
def test_nothing_that_a_file_contains_is_quoted(
    reader: str, tmp_path: Path, finished: Path, project: Path, command: Command
) -> None:
    for number, (name, make) in enumerate(MISPLACED.items()):
        (folder := tmp_path / str(number)).mkdir()
        path, log = make(folder), folder / "log"
        config = folder / "run.toml"
        config.write_text(
            f"[data]\nseed = '{path}'\nvalidation = '{project}/validation.jsonl'\n"
            f"unlabeled = '{project}/unlabeled.jsonl'\n[loop]\niterations = 0\npreset = 'paper'\n"
        )
        places = {"file": path, "run": finished, "notes": project / "validation.jsonl"}
        arguments = reader.format(**places, new=folder / "new", config=config)
        done = command(*arguments.split(), "--log", log)
        assert done.code in (0, 2), (name, done)
        assert SECRET not in done.all + log.read_text(), (name, done)
        assert done.code == 0 or done.err.count("bootstrap: ") == 1, (name, done)
        for line in (*done.all.splitlines(), *log.read_text().splitlines()):
            assert len(line) <= LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("key", f'[data]\n"{"k" * 5000}" = 1\n'),
        ("twice", f"[{SECRET}]\n[{SECRET}]\n"),
        ("value", f"[data]\nseed = 'x'\nunit = '{'u' * 1_000_000}'\n"),
        ("number", f"[data]\nseed = {'9' * 4000}\n"),
    ],
)
def test_a_long_value_is_cut(name: str, content: str, tmp_path: Path, command: Command) -> None:
    (tmp_path / "run.toml").write_text(content)
    done = command("check", tmp_path / "run.toml", "--log", tmp_path / "log")
    assert_refused(done, "run.toml")
    for line in (done.err, *(tmp_path / "log").read_text().splitlines()):
        assert len(line) <= LONGEST_MESSAGE + 1


# Outputs


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "out"])
def test_an_output_that_exists_is_not_touched(name: str, tmp_path: Path, command: Command) -> None:
    source = jsonl(tmp_path, GOOD)
    target = tmp_path / name
    if "." in name:
        target.write_text("mine")
    else:
        target.mkdir()
        (target / "mine").write_text("mine")
    before = files(tmp_path)
    refused = command("convert", source, target)
    assert_refused(refused, f"{name} exists: nothing is overwritten; name another target")
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("record", "target", "message"),
    [
        ({"id": "../up"}, "out", "document ../up: its id leads out of the folder"),
        ({}, "out.xml", "the suffix .xml names no format to write"),
        ({}, "in.jsonl/out", "in.jsonl/out cannot be made: "),
    ],
)
def test_what_a_format_cannot_hold_is_refused(record, target, message, tmp_path, command) -> None:
    source = jsonl(tmp_path, GOOD, GOOD | record)
    if target == "out":
        source = jsonl(tmp_path, GOOD | record)
    assert_refused(command("convert", source, tmp_path / target), message)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_figures_have_a_folder_made_for_them_or_one_clear_line(tmp_path, command) -> None:
    source = jsonl(tmp_path, GOOD)
    done = command("evaluate", source, source, "--json", tmp_path / "new" / "figures.json")
    assert done.code == 0
    assert json.loads((tmp_path / "new" / "figures.json").read_text())["ner"]["f1"] == 1
    for arguments in (
        ("evaluate", source, source, "--json", source / "x.json"),
        ("init", source),
        ("init", source / "new"),
    ):
        assert_refused(command(*arguments), str(arguments[-1]))
