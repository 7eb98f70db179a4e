"""One pass over the tokens gives the tags that a slow reading of the rules gives."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.tags import classes_of, find_entities, well_formed
from taggers.base import MEASURES, Detail
from taggers.dictionaries.binary import DictionaryTagger
from taggers.dictionaries.greedy_decoding import WordJudgements, decode_greedily

LABELS = ("O", "B-PERSON", "I-PERSON")


@dataclass(frozen=True)
class Word:
    """What is said of a word."""

    divergence: float = math.inf
    joins: bool = False
    doubtful: bool = False
    blocked: bool = False


def judged_batch(
    known: dict[str, Word], documents: list[list[str]]
) -> tuple[Batch, WordJudgements]:
    batch = make_batch(
        [Document(str(number), " ".join(words)) for number, words in enumerate(documents)],
        labelled=False,
    )
    words = [known.get(word, Word()) for word in batch.vocabulary]
    judged = WordJudgements(
        np.array([word.divergence for word in words], np.float64),
        np.array([word.joins for word in words], bool),
        np.array([word.doubtful for word in words], bool),
    )
    return batch, judged


def tag(known: dict[str, Word], documents: list[list[str]], **options: Any) -> Any:
    batch, judged = judged_batch(known, documents)
    blocked = np.array([known.get(word, Word()).blocked for word in batch.vocabulary], bool)
    thresholds = [
        options.pop(f"threshold{name}", value) for name, value in (("", 2), ("_after", 3.5))
    ]
    tagger = DictionaryTagger()
    tagger._check_trained = lambda: None
    tagger._decoded = lambda batch: decode_greedily(
        batch, judged, blocked[batch.word_ids], *thresholds
    )
    return tagger.tag(batch, **{"detail": "token"} | options)


def by_the_rules(
    words: list[Word], threshold: float, threshold_after: float
) -> tuple[list[str], list[float]]:
    """Tag one document: look from each word back to the latest word of a name."""
    names: set[int] = set()
    certainty = []
    for place, word in enumerate(words):
        back = place - 1
        while back >= 0 and back not in names and words[back].joins and place - back <= 3:
            back -= 1
        after = back in names
        most = threshold_after if after else threshold
        if word.blocked and not after:
            certainty.append(1.0)
        elif word.divergence < most:
            names.add(place)
            certainty.append(1 - word.divergence / most)
        elif word.joins and after and place - back <= 3:
            certainty.append(1.0)
        else:
            certainty.append(1 - most / word.divergence)
    tags = ["B" if place in names else "O" for place in range(len(words))]
    ordered = sorted(names)
    for left, right in itertools.pairwise(ordered):
        between = words[left + 1 : right]
        if len(between) <= 3 and all(word.joins for word in between):
            tags[left + 1 : right + 1] = ["I"] * (right - left)
    return tags, [
        0.0 if word.doubtful else value for word, value in zip(words, certainty, strict=True)
    ]


_DIVERGENCES = st.sampled_from([0.0, 0.3, 1.0, 1.9, 2.0, 2.1, 3.4, 3.5, 9.0, math.inf, math.inf])
_SELDOM = st.sampled_from([False] * 9 + [True])
_WORD = st.builds(Word, _DIVERGENCES, st.booleans(), _SELDOM, _SELDOM)
_NAMES = [f"w{letter}" for letter in "abcdefg"]
_KNOWN = st.fixed_dictionaries(dict.fromkeys(_NAMES, _WORD))
_DOCUMENTS = st.lists(st.lists(st.sampled_from(_NAMES), max_size=14), max_size=5)
_THRESHOLDS = st.sampled_from([0.01, 1.0, 2.0, 2.1, 3.5, 100.0])


@given(_KNOWN, _DOCUMENTS, _THRESHOLDS, _THRESHOLDS, st.sampled_from(sorted(MEASURES)))
def test_tags_and_certainty_are_those_of_the_rules(
    known, documents, threshold, threshold_after, measure
) -> None:
    actual = tag(
        known, documents, threshold=threshold, threshold_after=threshold_after, measure=measure
    )
    slow = [
        by_the_rules([known[word] for word in words], threshold, threshold_after)
        for words in documents
    ]
    assert [LABELS[number][0] for number in actual.tags] == [
        tag for tags, _ in slow for tag in tags
    ]
    assert actual.token_confidence.tolist() == pytest.approx(
        [value for _, sure in slow for value in sure]
    )
    measured = {
        "min_marginal": min,
        "probability": math.prod,
        "normalised": lambda sure: math.prod(sure) ** (1 / len(sure)),
    }[measure]
    expected = [measured(sure) if sure else 1.0 for _, sure in slow]
    assert actual.confidence.tolist() == pytest.approx(expected)
    assert ((actual.confidence >= 0) & (actual.confidence <= 1)).all()


@given(_KNOWN, _DOCUMENTS)
def test_all_details_are_of_the_same_tags(known, documents) -> None:
    details: tuple[Detail, ...] = ("document", "token", "entity", "labels")
    document, token, entity, labels = (tag(known, documents, detail=detail) for detail in details)
    for other in (document, entity, labels):
        assert other.labels == LABELS
        assert (other.tags == token.tags).all() and (other.confidence == token.confidence).all()
    assert document.token_confidence is document.marginals is token.marginals is None
    assert token.entity_probabilities is labels.entity_probabilities is entity.marginals is None
    batch, _ = judged_batch(known, documents)
    assert (well_formed(token.tags, batch.document_offsets, LABELS) == token.tags).all()
    spans = find_entities(token.tags, batch.document_offsets, LABELS)
    assert entity.entity_probabilities.shape == (len(spans.first), len(classes_of(LABELS)))
    assert entity.entity_confidence(spans).tolist() == [
        token.token_confidence[first : last + 1].min()
        for first, last in zip(spans.first, spans.last, strict=True)
    ]
    assert labels.marginals.shape == (len(token.tags), len(LABELS))
    assert labels.marginals.sum(axis=1).tolist() == pytest.approx([1] * len(token.tags))
    rows = np.arange(len(token.tags))
    assert (labels.marginals[rows, token.tags] == token.token_confidence).all()
