"""Files of vectors that others wrote give their words and vectors, or an error of one line."""

from __future__ import annotations

import errno
import gzip
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.errors import InputError
from corpus.storage.unpacking import free_memory
from taggers.embeddings import pretrained
from taggers.embeddings.embedding import Embedding
from taggers.embeddings.embedding_files import FIRST
from taggers.embeddings.pretrained import load_pretrained

DIMENSION = 4
WORDS = ["de", "la", "Núria", "peña", "col·legi", "日本", ",", "12", "a\u00a0b", "\u0301x"]
Contents = dict[str, list[float]]


def vectors_of(number: int, dimension: int = DIMENSION) -> np.ndarray:
    rng = np.random.default_rng(number)
    return rng.normal(size=(number, dimension)).astype(np.float32)


def keyed(words: list[str] = WORDS, dimension: int = DIMENSION) -> KeyedVectors:
    vectors = KeyedVectors(dimension)
    vectors.add_vectors(words, vectors_of(len(words), dimension))
    return vectors


def contents(embedding: Embedding) -> Contents:
    """Return the vectors of an embedding by their words, in order."""
    vectors = embedding.vectors[FIRST:].tolist()
    return dict(zip(embedding.names.strings(), vectors, strict=True))


def load(path: Path, **options: Any) -> Contents:
    """Take over a file and see that nothing but its embedding is left in the folder."""
    folder = path.with_name("embeddings")
    embedding, repeated = load_pretrained(path, folder, **options)
    assert repeated == 0
    assert list(folder.iterdir()) == [embedding.folder]
    assert not embedding.counts.any()
    assert embedding.settings == {"file": path.name}
    return contents(embedding)


def refused(path: Path, **options: Any) -> str:
    """Return the message about a file, and see that nothing is left behind."""
    folder = path.with_name("embeddings")
    with pytest.raises(InputError) as caught:
        load_pretrained(path, folder, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert not folder.exists() or not list(folder.iterdir())
    return message


def expected(words: list[str] = WORDS, dimension: int = DIMENSION) -> Contents:
    return dict(zip(words, vectors_of(len(words), dimension).tolist(), strict=True))


# Files of gensim


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_word2vec_are_those_that_gensim_writes(tmp_path, binary, packed) -> None:
    path = tmp_path / f"vectors{'.bin' if binary else '.txt'}{'.gz' if packed else ''}"
    keyed().save_word2vec_format(str(path), binary=binary)
    assert load(path) == expected()


def test_a_text_needs_no_header(tmp_path: Path) -> None:
    keyed().save_word2vec_format(str(tmp_path / "glove.6B.txt"), write_header=False)
    assert load(tmp_path / "glove.6B.txt") == expected()
    assert load_pretrained(tmp_path / "glove.6B.txt", tmp_path / "b")[0].name == "glove"


@pytest.mark.parametrize(
    ("text", "vectors"),
    [
        ("de 1 2\nSan Juan 3 4\n", {"de": [1, 2], "San_Juan": [3, 4]}),
        ("2 2\nSan Juan 3 4\n. . . 5 6", {"San_Juan": [3, 4], "._._.": [5, 6]}),
        ("\ufeffde 1 2\nla 3 4\n", {"de": [1, 2], "la": [3, 4]}),
        ("\ufeff2 2\nde 1 2\nla 3 4\n", {"de": [1, 2], "la": [3, 4]}),
        ("de\t1\t2 \r\n\r\nla\t3\t4 \r\n", {"de": [1, 2], "la": [3, 4]}),
        ("2 2\r\nde 1  2\r\n\r\nla 3 4", {"de": [1, 2], "la": [3, 4]}),
    ],
)
def test_texts_may_have_spaces_in_words_marks_and_lines_of_windows(tmp_path, text, vectors) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode())
    assert load(tmp_path / "a.txt") == vectors


def test_binary_files_of_the_first_word2vec_end_each_vector_with_a_line(tmp_path: Path) -> None:
    words = ["de", "la", "en"]
    lines = [
        word.encode() + b" " + vector.tobytes() + b"\n"
        for word, vector in zip(words, vectors_of(3), strict=True)
    ]
    (tmp_path / "a.bin").write_bytes(b"3 4\n" + b"".join(lines))
    assert load(tmp_path / "a.bin") == expected(words)


