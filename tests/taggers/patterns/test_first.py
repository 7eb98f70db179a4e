"""A tagger after patterns, beside a slow reading of the definition, and its folder."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.batch import batch_of_texts, make_batch
from corpus.synthetic import synthetic_notes
from corpus.tags import bio_labels, classes_of, find_entities, well_formed
from taggers import CRFOptions, CRFTagger, load_tagger
from taggers.base import Tagging
from taggers.patterns.first import PatternsFirst, without_patterns
from taggers.patterns.labelled import LabelledPatterns
from taggers.patterns.pattern import Pattern
from taggers.privacy.pruning import PrunableTagger, Pruning
from tests.taggers.conftest import plain

PATTERNS = LabelledPatterns(
    [
        Pattern(label="DATE", expression=r"7(?: 7)?"),
        Pattern(label="DOSE", expression=r"8(?: 8)*"),
        Pattern(label="PHONE", expression=r"7 8 9"),
    ],
    {"DATE": "B", "PHONE": "C", "DOSE": ""},
)
LABELS = bio_labels("AB")
NUMBERS = st.lists(st.sampled_from("1789"), max_size=12)


class Fixed:
    """A tagger with given tags and marginals."""

    kind, labels, training = "fixed", LABELS, None

    def __init__(self, tags: np.ndarray, marginals: np.ndarray) -> None:
        self.tags, self.marginals = tags, marginals

    def tag(self, batch, *, measure="probability", detail="document") -> Tagging:
        entities = find_entities(self.tags, batch.document_offsets, LABELS)
        own = self.marginals[np.arange(len(self.tags)), self.tags]
        return Tagging(
            self.tags,
            LABELS,
            np.full(len(batch), 0.5),
            None if detail == "document" else own,
            self.marginals if detail == "labels" else None,
            np.full((len(entities.first), 2), 0.25) if detail == "entity" else None,
        )


@st.composite
def cases(draw):
    texts = draw(st.lists(NUMBERS.map(" ".join), min_size=1, max_size=3))
    column = pa.array(texts, pa.large_string())
    batch = batch_of_texts(column, column)
    numbers = st.integers(0, 4)
    tags = np.array(draw(st.lists(numbers, min_size=(n := batch.n_tokens), max_size=n)), np.int16)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    marginals = rng.dirichlet(np.ones(5), n)
    return batch, Fixed(well_formed(tags, batch.document_offsets, LABELS), marginals)


def spans_of(tags, offsets, labels) -> list[tuple[int, int, str]]:
    entities, names = find_entities(tags, offsets, labels), classes_of(labels)
    kinds = [names[kind] for kind in entities.classes]
    return [*zip(entities.first.tolist(), entities.last.tolist(), kinds, strict=True)]


@given(cases())
def test_spans_of_patterns_come_first_and_the_tagger_fills_the_rest(case) -> None:
    batch, fixed = case
    tagger, (spans, _) = PatternsFirst(fixed, PATTERNS), PATTERNS.find(batch)
    own = [
        (first, last, PATTERNS.classes[kind])
        for first, last, kind in zip(
            spans.first.tolist(), spans.last.tolist(), spans.classes.tolist(), strict=True
        )
        if kind >= 0
    ]
    taken = {token for first, last, _ in own for token in range(first, last + 1)}
    before = spans_of(fixed.tags, batch.document_offsets, LABELS)
    others = [s for s in before if taken.isdisjoint(range(s[0], s[1] + 1))]
    outside = {
        token
        for first, last, kind in zip(spans.first, spans.last, spans.classes, strict=True)
        if kind < 0
        for token in range(first, last + 1)
    }
    tagging = tagger.tag(batch, detail="labels")
    after = spans_of(tagging.tags, batch.document_offsets, tagging.labels)
    assert after == sorted(own + others)
    for token, tag in enumerate(tagging.tags.tolist()):
        label = tagging.labels[tag]
        row = dict(zip(tagging.labels, tagging.marginals[token], strict=True))
        if token in taken or (token in outside and label == "O"):
            assert row.pop(label) == 1 and not any(row.values())
        else:
            expected = dict(zip(LABELS, fixed.marginals[token], strict=True))
            assert {name: row[name] for name in expected} == expected
        assert tagging.token_confidence[token] == tagging.marginals[token, tag]
    of_entities = tagger.tag(batch, detail="entity")
    assert of_entities.tags.tolist() == tagging.tags.tolist()
    classes = classes_of(tagging.labels)
    for span, probabilities in zip(after, of_entities.entity_probabilities, strict=True):
        row = dict(zip(classes, probabilities.tolist(), strict=True))
        expected = {span[2]: 1.0} if span in own else {"A": 0.25, "B": 0.25}
        assert row == {**dict.fromkeys(classes, 0.0), **expected}


@pytest.fixture(scope="module")
def crf() -> CRFTagger:
    train = make_batch(list(synthetic_notes(60, part="seed")), labelled=True)
    return CRFTagger(plain(CRFOptions)).fit(train, rng=np.random.default_rng(0))


def test_a_folder_keeps_the_patterns_and_pruning_leaves_them(crf, tmp_path) -> None:
    tagger = PatternsFirst(crf, PATTERNS)
    notes = make_batch(list(synthetic_notes(20, random_state=1)), labelled=True)
    expected = tagger.tag(notes)
    tagger.save(tmp_path / "model")
    loaded = load_tagger(tmp_path / "model")
    assert isinstance(loaded, PrunableTagger)
    assert loaded.labels == tagger.labels and loaded.training == crf.training
    assert loaded.tag(notes).tags.tolist() == expected.tags.tolist()
    assert without_patterns(loaded).labels == crf.labels
    loaded.pruned(Pruning.from_choices(hash_names=True)).save(tmp_path / "exported")
    exported = load_tagger(tmp_path / "exported")
    assert exported.tag(notes).tags.tolist() == expected.tags.tolist()
    assert exported.contents()["patterns before the tagger"] == 3


def test_it_trains_its_tagger(crf) -> None:
    train = make_batch(list(synthetic_notes(60, part="seed")), labelled=True)
    tagger = PatternsFirst(CRFTagger(plain(CRFOptions)), PATTERNS)
    start = PatternsFirst(crf, PATTERNS)
    tagger.fit(train, warm_start=start, rng=np.random.default_rng(0))
    assert tagger.training == tagger.tagger.training is not None
