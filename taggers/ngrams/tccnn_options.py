"""Options of the tagger of n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gazetteers.builtin import BUILTIN_LISTS
from taggers.embeddings.automatic import AUTO
from taggers.morphology.analysers import check_analysers
from taggers.networks.network_options import WordOptions, check_installed
from taggers.options import Capability, Coverage, option


@dataclass(frozen=True, slots=True)
class TCCNNOptions(WordOptions):
    """Options of the tagger of n-grams; every field is a key of ``[tagger]``."""

    streams: tuple[str, ...] = option(
        (), "features of the context of a token, as in the network (bootstrap help features)"
    )
    clusters: str = option(
        "",
        "a folder of embeddings whose clusters become features of words (bootstrap help "
        "embeddings)",
        path=(AUTO,),
    )
    names: tuple[str, ...] = option(
        (),
        "gazetteers of names whose frequencies become features of words (bootstrap help "
        "gazetteers)",
        path=BUILTIN_LISTS,
    )
    phrases: tuple[str, ...] = option(
        (), 'gazetteers whose phrases become the stream "phrases"', path=BUILTIN_LISTS
    )
    characters: Literal["none", "cnn", "bilstm"] = option(
        "none",
        'vectors of words from their characters: "none", a convolution ("cnn"), or a BiLSTM '
        '("bilstm")',
    )
    ngrams: Literal["words", "pos"] = option(
        "words",
        'what leaves n-grams out: "words" that training documents do not have at the place, or '
        'parts of speech ("pos") and words within entities',
    )
    min_count: int = option(
        5, "occurrences from which on a word may leave n-grams out", least=1, most=1_000_000
    )
    length: int = option(15, "words of an n-gram, and of each context, at most", least=3, most=50)
    filters: int = option(32, "filters of the convolution of each channel", least=1, most=1000)
    units: int = option(200, "units of the hidden layer", least=1, most=10_000)
    penalty: float = option(0.001, "weight of the L2 penalty on the hidden layer", least=0)
    dropout: float = option(0.005, "share of inputs that are dropped", least=0, most=0.95)
    balance: float = option(
        0.0,
        "a class of n of N n-grams has the weight (N / n) to this power; 0 weights all the same",
        least=0,
        most=1,
    )
    minibatch: int = option(156, "n-grams of a step of Adam", least=1)
    learning_rate: float = option(0.001, "learning rate of Adam", least=1e-8)
    epochs: int = option(10, "number of epochs, unless min_steps needs more", least=1)
    min_steps: int = option(
        2000, "few documents are trained on for more epochs, up to this number of steps", least=0
    )
    final_filter: bool = option(
        True, "whether n-grams without the characters of their class are no entities"
    )
    backend: Literal["tensorflow", "torch"] = option(
        "tensorflow", "the library that Keras trains with; both use a GPU where they find one"
    )

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset({"entity_probabilities", "document_weights"})

    def check(self) -> Sequence[Coverage]:
        check_installed(self.backend, "tccnn")
        if self.ngrams == "pos":
            check_analysers(self.analysers, pos=True)
        return WordOptions.check(self)
