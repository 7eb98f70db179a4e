"""``bootstrap rules learn``: its table is a tagger, and how it ends."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.formats import write
from corpus.synthetic import synthetic_notes
from taggers.patterns.tables import read_patterns

NOTES = "synthetic:500?part=seed"


def test_learned_rules_tag_other_notes(tmp_path: Path, command) -> None:
    rules = tmp_path / "rules.toml"
    done = command("rules", "learn", NOTES, "-o", rules, "--min-patients", 3)
    assert done.code == 0, done
    number = len(read_patterns((str(rules),)))
    assert done.out == (
        f"{number} rules for 2 classes in {rules}; words in them occur in the notes of 3 patients "
        "or more\n"
    )
    assert stat.S_IMODE(rules.stat().st_mode) == 0o600
    others, tagged = "synthetic:200?random_state=1&part=seed", tmp_path / "tagged.jsonl"
    done = command("tag", "kind:patterns", others, tagged, "--set", f'files=["{rules}"]')
    assert done.code == 0, done
    done = command("evaluate", others, tagged)
    assert done.code == 0, done
    precision, recall = map(float, done.out.splitlines()[1].split()[2:4])
    assert precision > 0.9
    assert recall > 0.6


def test_the_same_notes_give_the_same_file(tmp_path: Path, command) -> None:
    for name in ("a", "b"):
        assert command("rules", "learn", NOTES, "-o", tmp_path / name).code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_existing_file_is_kept(tmp_path: Path, command) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("mine")
    done = command("rules", "learn", NOTES, "-o", rules)
    assert (done.code, rules.read_text()) == (2, "mine")
    assert "nothing is overwritten" in done.err


@pytest.mark.parametrize("number", [0, 1, 30])
def test_notes_that_teach_nothing(number: int, tmp_path: Path, command) -> None:
    notes, rules = tmp_path / "notes.jsonl", tmp_path / "rules.toml"
    documents = [replace(note, spans=()) for note in synthetic_notes(number)]
    write(documents, notes)
    done = command("rules", "learn", notes, "-o", rules)
    assert done.code == 2
    assert done.err.splitlines()[-1].endswith(
        "no rule finds annotations of two patients or more; expected more annotated notes"
    )
    assert not rules.exists()
