"""``bootstrap convert``."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus.document import Document, Span
from corpus.formats import write
from tests.corpus.formats.reading import documents

Command = Callable[..., Any]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "brat"])
def test_convert_and_back_is_the_same(suffix, notes, tmp_path, command) -> None:
    some = [replace(document, group="p1") for document in notes(30, 8)]
    write(
        [*some, Document("odd/one", "\ufeffPac 😀 Ànna\u0301\r\n", (Span(7, 12, "P"),))],
        tmp_path / "a.jsonl",
    )
    target = tmp_path / ("brat" if suffix == "brat" else f"b.{suffix}")
    done = command("convert", tmp_path / "a.jsonl", target)
    assert (done.code, done.err) == (0, "")
    spans = sum(len(document.spans) for document in documents(tmp_path / "a.jsonl"))
    assert f"wrote 31 documents with {spans} spans to {target}" in done.out
    assert ("groups (30)" in done.out) == (suffix == "brat")
    back = command("convert", target, tmp_path / "c.jsonl")
    assert back.code == 0
    before, after = ({d.id: d for d in documents(tmp_path / n)} for n in ("a.jsonl", "c.jsonl"))
    if suffix == "brat":
        before = {name: replace(document, group=None) for name, document in before.items()}
    assert after == before


def test_convert_takes_formats_and_columns_by_name(tmp_path: Path, command: Command) -> None:
    (tmp_path / "notes.dat").write_text('{"key": 7, "note": "hola", "who": [[0, 4, "X"]]}\n')
    names = ("--id-column", "key", "--text-column", "note", "--label-column", "who")
    formats = ("--from", "jsonl", "--to", "parquet")
    done = command("convert", tmp_path / "notes.dat", tmp_path / "out.dat", *formats, *names)
    assert done.code == 0
    renamed = command("convert", tmp_path / "out.dat", tmp_path / "x", "--from", "parquet", *names)
    assert renamed.code == 0
    assert documents(tmp_path / "x") == [Document("7", "hola", (Span(0, 4, "X"),))]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
@pytest.mark.parametrize("name", ["convert", "tag"])
def test_other_columns_are_kept_or_named_and_counted(
    name: str, suffix: str, finished: Path, tmp_path: Path, command: Command
) -> None:
    rows = [
        {"ward": 3, "id": str(number), "text": "Anna ve", "a name that is text": "x"}
        for number in range(7)
    ]
    source = tmp_path / f"in.{suffix}"
    if suffix == "jsonl":
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif suffix == "csv":
        lines = [",".join(map(str, row)) for row in (rows[0], *(row.values() for row in rows))]
        source.write_text("\n".join(lines))
    else:
        pq.write_table(pa.Table.from_pylist(rows), source)
    arguments = ("convert", source) if name == "convert" else ("tag", finished, source)
    for target in ("jsonl", "parquet", "csv"):
        done = command(*arguments, tmp_path / f"out.{target}")
        assert done.code == 0
        assert "left out" not in done.out
    expected = [(str(row["ward"]), row["a name that is text"]) for row in rows]
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").open()]
    assert [(str(row["ward"]), row["a name that is text"]) for row in records] == expected
    table = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(str(row["ward"]), row["a name that is text"]) for row in table] == expected
    with (tmp_path / "out.csv").open(newline="") as file:
        records = list(csv.DictReader(file))
    assert [(row["ward"], row["a name that is text"]) for row in records] == expected
    done = command(*arguments, tmp_path / "out")
    line = "left out, values of other columns: <19 characters> (7), ward (7)"
    assert line in done.out.splitlines()


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_convert_adds_the_language_of_each_note_after_its_other_columns(
    suffix: str, tmp_path: Path, command: Command
) -> None:
    rows = [
        {"id": "1", "text": "La paciente no fuma ni bebe.", "label": [], "ward": "A"},
        {"id": "2", "text": "La pacient no fuma ni beu amb la seva filla.", "label": []},
    ]
    source, target, again = (tmp_path / f"{name}.{suffix}" for name in ("a", "b", "c"))
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if suffix == "jsonl":
        source = lines
    else:
        assert command("convert", lines, source).code == 0
    done = command("convert", source, target, "--languages", "es,ca")
    assert (done.code, done.err) == (0, "")
    assert command("convert", target, tmp_path / "d.jsonl").code == 0
    written = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    assert [row["language"] for row in written] == ["es", "ca"]
    assert [row.get("ward") or None for row in written] == ["A", None]
    repeated = command("convert", target, again, "--languages", "es,ca")
    assert repeated.code == 2
    assert "have a column 'language' already" in repeated.err
    assert not again.exists()


def test_convert_refuses_languages_that_it_cannot_write(tmp_path: Path, command: Command) -> None:
    for target, language, message in (
        ("a.conll", "es", "which conll has not"),
        ("a.jsonl", "qq", "expected codes"),
    ):
        done = command("convert", "synthetic:3", tmp_path / target, "--languages", language)
        assert done.code == 2
        assert message in done.err
        assert not (tmp_path / target).exists()
