"""A document cannot contradict itself, and what it says about itself is not its text."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.document import Document, DocumentError, Span
from corpus.errors import InputError, quoted
from corpus.formats import Columns

TEXT = "Núria Puig, 43 anys"
offsets = st.integers(-2, 8)
spans = st.lists(st.builds(Span, offsets, offsets, st.sampled_from(["A", "B", ""])), max_size=4)


def makes_sense(text: str, spans: list[Span]) -> bool:
    """Return whether each span covers characters of the text, and none that another covers."""
    covered = [place for span in spans for place in range(span.start, span.end)]
    return (
        all(span.label and span.start < span.end for span in spans)
        and len(set(covered)) == len(covered)
        and set(covered) <= set(range(len(text)))
    )


@given(st.text(max_size=6), spans)
@example("Núria", [Span(2, 5, "B"), Span(0, 2, "A")])
@example("Núria", [Span(0, 5, "A"), Span(1, 2, "A")])
@example("Núria", [Span(0, 2, "A"), Span(0, 2, "A")])
@example("", [])
def test_accepts_what_makes_sense_and_nothing_else(text: str, spans: list[Span]) -> None:
    if makes_sense(text, spans):
        assert Document("a", text, tuple(spans)).spans == tuple(sorted(spans))
    else:
        with pytest.raises(DocumentError):
            Document("a", text, tuple(spans))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([Span(3, 20, "PERSON")], ["3-20", "PERSON", "19"]),
        ([Span(-1, 4, "PERSON")], ["-1-4", "PERSON"]),
        ([Span(4, 4, "PERSON")], ["4-4", "PERSON", "empty"]),
        ([Span(5, 4, "PERSON")], ["5-4", "PERSON"]),
        ([Span(0, 5, "")], ["0-5", "no label"]),
        ([Span(0, 10, "PERSON"), Span(6, 14, "AGE")], ["0-10", "PERSON", "6-14", "AGE", "overlap"]),
        ([Span(6, 14, "AGE"), Span(0, 10, "PERSON")], ["0-10", "PERSON", "6-14", "AGE", "overlap"]),
    ],
)
def test_errors_name_the_document_and_offsets_but_not_the_text(found, said) -> None:
    with pytest.raises(DocumentError) as caught:
        Document("ward/17", TEXT, tuple(found))
    message = str(caught.value)
    assert "\n" not in message
    for each in ["document ward/17", *said]:
        assert each in message
    for word in ("Núria", "Puig", "43", "anys"):
        assert word not in message


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Document(5, "a"), TypeError, "id: expected str, not int"),
        (lambda: Document("a", None), TypeError, "text: expected str, not NoneType"),
        (lambda: Document("a", "b", group=b"c"), TypeError, "group: expected str, not bytes"),
        (lambda: Document("a", "b", 5), TypeError, "spans: expected an iterable, not int"),
        (lambda: Document("a", "b", [(0, 1, "A")]), TypeError, r"spans\[0\]: expected Span, not"),
        (lambda: Span(0.5, 1, "A"), TypeError, "start: expected int, not float"),
        (lambda: Span(0, "1", "A"), TypeError, "end: expected int, not str"),
        (lambda: Span(0, 1, None), TypeError, "label: expected str, not NoneType"),
        (lambda: Document("\udfff", "a"), InputError, "id: half a surrogate pair"),
        (lambda: Document("a", "\ud800"), InputError, "text: half a surrogate pair"),
        (lambda: Document("a", "a", group="\ud800"), InputError, "group: half a surrogate pair"),
        (lambda: Span(0, 1, "\ud800"), InputError, "label: half a surrogate pair"),
        (lambda: Columns(text="\ud800"), InputError, "text: half a surrogate pair"),
        (lambda: Columns(id="\ufeffid"), InputError, "id: a byte-order mark cannot begin"),
    ],
)
def test_an_argument_of_another_type_is_named(make, error, message) -> None:
    with pytest.raises(error, match=message):
        make()


def test_offsets_of_numpy_become_numbers() -> None:
    assert json.dumps(Span(np.int64(0), np.int32(4), "A").end) == "4"


@pytest.mark.parametrize("name", ["a\nb\x1b[31m", "x" * 100_000 + "#17"])
def test_errors_are_one_line_whatever_names_are_like(name: str) -> None:
    for span in (Span(0, 99, name), Span(0, 99, "A"), Span(0, 5, "")):
        with pytest.raises(DocumentError) as caught:
            Document(name, TEXT, (span,))
        message = str(caught.value)
        assert message.isprintable()
        assert len(message) < 700
    assert str(Span(0, 5, name)) == f"0-5 (<{len(name):,} characters>)"
    assert quoted("ward/17") == "ward/17"
