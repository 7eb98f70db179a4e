"""What a small CRF of the seed predicts for other documents."""

from __future__ import annotations

import pytest

from bootstrap.data import samples as module
from bootstrap.data.samples import predicted_shares, sample_of, token_shares
from corpus.batch import Batch, concatenate, make_batch
from corpus.document import Document, Span

NAMES = ("Ana Mas", "Eva Puig", "Pau Vidal", "Joan Serra")


def notes(header: str, labelled: bool = True) -> Batch:
    """Return notes of five tokens, of which two are a name."""
    documents = [
        Document(
            str(number),
            f"{header} : {name} .",
            (Span(len(header) + 3, len(header) + 3 + len(name), "PERSON"),),
        )
        for number, name in enumerate(NAMES * 5)
    ]
    return make_batch(documents, labelled=labelled)


def test_shares_are_of_tokens() -> None:
    assert token_shares(notes("Nombre")) == {"PERSON": pytest.approx(2 / 5)}
    assert token_shares(make_batch([], labelled=True, classes=["PERSON"])) == {"PERSON": 0.0}


def test_a_seed_predicts_what_is_like_it() -> None:
    others = {"validation": notes("Nombre"), "unlabeled": notes("Nombre", labelled=False)}
    shares = predicted_shares(notes("Nombre"), others)
    assert shares == {name: {"PERSON": pytest.approx(2 / 5)} for name in others}


def test_tags_of_the_others_have_no_influence() -> None:
    others = notes("vive con")
    bare = make_batch(others.to_documents(), labelled=False)
    seed = notes("Nombre")
    assert predicted_shares(seed, {"a": others})["a"] == predicted_shares(seed, {"a": bare})["a"]


@pytest.mark.parametrize("seed", [[], [Document("a", "sin nombres")]])
def test_a_seed_without_entities_predicts_nothing(seed: list[Document]) -> None:
    assert predicted_shares(make_batch(seed, labelled=True), {"a": notes("Nombre")}) == {}


def test_only_samples_of_a_bounded_length_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = concatenate([notes("Nombre"), notes("vive con")])
    plain = make_batch([Document(str(i), "sin nombres hoy") for i in range(20)], labelled=False)
    others = concatenate([notes("vive con", labelled=False), plain])
    whole = predicted_shares(seed, {"a": others})
    monkeypatch.setattr(module, "MOST_TOKENS", 50)
    shares = predicted_shares(seed, {"a": others})
    assert shares != whole
    samples = [sample_of(batch, tokens=50) for batch in (seed, others)]
    assert max(batch.n_tokens for batch in samples) <= 50
    monkeypatch.undo()
    assert shares == predicted_shares(samples[0], {"a": samples[1]})
