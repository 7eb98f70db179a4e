"""What is looked up in an embedding is what a dict of its words would give."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.fasttext import FastText
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.manifest import manifest_bytes
from taggers.embeddings import embedding as opening
from taggers.embeddings.embedding import Embedding, Neighbour, find_embeddings
from taggers.embeddings.embedding_files import (
    FIRST,
    NORMALISATIONS,
    UNKNOWN,
    checked_name,
    cluster_files,
    embedding_folders,
)
from taggers.features.words import Words

MakeEmbedding = Callable[..., Embedding]

KNOWN = ["gato", "Gatos", "paciente", "casa", "Núria", "nuria", "xiqueta", "12", "A", "peña"]
ASKED = st.sampled_from(
    [
        *KNOWN,
        *("gatos", "GATOS", "Gato", "GATO", "pacientes", "Pacientes", "CASAS", "casas", "NÚRIA"),
        *("Nu\u0301ria", "NURIA", "xiquetes", "34", "00", "a", "B", "Peña", "PEN\u0303A", "pena"),
        *("perro", "", "\n", "日本", "\ud800"),
    ]
)


def drawn(words: list[str]) -> dict[str, np.ndarray]:
    """Draw a vector for each word."""
    rng = np.random.default_rng(3)
    return {word: rng.normal(size=6) for word in words}


@pytest.fixture(scope="session")
def opened(tmp_path_factory, make_embedding) -> Callable[..., Embedding]:
    """Open an embedding of the known words, or of others."""
    folder, numbers = tmp_path_factory.mktemp("embeddings"), count()

    def make(
        normalisation: str = "none",
        words: list[str] | None = None,
        vectors: np.ndarray | None = None,
        **given: Any,
    ) -> Embedding:
        words = list(dict.fromkeys(NORMALISATIONS[normalisation](Words(words or KNOWN))))
        of_words = drawn(words) if vectors is None else dict(zip(words, vectors, strict=True))
        path = folder / str(next(numbers))
        return make_embedding(path, of_words, normalisation=normalisation, **given)

    return make


@pytest.fixture(scope="session")
def by_normalisation(opened: Callable[..., Embedding]) -> dict[str, Embedding]:
    return {name: opened(name) for name in NORMALISATIONS}


def row_of(embedding: Embedding, word: str) -> int:
    """Return the row of a word as paper 003 defines it, by a dict."""
    rows = {known: row for row, known in enumerate(embedding.names.strings(), FIRST)}
    alone = Words([word])
    for form in (word, alone.lowers[0], alone.lemmas[0]):
        (normalised,) = NORMALISATIONS[embedding.normalisation](Words([form]))
        if normalised in rows:
            return rows[normalised]
    return UNKNOWN


# Rows


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
@settings(max_examples=30)
@given(words=st.lists(ASKED, max_size=12))
@example(words=[])
@example(words=["gatos"])
@example(words=["perro", "perro"])
def test_rows_are_those_of_a_dict(by_normalisation, normalisation, words) -> None:
    embedding = by_normalisation[normalisation]
    rows = embedding.rows(words)
    assert rows.dtype == np.int32
    assert rows.tolist() == [row_of(embedding, word) for word in words]


@pytest.mark.parametrize(
    ("word", "match"),
    [
        ("Gatos", "Gatos"),  # as it is written
        ("GATO", "gato"),  # in lower case
        ("GATOS", "gato"),  # the lemma
        ("Nu\u0301ria", "Núria"),
        ("NÚRIA", None),
    ],
)
def test_a_word_is_looked_up_as_it_is_then_in_lower_case_then_its_lemma(
    by_normalisation: dict[str, Embedding], word: str, match: str | None
) -> None:
    embedding = by_normalisation["none"]
    place = KNOWN.index(match) if match else -1
    assert embedding.word_of(word) == (match and (match, len(KNOWN) - place))
    assert embedding.rows([word]).tolist() == [place + FIRST if match else UNKNOWN]


# Vectors


def test_an_embedding_is_what_was_written_and_mapped(opened: Callable[..., Embedding]) -> None:
    vectors = np.arange(3 * len(KNOWN), dtype=np.float32).reshape(-1, 3)
    embedding = opened(vectors=vectors)
    assert len(embedding) == len(KNOWN)
    assert embedding.names.strings() == KNOWN
    assert embedding.counts.tolist() == list(range(len(KNOWN), 0, -1))
    assert embedding.settings == {"epochs": 1}
    assert np.array_equal(embedding.vectors[FIRST:], vectors)
    assert isinstance(embedding.vectors, np.memmap)
    assert isinstance(embedding.names.text, np.memmap)
    embedding.vectors[:] = 0  # a copy of the file
    assert np.array_equal(Embedding.load(embedding.folder).vectors[FIRST:], vectors)


@settings(max_examples=30)
@given(words=st.lists(ASKED, max_size=8))
@example(words=[])
@example(words=["perro", "gatos", "perro"])
def test_an_unknown_word_has_the_mean_of_all_vectors(by_normalisation, words) -> None:
    embedding = by_normalisation["none"]
    vectors = embedding.vectors_of(words)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(words), embedding.dimension)
    mean = embedding.vectors[FIRST:].mean(axis=0, dtype=np.float64).astype(np.float32)
    for word, vector in zip(words, vectors, strict=True):
        row = row_of(embedding, word)
        np.testing.assert_array_equal(vector, mean if row == UNKNOWN else embedding.vectors[row])


@pytest.fixture(scope="session")
def fasttext() -> FastText:
    model = FastText(vector_size=7, min_n=3, max_n=6, bucket=500, min_count=1, seed=5)
    model.build_vocab([["hospital", "paciente", "càncer", "dolor", "12"]])
    return model


@settings(max_examples=30)
@given(words=st.lists(st.text("abchosñç·日 12", min_size=1, max_size=9), max_size=5))
@example(words=["hospitalario", "oncològic", "ñ", "x" * 300])
@example(words=["hospital", "Hospitales", "zzz"])
def test_a_word_never_seen_has_the_vector_that_fasttext_gives_it(opened, fasttext, words) -> None:
    given = {"vectors": fasttext.wv.vectors, "parts": fasttext.wv.vectors_ngrams}
    embedding = opened(words=fasttext.wv.index_to_key, **given)
    for word, vector in zip(words, embedding.vectors_of(words), strict=True):
        row = row_of(embedding, word)
        expected = fasttext.wv.get_vector(word) if row == UNKNOWN else embedding.vectors[row]
        np.testing.assert_array_equal(vector, expected)
    lower = opened("lower", words=fasttext.wv.index_to_key, **given)
    expected = fasttext.wv.get_vector("oncologia")
    np.testing.assert_array_equal(lower.vectors_of(["ONCOLOGIA"])[0], expected)


# Neighbours


def cosines(embedding: Embedding, vector: np.ndarray) -> list[float]:
    vectors = embedding.vectors[FIRST:].astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector.astype(np.float64))
    return (vectors @ vector.astype(np.float64) / np.maximum(lengths, 1e-12)).tolist()


@pytest.mark.parametrize("piece", [1, 3, 1000])
@pytest.mark.parametrize(("word", "number"), [("Gatos", 4), ("GATOS", 50), ("Gatos", 0)])
def test_neighbours_are_the_words_with_the_largest_cosines(
    by_normalisation, monkeypatch, piece, number, word
) -> None:
    monkeypatch.setattr(opening, "_PIECE", piece)
    embedding = by_normalisation["none"]
    row = row_of(embedding, word)
    known = embedding.names.strings()
    similar = dict(zip(known, cosines(embedding, embedding.vectors[row]), strict=True))
    itself = known[row - FIRST]
    expected = sorted(set(known) - {itself}, key=lambda other: -similar[other])
    neighbours = embedding.neighbours(word, number)
    assert [neighbour.word for neighbour in neighbours] == expected[:number]
    for neighbour in neighbours:
        assert neighbour.similarity == pytest.approx(similar[neighbour.word], abs=1e-5)
        assert neighbour.count == len(known) - known.index(neighbour.word)


def test_a_vector_of_zeros_is_like_nothing(opened: Callable[..., Embedding]) -> None:
    embedding = opened(words=["a", "b"], vectors=np.array([[0, 0], [1, 0]], np.float32))
    assert embedding.neighbours("perro", 5) == []  # it has no vector
    assert embedding.neighbours("a", 5) == [Neighbour("b", 0.0, 1)]
    assert embedding.neighbours("b", 5) == [Neighbour("a", 0.0, 2)]


# What is damaged


@pytest.fixture
def folder(tmp_path: Path, make_embedding: MakeEmbedding) -> Path:
    """An embedding with parts of words, to damage."""
    parts = np.zeros((9, 6), np.float32)
    path = tmp_path / "lower-w5"
    return make_embedding(path, drawn(KNOWN), normalisation="lower", parts=parts).folder


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        Embedding.load(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert folder.name in message
    return message


ARRAYS = ["words", "word_ends", "counts", "vectors", "hashes", "parts"]


@pytest.mark.parametrize("name", [*(f"{array}.npy" for array in ARRAYS), "embedding.json"])
def test_a_file_that_is_missing_or_damaged_is_an_error(folder: Path, name: str) -> None:
    path = folder / name
    content = path.read_bytes()
    path.unlink()
    refused(folder)
    path.mkdir()
    refused(folder)
    path.rmdir()
    cuts = [content[:size] for size in [*range(0, min(160, len(content)), 9), len(content) - 2]]
    for other in [*cuts, b"\0" * len(content), b"\x93" + content]:
        path.write_bytes(other)
        refused(folder)
    path.write_bytes(content)
    Embedding.load(folder)


@pytest.mark.parametrize("name", ["vectors", "parts"])  # only on request compared with digests
def test_a_header_with_another_byte_is_an_error_or_no_matter(folder: Path, name: str) -> None:
    path, draw = folder / f"{name}.npy", random.Random(name)
    content = path.read_bytes()
    for _ in range(300):
        place = draw.randrange(128)
        other = bytes([draw.choice([draw.randrange(256), *b"(){}'0123456789, "])])
        path.write_bytes(content[:place] + other + content[place + 1 :])
        with suppress(InputError):
            Embedding.load(folder)


@pytest.mark.parametrize("name", ARRAYS)
def test_files_that_do_not_belong_together_are_an_error(folder: Path, name: str) -> None:
    path = folder / f"{name}.npy"
    array = np.load(path)
    others = [array.astype("f2" if array.dtype == "f4" else "u4"), array[None]]
    others.append(array[:, :-1] if array.ndim == 2 else array[:-1])
    if name != "parts":  # which are as many as there are places
        others += [array[:-1], np.concatenate([array, array[:1]]), array[:0]]
    for other in others:
        np.save(path, other)
        refused(folder)
    np.save(path, np.array([{}]), allow_pickle=True)
    refused(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1},
        {"format": "one\ntwo"},
        {"normalisation": "upper"},
        {"parts": 3},
        {"parts": [3]},
        {"parts": ["a", "b"]},
        {"parts": [4, 3]},
        {"settings": 3},
    ],
)
def test_another_description_is_an_error(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "embedding.json"
    description = json.loads(path.read_text())
    digests = description.pop("files")
    path.write_bytes(manifest_bytes({**description, **change}, digests))
    message = refused(folder)
    assert ("this version reads format 2" in message) == ("format" in change)


# Folders of embeddings


def test_embeddings_are_found_by_their_names(tmp_path: Path, make_embedding: MakeEmbedding) -> None:
    for name in ("none-w9", "lower-w5", ".lower-w2", "a/deep"):
        make_embedding(tmp_path / name, {"a": [1]})
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    embeddings = find_embeddings(tmp_path)
    assert [embedding.name for embedding in embeddings] == ["lower-w5", "none-w9"]
    assert embedding_folders(tmp_path) == [embedding.folder for embedding in embeddings]
    assert [embedding.name for embedding in find_embeddings(tmp_path / "none-w9")] == ["none-w9"]


def test_a_folder_without_or_with_damaged_embeddings_is_an_error(tmp_path, make_embedding) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "nothing", tmp_path / "file"):
        with pytest.raises(InputError, match="holds no embedding; train one by bootstrap embed"):
            find_embeddings(folder)
    for name in ("a", "b"):
        make_embedding(tmp_path / name, {"x": [1]})
    for content in (b"[]", b"{}", b"prose", b"\xff"):
        (tmp_path / "b" / "embedding.json").write_bytes(content)
        with pytest.raises(InputError, match="b holds no embedding"):
            find_embeddings(tmp_path)


def test_clusterings_are_listed_by_embedding_and_number(tmp_path, make_embedding) -> None:
    for name in ("b", "a"):
        make_embedding(tmp_path / name, {"x": [1]})
    for name in ("clusters-8.json", "clusters-100.json", "clusters-9.json", "clusters-7.npy"):
        (tmp_path / "a" / name).touch()
    for name in ("clusters-0.json", "clusters-01.json", "clusters-x.json", ".clusters-4.json"):
        (tmp_path / "a" / name).touch()
    (tmp_path / "b" / "clusters-2.json").touch()
    assert cluster_files(tmp_path) == [
        ("a-k8", tmp_path / "a" / "clusters-8.json"),
        ("a-k9", tmp_path / "a" / "clusters-9.json"),
        ("a-k100", tmp_path / "a" / "clusters-100.json"),
        ("b-k2", tmp_path / "b" / "clusters-2.json"),
    ]
    shutil.rmtree(tmp_path / "a")
    assert cluster_files(tmp_path / "b") == [("b-k2", tmp_path / "b" / "clusters-2.json")]


@pytest.mark.parametrize("name", ["", ".", "-x", "a b", "a\n", "ñ", "a[0]", "a\0", "../a"])
def test_names_that_no_embedding_can_have(name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of an embedding") as caught:
        checked_name(name)
    assert "\n" not in str(caught.value)
    assert checked_name("_GloVe.6B-9") == "_GloVe.6B-9"
