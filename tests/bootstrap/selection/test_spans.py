"""Of a document, the parts that a tagger is sure of are kept, and the rest is left open."""

from dataclasses import replace

import numpy as np
import pytest

from bootstrap.selection.strategies import confident_parts
from corpus.batch import make_batch
from corpus.document import Document
from taggers.base import Tagging

LABELS = ("O", "B-PERSON", "I-PERSON")


def tagged(tags: list[int], tokens: list[float], entities: list[float], documents: int) -> Tagging:
    """Return tags with the probabilities of tokens, and of entities as persons."""
    marginals = np.array(entities).reshape(-1, 1)
    return Tagging(
        np.array(tags, np.int16),
        LABELS,
        np.ones(documents),
        np.array(tokens),
        entity_probabilities=marginals,
    )


def test_entities_are_kept_whole_or_not_at_all() -> None:
    documents = [Document("a", "Joan Puig viu aqui"), Document("b", "no hi es"), Document("c", "")]
    batch = make_batch(documents, labelled=False)
    sure = [0.9, 0.5, 0.9, 0.2, 0.9, 0.9, 0.9]
    parts, useful = confident_parts(tagged([1, 2, 0, 0, 0, 0, 0], sure, [0.4], 3), batch, 0.8)
    assert parts.tags.tolist() == [-1, -1, 0, -1, 0, 0, 0]
    assert parts.confidence.tolist() == [0.25, 1.0, 0.0]
    assert useful.tolist() == [False, True, True]


def test_a_document_with_an_entity_that_is_sure_is_of_use() -> None:
    batch = make_batch([Document("a", "Joan Puig viu aqui")], labelled=False)
    parts, useful = confident_parts(
        tagged([1, 2, 0, 0], [0.9, 0.8, 0.1, 0.2], [0.8], 1), batch, 0.8
    )
    assert parts.tags.tolist() == [1, 2, -1, -1]
    assert useful.tolist() == [True]


def test_an_entity_is_as_sure_as_its_span_and_not_as_its_tokens() -> None:
    """Sure tokens may be of a span that is not; B- or I-, unsure ones of a span that is."""
    batch = make_batch([Document("a", "Joan Puig i Anna Roca")], labelled=False)
    tagging = tagged([1, 2, 0, 1, 2], [0.9, 0.9, 0.9, 0.7, 0.9], [0.7, 0.8], 1)
    parts, useful = confident_parts(tagging, batch, 0.8)
    assert parts.tags.tolist() == [-1, -1, 0, 1, 2]
    assert parts.confidence.tolist() == [0.6]
    assert useful.tolist() == [True]


@pytest.mark.parametrize("lacking", ["token_confidence", "entity_probabilities"])
def test_what_tagging_must_give_is_said(lacking: str) -> None:
    batch = make_batch([Document("a", "Joan")], labelled=False)
    tagging = replace(tagged([1], [0.9], [0.9], 1), **{lacking: None})
    with pytest.raises(ValueError, match=lacking[:5]):
        confident_parts(tagging, batch, 0.8)
