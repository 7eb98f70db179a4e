"""The initial weights of a network from another one, for a warm start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import Hashes
from taggers.networks.training.process import INITIAL
from taggers.networks.vocabulary import UNKNOWN, Vocabulary
from taggers.networks.word_inputs import WordInputs

#: Rows of a table, and the rows of another one with the same meaning.
Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

#: The weights of labels, by the beginnings of their names.
_OF_LABELS = ("scores_", "transitions", "start", "end")


def initial_weights(
    weights: Mapping[str, npt.NDArray[np.float32]],
    before: WordInputs,
    inputs: WordInputs,
    *,
    same_labels: bool,
) -> dict[str, npt.NDArray[Any]]:
    """Return the weights of a network as arrays of a training process.

    The rows of words, characters and values are those of the same word, character or value in the
    new tables. The others keep their random weights.

    Parameters
    ----------
    weights : mapping of str to ndarray
        The weights of the trained network.
    before, inputs : WordInputs
        The inputs of that network, and of the new one.
    same_labels : bool
        Whether both have the same labels. If not, the weights of labels are left out.

    Returns
    -------
    dict of str to ndarray
        For each of the weights, rows of it and the rows that they replace.
    """
    tables = {
        "words": _common_words(before, inputs.words),
        "characters": _common(before.characters, inputs.characters, shift=1),
    }
    for kind in ("features", "streams"):
        old, new = getattr(before, kind), getattr(inputs, kind)
        tables |= {f"{kind}/{name}": _common(old[name], new[name]) for name in old if name in new}
    found: dict[str, npt.NDArray[Any]] = {}
    for name, values in weights.items():
        if name.startswith(_OF_LABELS) and not same_labels:
            continue
        source, target = tables.get(name, (np.arange(len(values)),) * 2)
        found[f"{INITIAL}{name}"] = values[source]
        found[f"{INITIAL}{name}:rows"] = target
    return found


def _common(old: Vocabulary, new: Vocabulary, shift: int = 0) -> Rows:
    """Return the rows of common values; those up to `shift` are of unknown ones."""
    known = old.codes(new.values) != UNKNOWN
    values = [value for value, common in zip(new.values, known.tolist(), strict=True) if common]
    unknown = np.arange(1 + shift)
    return (
        np.concatenate([unknown, old.codes(values) + shift]),
        np.concatenate([unknown, new.codes(values) + shift]),
    )


def _common_words(before: WordInputs, new: Hashes) -> Rows:
    """Return the rows of common words, and of unknown ones."""
    rows = HashIndex(before.words, before.key).positions(new)
    target = np.flatnonzero(rows != ABSENT)
    return np.append(rows[target].astype(np.int64) + 1, 0), np.append(target + 1, 0)
