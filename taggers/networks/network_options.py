"""Options of the BiLSTM-CRF tagger."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from gazetteers.builtin import BUILTIN_LISTS
from taggers.annotators.rules import Rules
from taggers.embeddings.automatic import AUTO
from taggers.embeddings.listing import embedding_folders
from taggers.feature_sources import (
    PHRASES,
    check_clusters,
    check_lists,
    check_streams,
    cluster_paths,
    in_lists,
    name_of,
    without_layout,
)
from taggers.features import Feature, feature
from taggers.options import Capability, Coverage, TaggerOptions
from taggers.templates import Templates


@dataclass(frozen=True, slots=True)
class BiLSTMCRFOptions(TaggerOptions):
    """Options of the BiLSTM-CRF tagger; every field is a key of ``[tagger]``."""

    embeddings: str = field(
        default="",
        metadata={
            "help": "a folder of embeddings, whose vectors are joined, written by bootstrap embed "
            f'train or load; "{AUTO}" trains them in the run, on the text of all its documents '
            "(bootstrap help embeddings); if empty, vectors are learned from the training "
            "documents alone",
            "path": True,
            "builtin": (AUTO,),
        },
    )
    train_embeddings: bool = field(
        default=False,
        metadata={
            "help": "adjust the vectors of the words of the training documents (re-embedding)"
        },
    )
    embedding_penalty: float = field(
        default=0.01,
        metadata={
            "help": "weight of the L2 penalty on the adjustment of vectors by train_embeddings",
            "least": 0,
        },
    )
    dimension: int = field(
        default=50,
        metadata={"help": "dimension of the vectors of words without embeddings", "least": 1},
    )
    word_dropout: float = field(
        default=0.05,
        metadata={
            "help": "probability of replacing a word of a training document by the unknown word",
            "least": 0,
            "most": 1,
        },
    )
    characters: Literal["none", "cnn", "bilstm"] = field(
        default="cnn",
        metadata={
            "help": 'vectors of words from their characters: "none", a convolution ("cnn"), or '
            'a BiLSTM ("bilstm")'
        },
    )
    character_dimension: int = field(
        default=25, metadata={"help": "dimension of the vectors of characters", "least": 1}
    )
    character_units: int = field(
        default=50,
        metadata={
            "help": "filters of the convolution, or units of each direction of the BiLSTM over "
            "characters",
            "least": 1,
        },
    )
    features: tuple[str, ...] = field(
        default=("capitalization", "short_shape"),
        metadata={"help": "features of a word, by name (bootstrap help features)"},
    )
    streams: tuple[str, ...] = field(
        default=("header", "colon"),
        metadata={
            "help": "features of the context of a token: header, colon, rules, phrases "
            "(bootstrap help features)"
        },
    )
    feature_dimension: int = field(
        default=8,
        metadata={
            "help": "dimension of the vectors of the values of features and streams",
            "least": 1,
        },
    )
    clusters: str = field(
        default="",
        metadata={
            "help": "a folder of embeddings whose clusters become features of words; "
            f'"{AUTO}" trains them in the run (bootstrap help embeddings)',
            "path": True,
            "builtin": (AUTO,),
        },
    )
    rules: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "help": 'regular expressions of the stream "rules", which streams must name, by their '
            "names; if empty, rules for dates, telephone numbers and identifiers",
            "example": r"{ RECORD = 'NHC ?\d+' }",
        },
    )
    names: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "gazetteers of names whose frequencies become features of words, one for each "
            "of their classes (bootstrap help gazetteers)",
            "path": True,
            "builtin": BUILTIN_LISTS,
        },
    )
    phrases: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": 'gazetteers whose phrases become the stream "phrases", written by bootstrap '
            "gazetteer import (bootstrap help phrases)",
            "path": True,
            "builtin": BUILTIN_LISTS,
        },
    )
    units: int = field(
        default=64, metadata={"help": "memory units of each direction of the BiLSTM", "least": 1}
    )
    subsequence: int = field(
        default=0,
        metadata={
            "help": "tokens of the overlapping sub-sequences that documents are divided into, such "
            "as 24 or 48; 0 keeps documents whole",
            "least": 0,
        },
    )
    sensitive_units: int = field(
        default=50,
        metadata={
            "help": "units of a second head that is trained to tell whether a token is part of any "
            "entity, and feeds the first; 0 for none",
            "least": 0,
        },
    )
    learning: Literal["likelihood", "marginal"] = field(
        default="likelihood",
        metadata={
            "help": 'what training maximises: the "likelihood" of tag sequences, or the "marginal" '
            "likelihood of tags"
        },
    )
    dropout: float = field(
        default=0.5,
        metadata={
            "help": "share of the inputs and outputs of the BiLSTM that are dropped in training",
            "least": 0,
            "most": 0.95,
        },
    )
    learning_rate: float = field(
        default=0.004,
        metadata={
            "help": "learning rate of Adam with minibatches of 16 documents; with others, it is "
            "multiplied by the square root of their size divided by 16",
            "least": 1e-8,
        },
    )
    decay_start: float = field(
        default=0.5,
        metadata={
            "help": "share of the epochs after which the learning rate falls, by the same amount "
            "each, to nearly 0 in the last one; 1 keeps it as it is",
            "least": 0,
            "most": 1,
        },
    )
    minibatch: int = field(
        default=0,
        metadata={
            "help": "training documents of a step of Adam; 0 is a 64th of them, at least 16 and at "
            "most 64",
            "least": 0,
        },
    )
    epochs: int = field(
        default=40,
        metadata={"help": "maximum number of epochs, unless min_steps needs more", "least": 1},
    )
    min_steps: int = field(
        default=800,
        metadata={
            "help": "few documents are trained on for more epochs, up to this number of steps",
            "least": 0,
        },
    )
    patience: int = field(
        default=10,
        metadata={
            "help": "training stops after this number of epochs without a fall of the loss",
            "least": 1,
        },
    )
    held_out: float = field(
        default=0.0,
        metadata={
            "help": "share of the training documents whose loss determines when to stop and which "
            "epoch is the best; 0 uses all of them for training",
            "least": 0,
            "most": 0.5,
        },
    )
    averaging: float = field(
        default=0.98,
        metadata={
            "help": "decay of the exponential moving average of weights; 0 for none",
            "least": 0,
            "most": 0.99999,
        },
    )

    backend: Literal["tensorflow", "torch"] = field(
        default="tensorflow",
        metadata={"help": "the library that Keras trains with; both use a GPU where they find one"},
    )

    def __post_init__(self) -> None:
        templates = self.templates()
        for each in templates.features:
            feature(each.name)
        for kind, texts in (("features", self.features), ("streams", self.streams)):
            for text in texts:
                if name_of(text) != text:
                    raise InputError(
                        f'{kind} names "{text}": the network reads the context by itself; expected '
                        "a name without a window"
                    )
                if texts.count(text) > 1:
                    raise InputError(f'"{text}" is named {texts.count(text)} times; expected once')
        Rules(self.rules)
        if self.rules and "rules" not in self.streams:
            raise InputError('rules have no effect, because streams does not name "rules"')
        if 0 < self.subsequence < 4:
            raise InputError(f"subsequence = {self.subsequence}: expected 0, or at least 4 tokens")

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All capabilities."""
        return frozenset({"entity_probabilities", "document_weights", "partial_tags"})

    def files(self) -> Mapping[str, Sequence[Path]]:
        """Return the files of the embeddings, clusters and gazetteers."""
        found: dict[str, Sequence[Path]] = {}
        if folders := self.paths("embeddings"):
            found["embeddings"] = [
                folder / name
                for folder in embedding_folders(folders[0])
                for name in ("vectors.npy", "hashes.npy")
            ]
        if self.paths("clusters"):
            found["clusters"] = cluster_paths(self.clusters)
        return found | {name: paths for name in ("names", "phrases") if (paths := self.paths(name))}

    def check(self) -> Sequence[Coverage]:
        """Check that training is possible, and read the embeddings, clusters and gazetteers.

        Returns
        -------
        sequence of Coverage
            The coverage of tokens by embeddings and clusters; empty for those that the run trains.

        Raises
        ------
        InputError
            If a package is missing that training needs, a resource is missing or has another
            format, or a stream does not exist.
        """
        check_installed(self.backend)
        check_streams(self.templates().needed, self.phrases)
        check_lists(self.names, self.phrases)
        found: list[Coverage] = []
        if self.paths("embeddings"):
            from taggers.networks.word_vectors import (  # noqa: PLC0415 - numba is slow to import
                WordVectors,
            )

            found.append(WordVectors.read(Path(self.embeddings)).coverage())
        if self.paths("clusters"):
            found += check_clusters(self.clusters)
        return found

    def listed(self, batch: Batch) -> npt.NDArray[np.bool_] | None:
        """Return which tokens are in a phrase, or are words of names, shape (N,)."""
        return in_lists(batch, self.names, self.phrases)

    def second_view(self) -> Self:
        """Return options without the streams of the layout: the header and the colon of a line."""
        return replace(self, streams=without_layout(self.streams))

    def with_embeddings(self, train: Callable[[], Path | None]) -> Self:
        """Return options that refer to the embeddings of the run, where they are automatic."""
        if AUTO not in (self.embeddings, self.clusters):
            return self
        folder = train()
        trained = str(folder) if folder else ""
        return replace(
            self,
            embeddings=trained if self.embeddings == AUTO else self.embeddings,
            clusters=trained if self.clusters == AUTO else self.clusters,
        )

    def templates(
        self,
        clusters: Mapping[str, Feature] | None = None,
        names: Mapping[str, Feature] | None = None,
    ) -> Templates:
        """Build the templates of the features and streams, which apply to the token itself.

        Parameters
        ----------
        clusters : mapping of str to Feature, optional
            The available clusterings, as features.
        names : mapping of str to Feature, optional
            The frequencies of words among names, as features.

        Returns
        -------
        Templates
        """
        clusters, names = clusters or {}, names or {}
        streams = self.streams
        if self.phrases and PHRASES not in streams:
            streams = (*streams, PHRASES)
        return Templates.parse(
            (*self.features, *clusters, *names), 0, streams, (), {**clusters, **names}
        )


def check_installed(backend: str) -> None:
    """Check that the packages are installed that train networks.

    Parameters
    ----------
    backend : str
        The library that Keras trains with.

    Raises
    ------
    InputError
        If one is missing.
    """
    for name in ("keras", backend):
        if importlib.util.find_spec(name) is None:
            needed = "torch" if name == "torch" else "'bootstrap-ner[neural]'"
            raise InputError(
                f'kind = "bilstm-crf" is trained with {name}, which is not installed: '
                f"pip install {needed}"
            )
