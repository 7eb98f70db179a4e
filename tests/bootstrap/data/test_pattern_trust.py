"""Which patterns are trusted, and the class of their spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bootstrap.config.options import TrustedPatternOptions
from bootstrap.data.pattern_trust import PRIOR_SPANS, trusted_patterns
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span

TABLE = """
[[pattern]]
class = "YEAR"
expression = '2\\d{3}'
confidence = 0.9

[[pattern]]
class = "CODE"
expression = 'A\\d+'
confidence = 0.9

[[pattern]]
class = "DATE"
expression = '\\d/\\d'
confidence = 0.9
"""


def notes(*texts: str, label: str = "FECHA") -> Batch:
    """Make annotated documents of texts, whose braces mark an entity each."""
    documents = []
    for number, text in enumerate(texts):
        start = text.find("{")
        plain = text.replace("{", "").replace("}", "")
        spans = (Span(start, text.find("}") - 1, label),) if start >= 0 else ()
        documents.append(Document(str(number), plain, spans, group=str(number)))
    return make_batch(documents, labelled=True, classes=[label])


@pytest.fixture
def decide(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TABLE)

    def decide(seed, validation, **options):
        own = TrustedPatternOptions(files=(str(path),), **options)
        return trusted_patterns(own, seed, validation)

    return decide


def test_without_files_there_are_no_patterns() -> None:
    found = trusted_patterns(TrustedPatternOptions(files=()), notes("{a}"), notes("{b}"))
    assert found.decisions == () and found.patterns is None


def test_one_half_of_the_validation_documents_decides_and_the_other_does_not(decide) -> None:
    seed = notes("el {2010}", "A12 y {2011}", "2012")
    found = decide(seed, notes("{2013}", "2014", "{2015}", "{2016}"))
    year, code, date = found.decisions
    assert (year.tagged_as, year.spans, year.right) == ("FECHA", 5, 4)
    assert (year.other_spans, year.other_right) == (2, 1)
    assert (code.tagged_as, code.spans, code.right) == ("", 1, 1)
    assert (date.tagged_as, date.spans) == ("", 0)  # no class of the documents has its name


@given(st.integers(0, 200), st.integers(0, 50), st.floats(0.5, 0.99))
def test_the_lower_bound_is_the_one_of_the_posterior(right, wrong, confidence) -> None:
    from collections import Counter

    from bootstrap.data.pattern_trust import _decision
    from taggers.patterns.pattern import Pattern

    pattern = Pattern(label="A", expression="1", confidence=confidence)
    counts = Counter({"A": right, "": wrong})
    row = _decision(pattern, "A", counts, Counter(), 0.9)
    alpha, beta = PRIOR_SPANS * confidence + right, PRIOR_SPANS * (1 - confidence) + wrong
    assert row.lower == pytest.approx(stats.beta(alpha, beta).ppf(0.05), abs=1e-9)
    assert row.is_trusted == (row.lower >= 0.9)


def test_many_right_spans_are_trusted_and_spans_outside_of_entities_are_no_entities(decide) -> None:
    seed = notes(*(["A12 el {2010}"] * 100))
    found = decide(seed, notes("{2010}", "{2011}"))
    assert [row.is_trusted for row in found.decisions] == [True, False, False]
    assert found.patterns.classes == ("FECHA",)
    found = decide(notes(*(["A12 el {2010}"] * 300)), notes("{2010}", "{2011}"))
    assert [row.is_trusted for row in found.decisions] == [True, True, False]
    assert found.patterns.classes == ("FECHA",)


def test_labels_of_the_configuration_replace_those_of_the_documents(decide) -> None:
    seed, validation = notes(*(["el {2010}"] * 100)), notes("{2010}", "{2011}")
    found = decide(seed, validation, labels={"YEAR": "AÑO"})
    assert found.decisions[0].tagged_as == "AÑO" and not found.decisions[0].right
    assert found.patterns is None
