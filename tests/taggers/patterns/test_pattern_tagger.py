"""The tagger of patterns, and its model."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from corpus.batch import Batch, batch_of_texts
from corpus.errors import InputError
from corpus.tags import classes_of, find_entities
from taggers.patterns.pattern_options import PatternOptions
from taggers.patterns.pattern_tagger import PatternTagger

TABLE = r"""
[[pattern]]
class = "DATE"
expression = '\d+/\d+/\d+'
confidence = 0.9

[[pattern]]
class = "YEAR"
expression = '\d{4}'
confidence = 0.8

[[pattern]]
class = "PHONE"
expression = '\d{3} \d{3}(?: \d{3})?'
check = "phone"
"""


def batch(*texts: str) -> Batch:
    ids = pa.array(map(str, range(len(texts))), pa.large_string())
    return batch_of_texts(pa.array(texts, pa.large_string()), ids)


def spans_of(tagger: PatternTagger, text: str) -> list[tuple[str, str]]:
    notes = batch(text)
    tagging = tagger.tag(notes)
    entities = find_entities(tagging.tags, notes.document_offsets, tagging.labels)
    classes = classes_of(tagging.labels)
    return [
        (text[notes.starts[first] : notes.ends[last]], classes[kind])
        for first, last, kind in zip(entities.first, entities.last, entities.classes, strict=True)
    ]


@pytest.fixture
def fit(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TABLE)

    def fit(**options) -> PatternTagger:
        tagger = PatternTagger(PatternOptions(files=(str(path),), **options))
        return tagger.fit(batch("Hola"), rng=np.random.default_rng(0))

    return fit


def test_the_longest_of_overlapping_spans_is_tagged(fit) -> None:
    expected = [("12/10/2010", "DATE"), ("2011", "YEAR"), ("600 600 600", "PHONE")]
    assert spans_of(fit(), "el 12/10/2010 y 2011, 600 600 600") == expected


def test_spans_of_classes_that_are_not_tagged_hold_no_others(fit) -> None:
    tagger = fit(labels={"DATE": "", "PHONE": "CONTACT"})
    assert tagger.labels == ("O", "B-CONTACT", "I-CONTACT", "B-YEAR", "I-YEAR")
    expected = [("2011", "YEAR"), ("600 600 600", "CONTACT")]
    assert spans_of(tagger, "el 12/10/2010 y 2011, 600 600 600") == expected


def test_confidence_is_the_one_of_patterns_after_their_checks(fit) -> None:
    tagging = fit().tag(batch("dolor", "2011", "612 345 678", "600 600"), detail="entity")
    phone = 0.9  # the default
    expected = [1, 0.8, 1 - (1 - phone) ** 2, phone**2]
    assert tagging.confidence == pytest.approx(expected)
    assert tagging.entity_probabilities.max(axis=1) == pytest.approx(expected[1:])


def test_a_model_needs_no_file(fit, tmp_path) -> None:
    tagger = fit(labels={"PHONE": "CONTACT"})
    tagger.save(tmp_path / "model")
    (tmp_path / "table.toml").unlink()
    loaded = PatternTagger.load(tmp_path / "model")
    text = "el 12/10/2010 y 2011, 600 600 600"
    assert loaded.labels == tagger.labels
    assert spans_of(loaded, text) == spans_of(tagger, text)


def test_labels_name_classes_of_the_tables(fit) -> None:
    with pytest.raises(InputError, match="labels names the class FAX; the tables have DATE, YEAR"):
        fit(labels={"FAX": "PHONE"})
