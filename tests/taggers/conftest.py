"""The scores of tokens added up one weight at a time, which several tests compare with."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootstrap.config.presets import PAPER, PRESETS, with_preset
from corpus.kernels.hashing import hash_values
from taggers.crf.weights import Weights, border_hashes
from taggers.embeddings.clusters import ClusterOptions, write_clusters
from taggers.embeddings.embedding import Embedding, write_words
from taggers.embeddings.embedding_files import write_description, write_vectors
from taggers.features.words import Words, feature

#: Weights by the hash of a value, the number of an offset and a label.
Named = dict[tuple[int, int, int], float]
MakeEmbedding = Callable[..., Embedding]
TokenScores = Callable[[Weights, Sequence[str], Sequence[str]], np.ndarray]


def plain(options: Callable[..., Any], **values: Any) -> Any:
    """Return options without lists and embeddings, which are theirs by default, but for some."""
    return options(**with_preset("tagger", values, PRESETS[PAPER], options))


def _named_weights(weights: Weights) -> Named:
    result = {}
    for row in range(len(weights.values.hashes) * weights.offsets):
        value, offset = divmod(row, weights.offsets)
        for pair in range(weights.state_offsets[row], weights.state_offsets[row + 1]):
            key = int(weights.values.hashes[value]), offset, int(weights.state_labels[pair])
            assert key not in result
            result[key] = float(weights.state[pair])
    assert len(result) == len(weights.state)
    return result


def _token_scores(weights: Weights, features: Sequence[str], words: Sequence[str]) -> np.ndarray:
    named = _named_weights(weights)
    begin, end = border_hashes().tolist()
    scores = np.zeros((len(words), weights.labels))
    for place in range(len(words)):
        for offset in range(weights.offsets):
            other = place + offset - weights.offsets // 2
            if 0 <= other < len(words):
                word = Words([words[other]])
                values = [hash_values(name, feature(name)(word)).item() for name in features]
            else:
                values = [begin if other < 0 else end]
            for label in range(weights.labels):
                scores[place, label] += sum(
                    named.get((value, offset, label), 0.0) for value in values
                )
    return scores


@pytest.fixture(scope="session")
def named_weights() -> Callable[[Weights], Named]:
    """Return every state weight by its value, offset and label."""
    return _named_weights


@pytest.fixture(scope="session")
def token_scores() -> TokenScores:
    """Return the scores of each label at each token of a document, shape (n, L)."""
    return _token_scores


def _make_embedding(
    folder: Path,
    vectors: Mapping[str, Sequence[float]],
    *,
    normalisation: str = "none",
    clusters: Mapping[int, Sequence[int]] | None = None,
    parts: np.ndarray | None = None,
) -> Embedding:
    folder.mkdir(parents=True)
    write_words(folder, list(vectors), np.arange(len(vectors), 0, -1))
    rows = np.array(list(vectors.values()), np.float32)
    write_vectors(folder / "vectors.npy", rows.shape[1], [rows])
    if parts is not None:
        np.save(folder / "parts.npy", parts)
    write_description(folder, normalisation, {"epochs": 1}, None if parts is None else (3, 6))
    embedding = Embedding.load(folder)
    for k, of_words in (clusters or {}).items():
        write_clusters(embedding, np.array(of_words), ClusterOptions(k), 0.5)
    return embedding


@pytest.fixture(scope="session")
def make_embedding() -> MakeEmbedding:
    """Make an embedding: `make_embedding(folder, {"de": [1, 0]}, clusters={2: [0]})`."""
    return _make_embedding
