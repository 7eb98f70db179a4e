"""Mentions are found with their borders."""

import numpy as np
import pytest

from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.tags import UNKNOWN
from taggers.augmentation.mentions import Occurrences, parse_mentions


def found_in(text: str, mention: str) -> Occurrences:
    start = text.index(mention)
    document = Document("d", text, (Span(start, start + len(mention), "A"),))
    return Occurrences.of(make_batch([document], labelled=True))


@pytest.mark.parametrize(
    ("text", "mention", "fixed", "elided"),
    [
        ("Vist per Anna.", "Anna", False, False),
        ("Anna", "Anna", False, False),
        ("CP 28027España", "28027", True, False),
        ("28027España", "España", True, False),
        ("la seva l'Anna", "Anna", False, True),
        ("d’Olot", "Olot", False, True),
        ("l'12", "12", True, False),
        ("'Anna' ve", "Anna", False, False),
        ("L'Anna'ls", "Anna", True, True),
        ("id_44", "44", True, False),
        ("(Anna)", "Anna", False, False),
        ("Nombre:Anna,", "Anna", False, False),
    ],
)
def test_the_borders_of_a_mention(text: str, mention: str, fixed: bool, elided: bool) -> None:
    actual = found_in(text, mention)
    assert [parsed.text for parsed in actual.mentions] == [mention]
    assert (actual.fixed.tolist(), actual.elided.tolist()) == ([fixed], [elided])


def test_equal_texts_of_a_class_are_one_mention() -> None:
    documents = [
        Document("a", "Pau y Pau", (Span(0, 3, "A"), Span(6, 9, "A"))),
        Document("b", "nada"),
        Document("c", "Pau 5", (Span(0, 3, "B"), Span(4, 5, "A"))),
    ]
    batch = make_batch(documents, labelled=True)
    tags = batch.tags.copy()
    tags[3] = UNKNOWN
    actual = Occurrences.of(batch.with_tags(tags, batch.labels))
    assert actual.documents.tolist() == [0, 0, 2, 2]
    assert actual.numbers.tolist() == [0, 0, 1, 2]
    assert [mention.text for mention in actual.mentions] == ["Pau", "Pau", "5"]
    assert [actual.classes[number] for number in actual.of_classes] == ["A", "B", "A"]
    assert actual.spans.first.tolist() == [0, 2, 4, 5]


def test_an_unlabelled_batch_has_no_mentions() -> None:
    actual = Occurrences.of(make_batch([Document("a", "Pau")], labelled=False))
    assert actual.mentions == () and actual.numbers.tolist() == []
    assert actual.fixed.dtype == np.bool_


def test_a_mention_as_a_term() -> None:
    mentions = parse_mentions(["(Palma de\n MALLORCA).", "12/3", "L'Hospitalet", ""])
    assert [parsed.term for parsed in mentions] == ["palma de mallorca", "", "l'hospitalet", ""]
    assert [bool(parsed.lettered) for parsed in mentions] == [True, False, True, False]
