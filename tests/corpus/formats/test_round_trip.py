"""What is written and read again is the same to the character."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import InputError, Problems
from corpus.formats import read, write

#: Where texts go wrong: line ends of all kinds, marks, joiners, accents, NUL.
TRICKY = [
    *("\ufeff", "\r\n", "\r", "\n", "\x85", "\u2028", "\u2029", "\v", "\f", "\x1c", "\0", "\t"),
    *("\U0001f469\u200d\u2695\ufe0f", "e\u0301", "\u202e", " ", '"', "\\", "\uffff", "ça", "ñ"),
]
texts = st.lists(st.sampled_from(TRICKY) | st.text(max_size=5), max_size=12).map("".join)
labels = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=6)
parts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\\\0"), min_size=1)
ids = st.lists(parts.filter(lambda part: part[0] != "."), min_size=1, max_size=3).map("/".join)


#: What some formats cannot hold as an id or a label.
odd = texts | st.sampled_from(
    ["", ".", "../a", "a//b", "a" * 256, "B-X", "# text = a", "-DOCSTART-"]
)


@st.composite
def documents(
    draw: st.DrawFn, ids: st.SearchStrategy[str] = ids, labels: st.SearchStrategy[str] = labels
) -> Document:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    spans = tuple(Span(start, end, draw(labels)) for start, end in pairs)
    return Document(draw(ids), text, spans, draw(st.none() | texts))


def fits_in_files(corpus: list[Document]) -> bool:
    """Return whether each id names a file of its own, also where names of files are short."""
    names = [f"{part}.txt" for document in corpus for part in document.id.split("/")]
    return len(corpus) <= 1 and all(len(name.encode()) <= 255 for name in names)


corpora = st.lists(documents(), max_size=4)
single = st.lists(documents(), min_size=1, max_size=1).filter(fits_in_files)


def round_trip(corpus: list[Document], *targets: tuple[str, str]) -> list[Document]:
    """Write and read documents through one format after the other."""
    problems = Problems()
    with TemporaryDirectory() as folder:
        for number, (suffix, format) in enumerate(targets):
            target = Path(folder) / f"{number}{suffix}"
            write(iter(corpus), target, format=format)
            corpus = list(read(target, format=format, problems=problems))
    assert not problems.counts
    return corpus


JSONL, PARQUET, BRAT, TEXT = (".jsonl", "jsonl"), (".pq", "parquet"), ("", "brat"), ("", "text")
CSV, TSV, ZST = (".csv", "csv"), (".tsv.gz", "csv"), (".jsonl.zst", "jsonl")
CONLL = (".conll", "conll")
thorough = settings(max_examples=20, deadline=None)


@given(corpora)
@example([Document("", "\ufeff\r\nAnna\r\n", (Span(3, 9, "A"),), "")])
@thorough
def test_tables_hold_everything(corpus: list[Document]) -> None:
    assert round_trip(corpus, JSONL, PARQUET, ZST) == corpus


@given(corpora)
@example([Document("a", "\ufeff\r\nAnna\r\n", (Span(3, 9, "A"),))])
@example([Document("a", "\r", group="\r"), Document("b", "")])
@thorough
def test_csv_holds_everything_but_empty_groups(corpus: list[Document]) -> None:
    actual = [replace(document, group=document.group or None) for document in corpus]
    assert round_trip(corpus, CSV, JSONL, TSV) == actual


@given(corpora)
@thorough
def test_conll_holds_everything_but_boundaries_inside_tokens(corpus: list[Document]) -> None:
    actual = round_trip(corpus, CONLL)
    assert [replace(each, spans=()) for each in actual] == [
        replace(document, spans=()) for document in corpus
    ]
    assert round_trip(actual, CONLL, JSONL, (".bio.gz", "conll")) == actual


@given(single)
@example([Document("a", "\ufeff\r\nAnna\r\n", (Span(3, 9, "A"),))])
@example([Document("a", "\r", (Span(0, 1, "A"),))])
@thorough
def test_brat_holds_everything_but_the_group(corpus: list[Document]) -> None:
    actual = round_trip(corpus, BRAT, JSONL, BRAT)
    assert actual == [replace(document, group=None) for document in corpus]


@given(single)
@thorough
def test_text_holds_ids_and_texts(corpus: list[Document]) -> None:
    actual = round_trip(corpus, TEXT, BRAT, TEXT)
    assert actual == [Document(document.id, document.text) for document in corpus]


@pytest.mark.parametrize("target", [JSONL, PARQUET, BRAT, TEXT, CSV, TSV, CONLL])
@given(corpus=st.lists(documents(odd, odd.filter(bool)), max_size=2))
def test_what_is_written_is_read_and_the_rest_is_refused(corpus, target) -> None:
    try:
        actual = round_trip(corpus, target)
    except InputError as error:
        assert target not in (JSONL, PARQUET)
        assert str(error).isprintable() and "write JSONL or Parquet" in str(error)
    else:
        names = sorted((document.id, document.text) for document in corpus)
        assert sorted((document.id, document.text) for document in actual) == names


def test_files_come_back_in_the_order_of_their_names() -> None:
    names = ["b", "a/z", "a b", "a", "a.b", "a-b/c", "c/d/e"]
    corpus = [Document(name, name, (Span(0, 1, "X"),)) for name in names]
    for target in (BRAT, TEXT):
        actual = [document.id for document in round_trip(corpus, target)]
        assert actual == sorted(names, key=Path)