@pytest.mark.parametrize("kind", ["text", "binary", "fasttext"])
def test_words_of_another_encoding(tmp_path: Path, kind: str) -> None:
    words = ["de", "Núria", "peña"]
    path = tmp_path / "a.txt"
    if kind == "fasttext":
        saved(path, words)
    else:
        keyed(words).save_word2vec_format(str(path), binary=kind == "binary")
    content = path.read_bytes()
    for word in words[1:]:
        content = content.replace(word.encode(), word.encode("latin-1"))
    path.write_bytes(content)
    assert "--encoding" in refused(path)
    assert set(load(path, encoding="latin-1")) == set(words)


@pytest.mark.parametrize(
    ("normalisation", "kept", "repeated"),
    [
        ("none", {"Ana": 1, "ana": 2, "Ána": 4, "a1": 5, "a2": 7}, 2),
        ("lower", {"ana": 1, "ána": 4, "a1": 5, "a2": 7}, 3),
        ("unaccented", {"ana": 1, "a1": 5, "a2": 7}, 4),
        ("digits", {"ana": 1, "ána": 4, "a0": 5}, 4),
    ],
)
@pytest.mark.parametrize("piece", [1, 100])
def test_the_first_of_repeated_words_is_kept(
    tmp_path, monkeypatch, piece, normalisation, kept, repeated
) -> None:
    monkeypatch.setattr(pretrained, "_PIECE", piece)
    words = ["Ana", "ana", "Ana", "Ána", "a1", "A\u0301na", "a2"]
    lines = [f"{word} {number}\n" for number, word in enumerate(words, 1)]
    (tmp_path / "a.txt").write_text("7 1\n" + "".join(lines))
    told: list[tuple[int, int]] = []
    embedding, skipped = load_pretrained(
        tmp_path / "a.txt",
        tmp_path / "embeddings",
        normalisation=normalisation,
        progress=lambda *done: told.append(done),
    )
    assert contents(embedding) == {word: [number] for word, number in kept.items()}
    assert skipped == repeated
    assert embedding.normalisation == normalisation
    assert told == [(0, 0), *((done, 7) for done in range(1, 8))] or told == [(0, 0), (7, 7)]
    assert embedding.rows(list(kept)).tolist() == list(range(FIRST, len(kept) + FIRST))


# Models of fastText


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return saved(tmp_path_factory.mktemp("model") / "model.bin").read_bytes()


def saved(path: Path, words: list[str] = WORDS, **options: Any) -> Path:
    """Write a small model as gensim does."""
    given = {"vector_size": 3, "min_n": 3, "max_n": 5, "bucket": 20, "min_count": 1, "sg": 1}
    trained = FastText([words] * 3, epochs=1, seed=2, workers=1, **{**given, **options})
    save_facebook_model(trained, str(path))
    return path


@pytest.mark.parametrize(
    "options", [{}, {"hs": 1, "negative": 0}, {"bucket": 0, "max_n": 0}], ids=str
)
def test_models_of_fasttext_are_those_that_gensim_writes(tmp_path, options) -> None:
    path = saved(tmp_path / "model.bin", **options)
    by_gensim = load_facebook_vectors(str(path))
    embedding, repeated = load_pretrained(path, tmp_path / "embeddings")
    assert repeated == 0
    assert embedding.names.strings() == by_gensim.index_to_key
    np.testing.assert_array_equal(embedding.vectors[FIRST:], by_gensim.vectors)
    assert (embedding.folder / "parts.npy").exists() == bool(options.get("bucket", 1))
    for word in ("hospital", "Nurieta", "日本国") if options.get("bucket", 1) else ():
        np.testing.assert_array_equal(embedding.vectors_of([word])[0], by_gensim.get_vector(word))


def test_a_model_that_ends_in_its_words_or_goes_on_is_an_error(model, tmp_path) -> None:
    sizes = range(4, 64 + 28 + sum(len(word.encode()) + 10 for word in WORDS) + 20, 7)
    for content in [*(model[:size] for size in sizes), model + b"\0"]:
        (tmp_path / "model.bin").write_bytes(content)
        assert "was it cut off?" in refused(tmp_path / "model.bin")


