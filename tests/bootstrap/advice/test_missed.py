"""The classes that are missed most."""

from __future__ import annotations

from bootstrap.advice.missed import most_missed
from bootstrap.advice.words import missed_lines
from corpus.scores import ConfusionCounts


def test_classes_with_a_tenth_of_the_missed_entities_are_named() -> None:
    classes = {
        "AGE": ConfusionCounts(50, 0, 9),
        "DATE": ConfusionCounts(1, 1, 30),
        "PERSON": ConfusionCounts(40, 10, 60),
        "ZIP": ConfusionCounts(9, 0, 1),
    }
    found = most_missed(classes)
    assert [(each.name, each.share) for each in found] == [("PERSON", 0.6), ("DATE", 0.3)]
    assert [each.name for each in most_missed(classes, most=1)] == ["PERSON"]
    assert list(missed_lines(found)) == [
        "PERSON: 60 missed entities, 60 % of all that are missed (recall 0.400, precision 0.800)",
        "DATE: 30 missed entities, 30 % of all that are missed (recall 0.032, precision 0.500)",
    ]


def test_where_nothing_is_missed_nothing_is_said() -> None:
    assert most_missed({"AGE": ConfusionCounts(5, 2, 0)}) == []
    assert most_missed({}) == []
    (line,) = missed_lines(most_missed({"AGE": ConfusionCounts(0, 0, 1)}))
    assert line.startswith("AGE: 1 missed entity, 100 % of all")
