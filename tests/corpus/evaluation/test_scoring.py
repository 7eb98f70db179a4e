"""Scores against what one counts by hand, span by span and token by token."""

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.document import Document, Span
from corpus.errors import InputError
from corpus.evaluation.measures import MEASURES, ConfusionCounts, Scores
from corpus.evaluation.scoring import score
from corpus.tokens import tokenize

#: Characters that make gaps of all kinds: alphanumeric ones, marks, an underscore, a superscript.
MARKS = "ab1²ª,. -_\n\r\u0301·"
LABELS = ["A", "B", "C"]
Offsets = tuple[int, int]
thorough = settings(max_examples=60, deadline=None)


@st.composite
def spans_in(draw: st.DrawFn, text: str) -> tuple[Span, ...]:
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    drawn = [(*pair, draw(st.sampled_from([*LABELS, None]))) for pair in pairwise(cuts)]
    return tuple(Span(*span) for span in drawn if span[2])


@st.composite
def spans_like(draw: st.DrawFn, text: str, gold: tuple[Span, ...]) -> tuple[Span, ...]:
    """Return spans of which some are right, as those of a tagger are."""
    kept = [span for span in gold if draw(st.booleans())]
    kept = [replace(span, label=draw(st.sampled_from([span.label, *LABELS]))) for span in kept]
    others = draw(spans_in(text))
    free = [
        span
        for span in others
        if all(span.end <= other.start or other.end <= span.start for other in kept)
    ]
    return tuple(sorted([*kept, *free]))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Document | None, Document | None]:
    """Return a document as two people annotate it, or as one of them does."""
    text = draw(st.text(st.sampled_from(MARKS), max_size=16))
    gold = draw(spans_in(text))
    actual = draw(spans_like(text, gold))
    sides = draw(st.sampled_from(["both", "both", "both", "gold", "predicted"]))
    return (
        None if sides == "predicted" else Document("", text, gold),
        None if sides == "gold" else Document("", text, actual),
    )


corpora = st.lists(pairs(), max_size=4)
Sides = tuple[list[Document], list[Document]]


def sides_of(corpus: Iterable[tuple[Document | None, Document | None]]) -> Sides:
    named = [
        [replace(side, id=str(number)) if side else None for side in pair]
        for number, pair in enumerate(corpus)
    ]
    gold = [pair[0] for pair in named if pair[0]]
    return gold, [pair[1] for pair in named if pair[1]]


def matching(gold: list, predicted: list) -> ConfusionCounts:
    """Count what is in both of two lists, which hold nothing twice."""
    right = [item for item in predicted if item in gold]
    return ConfusionCounts(len(right), len(predicted) - len(right), len(gold) - len(right))


def ner(_: str, gold: tuple[Span, ...], predicted: tuple[Span, ...]) -> ConfusionCounts:
    return matching([*gold], [*predicted])


def offsets(spans: Iterable[Span]) -> list[Offsets]:
    return [(span.start, span.end) for span in spans]


def span(_: str, gold: tuple[Span, ...], predicted: tuple[Span, ...]) -> ConfusionCounts:
    return matching(offsets(gold), offsets(predicted))


def covered(text: str, gold: tuple[Span, ...], predicted: tuple[Span, ...]) -> ConfusionCounts:
    tokens = tokenize([text])
    places = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))

    def touched(spans: tuple[Span, ...]) -> list[Offsets]:
        marked = {place for span in spans for place in range(span.start, span.end)}
        return [(start, end) for start, end in places if marked & set(range(start, end))]

    return matching(touched(gold), touched(predicted))


def joined(text: str, spans: tuple[Span, ...]) -> set[Offsets]:
    """Join all that lies between two spans where each letter and digit is in a span."""
    inside = {place for span in spans for place in range(span.start, span.end)}
    bare = [not text[place].isalnum() or place in inside for place in range(len(text))]
    together = set()
    for one in spans:
        reached = [other for other in spans if other == one]
        for other in spans:
            start, end = min(one.start, other.start), max(one.end, other.end)
            if all(bare[start:end]):
                reached.append(other)
        together.add((min(other.start for other in reached), max(other.end for other in reached)))
    return together


def span_merged(text: str, gold: tuple[Span, ...], predicted: tuple[Span, ...]) -> ConfusionCounts:
    exact = {pair for pair in offsets(gold) if pair in offsets(predicted)}
    right = exact | {pair for pair in joined(text, gold) if pair in joined(text, predicted)}

    def left_over(spans: tuple[Span, ...]) -> int:
        return sum(
            not any(start <= span.start and span.end <= end for start, end in right)
            for span in spans
        )

    return ConfusionCounts(len(right), left_over(predicted), left_over(gold))


