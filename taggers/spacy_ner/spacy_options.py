"""Options of spaCy's recognizer."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.errors import InputError
from taggers.options import Capability, Coverage, TaggerOptions, option


@dataclass(frozen=True, slots=True)
class SpacyOptions(TaggerOptions):
    """Options of spaCy's recognizer; every field is a key of ``[tagger]``."""

    width: int = option(96, "dimension of the vectors of tokens", least=8, most=256)
    depth: int = option(4, "convolutions over the neighbours of a token", least=1, most=8)
    rows: int = option(
        2000,
        "rows of the tables that hold the vectors of words by their hashes",
        least=16,
        most=10_000,
    )
    dropout: float = option(0.1, "share of inputs that are dropped", least=0, most=0.95)
    minibatch: int = option(100, "tokens of a step of Adam, approximately", least=1)
    learning_rate: float = option(0.001, "learning rate of Adam", least=1e-8)
    epochs: int = option(10, "number of epochs, unless min_steps needs more", least=1)
    min_steps: int = option(
        2500, "few documents are trained on for more epochs, up to this number of steps", least=0
    )
    beam: int = option(
        16,
        "sequences of transitions that are compared, from which probabilities come",
        least=1,
        most=64,
    )

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset({"entity_probabilities", "document_weights"})

    def check(self) -> Sequence[Coverage]:
        check_installed()
        return TaggerOptions.check(self)


def check_installed() -> None:
    """Raise an `InputError` if spaCy is not installed."""
    if importlib.util.find_spec("spacy") is None:
        raise InputError(
            'kind = "spacy" needs spaCy, which is not installed: pip install "bootstrap-ner[spacy]"'
        )
