"""Seeds drawn by size and rule."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.config.experiment_options import SeedOptions
from bootstrap.config.overrides import ConfigurationError
from bootstrap.experiments.documents import draw_seed
from corpus.document import Document, Span


def documents(flags: list[tuple[bool, bool]]) -> list[Document]:
    """Documents with and without an entity, that begin with a header or not."""
    return [
        Document(
            str(number),
            "Nombre: Anna" if headed else "ve Anna",
            (Span(3, 7, "PERSON"),) if entity else (),
        )
        for number, (headed, entity) in enumerate(flags)
    ]


FLAGS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)
SHARES = st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0])


@given(FLAGS, st.integers(1, 12), SHARES, st.booleans(), st.integers(0, 5), st.integers(0, 9))
def test_a_seed_has_the_size_and_follows_the_rules_or_there_are_too_few(
    flags, number, share, headed, others, state
) -> None:
    pattern = r"\w+:" if headed else ""
    options = SeedOptions(number, share, pattern, others=others)
    pool = documents(flags)
    allowed = [document for document in pool if not headed or re.match(pattern, document.text)]
    some = sum(bool(document.spans) for document in allowed)
    wanted = round(number * share)
    lacks = (
        wanted > some or number - wanted > len(allowed) - some if share else number > len(allowed)
    )
    if lacks or number + others > len(pool):
        with pytest.raises(ConfigurationError, match=r"\[seed\] needs"):
            draw_seed(pool, options, np.random.default_rng(state))
        return
    drawn = draw_seed(pool, options, np.random.default_rng(state))
    assert len(drawn) == len(set(drawn.tolist())) == number + others
    ruled = [pool[index] for index in drawn[:number]]
    assert all(re.match(pattern, document.text) for document in ruled)
    if share:
        assert sum(bool(document.spans) for document in ruled) == wanted
    again = draw_seed(pool, options, np.random.default_rng(state))
    assert np.array_equal(drawn, again)


def test_all_documents_that_follow_the_rules_are_drawn_alike() -> None:
    pool = documents([(True, False)] * 10)
    drawn = [draw_seed(pool, SeedOptions(2), np.random.default_rng(state)) for state in range(2000)]
    counts = np.bincount(np.concatenate(drawn), minlength=10)
    assert (abs(counts - 400) < 5 * np.sqrt(400)).all()


def test_what_is_lacking_is_named() -> None:
    pool = documents([(True, True), (False, True), (False, False)])
    with pytest.raises(ConfigurationError) as refusal:
        draw_seed(pool, SeedOptions(4, 0.5, r"\w+:"), np.random.default_rng(0))
    message = str(refusal.value)
    assert "there are 1 of 3 in [data] seed" in message
    assert r"that match pattern = '\\w+:'" in message


LINES = [
    Document(f"{patient}#{line}", "Anna", (Span(0, 4, "PERSON" if line else "CITY"),), patient)
    for patient in "abcde"
    for line in range(3)
]


def test_documents_of_patients_are_drawn_together() -> None:
    firsts = set[str]()
    for state in range(200):
        options = SeedOptions(7, draw="patients")
        drawn = draw_seed(LINES, options, np.random.default_rng(state))
        patients = [LINES[index].group for index in drawn]
        assert patients[:6:3] == patients[2:6:3] and len(set(patients)) == 3
        firsts.add(f"{patients[0]}{patients[3]}")
    assert len(firsts) == 20  # any patient after any other one


def test_consecutive_documents_begin_with_a_patient_and_go_on_at_the_beginning() -> None:
    firsts = set[int]()
    for state in range(60):
        options = SeedOptions(7, draw="consecutive")
        drawn = draw_seed(LINES, options, np.random.default_rng(state))
        assert drawn.tolist() == [(drawn[0] + step) % len(LINES) for step in range(7)]
        firsts.add(int(drawn[0]))
    assert firsts == {0, 3, 6, 9, 12}


def test_a_class_can_be_left_out() -> None:
    drawn = draw_seed(LINES, SeedOptions(10, without=("CITY",)), np.random.default_rng(0))
    assert {span.label for index in drawn for span in LINES[index].spans} == {"PERSON"}
    with pytest.raises(ConfigurationError, match="without CITY"):
        draw_seed(LINES, SeedOptions(11, without=("CITY",)), np.random.default_rng(0))
