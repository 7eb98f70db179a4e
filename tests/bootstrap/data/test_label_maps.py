"""Labels of seed and validation that are not the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bootstrap.data.label_maps import unrelated_classes
from corpus.document import Document, Span
from corpus.formats import write


def note(name: str, *mentions: tuple[str, str]) -> Document:
    text, spans = "", []
    for mention, label in mentions:
        spans.append(Span(len(text), len(text) + len(mention), label))
        text += f"{mention} va. "
    return Document(name, text, tuple(spans))


SEED = [note("s", ("Olot", "LOC"), ("Vic", "LOC"), ("Anna", "PER"), ("Jan", "PER"))]
GOLD = [note("v", ("ANNA", "PERSON"), ("Pere", "PERSON"), ("Vic", "TOWN"), ("x", "OTHER"))]


def test_classes_are_mapped_by_the_mentions_that_they_share() -> None:
    message = unrelated_classes(SEED, GOLD)
    assert "seed has LOC, PER, and validation OTHER, PERSON, TOWN" in message
    proposed = 'labels = { LOC = "LOC", PER = "PER", PERSON = "PER", TOWN = "LOC" }'
    assert sorted(message.rpartition("{ ")[2]) == sorted(proposed.rpartition("{ ")[2])
    assert 'PERSON = "PER"' in message and 'TOWN = "LOC"' in message
    assert unrelated_classes(SEED, [*GOLD, note("w", ("Reus", "LOC"))]) == ""
    assert unrelated_classes([], GOLD) == ""


def test_a_run_without_a_common_class_is_not_ready(
    tmp_path: Path, command: Callable[..., Any]
) -> None:
    write(SEED, tmp_path / "seed.jsonl")
    write(GOLD, tmp_path / "validation.jsonl")
    write([Document("u", "nada")], tmp_path / "unlabeled.jsonl")
    config = tmp_path / "config.toml"
    config.write_text('[data]\nvalidation = "validation.jsonl"\n')
    checked = command("check", config)
    assert checked.code == 2
    assert checked.out.startswith("not ready: seed and validation have no class in common: ")
    refused = command("run", config, "--out", tmp_path / "run")
    assert (refused.code, refused.out) == (2, "")
    assert "no class in common" in refused.err and not (tmp_path / "run").exists()