@settings(max_examples=20)
@given(place=st.integers(4, 63 + 28), value=st.integers(0, 255))
@example(place=8 + 3, value=0xFF)  # components
@example(place=40 + 3, value=0x7F)  # places of parts
@example(place=40 + 3, value=0xFF)
@example(place=44, value=0)  # the characters of an n-gram
@example(place=64 + 3, value=0x7F)  # words
@example(place=64 + 8, value=1)  # labels
@example(place=64 + 20, value=1)  # words that were pruned
@example(place=64 + 27, value=0)
def test_a_model_with_another_header_is_an_error_or_no_matter(
    model: bytes, place: int, value: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("other") / "model.bin"
    path.write_bytes(model[:place] + bytes([value]) + model[place + 1 :])
    try:
        load_pretrained(path, path.with_name("embeddings"))
    except InputError as error:
        assert "\n" not in str(error)
        assert not list(path.parent.glob("embeddings/*"))


@pytest.mark.parametrize(("back", "value"), [(0, np.nan), (50, -np.inf)])
def test_a_model_with_components_that_are_no_numbers_is_an_error(
    model: bytes, tmp_path: Path, value: float, back: int
) -> None:
    vectors = struct.pack("<2q", len(WORDS) + 20, 3)
    begin = model.index(vectors) + len(vectors)
    end = begin + 4 * 3 * (len(WORDS) + 20)
    place = end - 4 * (back + 1)
    (tmp_path / "model.bin").write_bytes(
        model[:place] + struct.pack("<f", value) + model[place + 4 :]
    )
    assert "not a finite number" in refused(tmp_path / "model.bin")


# What is damaged


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("de 1 2\nla 3 4 5\n", "a.txt:2: 3 numbers; expected a word and 2 numbers"),
        ("de 1 2\nla 3 0x4\n", "a.txt:2: no vector"),
        ("3 3\nde 1 2\nla 3 4\nen 4 5\n", "a.txt:2: 2 numbers; expected a word and 3 numbers"),
        (
            "4 2\nde 1 2\nla 3 4\nen 4 5\n",
            "contains 3 vectors, and declares another number of them: was it cut off?",
        ),
        ("3 0\nde\nla\nen\n", "declares other numbers in its first line than it may"),
        ("3 2\n", "a.txt, word 1 of 3"),
        ("1 99999999999\nde 1 2\n", "declares other numbers in its first line than it may"),
        ("9" * 5000 + " 2\nde 1 2\n", "a.txt"),
        (f"de {'1 ' * 20_000}\n", "a.txt"),
        (
            "99999999999999999999999 2\nde 1 2\n",
            "contains 1 vectors, and declares another number of them: was",
        ),
        ("de 1 nan\nla 3 4\n", "a.txt:1: a component is not a finite number"),
        ("2 2\nde 1 2\nla 3 1e39\n", "a.txt:3: a component is not a finite number"),
        ("", "a.txt is empty"),
        ("\nde 1 2\n", "begins with a blank line"),
        (
            "Hospital de Olot, a 12 de mayo.\nPaciente de 68 años.\n",
            "a.txt is not a file of vectors",
        ),
        ("x" * (3 << 20), "a.txt is not a file of vectors"),
        (f"{'0 ' * 10_000}{'x' * 1_000_000}", "a.txt is not a file of vectors"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_text_that_is_not_as_it_must_be_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    assert said in refused(tmp_path / "a.txt")


@pytest.mark.parametrize("header", ["", "2 2\n"])
def test_a_word_that_is_not_of_the_encoding_is_an_error(tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(f"{header}de 1 2\nNúria 3 4\n".encode("latin-1"))
    line = 3 if header else 2
    assert f"a.txt:{line}: a word is not encoded as utf-8; pass the encoding" in refused(path)
    assert f"a.txt:{line}: a word is not encoded as ascii" in refused(path, encoding="ascii")
    assert "a.txt" in refused(path, encoding="idna")
    path.write_bytes(f"{header}de 1 2\nla 3 4\n".encode("utf-16"))
    assert "a.txt is not a file of vectors" in refused(path)


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("binary") / "a.bin"
    keyed().save_word2vec_format(str(path), binary=True)
    return path.read_bytes()


def test_a_binary_file_that_is_cut_off_says_in_which_word(binary: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(binary[:-1])
    assert f"a.bin, word {len(WORDS)} of {len(WORDS)}: the file ends within it" in refused(path)
    path.write_bytes(binary[: binary.index(b"la ")])
    assert f"a.bin, word 2 of {len(WORDS)}: the file ends within it" in refused(path)


def test_a_binary_file_that_goes_on_is_an_error(binary: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    for more in (b"x", b"\0", b"\n\nx", b" " * 30 + b"x", b"la " + b"\0" * 16):
        path.write_bytes(binary + more)
        assert "a.bin contains data after the 10 vectors" in refused(path)


def test_a_binary_file_with_components_that_are_no_numbers_is_an_error(binary, tmp_path) -> None:
    place = binary.index(b"la ") + 3 + 8
    for value in (np.nan, -np.inf):
        content = binary[:place] + struct.pack("<f", value) + binary[place + 4 :]
        (tmp_path / "a.bin").write_bytes(content)
        assert "a.bin, word 2 of 10: a component is not a fin" in refused(tmp_path / "a.bin")


def test_a_binary_file_of_another_dimension_is_an_error(binary: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    for header in (b"10 3\n", b"10 5\n", b"11 4\n", b"9 4\n", b"10 16385\n", b"10 123456789012\n"):
        path.write_bytes(header + binary.partition(b"\n")[2])
        assert "a.bin" in refused(path)


def test_a_packed_file_that_is_damaged_is_an_error(binary: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.bin.gz"
    packed = gzip.compress(binary)
    cuts = [packed[:size] for size in range(0, len(packed), 23)]
    for content in [*cuts, packed[:60] + b"\xff\xff\xff" + packed[63:]]:
        path.write_bytes(content)
        assert "a.bin.gz" in refused(path)
    path.write_text("de 1 2\n")
    assert "a.bin.gz cannot be read: it is cut off, or not compressed" in refused(path)


# Files, folders and names


def test_what_is_no_file_is_an_error_and_makes_no_folder(tmp_path: Path) -> None:
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "folder.gz").mkdir()
    for name in ("missing.txt", "missing.gz", "folder.txt", "folder.gz"):
        assert f"{name} cannot be read" in refused(tmp_path / name)
        assert not (tmp_path / "embeddings").exists()


def test_a_name_that_is_taken_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("de 1 2\n")
    folder = tmp_path / "embeddings"
    load_pretrained(tmp_path / "a.txt", folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="a exists already: choose another name with --name"):
        load_pretrained(tmp_path / "a.txt", folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert [path.name for path in folder.iterdir()] == ["a"]


def test_a_name_that_an_embedding_cannot_have_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "vectores español.txt"
    path.write_text("de 1 2\n")
    for name in (None, "../a", "a\nb"):
        assert "cannot be the name of an embedding" in refused(path, name=name)
    assert load(path, name="other") == {"de": [1, 2]}


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_a_full_disk_is_no_fault_of_the_file_and_leaves_nothing(tmp_path, error) -> None:
    def stopped(done: int, total: int) -> None:
        if done:
            raise error

    (tmp_path / "a.txt").write_text("de 1 2\n")
    with pytest.raises(type(error)):
        load_pretrained(tmp_path / "a.txt", tmp_path / "embeddings", progress=stopped)
    assert not list((tmp_path / "embeddings").iterdir())


def test_pickles_of_gensim_are_refused(tmp_path: Path) -> None:
    keyed().save(str(tmp_path / "a.kv"))
    assert "a.kv is not a file of vectors" in refused(tmp_path / "a.kv")


@pytest.mark.parametrize("repeated", [b"a 0\n", bytes(1000)])
def test_what_unpacks_a_thousandfold_stops_at_a_limit_that_is_named(tmp_path, repeated) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(50):
            file.write(repeated * (1_000_000 // len(repeated)))
    size = path.stat().st_size
    assert refused(path) == (
        f"{path} has {size:,} bytes and unpacks to more than {max(100 * size, 1 << 24):,}, the "
        "limit (100 times as many, and at least 16,777,216)"
    )


def test_zeros_that_a_header_promises_and_a_sparse_file_holds_take_no_memory(tmp_path) -> None:
    path = saved(tmp_path / "a.bin", bucket=20)
    data = bytearray(path.read_bytes())
    place = 4 * 10  # of the number of buckets
    assert struct.unpack_from("<i", data, place) == (20,)
    struct.pack_into("<i", data, place, 2**31 - 1)
    path.write_bytes(data)
    with path.open("r+b") as file:
        file.truncate(2**40)
    assert re.search(r"vectors of 3 components need [0-9.]+ GB of memory; ", refused(path))


def test_free_memory_is_what_limits_leave() -> None:
    before = free_memory()
    assert 2**20 < before < 2**50
    script = (
        "import resource\nfrom corpus.storage.unpacking import free_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\nprint(free_memory())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert 0 < float(done.stdout) < 1 << 30
