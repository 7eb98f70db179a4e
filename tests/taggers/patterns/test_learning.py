"""Rules on synthetic notes: what they find in other notes, what they contain, and their file."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.evaluation.scoring import score
from corpus.synthetic import synthetic_notes
from corpus.tokens import tokenize
from taggers.patterns.labelled import LabelledPatterns
from taggers.patterns.learning import Rule, learn, rules_table
from taggers.patterns.matcher import PatternMatcher
from taggers.patterns.pattern_options import PatternOptions
from taggers.patterns.pattern_tagger import PatternTagger
from taggers.patterns.tables import read_patterns

NAMES = ("Ana", "EVA MARÍA", "Juan de la Cruz", "Pau", "Rosa Gil-Vila", "Luis", "Jordi Puig")
LETTERS = re.compile(r"[^\W\d_]+")
RECORD = "Nombre: {name}.\nNHC {number}\nViene con Eva. Pesa 70."


def batch_of(notes: list[Document]) -> Batch:
    return make_batch(notes, labelled=True)


def record(number: int, text: str = RECORD) -> Document:
    """A record of a patient, whose name and number are annotated."""
    rng = np.random.default_rng(number)
    values = {"name": NAMES[rng.integers(len(NAMES))], "number": f"{rng.integers(10**5, 10**7)}"}
    filled = text.format(**values)
    spans = [
        Span(filled.index(value), filled.index(value) + len(value), label)
        for label, value in values.items()
    ]
    return Document(str(number), filled, tuple(sorted(spans, key=lambda span: span.start)))


def rows_of(rules: list[Rule]) -> set[tuple[str, str, str, str]]:
    rows = [rule.pattern for rule in rules]
    return {(row.label, row.before, row.expression, row.after) for row in rows}


def words_of(table: str) -> set[str]:
    """Return the words of a table, without those of keys, classes, fragments and escapes."""
    texts = re.findall("^(?:before|expression|after) = (.*)$", table, re.MULTILINE)
    plain = re.sub(r"\{[A-Z_]+\}|\[[^]]*\]|\\[a-z]|\(\?i:", " ", " ".join(texts))
    return {*LETTERS.findall(plain.lower())}


@pytest.fixture(scope="module")
def notes() -> list[Document]:
    return list(synthetic_notes(1200, random_state=3, part="seed"))


@pytest.fixture(scope="module")
def rules(notes: list[Document]) -> list[Rule]:
    return learn(batch_of(notes[:600]))


@pytest.fixture
def tagger(rules: list[Rule], tmp_path) -> PatternTagger:
    """The tagger of the file of the rules."""
    path = tmp_path / "rules.toml"
    path.write_text(rules_table(rules), encoding="utf-8")
    return PatternTagger(PatternOptions(files=(str(path),)))


def test_rules_are_precise_in_other_notes(notes, tagger) -> None:
    held_out = batch_of(notes[600:])
    tagging = tagger.tag(held_out)
    tagged = held_out.with_tags(tagging.tags, tagging.labels).to_documents()
    counts = score(notes[600:], tagged).counts()
    assert counts.precision > 0.9
    assert counts.recall > 0.7


def test_headers_and_shapes_are_learned() -> None:
    assert rows_of(learn(batch_of([record(number) for number in range(40)]))) == {
        ("name", ":{GAP}", "{TEXT}", "{LINE_END}"),
        ("number", "", r"\d{5,}", ""),
    }


def test_a_header_is_in_a_rule_where_it_is_needed() -> None:
    text = "Nombre: {name}.\nMotivo: Dolor.\nRef. 1234567\nNHC {number}"
    rules = learn(batch_of([record(number, text) for number in range(40)]))
    assert rows_of(rules) == {
        ("name", "(?i:nombre){GAP}:{GAP}", "{TEXT}", "{LINE_END}"),
        ("number", "(?i:nhc){GAP}", r"\d{5,}", ""),
    }


def test_counts_and_confidences_are_those_of_the_matcher(notes, rules) -> None:
    batch = batch_of(notes[:600])
    for rule in rules:
        assert len(PatternMatcher([rule.pattern]).find(batch).first) == rule.found
        assert 2 <= rule.patients <= rule.right <= rule.found
        expected = (rule.right + 1) / (rule.found + 2)
        assert rule.pattern.confidence == pytest.approx(expected, abs=1e-4)
    assert [rule.right for rule in rules] == sorted((r.right for r in rules), reverse=True)


def test_the_file_reads_back_and_tags_alike(notes, rules, tagger, tmp_path) -> None:
    table = (tmp_path / "rules.toml").read_text(encoding="utf-8")
    patterns = tuple(rule.pattern for rule in rules)
    assert read_patterns((str(tmp_path / "rules.toml"),)) == patterns
    batch = batch_of(notes[600:])
    spans, _ = LabelledPatterns(patterns, {}).find(batch)
    own, _ = tagger.patterns.find(batch)
    np.testing.assert_array_equal(own.first, spans.first)
    np.testing.assert_array_equal(own.last, spans.last)
    first = rules[0]
    assert table.startswith(
        f"# found {first.found} times, {first.right} right, in {first.patients} patients\n"
        f"[[pattern]]\nclass = '{first.pattern.label}'\n"
    )


@pytest.mark.parametrize("state", range(4))
def test_words_of_few_patients_are_in_no_rule(state: int) -> None:
    rng = np.random.default_rng(state)
    least, patients = rng.integers(2, 12), rng.integers(2, 60)
    notes = [
        replace(note, group=str(rng.integers(patients)))
        for note in synthetic_notes(200, random_state=state, part="seed")
    ]
    patients_of = defaultdict(set)
    for note in notes:
        for word in LETTERS.findall(" ".join(tokenize([note.text]).vocabulary).lower()):
            patients_of[word].add(note.group)
    table = rules_table(learn(batch_of(notes), min_patients=least))
    for word in words_of(table):
        assert len(patients_of[word]) >= least, word


def test_rules_do_not_depend_on_the_order_of_words_or_chance(notes, rules) -> None:
    batch = batch_of(notes[:600])
    assert learn(batch.with_sorted_vocabulary()) == rules


def test_notes_of_one_patient_teach_nothing() -> None:
    notes = [replace(record(number), group="p") for number in range(20)]
    assert learn(batch_of(notes)) == []


@pytest.mark.parametrize("texts", [[], ["", " \n"], ["sin entidades"]])
def test_notes_without_entities_teach_nothing(texts: list[str]) -> None:
    notes = [Document(str(number), text) for number, text in enumerate(texts)]
    assert learn(make_batch(notes, labelled=True)) == []


def test_unusual_characters_and_line_ends() -> None:
    """Quotes in words, numbers of other scripts, CRLF, and hyphens that are read as plain ones."""
    text = "Vista per l'Anna\r\nD’{name}\r\n﻿NºHC ١٢٣ –{number}\t\r\nα-β\x0b"
    rules = learn(batch_of([record(number, text) for number in range(20)]))
    assert {rule.pattern.label for rule in rules} == {"name", "number"}
    assert all(rule.right == 20 for rule in rules)
