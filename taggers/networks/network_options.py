"""Options of the inputs of networks, and of the BiLSTM-CRF tagger."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from corpus.errors import InputError
from taggers.embeddings.automatic import AUTO
from taggers.embeddings.embedding_files import embedding_folders
from taggers.features.feature_options import PHRASES, FeatureOptions, name_of
from taggers.features.templates import Templates
from taggers.options import Coverage, option

if TYPE_CHECKING:
    from taggers.features.words import Feature


@dataclass(frozen=True, slots=True)
class WordOptions(FeatureOptions):
    """Options of the inputs of a network for a word."""

    embeddings: str = option(
        AUTO,
        "a folder of embeddings, whose vectors are joined, written by bootstrap embed train or "
        f'load; "{AUTO}" trains them in the run, on the text of all its documents (bootstrap help '
        "embeddings); if empty, vectors are learned from the training documents alone",
        path=(AUTO,),
    )
    train_embeddings: bool = option(
        False, "adjust the vectors of the words of the training documents (re-embedding)"
    )
    embedding_penalty: float = option(
        0.01, "weight of the L2 penalty on the adjustment of vectors by train_embeddings", least=0
    )
    dimension: int = option(50, "dimension of the vectors of words without embeddings", least=1)
    characters: Literal["none", "cnn", "bilstm"] = option(
        "cnn",
        'vectors of words from their characters: "none", a convolution ("cnn"), or a BiLSTM '
        '("bilstm")',
    )
    character_dimension: int = option(25, "dimension of the vectors of characters", least=1)
    character_units: int = option(
        50,
        "filters of the convolution, or units of each direction of the BiLSTM over characters",
        least=1,
    )
    features: tuple[str, ...] = option(
        ("capitalization", "short_shape"), "features of a word, by name (bootstrap help features)"
    )
    feature_dimension: int = option(
        8, "dimension of the vectors of the values of features and streams", least=1
    )

    def __post_init__(self) -> None:
        FeatureOptions.__post_init__(self)
        for key, templates in (("features", self.features), ("streams", self.streams)):
            for text in templates:
                if name_of(text) != text:
                    raise InputError(
                        f'{key} names "{text}": the network reads the context by itself; expected '
                        "a name without a window"
                    )
                if templates.count(text) > 1:
                    raise InputError(
                        f'"{text}" is named {templates.count(text)} times; expected once'
                    )

    def training_files(self) -> Mapping[str, Sequence[Path]]:
        paths = dict(FeatureOptions.training_files(self))
        if "embeddings" in paths:
            paths["embeddings"] = [
                folder / name
                for folder in embedding_folders(Path(self.embeddings))
                for name in ("vectors.npy", "hashes.npy")
            ]
        return paths

    def check(self) -> Sequence[Coverage]:
        coverage = list(FeatureOptions.check(self))
        if self.paths("embeddings"):
            from taggers.networks.word_vectors import (  # noqa: PLC0415 - numba is slow to import
                WordVectors,
            )

            coverage.insert(0, WordVectors.read(Path(self.embeddings)).coverage())
        return coverage

    def templates(
        self,
        clusters: Mapping[str, Feature] | None = None,
        names: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Build the templates of the features and streams, which apply to the token itself."""
        clusters, names = clusters or {}, names or {}
        streams = self.streams
        if self.phrases and PHRASES not in streams:
            streams = (*streams, PHRASES)
        resources = {**clusters, **names}
        return Templates.parse((*self.features, *resources), 0, streams, (), resources)


@dataclass(frozen=True, slots=True)
class ArchitectureOptions(WordOptions):
    """Options of the inputs and layers of the network."""

    units: int = option(64, "memory units of each direction of the BiLSTM", least=1)
    subsequence: int = option(
        0,
        "tokens of the overlapping sub-sequences that documents are divided into, such as 24 or "
        "48; 0 keeps documents whole",
        least=0,
    )
    sensitive_units: int = option(
        50,
        "units of a second head that is trained to tell whether a token is part of any entity, and "
        "feeds the first; 0 for none",
        least=0,
    )

    def __post_init__(self) -> None:
        WordOptions.__post_init__(self)
        if 0 < self.subsequence < 4:
            raise InputError(f"subsequence = {self.subsequence}: expected 0, or at least 4 tokens")


@dataclass(frozen=True, slots=True)
class BiLSTMCRFOptions(ArchitectureOptions):
    """Options of the BiLSTM-CRF tagger; every field is a key of ``[tagger]``."""

    learning: Literal["likelihood", "marginal"] = option(
        "likelihood",
        'what training maximises: the "likelihood" of tag sequences, or the "marginal" likelihood '
        "of tags",
    )
    dropout: float = option(
        0.5,
        "share of the inputs and outputs of the BiLSTM that are dropped in training",
        least=0,
        most=0.95,
    )
    word_dropout: float = option(
        0.05,
        "probability of replacing a word of a training document by the unknown word",
        least=0,
        most=1,
    )
    learning_rate: float = option(
        0.004,
        "learning rate of Adam with minibatches of 16 documents; with others, it is multiplied by "
        "the square root of their size divided by 16",
        least=1e-8,
    )
    decay_start: float = option(
        0.5,
        "share of the epochs after which the learning rate falls linearly to nearly 0 in the last "
        "one; 1 keeps it constant",
        least=0,
        most=1,
    )
    minibatch: int = option(
        0,
        "training documents of a step of Adam; 0 is a 64th of them, at least 16 and at most 64",
        least=0,
    )
    epochs: int = option(40, "maximum number of epochs, unless min_steps needs more", least=1)
    min_steps: int = option(
        800, "few documents are trained on for more epochs, up to this number of steps", least=0
    )
    patience: int = option(
        10, "training stops after this number of epochs without a fall of the loss", least=1
    )
    held_out: float = option(
        0.0,
        "share of the training documents whose loss determines when to stop and which epoch is the "
        "best; 0 uses all of them for training",
        least=0,
        most=0.5,
    )
    averaging: float = option(
        0.98,
        "decay of the exponential moving average of weights; 0 for none",
        least=0,
        most=0.99999,
    )
    backend: Literal["tensorflow", "torch"] = option(
        "tensorflow", "the library that Keras trains with; both use a GPU where they find one"
    )

    def check(self) -> Sequence[Coverage]:
        check_installed(self.backend)
        return ArchitectureOptions.check(self)


def check_installed(backend: str, kind: str = "bilstm-crf") -> None:
    """Raise an `InputError` if a package is missing that trains networks with a backend."""
    for name in ("keras", backend):
        if importlib.util.find_spec(name) is None:
            needed = "torch" if name == "torch" else "'bootstrap-ner[neural]'"
            raise InputError(
                f'kind = "{kind}" is trained with {name}, which is not installed: '
                f"pip install {needed}"
            )
