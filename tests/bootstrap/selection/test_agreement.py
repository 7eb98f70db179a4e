"""Agreement of views, compared with an exhaustive computation, and what it leaves unknown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.selection.agreement import Average, Opinions, agreed_spans
from bootstrap.selection.proportions import Reference, configured_reference
from bootstrap.selection.strategies import (
    LIST_VIEW,
    STRATEGIES,
    SelectOptions,
    portfolio,
    strategy_for,
)
from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.tags import TokenSpans, classes_of, find_entities, well_formed
from taggers import Tagging

LABELS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


def tagging_of(batch: Batch, tags: list[int], confidence: list[float]) -> Tagging:
    found = well_formed(np.array(tags, np.int16), batch.document_offsets, LABELS)
    return Tagging(found, LABELS, np.ones(len(batch)), np.array(confidence, np.float64))


def batch_of(*texts: str) -> Batch:
    return make_batch([Document(f"d{i}", text) for i, text in enumerate(texts)], labelled=False)


@st.composite
def views(draw: st.DrawFn) -> tuple[Batch, list[Tagging]]:
    sentences = st.lists(st.sampled_from(["Ana", "ve", "Vic"]), max_size=6).map(" ".join)
    batch = batch_of(*draw(st.lists(sentences, min_size=1, max_size=3)))
    number = batch.n_tokens
    taggings = [
        tagging_of(
            batch,
            draw(st.lists(st.integers(0, 4), min_size=number, max_size=number)),
            draw(st.lists(st.sampled_from([0.3, 0.5, 0.8, 1.0]), min_size=number, max_size=number)),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    return batch, taggings


def naive_support(tagging: Tagging, first: int, last: int, kind: str) -> float:
    """Compute the lowest probability of a class that the tagging allows, token by token."""
    values = []
    for place in range(first, last + 1):
        label, confidence = LABELS[tagging.tags[place]], tagging.token_confidence[place]
        same = label[2:] == kind
        values.append(confidence if same else 1 - confidence if label == "O" else 0.0)
    return float(min(values))


def select(
    taggings: list[Tagging],
    batch: Batch,
    reference: Reference | None = None,
    *,
    share: float = 1.0,
    min_outside: float = 0.5,
    average: Average | None = None,
    most: int = 100,
) -> Batch:
    """Return the documents selected, with their tags."""
    found = agreed_spans(
        taggings,
        batch,
        reference=reference,
        share=share,
        min_outside=min_outside,
        average=average,
        most=most,
        rng=np.random.default_rng(0),
    )
    return batch.with_tags(found.tagging.tags, LABELS).take(found.indices)


@given(views())
def test_support_is_the_lowest_probability_of_the_class(example) -> None:
    batch, taggings = example
    names = classes_of(LABELS)
    found = find_entities(taggings[0].tags, batch.document_offsets, LABELS)
    for tagging in taggings:
        supports = Opinions.from_tagging(tagging, names).support(found)
        rows = zip(found.first, found.last, found.classes, strict=True)
        expected = [naive_support(tagging, first, last, names[kind]) for first, last, kind in rows]
        assert supports.tolist() == pytest.approx(expected)


@given(views(), st.sampled_from([None, "words"]))
def test_without_a_reference_likely_spans_are_kept_and_other_candidates_are_unknown(
    example: tuple[Batch, list[Tagging]], average: Average | None
) -> None:
    batch, taggings = example
    found = agreed_spans(
        taggings,
        batch,
        reference=None,
        share=1.0,
        min_outside=0.5,
        average=average,
        most=100,
        rng=np.random.default_rng(0),
    )
    tags, offsets = found.tagging.tags, batch.document_offsets
    kept = find_entities(tags, offsets, LABELS)
    taken = np.zeros(batch.n_tokens, bool)
    for first, last, kind in zip(kept.first, kept.last, kept.classes, strict=True):
        taken[first : last + 1] = True
        if not average:
            name = classes_of(LABELS)[kind]
            each = [naive_support(tagging, first, last, name) for tagging in taggings]
            assert np.mean(each) >= 0.5
    for tagging in taggings:
        spans = find_entities(tagging.tags, offsets, LABELS)
        for first, last in zip(spans.first, spans.last, strict=True):
            rest = ~taken[first : last + 1]
            assert (tags[first : last + 1][rest] == -1).all()
    outside = np.mean(
        [Opinions.from_tagging(each, classes_of(LABELS)).outside for each in taggings], axis=0
    )
    assert (outside[tags == 0] >= 0.5).all()


def test_spans_are_selected_up_to_the_rate_of_the_reference_best_first() -> None:
    batch = batch_of("Ana ve Eva ve Isa ve Lea ve")  # four candidates among eight tokens
    sure = tagging_of(batch, [3, 0, 3, 0, 3, 0, 3, 0], [0.9, 1, 0.7, 1, 0.8, 1, 0.6, 1])
    other = tagging_of(batch, [3, 0, 0, 0, 3, 0, 3, 0], [0.9, 1, 0.9, 1, 0.8, 1, 0.9, 1])
    reference = configured_reference({"PER": 0.5}, {"PER": 1.0}, 0.0, 8)
    for share, expected in ((1.0, "1111"), (0.75, "1011"), (0.5, "1010"), (0.1, "0000")):
        (tags,) = [select([sure, other], batch, reference, share=share).tags]
        kept = "".join("1" if tag == 3 else "0" for tag in tags[::2])
        # Supports are 0.9, 0.4, 0.8 and 0.75.
        assert kept == {"1010": "1010", "1011": "1011"}.get(expected, expected)
        assert set(tags[::2].tolist()) <= {3, -1} and (tags[1::2] == 0).all()


def test_a_span_that_two_views_support_wins_over_one_that_a_single_view_is_sure_of() -> None:
    batch = batch_of("Ana ve Vic")
    layout = tagging_of(batch, [3, 0, 1], [0.99, 1, 0.7])
    words = tagging_of(batch, [0, 0, 1], [0.95, 1, 0.7])
    reference = configured_reference({"LOC": 0.34, "PER": 0.0}, {"LOC": 1, "PER": 1}, 0.0, 3)
    assert select([layout, words], batch, reference).tags.tolist() == [-1, 0, 1]
    # Where only the first view is asked, both are likely.
    assert select([layout], batch).tags.tolist() == [3, 0, 1]


def test_other_occurrences_of_a_name_are_found_and_count() -> None:
    batch = batch_of("Ana ve", "Ana ve", "ve Ana")
    view = tagging_of(batch, [3, 0, 3, 0, 0, 0], [1, 1, 1, 1, 1, 0.6])
    assert select([view], batch).tags.tolist() == [3, 0, 3, 0, 0, 0]
    # Its support is the mean of its own, 0.4, and that of all three, 0.8.
    assert select([view], batch, average="words").tags.tolist() == [3, 0, 3, 0, 0, 3]


def test_a_context_that_other_views_do_not_support_has_no_entities() -> None:
    def decide(lines: int, confidence: float) -> list[int]:
        batch = batch_of(*["NHC: Ana"] * lines, "ve Ana")
        first = tagging_of(batch, [0, 0, 3] * lines + [0, 3], [0.9, 0.9, 0.99] * lines + [0.9] * 2)
        second = tagging_of(batch, [0, 0, 0] * lines + [0, 3], [confidence] * (3 * lines + 2))
        tags = select([first, second], batch, average="contexts").tags
        assert tags[-1] == 3
        return tags[2 : 3 * lines : 3].tolist()

    assert decide(5, 0.95) == [0] * 5
    assert decide(5, 0.8) == [3] * 5  # (0.99 + 0.2) / 2
    assert decide(4, 0.95) == [3] * 4  # (0.99 + 0.05) / 2: too few to judge them together


def test_the_support_of_a_span_is_averaged_with_its_context() -> None:
    batch = batch_of(*["Sra: Eva"] * 4, *["NHC: Eva"] * 4)
    supports = [0.9, 0.9, 0.9, 0.6, 0.5, 0.5, 0.5, 0.7]
    view = tagging_of(batch, [0, 0, 3] * 8, np.repeat(supports, 3).tolist())
    reference = configured_reference({"PER": 4 / 24}, {"PER": 1.0}, 0.0, 24)
    for average, expected in (
        (None, [3, 3, 3, -1, -1, -1, -1, 3]),
        ("contexts", [3] * 4 + [-1] * 4),
    ):
        assert (
            select([view, view], batch, reference, average=average).tags[2::3].tolist() == expected
        )


def test_tokens_that_may_be_entities_are_unknown() -> None:
    batch = batch_of("ve hoy ya")
    view = tagging_of(batch, [0, 0, 0], [0.95, 0.8, 0.4])
    assert select([view], batch, min_outside=0.5).tags.tolist() == [0, 0, -1]
    assert select([view], batch, min_outside=0.9).tags.tolist() == [0, -1, -1]


def test_documents_without_a_known_tag_are_left_out_and_the_rest_is_sampled() -> None:
    batch = batch_of("ve", "", "hoy", "ya", "ve")
    view = tagging_of(batch, [0, 0, 0, 0], [1, 0.2, 1, 1])
    assert select([view], batch).ids.to_pylist() == ["d0", "d3", "d4"]
    assert len(select([view], batch, most=2)) == 2


def test_classes_of_another_view_are_found_by_name() -> None:
    batch = batch_of("Ana ve")
    first = tagging_of(batch, [3, 0], [0.9, 1])
    other = replace(first, labels=("O", "B-PER", "I-PER"), tags=np.array([1, 0], np.int16))
    opinions = Opinions.from_tagging(other, classes_of(LABELS))
    span = TokenSpans(np.array([0]), np.array([0]), np.array([1]))
    assert opinions.support(span).tolist() == [0.9]


def test_a_view_abstains_from_classes_that_it_does_not_have() -> None:
    """With its vote, Eva would have a lower support than Ana, and Ana would be selected."""
    batch = batch_of("Ana ve Vic ve Eva")
    first = tagging_of(batch, [3, 0, 1, 0, 3], [0.8, 1, 0.9, 1, 0.9])
    places = replace(
        tagging_of(batch, [0, 0, 1, 0, 0], [0.2, 1, 0.9, 1, 1.0]), labels=("O", "B-LOC", "I-LOC")
    )
    reference = configured_reference({"LOC": 0.2, "PER": 0.2}, {"LOC": 1, "PER": 1}, 0.0, 5)
    assert select([first, places], batch, reference).tags.tolist() == [-1, 0, 1, 0, 3]


def test_the_portfolio_begins_with_the_paper_and_leaves_out_what_a_tagger_cannot_do() -> None:
    options = SelectOptions(strategy="auto", proportions=False)
    capabilities = ["partial_tags", "document_weights"]
    everything = portfolio(options, None, capabilities, lists=True)
    names = [strategy.name for strategy in everything]
    assert names == [name for name, kind in STRATEGIES.items() if kind.compared is not None]
    without_lists = [name for name in names if STRATEGIES[name].views < LIST_VIEW]
    assert len(without_lists) == len(names) - 2
    assert [each.name for each in portfolio(options, None, capabilities)] == without_lists
    assert everything[0].name == "confident_documents" and everything[1].views
    assert [strategy.name for strategy in portfolio(options, None, [])] == ["confident_documents"]
    named = replace(options, strategy="consensus")
    assert [strategy.name for strategy in portfolio(named, None, [])] == ["consensus"]


def test_a_variant_differs_in_its_options_and_in_its_name() -> None:
    batch = batch_of("Ana ve Eva ve Isa ve Lea ve Ada ve")
    view = tagging_of(batch, [3, 0] * 5, [0.9, 1, 0.8, 1, 0.7, 1, 0.6, 1, 0.95, 1])
    reference = configured_reference({"PER": 0.5}, {"PER": 1.0}, 0.0, 10)
    capabilities = ["partial_tags", "document_weights"]
    of_name = {
        each.name: each
        for each in portfolio(SelectOptions(strategy="auto"), reference, capabilities)
    }
    strategy = of_name["agreement"]
    (variant,) = strategy.variants
    assert variant.name == "agreement (share 0.6)" and not variant.variants
    selected = []
    for each in (strategy, variant):
        selection = each.select(replace(view, views=(view,)), batch, np.random.default_rng(0))
        selected.append(int((selection.tagging.tags == 3).sum()))
    assert selected == [4, 3]  # 0.9 and 0.6 of 5
    assert not of_name["confident_documents"].variants


@pytest.mark.parametrize(("share", "proportions"), [(0.6, True), (0.9, False)])
def test_a_variant_that_would_select_the_same_is_left_out(share: float, proportions: bool) -> None:
    reference = configured_reference({"PER": 0.5}, {"PER": 1.0}, 0.0, 10)
    options = SelectOptions(strategy="auto", share=share, proportions=proportions)
    found = portfolio(options, reference, ["partial_tags", "document_weights"])
    assert len(found) == 3 and not any(each.variants for each in found)


def test_a_strategy_uses_the_views_that_it_names() -> None:
    """The third view alone is sure of Ana; the second alone of Vic."""
    batch = batch_of("Ana Vic")
    unsure = tagging_of(batch, [0, 0], [0.9, 0.9])
    second = tagging_of(batch, [0, 3], [0.9, 1])
    lists = tagging_of(batch, [3, 0], [1, 1])
    reference = configured_reference({"PER": 1.0, "LOC": 0.0}, {"PER": 1.0, "LOC": 1.0}, 0.0, 2)
    found = {}
    for name in ("agreement", "agreement_with_lists"):
        strategy = strategy_for(SelectOptions(strategy=name, share=0.5), reference)
        tagging = replace(unsure, views=(second, lists))
        selection = strategy.select(tagging, batch, np.random.default_rng(0))
        found[name] = selection.tagging.tags.tolist()
    assert found == {"agreement": [0, 3], "agreement_with_lists": [3, -1]}
