"""The pipeline of spaCy, its documents, and its weights as arrays.

Both the process that trains and the tagger import this module where they need it, since spaCy
takes seconds to import.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from taggers.spacy_ner.spacy_options import SpacyOptions

Floats = npt.NDArray[np.float32]


def make_pipeline(options: SpacyOptions, classes: int) -> tuple[Language, Any]:
    """Return a pipeline with random weights, and its recognizer.

    Parameters
    ----------
    options : SpacyOptions
        The sizes of the network.
    classes : int
        The number of classes; their names in the pipeline are their numbers.
    """
    nlp = spacy.blank("xx")
    network = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": {
            "@architectures": "spacy.HashEmbedCNN.v2",
            "pretrained_vectors": None,
            "width": options.width,
            "depth": options.depth,
            "embed_size": options.rows,
            "window_size": 1,
            "maxout_pieces": 3,
            "subword_features": True,
        },
    }
    recognizer: Any = nlp.add_pipe("ner", config={"model": network})
    for number in range(classes):
        recognizer.add_label(str(number))
    # The transitions are those of the labels, whatever entities the documents have.
    sample = Example.from_dict(Doc(nlp.vocab, words=["a", "b"]), {"entities": ["O", "O"]})
    state = np.random.get_state()  # of the caller, whose random numbers stay as they are
    nlp.initialize(lambda: [sample])
    np.random.set_state(state)
    return nlp, recognizer


def documents_of(
    nlp: Language, words: list[str], offsets: list[int], tags: list[str] | None = None
) -> Iterator[Doc]:
    """Yield documents.

    Parameters
    ----------
    nlp : Language
        The pipeline.
    words : list of str, length N
        The word of each token.
    offsets : list of int, length D + 1
        Offsets of the tokens of each document.
    tags : list of str, length N, optional
        The tags of tokens, for documents with entities.
    """
    for first, last in itertools.pairwise(offsets):
        own = slice(first, last)
        ents = tags[own] if tags else None
        yield Doc(nlp.vocab, words=words[own], ents=ents)


def weights_of(recognizer: Any) -> dict[str, Floats]:
    """Return a copy of the weights of a recognizer, by the place of their layer and their name."""
    return {name: np.array(layer.get_param(own)) for name, (layer, own) in _layers(recognizer)}


def assign(recognizer: Any, weights: Mapping[str, Floats]) -> None:
    """Replace the weights of a recognizer."""
    for name, (layer, own) in _layers(recognizer):
        layer.set_param(own, weights[name])


def _layers(recognizer: Any) -> Iterator[tuple[str, tuple[Any, str]]]:
    for number, layer in enumerate(recognizer.model.walk()):
        for name in layer.param_names:
            if layer.has_param(name):
                yield f"{number}-{name}", (layer, name)
