"""The scores and marginals of a trained network, against Keras."""

from __future__ import annotations

import numpy as np
import pytest

from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.tags import well_formed
from taggers.networks.bilstm_crf import BiLSTMCRFTagger
from taggers.networks.network_options import BiLSTMCRFOptions
from taggers.networks.training.minibatches import Minibatches
from tests.taggers.conftest import plain

pytest.importorskip("keras")

TEXTS = [
    "Nombre: Ana María Pérez López",
    "Dr. Ortiz-de-Zárate visita, el 12/03/2024, a la paciente",
    "x",
    "Domicilio: C/ Mayor 3, 2º 1ª. 08001 Barcelona (Barcelona) " * 3,
    "",
    "palabra" * 30 + " larga",
]


def small_batch():
    documents = [
        Document(str(number), text, (Span(0, 1, "PERSON"),) if text else ())
        for number, text in enumerate(TEXTS)
    ]
    documents.append(Document("place", "En Vic", (Span(3, 6, "LOCATION"),)))
    return make_batch(documents, labelled=True)


CASES = {
    "words alone": {"characters": "none", "features": (), "streams": ()},
    "the default": {},
    "characters by BiLSTM": {"characters": "bilstm", "character_units": 7},
    "one head": {"sensitive_units": 0},
    "learned vectors": {"train_embeddings": True},
    "sub-sequences": {"subsequence": 8, "streams": ("header",)},
    "sub-sequences and BiLSTM": {"subsequence": 4, "characters": "bilstm", "units": 3},
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def random_network(request, embedding_folder):
    """A tagger with random weights, its network in Keras, and the inputs of its training."""
    from taggers.networks.training.keras_network import Network
    from taggers.networks.word_inputs import WordInputs
    from taggers.networks.word_vectors import WordVectors

    folder = str(embedding_folder)
    options = plain(BiLSTMCRFOptions, **{"embeddings": folder, "units": 10, **request.param})
    tagger, rng = BiLSTMCRFTagger(options), np.random.default_rng(0)
    train = tagger._prepared(small_batch())
    vectors = WordVectors.read(embedding_folder)
    inputs, words = WordInputs.from_training(train, tagger._templates(), vectors)
    network = Network(options, tagger._sizes_of(inputs, train.labels))
    weights = {
        name: rng.normal(scale=0.5, size=array.shape).astype(np.float32)
        for name, array in network.weights().items()
    }
    network.assign(weights)
    tagger._weights, tagger._inputs, tagger.labels = weights, inputs, train.labels
    return tagger, network, Minibatches.from_arrays(tagger._arrays(train, inputs, words, rng))


def test_marginals_and_the_best_path_are_those_of_keras(random_network) -> None:
    tagger, network, documents = random_network
    batch, crf = small_batch(), network.model.get_layer("crf")
    tagging = tagger.tag(batch, detail="labels")
    sequences = tagger._sequences(batch)
    tokens, offsets, lengths = sequences.tokens, sequences.offsets, np.diff(sequences.offsets)
    marginals, paths = np.zeros((len(tokens), len(tagger.labels))), np.zeros(len(tokens), np.int16)
    rows = iter([row for row in np.argsort(lengths, kind="stable") if lengths[row]])
    names = {tensor.name for tensor in network.model.inputs}
    for inputs, tags, _ in documents.in_order(3):
        read = {name: array for name, array in inputs.items() if name in names}
        scores = network.model(read, training=False)["tags"]
        expected, best = (
            np.asarray(method(scores, inputs["index"] > 0))
            for method in (crf.marginals, crf.decode)
        )
        for row, document in zip(range(len(tags)), rows, strict=False):
            part, length = slice(*offsets[document : document + 2]), lengths[document]
            marginals[part], paths[part] = expected[row, :length], best[row, :length]
    if tagger.options.subsequence:  # which have the most probable tag of each token
        marginals = marginals[sequences.best]
    else:
        paths = well_formed(paths, batch.document_offsets, tagger.labels)
        np.testing.assert_array_equal(tagging.tags, paths)
        assert tagger.tag(batch, detail="entity").entity_probabilities is not None
    np.testing.assert_allclose(tagging.marginals, marginals, atol=1e-5)
    np.testing.assert_allclose(tagging.marginals.sum(axis=1), 1, atol=1e-5)