REFERENCES = {"ner": ner, "span": span, "span_merged": span_merged, "covered": covered}


def both(text: str, gold: list[tuple], predicted: list[tuple]) -> Sides:
    return (
        [Document("a", text, tuple(Span(*span) for span in gold))],
        [Document("a", text, tuple(Span(*span) for span in predicted))],
    )


def texts_and_spans(
    gold: list[Document], predicted: list[Document]
) -> dict[str, tuple[str, tuple[Span, ...], tuple[Span, ...]]]:
    """Return the text and the spans of both sides of each document, gold documents first."""
    left, right = ({document.id: document for document in side} for side in (gold, predicted))
    texts = {document.id: document.text for document in [*gold, *predicted]}
    nothing = Document("", "")
    return {
        name: (text, left.get(name, nothing).spans, right.get(name, nothing).spans)
        for name, text in texts.items()
    }


@given(corpora)
@example([])
@example([(Document("", "a,b", (Span(0, 1, "A"), Span(2, 3, "A"))), Document("", "a,b"))])
@thorough
def test_counts_are_those_of_the_definitions(corpus) -> None:
    gold, predicted = sides_of(corpus)
    scores = score(iter(gold), iter(predicted))
    expected = texts_and_spans(gold, predicted)
    assert scores.ids == tuple(expected)
    assert set(scores.measures) == set(MEASURES) == set(REFERENCES)
    for name, reference in REFERENCES.items():
        rows = [reference(*row) for row in expected.values()]
        assert [ConfusionCounts(*row) for row in scores.measures[name].tolist()] == rows
        assert scores.counts(name) == tuple(map(sum, zip(*rows, strict=True))) or not rows
    actual = {span.label for _, *sides in expected.values() for side in sides for span in side}
    assert list(scores.classes) == sorted(actual)
    for label in actual:
        rows = [
            ner("", *(tuple(span for span in side if span.label == label) for side in sides))
            for _, *sides in expected.values()
        ]
        assert [ConfusionCounts(*row) for row in scores.classes[label].tolist()] == rows
        assert scores.class_counts(label) == tuple(map(sum, zip(*rows, strict=True)))
    lines = [
        sum(bool(line.strip()) for line in document.text.replace("\r", "\n").split("\n"))
        for document in gold
    ]
    lines += [0] * (len(expected) - len(gold))
    assert scores.lines.tolist() == lines


@pytest.mark.parametrize(
    ("text", "gold", "predicted", "expected"),
    [
        # An exact match, one that is joined, and both.
        ("Ana Puig", [(0, 3), (4, 8)], [(0, 8)], (1, 0, 0)),
        ("Ana Puig", [(0, 8)], [(0, 3), (4, 8)], (1, 0, 0)),
        ("Ana Puig", [(0, 3), (4, 8)], [(0, 3), (4, 8)], (3, 0, 0)),
        # An empty gap, and gaps of marks; an underscore is no letter; a letter or digit parts.
        ("AnaPuig", [(0, 3), (3, 7)], [(0, 7)], (1, 0, 0)),
        ("Ana, (Puig", [(0, 3), (6, 10)], [(0, 10)], (1, 0, 0)),
        ("Ana_\r\n_Puig", [(0, 3), (7, 11)], [(0, 11)], (1, 0, 0)),
        ("Ana i Puig", [(0, 3), (6, 10)], [(0, 10)], (0, 1, 2)),
        ("Ana 2 Puig", [(0, 3), (6, 10)], [(0, 10)], (0, 1, 2)),
        # What is contained in a true positive is not held against anybody.
        ("Ana Puig", [(0, 3), (4, 8)], [(0, 5), (5, 8)], (1, 0, 0)),
        ("Ana Puig", [(0, 3), (4, 8)], [(0, 3), (4, 6)], (1, 1, 1)),
        ("Ana Puig", [(0, 3)], [(0, 3), (4, 8)], (1, 1, 0)),
        ("Ana Puig, Vic", [(0, 8), (10, 13)], [(0, 3), (4, 13)], (1, 0, 0)),
    ],
)
def test_merged_spans(text, gold, predicted, expected) -> None:
    sides = both(text, [(*pair, "A") for pair in gold], [(*pair, "B") for pair in predicted])
    assert score(*sides).counts("span_merged") == expected
    assert span_merged(text, sides[0][0].spans, sides[1][0].spans) == expected


