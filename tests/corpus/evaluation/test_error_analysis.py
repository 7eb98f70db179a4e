"""Errors by kind: defined by pairs of entities, and equal to trying all pairs one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import make_batch
from corpus.document import Document, Span
from corpus.evaluation.error_analysis import ERROR_KINDS, EntityError, entity_errors, pair_mentions
from corpus.evaluation.scoring import GoldBatch, score_batches

WORDS = "Anna Puig Vic Reus Olot Marta Mas Clot"


def mentions(draw: st.DrawFn) -> list[Span]:
    """Draw entities that do not overlap, in order."""
    places = sorted(draw(st.sets(st.integers(0, 14), max_size=8)))
    actual = []
    for start, following in pairwise([*places, 17]):
        end = draw(st.integers(start + 1, min(following, start + 4)))
        actual.append(Span(start, end, draw(st.sampled_from("AB"))))
    return actual


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Span], list[Span]]:
    return mentions(draw), mentions(draw)


def paired_one_by_one(gold: list[Span], predicted: list[Span]) -> list[object]:
    """Take the best of all pairs again and again, as the definition says."""
    left, right, paired = list(gold), list(predicted), []

    def shared(one: Span, other: Span) -> int:
        return len(set(range(one.start, one.end)) & set(range(other.start, other.end)))

    while pairs := [(one, other) for one in left for other in right if shared(one, other)]:
        best = max(
            pairs,
            key=lambda pair: (
                (pair[0].start, pair[0].end) == (pair[1].start, pair[1].end),
                pair[0].label == pair[1].label,
                shared(*pair),
                -pair[0].start,
                -pair[1].start,
            ),
        )
        left.remove(best[0])
        right.remove(best[1])
        if best[0] != best[1]:
            paired.append(best)
    return [*paired, *((one, None) for one in left), *((None, one) for one in right)]


@given(sides())
def test_pairs_are_those_of_trying_all(both: tuple[list[Span], list[Span]]) -> None:
    assert Counter(pair_mentions(*both)) == Counter(paired_one_by_one(*both))


def document(name: str, *spans: tuple[int, int, str]) -> Document:
    return Document(name, WORDS, tuple(Span(*span) for span in spans))


def errors_of(gold: list[Document], predicted: list[Document]) -> list[EntityError]:
    batch = make_batch(gold, labelled=True)
    return entity_errors(
        GoldBatch.from_documents(gold, batch), make_batch(predicted, labelled=True)
    )


def test_each_kind_has_its_definition() -> None:
    gold = [
        document("right", (0, 9, "PERSON")),
        document("missed", (10, 13, "PLACE")),
        document("spurious"),
        document("class", (0, 9, "PERSON")),
        document("border", (0, 9, "PERSON")),
        document("class and border", (0, 9, "PERSON")),
    ]
    actual = [
        document("right", (0, 9, "PERSON")),
        document("missed"),
        document("spurious", (14, 18, "PLACE")),
        document("class", (0, 9, "PLACE")),
        document("border", (0, 4, "PERSON")),
        document("class and border", (0, 4, "PLACE")),
    ]
    assert [(error.row, error.kind) for error in errors_of(gold, actual)] == [
        (1, "missed"),
        (2, "spurious"),
        (3, "wrong class"),
        (4, "wrong border"),
        (5, "wrong class"),
    ]


def test_the_same_class_is_preferred_to_a_longer_overlap() -> None:
    (border, spurious) = errors_of(
        [document("a", (0, 9, "PERSON"))], [document("a", (0, 4, "PERSON"), (5, 13, "PLACE"))]
    )
    assert (border.kind, border.gold) == ("wrong border", Span(0, 9, "PERSON"))
    assert (spurious.kind, spurious.predicted) == ("spurious", Span(5, 13, "PLACE"))


@given(st.lists(sides(), max_size=5))
def test_the_errors_add_up_to_the_scores(drawn: list[tuple[list[Span], list[Span]]]) -> None:
    """Each missed, confused or misplaced gold entity is a false negative, and so on."""
    text = "a b c d e f g h i"  # a token in every second character

    def aligned(drawn_spans: list[Span], name: str) -> Document:
        spans = {m.start // 2: m for m in drawn_spans}
        return Document(
            name, text, tuple(Span(2 * at, 2 * at + 1, m.label) for at, m in spans.items())
        )

    gold = [aligned(left, f"d{i}") for i, (left, _) in enumerate(drawn)]
    actual = [aligned(right, f"d{i}") for i, (_, right) in enumerate(drawn)]
    batch = GoldBatch.from_documents(gold, make_batch(gold, labelled=True))
    predicted = make_batch(actual, labelled=True)
    errors = entity_errors(batch, predicted)
    counts = score_batches(batch, predicted).counts("ner")
    assert sum(error.gold is not None for error in errors) == counts.false_negatives
    assert sum(error.predicted is not None for error in errors) == counts.false_positives
    assert {error.kind for error in errors} <= set(ERROR_KINDS)
    assert [error.row for error in errors] == sorted(error.row for error in errors)
