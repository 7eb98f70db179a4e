"""Words are counted as a loop over all tokens counts them."""

from __future__ import annotations

import stat
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus import counts as counting
from corpus.counts import WordCounter, WordCounts, _WordNumbers, count_words
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.formats import count_records, read, write
from corpus.formats.batches import batches_of
from corpus.storage.tables import table_bytes
from corpus.tokens import tokenize

LETTERS = "abcAÑñçé12 ·'.-\n\u0301\u0303日"
TEXTS = st.lists(
    st.one_of(
        st.text(LETTERS, max_size=12), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    ),
    max_size=8,
)
#: What is counted, as a plain dict says it: a word, how often it occurs, in how many documents.
Rows = list[tuple[str, int, int]]


def composed(words: list[str]) -> list[str]:
    return [unicodedata.normalize("NFC", word) for word in words]


def words_of(text: str) -> list[str]:
    """Return the words of the tokens of a text."""
    tokens = tokenize([text])
    return composed([tokens.vocabulary[word] for word in tokens.word_ids.tolist()])


def straightforward(texts: list[str]) -> Rows:
    """Count words one by one."""
    actual = [words_of(text) for text in texts]
    counts = Counter(word for words in actual for word in words)
    documents = Counter(word for words in actual for word in set(words))
    rows = [(word, count, documents[word]) for word, count in counts.items()]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def rows_of(counts: WordCounts) -> Rows:
    assert counts.counts.dtype == counts.documents.dtype == np.int64
    assert counts.words.type == pa.large_string()
    columns = counts.words.to_pylist(), counts.counts.tolist(), counts.documents.tolist()
    return list(zip(*columns, strict=True))


def counted(texts: list[str]) -> WordCounts:
    documents = (Document(str(number), text) for number, text in enumerate(texts))
    return count_words(batches_of(documents))


# What is counted


