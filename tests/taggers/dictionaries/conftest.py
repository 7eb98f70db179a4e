"""Taggers from lists of each kind, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.synthetic import synthetic_notes
from gazetteers.builtin import CENSUS
from taggers import make_tagger
from taggers.dictionaries.dictionary_options import (
    DictionaryOptions,
    DivergenceOptions,
    ListOptions,
)

OPTIONS: dict[str, Any] = {
    "dictionary": DictionaryOptions,
    "divergence": DivergenceOptions,
    "lists": ListOptions,
}


def notes(*texts: str) -> Batch:
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    return make_batch(documents, labelled=False)


def fitted(kind: str, train: Batch, *names: Path | str, **options: Any) -> Any:
    chosen = OPTIONS[kind](names=tuple(map(str, names)) or (CENSUS,), **options)
    return make_tagger(kind, chosen).fit(train, rng=np.random.default_rng(0))


def entities_in(tagger: Any, text: str) -> list[tuple[str, str]]:
    """Return the entities in a text, with their classes."""
    batch = notes(text)
    tagging = tagger.tag(batch)
    (spans,) = batch.with_tags(tagging.tags, tagging.labels).spans()
    return [(text[span.start : span.end], span.label) for span in spans]


def same(left: Any, right: Any) -> bool:
    return (
        (left.tags == right.tags).all()
        and (left.confidence == right.confidence).all()
        and (left.token_confidence == right.token_confidence).all()
        and left.labels == right.labels
    )


@pytest.fixture(scope="session")
def synthetic() -> Batch:
    return make_batch(synthetic_notes(800, random_state=4), labelled=False)


@pytest.fixture(scope="session")
def trained(synthetic: Batch) -> Callable[[str], Any]:
    """Return the tagger of a kind that is trained on the synthetic notes."""
    return lru_cache(lambda kind: fitted(kind, synthetic))
