"""The probabilities of n-grams, against Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

from taggers.networks.training.minibatches import WORDS
from taggers.networks.word_inputs import WordInputs
from taggers.networks.word_vectors import WordVectors
from taggers.ngrams.forward import Forward
from taggers.ngrams.tccnn_options import TCCNNOptions
from taggers.ngrams.tccnn_tagger import TCCNNTagger
from tests.taggers.conftest import plain
from tests.taggers.networks.test_forward import small_batch

pytest.importorskip("keras")

CASES: dict[str, dict[str, Any]] = {
    "words alone": {"features": ()},
    "the default": {},
    "characters and streams": {"characters": "cnn", "streams": ("header", "colon")},
    "short channels, without embeddings": {"length": 4, "filters": 3, "embeddings": ""},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_probabilities_are_those_of_keras(case: dict[str, Any], embedding_folder: Path) -> None:
    from taggers.ngrams import training

    options = plain(TCCNNOptions, **{"embeddings": str(embedding_folder), "units": 9, **case})
    tagger, rng = TCCNNTagger(options), np.random.default_rng(0)
    train = tagger._prepared(small_batch())
    vectors = WordVectors.read(embedding_folder) if options.embeddings else WordVectors()
    inputs, words = WordInputs.from_training(train, tagger._templates(), vectors)
    network = training.Network(options, tagger._sizes(inputs, 3))
    weights = {
        name: rng.normal(scale=0.5, size=array.shape).astype(np.float32)
        for name, array in network.weights().items()
    }
    network.assign(weights)
    arrays = tagger._ngrams(train, inputs, rng)
    ngrams = training._NGrams(**arrays)
    assert len(ngrams.first) > 50
    rows = np.arange(len(ngrams.first))
    of_words = {name: words.by_name()[name] for name in WORDS}
    read = training._inputs(network, ngrams, of_words, rows, options.length)
    expected = scipy.special.softmax(np.asarray(network.model(read, training=False)), axis=1)
    forward = Forward(weights, inputs, tagger._templates(), options.length)
    actual = forward.probabilities(forward.prepared(train), ngrams.first, ngrams.last)
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-5)
    assert actual.std(axis=0).min() > 0
