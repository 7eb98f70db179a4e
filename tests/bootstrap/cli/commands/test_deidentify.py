"""``bootstrap deidentify`` and ``key``: every format, bad keys and policies, and a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.formats import read, write

Command = Callable[..., Any]

NAME = "Marta Puigdefàbregas"
TEXT = f"Sra. {NAME}, tel. 93 555 01 02.\r\nVista el 12/03/2010."


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    start = TEXT.index(NAME)
    spans = (Span(start, start + len(NAME), "PERSON"),)
    write([Document("n1", TEXT, spans, "p1"), Document("n2", "nada", (), "p2")], path)
    return path


@pytest.fixture
def key(tmp_path: Path, run_here: Command) -> Path:
    path = tmp_path / "key"
    made = run_here("key", path)
    assert made.code == 0 and "fingerprint" in made.out
    assert path.read_text().strip() not in made.out
    return path


def texts_of(path: Path) -> list[str]:
    return [document.text for document in read(path, problems=Problems())]


@pytest.mark.parametrize("format", ["jsonl", "parquet", "csv", "conll", "brat"])
@pytest.mark.parametrize(("policy", "expected"), [("placeholders", "<PERSON>"), ("strict", "")])
def test_annotations_are_replaced_in_every_format(
    format: str, policy: str, expected: str, annotated: Path, run_here: Command, tmp_path: Path
) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    names = ("--from", format, "--to", format)
    assert run_here("convert", annotated, source, "--to", format).code == 0
    done = run_here("deidentify", "-", source, out, "--spans", "--policy", policy, *names)
    assert done.code == 0, done
    (first, second) = read(out, format=format, problems=Problems())
    assert first.text == TEXT.replace(NAME, expected) and second.text == "nada"
    assert [first.text[s.start : s.end] for s in first.spans] == [expected][: len(expected)]
    assert first.id == "n1" and first.group == ("p1" if format != "brat" else None)
    assert "replaced 1 mention in 1 of 2 notes" in done.out


def test_patterns_find_mentions_without_a_model(
    annotated: Path, key: Path, run_here: Command, tmp_path: Path
) -> None:
    out, figures, page = (tmp_path / name for name in ("out.jsonl", "r.json", "r.html"))
    done = run_here(
        "deidentify", "kind:patterns", annotated, out, "--key-file", key, "--json", figures,
        "--html", page, "--jobs", 1,
    )  # fmt: skip
    assert done.code == 0, done
    (text, _) = texts_of(out)
    assert "93 555 01 02" not in text and "12/03/2010" not in text and NAME in text
    assert text.endswith(".") and "\r\nVista el " in text
    table = json.loads(figures.read_text())
    assert {row["class"]: row["operator"] for row in table["mentions"]} == {
        "TELEPHONE": "surrogate",
        "DATE": "shift",
    }
    assert table["policy"] == "surrogates" and len(table["key"]) == 16
    for written in (figures.read_text(), page.read_text(), done.all):
        assert "Marta" not in written and "555" not in written
        assert key.read_text().strip() not in written


def test_the_result_does_not_depend_on_the_number_of_processes(
    annotated: Path, key: Path, run_here: Command, tmp_path: Path
) -> None:
    for jobs in (1, 2):
        command = ("deidentify", "kind:patterns", annotated, tmp_path / f"{jobs}.jsonl")
        assert run_here(*command, "--key-file", key, "--jobs", jobs).code == 0
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_a_page_shows_text_only_if_it_is_asked_for(
    annotated: Path, run_here: Command, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    done = run_here(
        "deidentify", "-", annotated, tmp_path / "o.jsonl", "--html", page, "--show-text", "n1"
    )
    assert done.code == 0, done
    assert NAME in page.read_text() and "&lt;PERSON&gt;" in page.read_text()
    out = tmp_path / "o3.jsonl"
    done = run_here("deidentify", "-", annotated, out, "--html", page, "--show-text", "n1", "n9")
    assert "1 id of --show-text: no note has it" in done.out
    done = run_here("deidentify", "-", annotated, tmp_path / "o2.jsonl", "--show-text")
    assert done.code == 2 and "--html" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "surrogates"], "needs a key: make one with `bootstrap key FILE`"),
        (["--policy", "mine.toml"], "the policy mine.toml cannot be read"),
        (["--key-file", "missing"], "the key file missing cannot be read"),
        (["--recall", "0.99"], "--recall needs annotated notes"),
        (
            ["--set", "files=[]"],
            "--gold, --cluster and --invalid skip are for a model",
        ),
        (["--policy", "known.toml"], "for [known] and phrases of the policy, name a model"),
        (["--json", "notes.jsonl"], "notes.jsonl is written and is another file of the command"),
        (["--json", "."], "is a folder; expected a file"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(
    options: list[str],
    message: str,
    annotated: Path,
    run_here: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BOOTSTRAP_KEY", raising=False)
    out = tmp_path / "out.jsonl"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known.toml").write_text('[known.columns]\nname = "person"\n')
    model = "-" if {"--set", "known.toml"} & {*options} else "kind:patterns"
    before = annotated.read_bytes()
    done = run_here("deidentify", model, annotated, out, *options)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1
    assert not out.exists() and NAME not in done.all and annotated.read_bytes() == before


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ""])
def test_annotations_that_cross_are_covered_together(
    suffix: str, run_here: Command, tmp_path: Path
) -> None:
    text, expected = "De Ana Puig y Roca, Vic", "De <PERSON>, <LOCATION>"
    labels = [[3, 11, "PERSON"], [7, 18, "PERSON"], [20, 23, "LOCATION"]]
    source, out = tmp_path / f"in{suffix}", tmp_path / "out.jsonl"
    if suffix:
        cell = json.dumps(labels).replace('"', '""')
        csv, row = f'id,text,label\n1,"{text}","{cell}"\n', {"id": "1", "text": text}
        source.write_text(csv if suffix == ".csv" else json.dumps(row | {"label": labels}))
    else:  # brat, with an annotation in pieces
        source.mkdir()
        (source / "1.txt").write_text(text)
        spans = "T1\tPERSON 3 6;14 18\tAna Roca\n", "T2\tPERSON 7 18\tPuig y Roca\n"
        (source / "1.ann").write_text("".join(spans) + "T3\tLOCATION 20 23\tVic\n")
        expected = "De <PERSON> <PERSON>, <LOCATION>"
    done = run_here("deidentify", "-", source, out)
    assert done.code == 0, done
    assert texts_of(out) == [expected]


@pytest.mark.parametrize("end", [14, 21])
def test_a_name_that_crosses_what_a_policy_keeps_does_not_stay(
    end: int, run_here: Command, tmp_path: Path, key: Path
) -> None:
    text = "Es médico Anna Puig de Vic"
    row = {"id": "1", "text": text, "label": [[3, end, "PROFESSION"], [10, 19, "PERSON"]]}
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    out = tmp_path / "out.jsonl"
    options = ("--policy", "limited", "--key-file", key)
    done = run_here("deidentify", "-", tmp_path / "in.jsonl", out, *options)
    assert done.code == 0 and "placeholders for" in done.out, done
    assert "Anna" not in texts_of(out)[0] and "Puig" not in texts_of(out)[0]


def test_no_file_of_a_command_is_overwritten(
    annotated: Path, key: Path, run_here: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.json").write_text("{}")
    (folder / "a.txt").write_text("Ana")
    out = tmp_path / "out.jsonl"
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for source, *options in (
        (annotated, "--json", annotated),
        (annotated, "--html", tmp_path / "folder" / ".." / "notes.jsonl"),
        (annotated, "--json", out),
        (annotated, "--key-file", key, "--json", key),
        (annotated, "--key-file", key, "--log", key),
        (annotated, "--json", tmp_path / "r", "--html", tmp_path / "r"),
        (annotated, "--key-file", key, "--reversible", tmp_path / "m", "--json", tmp_path / "m"),
        (annotated, "--key-file", key, "--reversible", out),
        (folder, "--html", folder / "a.txt"),
        (tmp_path / "*.jsonl", "--html", annotated),
    ):
        done = run_here("deidentify", "kind:patterns", source, out, *options)
        assert done.code == 2 and "is written and is another file" in done.err, (options, done)
    (tmp_path / "known.csv").write_text("patient,name\np1,Marta\n")
    (tmp_path / "own.toml").write_text(
        f'[known]\ntable = "{tmp_path / "known.csv"}"\ncolumns = {{ name = "person" }}\n'
    )
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "hard").hardlink_to(key)
    (tmp_path / "notes").hardlink_to(annotated)
    own = ("--policy", tmp_path / "own.toml", "--key-file", key)
    for option, name, message in (
        ("--json", "known.csv", "is another file"),
        ("--log", "known.csv", "is no log"),
        ("--log", "hard", "is another file"),
        ("--log", "notes", "is another file"),
    ):
        path = tmp_path / name
        done = run_here("deidentify", "kind:patterns", annotated, out, *own, option, path)
        assert done.code == 2 and message in done.err, (option, done)
    for name in ("hard", "notes"):
        (tmp_path / name).unlink()
    done = run_here("risk", annotated, "--classes", "PERSON", "--json", annotated)
    assert done.code == 2 and "is written and is another file" in done.err
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


def test_notes_of_a_patient_that_are_apart_are_counted(
    run_here: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bootstrap.tagging._ROWS", 2)
    numbers = ["93 555 01 02", "935550102", "93 555 01 02", "nada", "935550102"]
    groups = ["p", "q", "q", "q", "p"]
    notes = [Document(str(n), numbers[n], (), groups[n]) for n in range(5)]
    write(notes, tmp_path / "in.jsonl")
    done = run_here(
        "deidentify", "kind:patterns", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--jobs", 1
    )
    assert done.code == 0 and "1 patient with notes that are not side by side" in done.out, done


def test_plain_text_stays_plain_text(run_here: Command, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "a.txt").write_text("tel. 935550102")
    done = run_here("deidentify", "kind:patterns", source, out, "--jobs", 1)
    assert done.code == 0, done
    assert [path.name for path in out.iterdir()] == ["a.txt"]


def test_gold_without_annotations_is_refused(
    annotated: Path, run_here: Command, tmp_path: Path
) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out.jsonl"
    write([Document("1", "nada")], gold)
    options = ("--gold", gold, "--recall", "0.9", "--jobs", 1)
    done = run_here("deidentify", "kind:patterns", annotated, out, *options)
    assert done.code == 2 and "has no annotations" in done.err and not out.exists()


def test_notes_without_annotations_are_not_written(run_here: Command, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "Ana Puig", "spans": [[0, 8, "A"]]}\n')
    done = run_here("deidentify", "-", tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert done.code == 2 and "no annotations" in done.err and "Puig" not in done.all
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_short_key_is_refused_and_not_shown(
    annotated: Path, run_here: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "short").write_text("secret word")
    done = run_here("deidentify", "-", annotated, tmp_path / "o", "--key-file", tmp_path / "short")
    assert done.code == 2 and "11 bytes; expected at least 32" in done.err
    monkeypatch.setenv("BOOTSTRAP_KEY", "beef")
    done = run_here("deidentify", "-", annotated, tmp_path / "o")
    assert done.code == 2 and "BOOTSTRAP_KEY" in done.err
    assert "secret word" not in done.all and "beef" not in done.all


def test_a_run_estimates_what_is_left(
    finished: Path, project: Path, run_here: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    done = run_here(
        "deidentify", finished, project / "unlabeled.jsonl", out, "--recall", "0.9", "--jobs", 1
    )
    assert done.code == 0, done
    assert "% of the mentions are wholly covered" in done.out
    assert "95 % interval" in done.out
    assert any("<PERSON>" in text for text in texts_of(out)[:20])


def test_an_existing_output_stays(annotated: Path, run_here: Command, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    done = run_here("deidentify", "-", annotated, out)
    assert done.code == 2 and out.read_text() == "mine"


def test_a_map_puts_back_what_was_replaced(
    annotated: Path, key: Path, run_here: Command, tmp_path: Path
) -> None:
    out, secret, back = (tmp_path / name for name in ("out.jsonl", "map", "back.jsonl"))
    done = run_here(
        "deidentify", "kind:patterns", annotated, out, "--key-file", key, "--reversible", secret
    )
    assert done.code == 0, done
    assert secret.stat().st_mode & 0o077 == 0 and b"555" not in secret.read_bytes()
    done = run_here("reidentify", secret, out, back, "--key-file", key)
    assert done.code == 0 and texts_of(back) == [TEXT, "nada"]
    assert run_here("key", tmp_path / "other").code == 0
    done = run_here(
        "reidentify", secret, out, tmp_path / "b2.jsonl", "--key-file", tmp_path / "other"
    )
    assert done.code == 2 and "another key" in done.err and not (tmp_path / "b2.jsonl").exists()
    done = run_here("deidentify", "-", annotated, tmp_path / "o.jsonl", "--reversible", secret)
    assert done.code == 2 and "needs a key" in done.err


def test_risk_counts_patients_who_are_alone(run_here: Command, tmp_path: Path) -> None:
    rows = [
        {
            "id": str(n),
            "text": f"{age} años",
            "group": patient,
            "sex": sex,
            "label": [[0, 2, "AGE"]],
        }
        for n, (patient, age, sex) in enumerate(
            [("a", 40, "m"), ("a", 40, "m"), ("b", 40, "m"), ("c", 40, "f"), ("d", 71, "f")]
        )
    ]
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run_here("risk", path, "--columns", "sex", "--classes", "AGE", "--json", tmp_path / "r")
    assert done.code == 0, done
    assert "4 patients with 3 different combinations" in done.out and "k = 1" in done.out
    table = json.loads((tmp_path / "r").read_text())
    assert table["below"]["2"] == 0.5
    assert table["unique_without"] == {"AGE": 0.0, "sex": 0.25}
    assert "71" not in done.all
    done = run_here("risk", path, "--columns", "AGE")
    assert done.code == 2 and "no other column AGE" in done.err
    done = run_here("risk", path, "--classes", "sex")
    assert done.code == 2 and "no annotations of the class sex" in done.err


def test_what_columns_say_of_the_patient_is_found(run_here: Command, tmp_path: Path) -> None:
    notes, policy, out = (tmp_path / name for name in ("n.jsonl", "own.toml", "out.jsonl"))
    row = {"id": "1", "text": "Sra. PUIGDEFABREGA, NHC 12-34-56", "name": "Marta Puigdefàbregas"}
    notes.write_text(json.dumps(row | {"nhc": "123456"}) + "\n")
    policy.write_text(
        'extends = "placeholders"\n[known.columns]\nname = "person"\nnhc = "number"\n'
    )
    done = run_here("deidentify", "kind:patterns", notes, out, "--policy", policy, "--jobs", 1)
    assert done.code == 0, done
    assert texts_of(out) == ["Sra. <PERSON>, NHC <ID>"]
    assert json.loads(out.read_text())["name"] == "Marta Puigdefàbregas"  # as the docs say
    assert "known patient 2" in done.out
    policy.write_text('[known.columns]\nsurname = "person"\n')
    done = run_here("deidentify", "kind:patterns", notes, tmp_path / "o2", "--policy", policy)
    assert done.code == 2 and "surname" in done.err
    table = tmp_path / "patients.csv"
    table.write_text("patient,name\np1,Ana\n")
    policy.write_text(f'[known]\ntable = "{table}"\ncolumns = {{name = "person"}}\n')
    done = run_here("deidentify", "kind:patterns", notes, tmp_path / "o2", "--policy", policy)
    assert done.code == 2 and "the group of no note" in done.err and not (tmp_path / "o2").exists()
