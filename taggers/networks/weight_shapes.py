"""The shapes of the weights of a network, by which those in the folder of a model are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Shape = tuple[int, ...]

_DIRECTIONS = ("forward", "backward")


def weight_shapes(plan: Mapping[str, Any]) -> dict[str, Shape]:
    """Return the shape of each weight of a network by name, those of features in their order.

    Parameters
    ----------
    plan : mapping of str to Any
        The fields of `taggers.networks.training.keras_network.Plan`.
    """
    labels, units, hidden = plan["labels"], plan["units"], plan["sensitive_units"]
    features = {f"features/{name}": size for name, size in plan["features"].items()}
    streams = {f"streams/{name}": size for name, size in plan["streams"].items()}
    dimension = plan["feature_dimension"]
    tables = {name: (size, dimension) for name, size in (features | streams).items()}
    width = _word_width(plan) + len(tables) * dimension
    return {
        **_word_shapes(plan),
        **_character_shapes(plan),
        **tables,
        **_lstm_shapes(width, units),
        **_dense_shapes("sensitive", 2 * units, hidden),
        **(_dense_shapes("sensitivity", hidden, 1) if hidden else {}),
        **_dense_shapes("scores", 2 * units + hidden, labels),
        "transitions": (labels, labels),
        "start": (labels,),
        "end": (labels,),
    }


def _word_width(plan: Mapping[str, Any]) -> int:
    """Return the dimension of what the LSTM reads of a word, without the values of features."""
    width: int = plan["vectors"] or (plan["dimension"] if plan["words"] else 0)
    read = {"none": 0, "cnn": plan["character_units"], "bilstm": 2 * plan["character_units"]}
    return width + int(read[plan["characters"]])


def _word_shapes(plan: Mapping[str, Any]) -> dict[str, Shape]:
    if not plan["words"]:
        return {}
    return {"words": (plan["words"], plan["vectors"] or plan["dimension"])}


def _character_shapes(plan: Mapping[str, Any]) -> dict[str, Shape]:
    dimension, units = plan["character_dimension"], plan["character_units"]
    table = {"characters": (plan["alphabet"], dimension)}
    if plan["characters"] == "cnn":
        return {**table, "filters": (3, dimension, units), "filters_bias": (units,)}
    if plan["characters"] == "bilstm":
        return {**table, **_lstm_shapes(dimension, units, "characters_")}
    return {}


def _lstm_shapes(width: int, units: int, prefix: str = "") -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for direction in _DIRECTIONS:
        name = f"{prefix}{direction}"
        shapes[f"{name}_input"] = (width, 4 * units)
        shapes[f"{name}_recurrent"] = (units, 4 * units)
        shapes[f"{name}_bias"] = (4 * units,)
    return shapes


def _dense_shapes(name: str, width: int, units: int) -> dict[str, Shape]:
    return {f"{name}_kernel": (width, units), f"{name}_bias": (units,)} if units else {}
