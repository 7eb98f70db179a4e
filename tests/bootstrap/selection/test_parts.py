"""Of a document, the parts that a tagger is sure of are kept, and the rest is left open."""

import numpy as np

from bootstrap.selection.parts import confident_parts
from corpus.batch import make_batch
from corpus.document import Document
from taggers.tagger import Tagging

LABELS = ("O", "B-PERSON", "I-PERSON")


def test_entities_are_kept_whole_or_not_at_all() -> None:
    documents = [Document("a", "Joan Puig viu aqui"), Document("b", "no hi es"), Document("c", "")]
    batch = make_batch(documents, labelled=False)
    tags = np.array([1, 2, 0, 0, 0, 0, 0], np.int16)
    sure = np.array([0.9, 0.5, 0.9, 0.2, 0.9, 0.9, 0.9])
    parts, useful = confident_parts(Tagging(tags, LABELS, np.ones(3), sure), batch, 0.8)
    assert parts.tags.tolist() == [-1, -1, 0, -1, 0, 0, 0]
    assert parts.confidence.tolist() == [0.25, 1.0, 0.0]
    assert useful.tolist() == [False, True, True]


def test_a_document_with_an_entity_that_is_sure_is_of_use() -> None:
    batch = make_batch([Document("a", "Joan Puig viu aqui")], labelled=False)
    tags = np.array([1, 2, 0, 0], np.int16)
    sure = np.array([0.9, 0.8, 0.1, 0.2])
    parts, useful = confident_parts(Tagging(tags, LABELS, np.ones(1), sure), batch, 0.8)
    assert parts.tags.tolist() == [1, 2, -1, -1]
    assert useful.tolist() == [True]
