"""Notes with marked entities, CRFs that are trained on them, and scores with all their paths."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from corpus.batch import Batch, Stream, make_batch
from corpus.document import Document, Span
from taggers import CRFOptions, CRFTagger
from taggers.crf import lattice
from taggers.crf.linear_chain import Decoded, LinearChain
from taggers.crf.weights import empty_table

NAMES = [f"nom{letter}{other}" for letter in "abcdefgh" for other in "aeiou"]
OTHERS = [f"mot{letter}{other}" for letter in "abcdefgh" for other in "aeiou"]


def marked(name: str, text: str) -> Document:
    """Make a document of a text in which braces mark a PERSON and brackets a LOCATION."""
    plain, spans, start = "", [], 0
    for character in text:
        if character in "{[":
            start = len(plain)
        elif character in "}]":
            spans.append(Span(start, len(plain), "PERSON" if character == "}" else "LOCATION"))
        else:
            plain += character
    return Document(name, plain, tuple(spans))


def notes(*texts: str, labelled: bool = True) -> Batch:
    documents = [marked(str(number), text) for number, text in enumerate(texts)]
    return make_batch(documents, labelled=labelled, classes=["PERSON", "LOCATION"])


def batch_of_words(
    documents: Sequence[Sequence[str]], types: Sequence[str] = (), **columns: Any
) -> Batch:
    """Make a batch of words as they are, whatever tokens a text would have."""
    tokens = [word for document in documents for word in document]
    vocabulary = tuple(dict.fromkeys([*types, *tokens]))
    words = np.array([vocabulary.index(word) for word in tokens], np.int32)
    nothing = pa.array([""] * len(documents), pa.large_string())
    columns = {"tags": np.full(len(words), -1, np.int16), "labels": (), **columns}
    return Batch(
        ids=pa.array(map(str, range(len(documents))), pa.large_string()),
        texts=nothing,
        groups=nothing,
        words=Stream(vocabulary, words),
        starts=np.zeros_like(words),
        ends=np.zeros_like(words),
        document_offsets=np.cumsum([0, *map(len, documents)], dtype=np.int64),
        **columns,
    )


def word_list(name: str, words: list[str], group: str | None = None) -> Document:
    """Make a document of words; those of NAMES are a PERSON each."""
    text = " ".join(f"{{{word}}} ," if word in NAMES else f"{word} ," for word in words)
    document = marked(name, text)
    return Document(name, document.text, document.spans, group)


def word_lists(*documents: list[str]) -> Batch:
    rows = [word_list(str(number), words) for number, words in enumerate(documents)]
    return make_batch(rows, labelled=True, classes=["PERSON"])


def pairs(names: list[str], others: list[str]) -> Batch:
    """Return pairs of a name and another word, in changing order."""
    both = zip(names, others, strict=True)
    return word_lists(*([*pair][:: 1 if number % 3 else -1] for number, pair in enumerate(both)))


@pytest.fixture(scope="session")
def half() -> Batch:
    """Half of the words: what is known of the others is their cluster or frequency."""
    return pairs(NAMES[::2], OTHERS[::2])


@pytest.fixture(scope="session")
def rest() -> Batch:
    return pairs(NAMES[1::2], OTHERS[1::2])


def fitted(train: Batch, options: CRFOptions, start: Any = None) -> CRFTagger:
    return CRFTagger(options).fit(train, warm_start=start, rng=np.random.default_rng(0))


def right(tagger: Any, batch: Batch) -> float:
    """Return the share of tokens with the right tag."""
    return float((tagger.tag(batch).tags == batch.tags).mean())


def contents(tagger: CRFTagger, folder: Path) -> dict[str, bytes]:
    tagger.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def every_path(scores: np.ndarray, transition: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all paths through a document as numbers of labels, and their scores."""
    number, labels = scores.shape
    paths = np.array([*itertools.product(range(labels), repeat=number)], np.int16)
    values = scores[np.arange(number), paths].sum(axis=1)
    return paths, values + transition[paths[:, :-1], paths[:, 1:]].sum(axis=1)


@dataclass(frozen=True)
class Case:
    """Documents of which every token has scores of its own, and tags that need not be likely."""

    lengths: list[int]
    scores: np.ndarray  # of tokens and labels
    transition: np.ndarray
    names: tuple[str, ...] = ()
    tags: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int16))

    @property
    def documents(self) -> np.ndarray:
        return np.cumsum([0, *self.lengths], dtype=np.int64)

    def chain(self, real: type, **settings: Any) -> LinearChain:
        """Return the chain of documents in which every token is a word, with a window of 0."""
        tokens, labels = self.scores.shape
        table = empty_table(tokens + 2, 1, labels, real)
        table[2:, 0, :labels] = self.scores
        words = np.arange(2, tokens + 2, dtype=np.int32)

        def score(packing: lattice.Packing, scores: lattice.Reals) -> None:
            lattice.gather(words, packing.where, table, 0, 1, scores)

        return LinearChain(
            self.names, self.documents, score, self.transition, table.dtype, **settings
        )

    def decoded(self, real: type, detail: Any = "document", **settings: Any) -> Decoded:
        """Decode the documents."""
        return self.chain(real, **settings).decode(detail=detail)