def test_figures() -> None:
    gold, predicted = both(
        "Ana Puig, 68 anys, Vic\n",
        [(0, 3, "NAME"), (4, 8, "NAME"), (10, 17, "AGE")],
        [(0, 3, "NAME"), (4, 8, "CITY"), (10, 12, "AGE"), (19, 22, "CITY")],
    )
    scores = score(gold, predicted)
    assert scores.counts() == (1, 3, 2)
    assert scores.counts("span") == (2, 2, 1)
    assert scores.counts("span_merged") == (2, 2, 1)
    assert scores.counts("covered") == (3, 1, 1)
    assert scores.counts("covered").precision == 3 / 4
    assert scores.counts("covered").recall == 3 / 4
    assert scores.counts().precision == 1 / 4
    assert scores.counts().recall == 1 / 3
    assert scores.counts().f1 == pytest.approx(2 / 7)
    assert list(scores.classes) == ["AGE", "CITY", "NAME"]
    assert scores.class_counts("CITY") == (0, 2, 0)
    assert scores.leak == 2
    for counts in (ConfusionCounts(0, 0, 0), ConfusionCounts(0, 5, 0), ConfusionCounts(0, 0, 5)):
        assert (counts.precision, counts.recall, counts.f1) == (0, 0, 0)


def test_leak_counts_lines_that_are_not_blank() -> None:
    text = "\n Ana\r\n \t\r\nPuig\r68\n\n\ufeff\n"
    gold = [Document("a", text, (Span(2, 5, "A"),)), Document("b", "", ()), Document("c", "Vic")]
    predicted = [replace(document, spans=()) for document in gold]
    scores = score(gold, predicted)
    assert scores.lines.tolist() == [4, 0, 1]
    assert scores.leak == 1 / 5
    assert score(gold, gold).leak == 0
    assert score([gold[1]], [gold[1]]).leak == 0


def test_other_text_is_an_error_that_shows_none_of_it() -> None:
    gold = [Document("ward/17", "Ana Puig", (Span(0, 3, "NAME"),))]
    predicted = [Document("ward/17", "Ana Puig\n")]
    with pytest.raises(InputError, match=r"ward/17.*\b8\b.*\b9\b") as caught:
        score(gold, predicted)
    assert "Ana" not in str(caught.value)
    assert "Puig" not in str(caught.value)
    with pytest.raises(InputError, match="ward/17"):
        score(gold, [Document("ward/17", "Ana puig")])


@pytest.mark.parametrize("side", ["gold", "predicted"])
def test_an_id_that_comes_twice_is_an_error(side: str) -> None:
    once = [Document("a", "Ana"), Document("ward/17", "Puig")]
    twice = [*once, Document("ward/17", "Puig")]
    with pytest.raises(InputError, match=f"ward/17.*{side}") as caught:
        score(*((twice, once) if side == "gold" else (once, twice)))
    assert "Puig" not in str(caught.value)


@given(corpora, st.data())
@thorough
def test_a_part_is_scored_as_if_it_were_all(corpus, data) -> None:
    gold, predicted = sides_of(corpus)
    scores = score(gold, predicted)
    chosen = [index for index in range(len(scores.ids)) if data.draw(st.booleans())]
    part = scores.take(np.array(chosen, np.int64))
    names = {scores.ids[index] for index in chosen}
    alone = score(
        [document for document in gold if document.id in names],
        [document for document in predicted if document.id in names],
    )
    assert part.ids == alone.ids
    assert part.leak == alone.leak
    for measure in MEASURES:
        assert np.array_equal(part.measures[measure], alone.measures[measure])
    for name, counts in part.classes.items():
        if name in alone.classes:
            assert np.array_equal(counts, alone.classes[name])
        else:
            assert not counts.any()


def scores_of(counts: np.ndarray) -> Scores:
    """Make scores of the counts of documents, the same for every measure."""
    return Scores(
        ids=tuple(map(str, range(len(counts)))),
        measures=dict.fromkeys(MEASURES, counts),
        classes={},
        lines=np.ones(len(counts), np.int64),
    )


