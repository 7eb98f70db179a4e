"""Mentions are found with their borders."""

import pytest

from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.tokens.normalisation import normalised_text
from taggers.augmentation.mentions import Occurrences, parse_mentions


@pytest.mark.parametrize(
    ("text", "mention", "fixed", "elided"),
    [
        ("Vist per Anna.", "Anna", False, False),
        ("Anna", "Anna", False, False),
        ("CP 28027España", "28027", True, False),
        ("28027España", "España", True, False),
        ("la seva l'Anna", "Anna", False, True),
        ("d’Olot", "Olot", False, True),
        ("l'12", "12", False, False),
        ("'Anna' ve", "Anna", False, False),
        ("id_44", "44", True, False),
        ("(Anna)", "Anna", False, False),
        ("de Gar-\ncía P\x1fuig", "Gar-\ncía P\x1fuig", False, False),
    ],
)
def test_the_borders_of_a_mention(text: str, mention: str, fixed: bool, elided: bool) -> None:
    start = text.index(mention)
    document = Document("d", text, (Span(start, start + len(mention), "A"),))
    actual = Occurrences.from_batch(make_batch([document], labelled=True))
    assert [parsed.text for parsed in actual.mentions] == [normalised_text(mention)]
    ((entity,),) = actual.documents
    assert (entity.start, entity.fixed, entity.elided) == (start, fixed, elided)


def test_equal_texts_of_a_class_are_one_mention() -> None:
    documents = [
        Document("a", "Pau y Pau", (Span(0, 3, "A"), Span(6, 9, "A"))),
        Document("b", "nada"),
        Document("c", "Pau 5", (Span(0, 3, "B"), Span(4, 5, "A"))),
    ]
    actual = Occurrences.from_batch(make_batch(documents, labelled=True))
    assert [[entity.mention for entity in row] for row in actual.documents] == [[0, 0], [], [1, 2]]
    assert actual.numbers.tolist() == [0, 0, 1, 2]
    assert [mention.text for mention in actual.mentions] == ["Pau", "Pau", "5"]
    assert [actual.class_of(number) for number in range(3)] == ["A", "B", "A"]


def test_a_mention_as_a_term() -> None:
    mentions = parse_mentions(["(Palma de\n MALLORCA).", "12/3", "L'Hospitalet", "", "Jose\u0301"])
    terms = ["palma de mallorca", "", "l'hospitalet", "", "jose"]
    assert [mention.term for mention in mentions] == terms
    assert [len(mention.offsets) for mention in mentions] == [3, 0, 2, 0, 1]
