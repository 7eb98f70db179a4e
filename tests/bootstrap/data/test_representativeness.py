"""Seeds of another kind are told from those that are representative or only enriched."""

from __future__ import annotations

import importlib.util
import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.data.representativeness import Separation, compare, has_entities, profile, separation
from bootstrap.data.samples import Sample, sample_of
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.formats.batches import batch_of


def labelled(documents: Sequence[Document]) -> Batch:
    return make_batch(documents, labelled=True, classes=["PERSON"])


def unlabelled(documents: Sequence[Document]) -> Batch:
    return make_batch([Document(d.id, d.text, (), d.group) for d in documents], labelled=False)


# Samples


@given(
    st.integers(0, 60), st.integers(1, 20), st.lists(st.integers(0, 60), max_size=4), st.integers(0)
)
def test_a_sample_does_not_depend_on_how_the_stream_is_divided(
    number: int, size: int, cuts: list[int], random_state: int
) -> None:
    stream = [Document(str(i), "x") for i in range(number)]
    whole, parts = (Sample(size, random_state) for _ in range(2))
    whole.add(batch_of(stream))
    ends = sorted({0, number, *(cut for cut in cuts if cut < number)})
    for first, last in itertools.pairwise(ends):
        parts.add(batch_of(stream[first:last]))
    assert whole.documents == parts.documents
    assert len(whole.documents) == min(size, number)
    places = [int(document.id) for document in whole.documents]
    assert places == sorted(set(places))


def test_every_document_is_as_likely_to_be_sampled() -> None:
    """Of 8 documents 2: each is in a quarter of the samples, whatever its place."""
    counts = np.zeros(8)
    for random_state in range(2000):
        sample = Sample(2, random_state)
        for number in range(8):
            sample.add(batch_of([Document(str(number), "x")]))
        for document in sample.documents:
            counts[int(document.id)] += 1
    assert np.abs(counts / 2000 - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 2000)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20), st.integers(0, 40))
def test_a_sample_of_a_batch_is_as_that_of_a_stream(lengths, size, tokens) -> None:
    documents = [Document(str(i), "x " * length) for i, length in enumerate(lengths)]
    batch = make_batch(documents, labelled=False)
    stream = Sample(size)
    stream.add(batch_of(documents))
    assert sample_of(batch, size).ids.to_pylist() == [document.id for document in stream.documents]
    # With a bound on the tokens, it is the largest of the smaller samples that has no more.
    sample = sample_of(batch, size, tokens=tokens)
    fitting = [sample_of(batch, number) for number in range(1, size + 1)]
    largest = max((len(part) for part in fitting if part.n_tokens <= tokens), default=1)
    assert sample.ids.to_pylist() == sample_of(batch, largest).ids.to_pylist()


# Profiles


def test_a_profile_has_the_figures_of_its_documents() -> None:
    documents = [
        Document("a", "Pac Anna Puig, Vic", (Span(4, 13, "PERSON"), Span(15, 18, "PLACE"))),
        Document("b", "TA 120/80 hoy"),
        Document("c", "Pac Pere", (Span(4, 8, "PERSON"),)),
        Document("d", ""),
    ]
    batch = make_batch(documents, labelled=True)
    profiled = profile(batch)
    assert has_entities(batch).tolist() == [True, False, True, False]
    assert profiled.with_entities == 0.5
    assert profiled.per_document == {"PERSON": 0.5, "PLACE": 0.25}
    assert profiled.tokens == pytest.approx(
        {"PERSON": 3 / batch.n_tokens, "PLACE": 1 / batch.n_tokens}
    )
    assert profiled.beginnings == {"Xx Xx": 0.5, "X 0": 0.25}
    assert profiled.length == np.median(batch.lengths)
    bare = profile(unlabelled(documents))
    assert (bare.with_entities, bare.tokens, bare.beginnings) == (None, {}, profiled.beginnings)


# Comparisons


def drawn(number: int, random_state: int, kind: str = "any", name: str = "n") -> list[Document]:
    """Draw lines, of which half are headers ("Nombre: Anna"), and half have a name."""
    draw = random.Random(random_state)
    documents: list[Document] = []
    while len(documents) < number:
        header, person = draw.random() < 0.5, draw.random() < 0.5
        if (kind == "header" and not header) or (
            kind == "enriched" and not person and draw.random() < 0.8
        ):
            continue
        words = [draw.choice(["fiebre", "tos", "dolor", "alta", "control"]) for _ in range(3)]
        word = draw.choice(["Anna", "Pere", "Marc"]) if person else draw.choice(words)
        before = "Nota: " if header else f"se cita {words[0]} "
        spans = (Span(len(before), len(before) + len(word), "PERSON"),) if person else ()
        text = f"{before}{word} {words[1]} {words[2]}"
        documents.append(Document(f"{name}{len(documents)}", text, spans))
    return documents


