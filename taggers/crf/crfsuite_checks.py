"""Checks of a model file of CRFsuite, before CRFsuite reads it.

CRFsuite follows the offsets in a file without checking them: a damaged file, or one that somebody
made for that, lets it read outside of the file, or search without end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.storage.arrays import LARGEST
from taggers.crf.crfsuite_file import CHUNK, DATABASE, HEADER, read_crfsuite, read_features

Numbers = npt.NDArray[np.int64]

_TABLES = 256  # hash tables of a database of strings


def check_crfsuite(data: bytes, labels: int) -> None:
    """Check that CRFsuite can read a model file safely.

    Parameters
    ----------
    data : bytes
        The content of the file.
    labels : int
        The number of labels of the tagger; those of the file are their numbers.

    Raises
    ------
    InputError
        If the file is truncated or damaged, or has other labels.
    """
    model = read_crfsuite(data)
    if not set(model.labels) <= set(map(str, range(labels))):
        raise InputError(f"the labels of the model of CRFsuite are not numbers below {labels:,}")
    try:
        _check_features(data, len(model.labels), len(model.attributes))
        at_labels, at_attributes = HEADER.unpack_from(data)[8:10]
        _check_strings(data, at_labels, model.labels)
        _check_strings(data, at_attributes, model.attributes)
    except (ValueError, IndexError) as error:
        raise InputError(f"not a whole model file of CRFsuite: {error}") from None


def _check_features(data: bytes, labels: int, attributes: int) -> None:
    """Check the features, and which of them each label and each attribute refers to."""
    features = read_features(data)
    if len(features) and features["target"].max() >= labels:
        raise ValueError("a feature refers to a label that does not exist")
    if not (np.abs(features["weight"]) <= LARGEST).all():
        raise ValueError(f"a weight is not a number from {-LARGEST:,.0f} to {LARGEST:,.0f}")
    at_label_references, at_attribute_references = HEADER.unpack_from(data)[10:12]
    total = 0
    for start, number in (
        (at_label_references, labels),
        (at_attribute_references, attributes),
    ):
        total += _check_references(data, start + CHUNK, number, len(features))
    if total > len(features):
        raise ValueError("a feature is referred to more than once")


def _check_references(data: bytes, start: int, number: int, features: int) -> int:
    """Check the lists of features of labels or attributes, and return how many they contain."""
    places = _numbers(data, start, number)
    lengths = _at(data, places)
    total = int(lengths.sum())
    if total > features:
        raise ValueError("a feature is referred to more than once")
    begins = np.repeat(places + 4, lengths)
    within = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    if (_at(data, begins + 4 * within) >= features).any():
        raise ValueError("a label or an attribute refers to a feature that does not exist")
    return total


def _check_strings(data: bytes, start: int, strings: Sequence[str]) -> None:
    """Check the hash tables of a database of strings."""
    tables = _numbers(data, start + DATABASE.size, 2 * _TABLES).reshape(_TABLES, 2)
    if tables[:, 1].sum() > len(data) // 8:
        raise ValueError("a table of its strings is larger than the file")
    for place, number in tables[(tables[:, 0] > 0) & (tables[:, 1] > 0)].tolist():
        buckets = _numbers(data, start + place, 2 * number).reshape(number, 2)
        used = buckets[:, 1][buckets[:, 1] > 0]
        if len(used) == number:  # a search ends at an empty bucket
            raise ValueError("a table of its strings is full")
        found = start + used
        codes, lengths = _at(data, found), _at(data, found + 4)
        if (codes >= len(strings)).any():
            raise ValueError("a table of its strings has one that does not exist")
        ends = found + 8 + lengths
        if (lengths < 1).any() or (ends > len(data)).any():
            raise ValueError("a string ends outside of the file")
        if np.frombuffer(data, np.uint8)[ends - 1].any():
            raise ValueError("a string has no end")


def _numbers(data: bytes, start: int, number: int) -> Numbers:
    """Return consecutive numbers of the file."""
    if start + 4 * number > len(data):
        raise ValueError("it ends within a table")
    return np.frombuffer(data, "<u4", number, start).astype(np.int64)


def _at(data: bytes, places: Numbers) -> Numbers:
    """Return the numbers at places of the file, which are not aligned."""
    if not len(places):
        return np.zeros(0, np.int64)
    if int(places.max()) + 4 > len(data):
        raise ValueError("it refers to a place outside of it")
    content = np.frombuffer(data, np.uint8)
    parts = content[places[:, None] + np.arange(4)].astype(np.int64)
    found: Numbers = parts @ (1 << 8 * np.arange(4))
    return found