@given(texts=TEXTS, size=st.integers(1, 40))
@example(texts=[], size=1)
@example(texts=["", " ", "\n"], size=1)
@example(texts=["Núria Nu\u0301ria", "N\u0303a Ña"], size=5)
@example(texts=["a", "", "a a b", "b"], size=3)
@example(texts=["a b", "", ""], size=1000)
def test_counts_are_those_of_a_loop_over_tokens(texts: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_PIECE", size)
        actual = counted(texts)
    expected = straightforward(texts)
    assert rows_of(actual) == expected
    assert len(actual) == len(expected)
    assert actual.tokens == sum(len(words_of(text)) for text in texts)
    assert actual.total == len(texts)


def test_progress_tells_the_documents_that_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_PIECE", 2)
    told: list[int] = []
    texts = ["a b c", "d", "e", "", "f"]
    documents = (Document(str(number), text) for number, text in enumerate(texts))
    count_words(batches_of(documents), progress=told.append)
    assert told == [1, 3, 5]


# Numbers of words


@given(pieces=st.lists(TEXTS, max_size=5))
@example(pieces=[[], ["a b a"], [""], ["b Nu\u0301ria", "Núria c"]])
def test_numbers_stand_for_the_words_of_tokens(pieces: list[list[str]]) -> None:
    counter = WordCounter()
    numbers = [counter.add(tokenize(texts)).tolist() for texts in pieces]
    counts, order = counter.ranked()
    words: dict[int, str] = dict(zip(order.tolist(), counts.words.to_pylist(), strict=True))
    assert sorted(words) == list(range(len(counter)))
    for texts, found in zip(pieces, numbers, strict=True):
        assert [words[number] for number in found] == [w for text in texts for w in words_of(text)]
    assert rows_of(counts) == straightforward([text for texts in pieces for text in texts])
    assert rows_of(counter.counts()) == rows_of(counts)


WORD = st.one_of(st.sampled_from(["", "a", "b", "\0", "ñ"]), st.text("abc", max_size=3))


@given(batches=st.lists(st.lists(WORD, max_size=20), max_size=12))
@example(batches=[[], ["a", "a"], [], ["b", "a", "c"]])
@example(batches=[[str(number)] for number in range(20)])
@example(batches=[list("abcdefgh"), list("ijkl"), list("mn"), list("o"), list("pa")])
def test_words_are_numbered_as_a_dict_numbers_them(batches: list[list[str]]) -> None:
    lexicon, expected = _WordNumbers(), dict[str, int]()
    for batch in batches:
        numbers = [expected.setdefault(word, len(expected)) for word in batch]
        actual = lexicon.numbers(batch)
        assert actual.dtype == np.int32
        assert actual.tolist() == numbers
        assert len(lexicon) == len(expected)
        assert lexicon.words().to_pylist() == list(expected)


# Files


@given(texts=TEXTS)
@example(texts=[])
@example(texts=["", ""])
@example(texts=["\0 日 \U0001f600 Nu\u0301ria"])
def test_what_is_saved_is_loaded(texts, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    counts = counted(texts)
    counts.save(path)
    loaded = WordCounts.load(path)
    assert rows_of(loaded) == rows_of(counts)
    assert loaded.total == counts.total == len(texts)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        WordCounts.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    assert "bootstrap count" in message
    return message


def test_something_else_is_an_error(tmp_path: Path) -> None:
    refused(tmp_path / "missing.parquet")
    refused(tmp_path)
    path = tmp_path / "counts.parquet"
    for content in (b"", b"word,count\na,1\n", b"PAR1", b"PAR1PAR1", b"PAR1\0\0\0\0PAR1"):
        path.write_bytes(content)
        refused(path)
    write([Document("a", "Anna")], tmp_path / "notes.parquet")
    refused(tmp_path / "notes.parquet")
    counted(["a b c d a"]).save(tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    for size in range(0, len(content), 27):
        path.write_bytes(content[:size])
        refused(path)


COLUMNS = {
    "word": pa.array(["a", "b"], pa.large_string()),
    "count": pa.array([2, 1], pa.int64()),
    "documents": pa.array([1, 1], pa.int64()),
}


@pytest.mark.parametrize(
    ("counts", "documents", "total"),
    [
        ([2, 1], [1, 0], 9),  # a word of no document
        ([2, 1], [1, 2], 9),  # of more documents than it occurs times
        ([2, 1], [2, 1], 1),  # of more documents than there are
        ([2, -1], [1, -1], 9),
        ([2**62, 1], [1, 1], 9),
        ([2, 1], [1, 1], -1),
        ([2, 1], [1, 1], 2**63),
    ],
)
def test_counts_of_no_corpus_are_an_error(tmp_path, counts, documents, total) -> None:
    words = pa.array(["a", "b"], pa.large_string())
    path = tmp_path / "counts.parquet"
    WordCounts(words, np.array(counts), np.array(documents), total).save(path)
    assert "is damaged: expected that each word occurs in" in refused(path)


@pytest.mark.parametrize(
    ("columns", "total"),
    [
        (COLUMNS, None),
        (COLUMNS, "many"),
        ({**COLUMNS, "count": pa.array([2, 1], pa.int32())}, "1"),
        ({**COLUMNS, "count": pa.array([2, None], pa.int64())}, "1"),
        ({**COLUMNS, "word": pa.array(["a", None], pa.large_string())}, "1"),
        ({**COLUMNS, "word": pa.array([1, 2])}, "1"),
        ({**COLUMNS, "patients": pa.array(["many", "few"])}, "1"),
        ({name: COLUMNS[name] for name in ("word", "count")}, "1"),
        ({}, "1"),
    ],
)
def test_other_columns_are_an_error(tmp_path, columns, total) -> None:
    table = pa.table(columns)
    if total is not None:
        table = table.replace_schema_metadata({"documents": total})
    (tmp_path / "counts.parquet").write_bytes(table_bytes(table))
    refused(tmp_path / "counts.parquet")


# Records


@pytest.mark.parametrize("format", ["brat", "jsonl", "parquet", "text"])
@pytest.mark.parametrize("number", [1, 12])
def test_records_are_as_many_as_are_read(tmp_path: Path, format: str, number: int) -> None:
    documents = [Document(f"d{row}", f"Anna {row}\nReus") for row in range(number)]
    suffix = {"jsonl": ".jsonl", "parquet": ".parquet"}.get(format, "")
    for name in ("a", "b"):
        write(documents, tmp_path / f"{name}{suffix}", format=format)
    whole = len(list(read(tmp_path, format=format, problems=Problems())))
    assert count_records(tmp_path, format=format) == whole == 2 * number
    assert count_records(tmp_path / f"a{suffix}", format=format) == number
    assert count_records(tmp_path) == 2 * number
    if suffix:
        assert count_records(f"{tmp_path}/*{suffix}") == 2 * number


def test_blank_lines_count(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": ""}\n\n\n{"id": "b", "text": ""}\n')
    assert count_records(tmp_path / "a.jsonl") == 4


def test_records_of_what_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing"):
        count_records(tmp_path / "nothing")
    with pytest.raises(InputError, match="holds no files"):
        count_records(tmp_path)
    with pytest.raises(InputError, match="format 'xml' is unknown"):
        count_records(Path(__file__), format="xml")
    assert count_records("synthetic:17?random_state=1&part=seed") == 17
    assert count_records("synthetic:many") == 0  # reading it says what is wrong
