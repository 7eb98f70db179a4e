"""What a line says of its tokens, against a look at one token after the other."""

from __future__ import annotations

import itertools
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.batch import Batch, Stream, concatenate, make_batch
from corpus.document import Document
from corpus.units import line_numbers
from taggers.annotators import Colons, LineHeaders, annotated
from tests.streams import PLAIN, stream_of

PIECES = [
    *("Ana", "Fecha", "de", "NHC", "12", "10:30", "MÉDICO", "Me\u0301dico", "año", "👩"),
    *(":", ": ", " : ", "::", " ", "\t", "\n", "\r", "\r\n", "\u2028", "\x0b", "\0", "\ufeff", "."),
    *("-\n", "\x85", "\f", "\u2029", "\x1e", "è", "ho"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=14).map("".join)
thorough = settings(max_examples=60, deadline=None)


def batch_of(*texts: str) -> Batch:
    documents = [Document(str(row), text) for row, text in enumerate(texts)]
    return make_batch(documents, labelled=False)


def said(stream: Stream) -> list[str | None]:
    assert stream.values.dtype == np.int32
    assert len(set(stream.vocabulary)) == len(stream.vocabulary)
    return [stream.vocabulary[value] if value >= 0 else None for value in stream.values.tolist()]


def by_word(annotator: LineHeaders | Colons, text: str) -> list[tuple[str, str | None]]:
    """Annotate one text and show what each word has."""
    batch = batch_of(text)
    words = [batch.vocabulary[word] for word in batch.word_ids.tolist()]
    return list(zip(words, said(annotator.annotate(batch)), strict=True))


Token = tuple[int, str]  # its line, and the word, composed


def tokens_of(batch: Batch) -> list[list[Token]]:
    """Return the tokens of each document with the number of line ends in the gaps before them."""
    result = []
    for row, text in enumerate(batch.texts.to_pylist()):
        tokens, line, end = [], 0, 0
        for token in range(*batch.document_offsets[row : row + 2].tolist()):
            line += len(re.findall("[\n-\r\x85\u2028\u2029]", text[end : batch.starts[token]]))
            end = batch.ends[token]
            word = batch.vocabulary[batch.word_ids[token]]
            tokens.append((line, unicodedata.normalize("NFC", word)))
        result.append(tokens)
    return result


def begins_after_letters(tokens: list[Token], place: int) -> bool:
    line, word = tokens[place]
    before = tokens[place - 1] if place else (-1, "")
    return word == ":" and before[0] == line and before[1].isalpha()


def headers(tokens: list[Token]) -> list[str | None]:
    result = []
    for line, _ in tokens:
        places = [place for place, token in enumerate(tokens) if token[0] == line]
        colons = [place for place in places if begins_after_letters(tokens, place)]
        if colons and colons[0] - places[0] <= 4:
            result.append(
                " ".join(tokens[place][1] for place in range(places[0], colons[0])).lower()
            )
        else:
            result.append(None)
    return result


def last_words(tokens: list[Token]) -> list[str | None]:
    result = []
    for place, (line, _) in enumerate(tokens):
        colons = [
            other
            for other in range(place)
            if tokens[other][0] == line and begins_after_letters(tokens, other)
        ]
        result.append(tokens[colons[-1] - 1][1].lower() if colons else None)
    return result


def assert_is_reference(batch: Batch) -> None:
    tokens = tokens_of(batch)
    numbers = line_numbers(batch)
    assert (np.diff(numbers) >= 0).all()
    lines = [(row, line) for row, document in enumerate(tokens) for line, _ in document]
    changes = [one != other for one, other in itertools.pairwise(lines)]
    assert (np.diff(numbers) > 0).tolist() == changes
    assert said(LineHeaders().annotate(batch)) == [
        header for one in tokens for header in headers(one)
    ]
    assert said(Colons().annotate(batch)) == [word for one in tokens for word in last_words(one)]


def test_a_line_has_the_words_before_its_colon_as_header() -> None:
    text = "Fecha de ingreso: 3 de mayo\nSe  queja\nNHC: 12"
    header = "fecha de ingreso"
    words = ["Fecha", "de", "ingreso", ":", "3", "de", "mayo"]
    assert by_word(LineHeaders(), text) == [
        *((word, header) for word in words),
        *(("Se", None), ("queja", None)),
        *(("NHC", "nhc"), (":", "nhc"), ("12", "nhc")),
    ]


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("NOMBRE: Ana", "nombre"),
        ("uno dos tres cuatro: x", "uno dos tres cuatro"),
        ("uno dos tres cuatro cinco: x", None),  # a sentence
        ("Fecha nac.: 3", None),  # its word is before the stop
        ("D.N.I: 1", None),  # five tokens
        ("Ana: B: C", "ana"),  # the first one
        ("10:30 Ana: b", "10 : 30 ana"),
        (": Ana", None),
        ("Me\u0300dic: Puig", "mèdic"),  # the same, decomposed
    ],
)
def test_headers_are_few_words_before_a_colon(line: str, header: str | None) -> None:
    assert {value for _, value in by_word(LineHeaders(), line)} == {header}
    # Whatever stands in the lines around it.
    lines = ["Antes: de", "àñ€👩 : ", line, ": después"]
    for ending in ("\n", "\r", "\r\n", "\n\n"):
        batch = batch_of(ending.join(lines))
        before = len(make_batch([Document("", ending.join(lines[:2]))], labelled=False).word_ids)
        number = len(batch_of(line).word_ids)
        actual = said(LineHeaders().annotate(batch))[before : before + number]
        assert set(actual) == {header}