def sensible(number: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the counts of documents, half of which have no entity, as in short notes."""
    entities = rng.poisson(3, number) * rng.integers(0, 2, number)
    actual = rng.binomial(entities, 0.8)
    return np.stack([actual, rng.poisson(0.3, number), entities - actual], axis=1)


def f1_of(counts: np.ndarray) -> np.ndarray:
    hits, false, missed = np.moveaxis(counts, -1, 0)
    return 2 * hits / np.maximum(2 * hits + false + missed, 1)


@pytest.mark.parametrize("level", [0.95, 0.5])
@pytest.mark.parametrize("number", [12, 80])
def test_an_interval_is_that_of_documents_drawn_again(number: int, level: float) -> None:
    counts = sensible(number, np.random.default_rng(number))
    low, high = scores_of(counts).interval(
        "ner", np.random.default_rng(1), resamples=20_000, level=level
    )
    drawn = np.random.default_rng(2).integers(0, number, (20_000, number))
    expected = f1_of(counts[drawn].sum(axis=1))
    ends = np.quantile(expected, [(1 - level) / 2, (1 + level) / 2])
    # Quantiles of 20,000 draws, twice: four standard errors are a tenth of a standard deviation.
    assert [low, high] == pytest.approx(ends, abs=0.1 * expected.std())
    assert low < f1_of(counts.sum(axis=0)) < high


def test_an_interval_is_of_its_measure() -> None:
    gold = [Document(str(number), "Ana Puig", (Span(0, 3, "A"),)) for number in range(20)]
    predicted = [
        replace(document, spans=(Span(0, 3, "AB"[int(document.id) % 2]),)) for document in gold
    ]
    scores = score(gold, predicted)
    assert scores.interval("span", np.random.default_rng(0)) == (1, 1)
    report = scores.report(np.random.default_rng(0))
    assert report["span"]["f1_interval"] == [1, 1]
    low, high = report["ner"]["f1_interval"]
    assert low < 0.5 < high


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], (0, 0)),
        ([[0, 0, 0]] * 3, (0, 0)),
        ([[2, 0, 0]] * 3, (1, 1)),
        ([[0, 1, 1]] * 3, (0, 0)),
        ([[3, 1, 2]], (2 / 3, 2 / 3)),
    ],
)
def test_an_interval_without_doubt(counts: list[list[int]], expected: Offsets) -> None:
    scores = scores_of(np.array(counts, np.int64).reshape(-1, 3))
    assert scores.interval("ner", np.random.default_rng(0)) == pytest.approx(expected)


def test_a_report_is_plain_numbers() -> None:
    gold, predicted = both("Ana, 68", [(0, 3, "NAME"), (5, 7, "AGE")], [(0, 3, "NAME")])
    report = score(gold, predicted).report(np.random.default_rng(0))
    assert json.loads(json.dumps(report)) == report
    assert set(report) == {"documents", *MEASURES, "leak", "per_label"}
    assert report["documents"] == 1
    assert report["leak"] == 1
    for measure in MEASURES:
        figures = report[measure]
        assert figures["precision"] == 1
        assert figures["recall"] == 1 / 2
        assert figures["f1"] == pytest.approx(2 / 3)
        assert figures["f1_interval"] == pytest.approx([2 / 3, 2 / 3])
    assert {name: row["f1"] for name, row in report["per_label"].items()} == {"AGE": 0, "NAME": 1}


@pytest.mark.parametrize(
    "corpus", [[], [Document("a", "")], [Document("a", "Ana"), Document("b", "\n")]]
)
def test_nothing_to_find_is_no_error(corpus: list[Document]) -> None:
    report = score(corpus, corpus).report(np.random.default_rng(0))
    json.dumps(report)
    assert report["documents"] == len(corpus)
    assert report["ner"]["f1"] == report["covered"]["f1"] == report["leak"] == 0
    assert report["per_label"] == {}


def test_real_spans_that_are_not_found(gold: dict[str, list[Document]]) -> None:
    corpus = gold["dev"]
    # Of every document the first span is not found and the second has another class.
    predicted = [
        replace(document, spans=(replace(document.spans[1], label="OTHER"), *document.spans[2:]))
        for document in corpus
    ]
    scores = score(corpus, predicted)
    number, spans = len(corpus), sum(len(document.spans) for document in corpus)
    assert scores.counts() == (spans - 2 * number, number, 2 * number)
    assert scores.counts("span") == (spans - number, 0, number)
    assert scores.class_counts("OTHER") == (0, number, 0)
    assert scores.counts("covered").precision == 1
    lines = sum(sum(map(bool, map(str.strip, document.text.splitlines()))) for document in corpus)
    assert scores.leak == pytest.approx(2 * number / lines, rel=1e-3)
    low, high = scores.interval("ner", np.random.default_rng(0))
    assert low < scores.counts().f1 < high
    for measure, counts in scores.measures.items():
        for note, tagged, row in zip(corpus[:10], predicted[:10], counts.tolist(), strict=False):
            assert ConfusionCounts(*row) == REFERENCES[measure](note.text, note.spans, tagged.spans)
