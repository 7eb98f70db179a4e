"""Reader of the binary model files of CRFsuite, whose text dump has only six decimals."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpus.errors import InputError
from corpus.kernels.hashing import Hashes, hash_values
from taggers.crf.weights import BORDER, Weights, sorted_weights
from taggers.features import BEGIN, END, FEATURES, feature, is_feature
from taggers.templates import Templates

#: The header of a file: among others its size, and where its parts begin.
HEADER = struct.Struct("<4sI4sIIIIIIIII")
#: The header of a database of strings.
DATABASE = struct.Struct("<4sIIIII")
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
_STATE, _TRANSITION = 0, 1
_ATTRIBUTE = re.compile(rf"(-?\d{{1,3}}):(?:({BEGIN}|{END})|([^=]+)=(.*))", re.DOTALL)
_SHORT = re.compile(r"[A-Za-z_][\w.]{0,30}")  # a plausible feature name, rather than note text
#: The bytes of the header of a part: a name, a size, a count.
CHUNK = 12
_MOST_LABELS = 2_001  # whose transitions take their square in memory


@dataclass(frozen=True, slots=True, eq=False)
class CRFsuiteModel:
    """The content of a model file of CRFsuite.

    Parameters
    ----------
    labels : tuple of str
        The L labels, in the order of the file.
    attributes : tuple of str
        The A attributes.
    attribute_ids, label_ids : ndarray of int64, shape (K,)
        The attribute and the label of each state feature.
    state : ndarray of float64, shape (K,)
        Weights of the state features.
    transition : ndarray of float64, shape (L, L)
        Weights of transitions, from a label to the following one; 0 if absent from the file.
    """

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    attribute_ids: npt.NDArray[np.int64]
    label_ids: npt.NDArray[np.int64]
    state: npt.NDArray[np.float64]
    transition: npt.NDArray[np.float64]


def read_crfsuite(data: bytes) -> CRFsuiteModel:
    """Read a first-order linear-chain model.

    Parameters
    ----------
    data : bytes
        The content of the file.

    Returns
    -------
    CRFsuiteModel

    Raises
    ------
    InputError
        If the data are not a model file of CRFsuite, or are truncated.
    """
    try:
        return _read(data)
    except (struct.error, ValueError, IndexError, UnicodeDecodeError) as error:
        raise InputError(f"not a whole model file of CRFsuite: {error}") from None


def weights_of(
    model: CRFsuiteModel, templates: Templates | None = None
) -> tuple[Templates, Weights]:
    """Convert the weights of a model.

    Parameters
    ----------
    model : CRFsuiteModel
        A model with attributes such as ``-1:lower=dr`` or ``2:EOS``.
    templates : Templates, optional
        The feature templates of the model; derived from the attributes by default.

    Returns
    -------
    templates : Templates
    weights : Weights

    Raises
    ------
    InputError
        If an attribute has another form, or its feature is unknown.
    """
    places, names, values = _parsed(model.attributes)
    reach = int(np.abs(places).max(initial=0))
    if templates is None:
        templates = Templates.parse(_features(names), reach)
    reach = max(reach, templates.reach)
    hashes = _hashes(names, values)
    texts = [
        f"{name}={value}" if name else value for name, value in zip(names, values, strict=True)
    ]
    weights = sorted_weights(
        hashes[model.attribute_ids],
        places[model.attribute_ids] + reach,
        model.label_ids,
        model.state,
        transition=model.transition,
        offsets=2 * reach + 1,
        names=[texts[row] for row in model.attribute_ids.tolist()],
    )
    return templates, weights


def _parsed(
    attributes: Sequence[str],
) -> tuple[npt.NDArray[np.int64], list[str], list[str]]:
    """Return the offset, the name and the value of each attribute; borders have no name."""
    places = np.empty(len(attributes), np.int64)
    names, values = [], []
    for row, attribute in enumerate(attributes):
        match = _ATTRIBUTE.fullmatch(attribute)
        if match is None:
            raise InputError(
                f"attribute number {row + 1} of the model is not of the form OFFSET:FEATURE=VALUE, "
                "such as -1:lower=dr"
            )
        places[row] = int(match[1])
        names.append(match[3] or "")
        values.append(match[2] or match[4])
    return places, names, values


def _features(names: Sequence[str]) -> tuple[str, ...]:
    """Return the features of attributes.

    An error message quotes an unknown name only if it cannot be text of a note.
    """
    for row, name in enumerate(names):
        if name and not is_feature(name):
            if not _SHORT.fullmatch(name):
                raise InputError(
                    f"attribute number {row + 1} of the model has an unknown feature; expected "
                    f"OFFSET:FEATURE=VALUE with one of {', '.join(FEATURES)}, prefixN and suffixN"
                )
            feature(name)
    return tuple(dict.fromkeys(name for name in names if name))


def _hashes(names: Sequence[str], values: Sequence[str]) -> Hashes:
    """Hash the values of several features."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    hashes = np.empty(len(names), np.uint64)
    for name, own in rows.items():
        hashes[own] = hash_values(name or BORDER, [values[row] for row in own])
    return hashes


def _read(data: bytes) -> CRFsuiteModel:
    magic, size, kind, _, _, labels, attributes, _, at_labels, at_attributes, _, _ = (
        HEADER.unpack_from(data)
    )
    if (magic, kind) != (b"lCRF", b"FOMC"):
        raise ValueError("the header is not that of a first-order model")
    if size != len(data):
        raise ValueError(f"it has {len(data)} bytes, but its header declares {size}")
    if labels > _MOST_LABELS:
        raise ValueError(f"it has {labels:,} labels; expected at most {_MOST_LABELS:,}")
    names = _strings(data, at_labels, labels)
    features = read_features(data)
    states = features[features["type"] == _STATE]
    follows = features[features["type"] == _TRANSITION]
    transition = np.zeros((labels, labels))
    transition[follows["source"], follows["target"]] = follows["weight"]
    if len(states) and (states["source"].max() >= attributes or states["target"].max() >= labels):
        raise ValueError("a feature refers to an attribute or a label that does not exist")
    return CRFsuiteModel(
        names,
        _strings(data, at_attributes, attributes),
        states["source"].astype(np.int64),
        states["target"].astype(np.int64),
        states["weight"].astype(np.float64),
        transition,
    )


def read_features(data: bytes) -> npt.NDArray[np.void]:
    """Read the features of a model file.

    Raises
    ------
    ValueError, struct.error
        If the file ends within them.
    """
    at_features = HEADER.unpack_from(data)[7]
    (number,) = struct.unpack_from("<I", data, at_features + 8)
    return np.frombuffer(data, _FEATURE, number, at_features + CHUNK)


def _strings(data: bytes, start: int, number: int) -> tuple[str, ...]:
    """Read the strings of a constant quark database, in the order of their ids."""
    name, _, _, _, size, offset = DATABASE.unpack_from(data, start)
    if name != b"CQDB" or size < number:
        raise ValueError("a table of its strings is damaged")
    places = np.frombuffer(data, "<u4", number, start + offset)
    found, total = [], 0
    for place in places.tolist():
        (length,) = struct.unpack_from("<I", data, start + place + 4)
        total += length
        if not 0 < length <= total <= len(data):
            raise ValueError("its strings are longer than the file")
        key = data[start + place + 8 : start + place + 8 + length - 1]
        if len(key) != length - 1:
            raise ValueError("it ends within a string")
        found.append(key.decode("utf-8", "surrogatepass"))
    return tuple(found)