def test_a_token_has_the_last_word_before_a_colon_of_its_line() -> None:
    assert by_word(Colons(), "NHC: 123 Nombre: Ana\nVic: x\nsola") == [
        *(("NHC", None), (":", None), ("123", "nhc"), ("Nombre", "nhc"), (":", "nhc")),
        ("Ana", "nombre"),
        *(("Vic", None), (":", None), ("x", "vic")),
        ("sola", None),
    ]


def test_a_colon_after_no_letters_says_nothing() -> None:
    assert {value for _, value in by_word(Colons(), "10:30 : 4 (x): y\n: z")} == {None}
    assert by_word(Colons(), "Hora: 10:30 h")[-1] == ("h", "hora")
    assert by_word(Colons(), "Me\u0300dic: Puig")[-1] == ("Puig", "mèdic")


@given(st.lists(TEXTS, max_size=5))
@example([])
@example(["", "", ""])
@example(["Ana", ": x", "\nAna:", "b: c"])
@example(["año\r\nAna: b", "àé: x\rc"])
@thorough
def test_of_any_texts_it_is_as_one_token_after_the_other_says(texts: list[str]) -> None:
    assert_is_reference(batch_of(*texts))


@given(st.lists(TEXTS, min_size=1, max_size=5), st.data())
@thorough
def test_it_is_the_same_whatever_became_of_the_batch(texts: list[str], data: st.DataObject) -> None:
    batch = batch_of(*texts)
    chosen = data.draw(st.lists(st.sampled_from(range(len(texts))), max_size=6))
    assert_is_reference(batch.take(np.array(chosen, np.int64)))
    assert_is_reference(batch.slice(1, 3))
    assert_is_reference(Batch.from_bytes(batch.to_bytes()))
    assert_is_reference(concatenate([batch, batch.slice(0, 2)]))


# Adding streams to batches


def test_only_streams_that_a_batch_lacks_are_added() -> None:
    own = stream_of(["x", None, None])
    batch = batch_of("Ana: b").with_streams({"colon": own, "turn": own})
    actual = annotated(batch, ["header", "colon", "turn"], PLAIN)
    assert list(actual.streams) == ["colon", "turn", "header"]
    assert actual.streams["colon"] is own
    assert said(actual.streams["header"]) == ["ana", "ana", "ana"]
    assert list(batch.streams) == ["colon", "turn"]
    assert list(annotated(batch, [], PLAIN).streams) == ["colon", "turn"]