def test_a_seed_of_one_kind_is_biased_and_an_enriched_one_is_not() -> None:
    validation, pool = labelled(drawn(600, 1)), unlabelled(drawn(900, 2))
    for kind, biased, enriched in (
        ("any", False, False),
        ("header", True, False),
        ("enriched", False, True),
    ):
        seed = labelled(drawn(200, 3, kind))
        compared = compare({"seed": seed, "validation": validation, "unlabeled": pool})
        assert (compared.seed_is_biased, compared.seed_is_enriched) == (biased, enriched), kind
        assert not compared.validation_is_biased
        lines = list(compared.lines())
        assert len(lines) == biased + enriched
        assert biased == any("documents differ" in line for line in lines)
        assert not any(word in line for line in lines for word in ("Nota", "Anna", "fiebre"))
        if biased:
            assert 'begin with words of the shape "Xx :"' in lines[0]


def test_validation_of_another_kind_is_told_and_the_seed_is_not_blamed() -> None:
    validation, pool = labelled(drawn(300, 1, "header")), unlabelled(drawn(900, 2))
    compared = compare(
        {"seed": labelled(drawn(200, 3)), "validation": validation, "unlabeled": pool}
    )
    assert compared.seed is not None and compared.seed.is_significant
    assert compared.validation_is_biased and not compared.seed_is_biased
    (line,) = compared.lines()
    assert line.startswith("validation: its documents differ")


def test_a_seed_with_enough_documents_drawn_at_random_is_not_biased() -> None:
    """Who follows the advice is not given it again."""
    validation, headers = labelled(drawn(600, 1)), drawn(400, 3, "header")
    for added, biased in ((0, True), (10, True), (100, False)):
        seed = labelled([*headers, *drawn(added, 4, name="r")])
        compared = compare({"seed": seed, "validation": validation})
        assert compared.seed is not None and compared.seed.is_significant
        assert compared.seed.alike == pytest.approx(added, rel=0.8, abs=20)
        assert compared.seed_is_biased == biased
        assert any("drawn at random" in line for line in compared.lines()) == biased


def test_a_few_documents_are_not_compared() -> None:
    few, many = labelled(drawn(9, 1)), labelled(drawn(100, 2))
    assert separation(few, many, by_entities=False) is None
    assert separation(few, many, by_entities=True) is None
    nothing = labelled([])
    assert compare({"validation": many, "unlabeled": nothing}).validation is None
    assert list(compare({"validation": nothing, "unlabeled": nothing}).lines()) == []


def test_documents_of_few_patients_are_as_few() -> None:
    """Patients whose notes all repeat a word of their own are known again, and no kind."""
    patients = [
        Document(f"{p}-{i}", f"sala{chr(97 + p) * 3} {document.text}", (), f"p{p}")
        for p in range(40)
        for i, document in enumerate(drawn(10, p))
    ]
    seed, others = unlabelled(patients[:150]), unlabelled(patients[150:])
    separated = separation(seed, others, by_entities=False)
    assert separated is not None and not separated.is_significant
    assert separated.standard_error == pytest.approx(np.sqrt(41 / (12 * 15 * 25)))


def test_a_difference_must_be_large_and_more_than_chance() -> None:
    assert not Separation(0.59, 0.001).is_significant
    assert not Separation(0.75, 0.1).is_significant
    assert Separation(0.75, 0.05).is_significant


# Real notes


@pytest.fixture(scope="module")
def lines(meddocan: Path) -> tuple[ModuleType, dict[str, list[Document]]]:
    """The lines of MEDDOCAN, and the module that samples seeds from them."""
    path = Path(__file__).resolve().parents[3] / "benchmarks" / "meddocan_lines.py"
    spec = importlib.util.spec_from_file_location("meddocan_lines", path)
    assert spec and spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, {split: module.lines_of(split, module.MERGED) for split in ("train", "dev")}


@pytest.mark.parametrize("states", [(0,), pytest.param((1, 2, 3, 4), marks=pytest.mark.slow)])
def test_the_biased_seed_of_meddocan_is_found_and_the_others_are_not(states, lines) -> None:
    """The seeds of docs/results.md, and one at random."""
    module, splits = lines
    sample = Sample()
    sample.add(batch_of(splits["dev"]))
    validation = labelled(sample.documents)

    def at_random(lines: Sequence[Document], rng: np.random.Generator) -> Any:
        return rng.choice(len(lines), 300, replace=False)

    marked = {}
    for name, seed_of in {**module.SEEDS, "random": at_random}.items():
        marked[name] = 0
        for state in states:
            chosen = seed_of(splits["train"], np.random.default_rng(state))
            seed = labelled([splits["train"][place] for place in chosen.tolist()])
            separated = separation(seed, validation, by_entities=True)
            marked[name] += separated.is_significant
            assert (name == "biased") == (separated.alike < 50)
    # With 100 random lines, the seed is still mostly lines that begin with a header, and no
    # longer biased.
    biased = dict.fromkeys(("biased", "biased-hundred"), len(states))
    assert marked == {**biased, "small": 0, "hundred": 0, "random": 0}
    pool = Sample()
    pool.add(batch_of(splits["train"]))
    separated = separation(validation, unlabelled(pool.documents), by_entities=False)
    assert separated is not None and not separated.is_significant
