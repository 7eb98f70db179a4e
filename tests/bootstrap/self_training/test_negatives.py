"""Blank documents are found by their context, as many as the seed lacks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.data.representativeness import has_entities
from bootstrap.self_training.negatives import blank_documents, missing_blanks
from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from taggers import Tagging


class Lists:
    """A tagger that finds some words."""

    kind, labels, training = "lists", ("O", "B-PERSON", "I-PERSON"), None

    def tag(self, batch: Batch, **_: object) -> Tagging:
        words = np.array([*batch.vocabulary, ""], object)[batch.word_ids]
        tags = np.isin(words, ["Ana", "olot"]).astype(np.int16)
        return Tagging(tags, self.labels, np.ones(len(batch)))


def documents(*texts: str, entity: bool = False) -> list[Document]:
    spans = (Span(0, 1, "PERSON"),) if entity else ()
    return [Document(str(n), text, spans) for n, text in enumerate(texts)]


SEED = make_batch(documents(*["Nombre: Ana"] * 3, *["Sala: 4"] * 2, entity=True), labelled=True)


@pytest.mark.parametrize(
    ("texts", "blank"),
    [
        (["Servicio: Urgencias"] * 5, True),
        (["Servicio: Urgencias"] * 4, False),  # too few to judge the header
        (["Sala: 4"] * 5, True),  # two documents of the seed do not tell
        (["Nombre: Pau"] * 5, False),  # the seed tells
        (["Contacto: Ana", *["Contacto: Pau"] * 5], False),
        (["Contacto: Ana", *["Contacto: Pau"] * 6], True),  # below 15 %
        (["Sin fiebre", "Refiere tos ."], True),
        (["Vive en olot", "Acude con Pau", "Escribe a x@y.es", ""], False),
    ],
)
def test_a_context_is_judged_as_a_whole(texts: list[str], blank: bool) -> None:
    pool = make_batch(documents(*texts), labelled=False)
    chosen = blank_documents(pool, SEED, Lists(), len(texts), np.random.default_rng(0))  # type: ignore[arg-type]
    assert len(chosen) == (len(texts) if blank else 0)
    assert chosen.labels == SEED.labels and not chosen.tags.any()


def test_documents_are_drawn_up_to_the_number() -> None:
    pool = make_batch(documents(*[f"sin fiebre {n}" for n in range(50)]), labelled=False)
    draws = [
        blank_documents(pool, SEED, Lists(), 10, np.random.default_rng(seed)).ids.to_pylist()  # type: ignore[arg-type]
        for seed in (0, 0, 1)
    ]
    assert len(set(draws[0])) == 10 and draws[0] == draws[1] != draws[2]


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 40), st.integers(0, 40))
def test_a_seed_with_what_it_lacks_has_the_share_of_validation(
    positive: int, blank: int, validation_positive: int, validation_blank: int
) -> None:
    def batch(entities: int, others: int) -> Batch:
        texts = documents(*"a" * entities, entity=True) + documents(*"b" * others)
        return make_batch(texts, labelled=True)

    gold, validation = batch(positive, blank), batch(validation_positive, validation_blank)
    missing = missing_blanks(gold, validation)
    share = 1 - has_entities(validation).mean()
    if missing:
        assert abs((blank + missing) / (len(gold) + missing) - share) < 1 / len(gold)
    else:
        assert blank >= share * len(gold) - 1
