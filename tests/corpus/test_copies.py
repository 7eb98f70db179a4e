"""Copies among texts, compared with sets of words and with the probabilities of MinHash."""

from __future__ import annotations

import random
import string

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.copies import Copies


def texts_of(*texts: str) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def found(kind: str, *parts: list[str]) -> list[bool]:
    """Return which texts are copies, found in several calls."""
    copies = Copies(kind)
    return [flag for part in parts for flag in copies.find(texts_of(*part)).tolist()]


def random_text(draw: random.Random, length: int) -> list[str]:
    return ["".join(draw.choices(string.ascii_lowercase, k=8)) for _ in range(length)]


short_texts = st.lists(
    st.sampled_from(["Alta.", "ALTA.", " alta. ", "Alta", "", "a  b", "a b", "á"])
)


@given(st.lists(short_texts, max_size=4), st.sampled_from(["exact", "near"]))
def test_all_but_the_first_of_the_same_short_texts_are_copies(parts, kind) -> None:
    seen: set[str] = set()
    expected = []
    for text in (" ".join(text.lower().split()) for part in parts for text in part):
        expected.append(text in seen)
        seen.add(text)
    assert found(kind, *parts) == expected


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_the_division_into_calls_does_not_matter(seed, size) -> None:
    draw = random.Random(seed)
    base = [random_text(draw, 30) for _ in range(10)]
    texts = [" ".join(draw.sample(words, draw.choice([29, 30]))) for words in base * 6]
    parts = [texts[start : start + size] for start in range(0, len(texts), size)]
    assert found("near", *parts) == found("near", texts)


@pytest.mark.parametrize("changed", [0, 2, 10, 20, 40])
def test_near_copies_are_found_with_the_probability_of_minhash(changed) -> None:
    draw, number, words = random.Random(changed), 600, 100
    originals = [random_text(draw, words) for _ in range(number)]
    copies = [[*text[changed:], *random_text(draw, changed)] for text in originals]
    jaccard = (words - changed) / (words + changed)
    flags = found(
        "near", *([" ".join(text).upper() for text in part] for part in (originals, copies))
    )
    assert not any(flags[:number])
    expected = 1 - (1 - jaccard**8) ** 10
    deviation = 4 * np.sqrt(expected * (1 - expected) / number) + 1e-9
    assert abs(np.mean(flags[number:]) - expected) <= deviation


def test_a_short_text_with_another_name_is_no_copy() -> None:
    texts = [f"Paciente {name} acude a urgencias por dolor abdominal" for name in ("Anna", "Pere")]
    assert found("near", texts) == [False, False]
