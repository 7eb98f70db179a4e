"""The sizes of a network, and the shapes of its weights, to check the weights of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taggers.networks.network_options import BiLSTMCRFOptions

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


def weight_shapes(options: BiLSTMCRFOptions, sizes: NetworkSizes) -> dict[str, Shape]:
    """Return the shape of each weight of a network by name, with features in their order."""
    labels, units, hidden = sizes.labels, options.units, options.sensitive_units
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
    return {
        **tables,
        **_lstm_shapes(width, units),
        **_dense_shapes("sensitive", 2 * units, hidden),
        **(_dense_shapes("sensitivity", hidden, 1) if hidden else {}),
        **_dense_shapes("scores", 2 * units + hidden, labels),
        "transitions": (labels, labels),
        "start": (labels,),
        "end": (labels,),
    }


def _lstm_shapes(width: int, units: int, prefix: str = "") -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for direction in DIRECTIONS:
        name = f"{prefix}{direction}"
        shapes[f"{name}_input"] = (width, 4 * units)
        shapes[f"{name}_recurrent"] = (units, 4 * units)
        shapes[f"{name}_bias"] = (4 * units,)
    return shapes


def _dense_shapes(name: str, width: int, units: int) -> dict[str, Shape]:
    return {f"{name}_kernel": (width, units), f"{name}_bias": (units,)} if units else {}
