"""The sizes of a network, and the shapes of its weights, to check the weights of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.storage.arrays import array_files, weights_of_shape
from taggers.model_folder import ModelFiles
from taggers.networks.network_options import BiLSTMCRFOptions, WordOptions

Shape = tuple[int, ...]

#: The directions of an LSTM, as the prefixes of the names of their weights.
DIRECTIONS = ("forward", "backward")


@dataclass(frozen=True, slots=True)
class NetworkSizes:
    """The sizes of a network's inputs and outputs; the sizes of its layers are options.

    Parameters
    ----------
    labels : int
        The number of labels, L.
    outside : int
        The label of tokens outside of all entities.
    vectors : int
        The dimension of the vectors of embeddings; 0 for none.
    words : int
        The rows of the table of learned vectors; 0 for no table.
    alphabet : int
        The number of codes of characters.
    features, streams : mapping of str to int
        The number of codes of each feature and stream, by name.
    """

    labels: int
    outside: int
    vectors: int
    words: int
    alphabet: int
    features: Mapping[str, int]
    streams: Mapping[str, int]


def word_shapes(options: WordOptions, sizes: NetworkSizes) -> tuple[dict[str, Shape], int]:
    """Return the shapes of the weights of a token's vector, and the dimension of this vector."""
    codes = {f"features/{name}": size for name, size in sizes.features.items()}
    codes |= {f"streams/{name}": size for name, size in sizes.streams.items()}
    tables: dict[str, Shape] = {
        name: (size, options.feature_dimension) for name, size in codes.items()
    }
    width = len(tables) * options.feature_dimension
    if sizes.words:
        tables["words"] = sizes.words, sizes.vectors or options.dimension
    if sizes.words or sizes.vectors:
        width += sizes.vectors or options.dimension
    if options.characters != "none":
        filters, dimension = options.character_units, options.character_dimension
        tables["characters"] = sizes.alphabet, dimension
        if options.characters == "cnn":
            tables |= {"filters": (3, dimension, filters), "filters_bias": (filters,)}
            width += filters
        else:
            tables |= _lstm_shapes(dimension, filters, "characters_")
            width += 2 * filters
    return tables, width


def weight_shapes(options: BiLSTMCRFOptions, sizes: NetworkSizes) -> dict[str, Shape]:
    """Return the shape of each weight of a network by name, with features in their order."""
    labels, units, hidden = sizes.labels, options.units, options.sensitive_units
    tables, width = word_shapes(options, sizes)
    return {
        **tables,
        **_lstm_shapes(width, units),
        **dense_shapes("sensitive", 2 * units, hidden),
        **(dense_shapes("sensitivity", hidden, 1) if hidden else {}),
        **dense_shapes("scores", 2 * units + hidden, labels),
        "transitions": (labels, labels),
        "start": (labels,),
        "end": (labels,),
    }


def weight_files(weights: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, bytes]:
    """Return the files of the weights of a network; its model lists their names."""
    return array_files(
        {f"weights-{number}": array for number, array in enumerate(weights.values())}
    )


def read_weights(
    model: ModelFiles, shapes: Mapping[str, Shape]
) -> dict[str, npt.NDArray[np.float32]]:
    """Read the weights of a network from the files of a model.

    Raises
    ------
    InputError
        If they have other names or shapes than those of the options of the model.
    """
    names = model.fields.distinct_texts("weights")
    read, expected = (
        [name for name in weights if name.startswith("features/")] for weights in (names, shapes)
    )
    if set(names) != set(shapes) or read != expected:
        raise model.fields.error("weights", "the names of the weights of a network of its options")
    return {
        name: model.array(f"weights-{number}", weights_of_shape(*shapes[name]))
        for number, name in enumerate(names)
    }


def _lstm_shapes(width: int, units: int, prefix: str = "") -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for direction in DIRECTIONS:
        name = f"{prefix}{direction}"
        shapes[f"{name}_input"] = (width, 4 * units)
        shapes[f"{name}_recurrent"] = (units, 4 * units)
        shapes[f"{name}_bias"] = (4 * units,)
    return shapes


def dense_shapes(name: str, width: int, units: int) -> dict[str, Shape]:
    """Return the shapes of the weights of a dense layer; none without units."""
    return {f"{name}_kernel": (width, units), f"{name}_bias": (units,)} if units else {}
