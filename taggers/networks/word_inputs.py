"""What a network reads of a word and of its context, as arrays.

Whatever depends on the word alone is computed once per word type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.json_fields import Fields
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import Hashes, hash_values
from corpus.streams import Stream
from taggers.features import Words
from taggers.model_folder import ModelFiles
from taggers.networks.word_vectors import WordVectors
from taggers.templates import Templates

Codes = npt.NDArray[np.int32]

#: The characters that are read of a word. Of a longer one, they are its first and its last ones.
MAX_CHARACTERS = 24

#: The code of what is not known: a word, a character or a value that training did not see.
UNKNOWN = 0

_LEAST = 2  # word types or tokens with a value, below which it is not told from unknown ones


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """The codes of values: from 1 on, and 0 for values without a code.

    Parameters
    ----------
    values : tuple of str
        The values, in the order of their codes.
    """

    values: tuple[str, ...]
    _codes: Mapping[str, int]

    @classmethod
    def of(cls, values: Sequence[str]) -> Self:
        """Assign codes to distinct values, in their order."""
        return cls(tuple(values), {each: code for code, each in enumerate(values, start=1)})

    @property
    def size(self) -> int:
        """The number of codes, with that of values without one."""
        return len(self.values) + 1

    def codes(self, values: Sequence[str]) -> Codes:
        """Return the code of each value."""
        get = self._codes.get
        return np.fromiter((get(each, UNKNOWN) for each in values), np.int32, len(values))


@dataclass(frozen=True, slots=True, eq=False)
class WordArrays:
    """The inputs of V words.

    Parameters
    ----------
    vectors : ndarray of float32, shape (V, E)
        The joined vectors of embeddings.
    numbers : ndarray of int32, shape (V,)
        The number of each word among those of the training documents, from 1 on; 0 for others.
    characters : ndarray of int32, shape (V, MAX_CHARACTERS)
        The codes of characters, from 1 on; 0 after the last one.
    features : ndarray of int32, shape (V, F)
        The code of the value of each feature.
    """

    vectors: npt.NDArray[np.float32]
    numbers: Codes
    characters: Codes
    features: Codes


@dataclass(frozen=True, slots=True, eq=False)
class WordInputs:
    """The inputs of a network, with the codes that it was trained with.

    Parameters
    ----------
    vectors : WordVectors
        Vectors of words.
    words : ndarray of uint64, shape (W,)
        Hashes of the words of the training documents.
    characters : Numbering
        Characters, in ascending order. Unknown ones have the code 1 in `WordArrays`, and these
        follow.
    features, streams : mapping of str to Numbering
        The values of features and of streams, by name.
    """

    vectors: WordVectors
    words: Hashes
    characters: Numbering
    features: Mapping[str, Numbering]
    streams: Mapping[str, Numbering]

    @classmethod
    def of_training(
        cls, train: Batch, templates: Templates, vectors: WordVectors
    ) -> tuple[Self, WordArrays]:
        """Assign codes to the words, characters and values of training documents.

        Returns
        -------
        inputs : WordInputs
        arrays : WordArrays
            Those of the vocabulary of the documents.
        """
        words = Words(train.vocabulary)
        features = {
            each.name: _frequent(templates.feature(each.name)(words)) for each in templates.features
        }
        streams = {each.name: _frequent_in(train.streams[each.name]) for each in templates.streams}
        counts: dict[str, int] = {}
        for word in train.vocabulary:
            for character in set(word):
                counts[character] = counts.get(character, 0) + 1
        inputs = cls(
            vectors,
            np.unique(_hashes(train.vocabulary)),
            Numbering.of(sorted(each for each, count in counts.items() if count >= _LEAST)),
            features,
            streams,
        )
        return inputs, inputs.of(train.vocabulary, templates)

    def of(self, types: Sequence[str], templates: Templates) -> WordArrays:
        """Compute the inputs of words."""
        words = Words(types)
        rows = HashIndex(self.words).positions(_hashes(types))
        features = [
            self.features[each.name].codes(templates.feature(each.name)(words))
            for each in templates.features
        ]
        return WordArrays(
            self.vectors.of(types),
            np.where(rows == ABSENT, UNKNOWN, rows + 1).astype(np.int32),
            self._characters(types),
            np.stack(features, axis=1) if features else np.zeros((len(types), 0), np.int32),
        )

    def border(self) -> WordArrays:
        """Return the inputs of the border of a document, which has no word."""
        return WordArrays(
            np.zeros((1, self.vectors.dimension), np.float32),
            np.zeros(1, np.int32),
            np.zeros((1, MAX_CHARACTERS), np.int32),
            np.zeros((1, len(self.features)), np.int32),
        )

    def _characters(self, types: Sequence[str]) -> Codes:
        half = MAX_CHARACTERS // 2
        read = [
            word if len(word) <= MAX_CHARACTERS else word[:half] + word[-half:] for word in types
        ]
        lengths = np.fromiter(map(len, read), np.int64, len(read))
        codes = np.zeros((len(read), MAX_CHARACTERS), np.int32)
        codes[np.arange(MAX_CHARACTERS) < lengths[:, None]] = _known_codes(
            _code_points("".join(self.characters.values)), _code_points("".join(read))
        )
        return codes

    def of_streams(self, batch: Batch, templates: Templates) -> Codes:
        """Return the codes of the streams of each token, shape (N, S)."""
        found = [
            _codes_of(batch.streams[each.name], self.streams[each.name])
            for each in templates.streams
        ]
        return np.stack(found, axis=1) if found else np.zeros((batch.n_tokens, 0), np.int32)

    def description(self) -> dict[str, Any]:
        """Return the description that `of_model` needs, as JSON values."""
        return {
            "vectors": self.vectors.description(),
            "characters": self.characters.values,
            "features": {name: each.values for name, each in self.features.items()},
            "streams": {name: each.values for name, each in self.streams.items()},
        }

    @classmethod
    def of_model(cls, model: ModelFiles, templates: Templates) -> Self:
        """Read inputs from the files of a model with these features and streams.

        Raises
        ------
        InputError
            If a file or the description of the model is not what was saved.
        """
        found = model.fields.fields("inputs")
        characters = found.distinct_texts("characters")
        if any(len(each) != 1 for each in characters) or list(characters) != sorted(characters):
            raise found.error("characters", "a list of ascending characters")
        features, streams = (
            _numberings(found.fields(key), [each.name for each in wanted])
            for key, wanted in (("features", templates.features), ("streams", templates.streams))
        )
        vectors = WordVectors.of_model(model, found.texts("vectors"))
        return cls(vectors, model.hashes("words"), Numbering.of(characters), features, streams)


def _numberings(found: Fields, names: Sequence[str]) -> dict[str, Numbering]:
    """Return the codes of the values of features or streams of these names."""
    if list(found) != list(names):
        raise InputError(f"{found.place}: expected {', '.join(names)}")
    return {name: Numbering.of(found.distinct_texts(name)) for name in names}


def _code_points(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _known_codes(known: npt.NDArray[np.uint32], points: npt.NDArray[np.uint32]) -> Codes:
    """Return 2 and more for code points that are among ascending known ones, and 1 for others."""
    if not len(known):
        return np.ones(len(points), np.int32)
    places = np.searchsorted(known, points)
    found = known[np.minimum(places, len(known) - 1)] == points
    return np.where(found, places + 2, 1).astype(np.int32)


def _hashes(types: Sequence[str]) -> Hashes:
    return hash_values("word", types)


def _frequent(values: Sequence[str]) -> Numbering:
    """Assign codes to the values of at least `_LEAST` words; the empty string is no value.

    In alphabetical order: the codes do not depend on the order of the vocabulary of a batch.
    """
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return Numbering.of(sorted(each for each, count in counts.items() if each and count >= _LEAST))


def _frequent_in(stream: Stream) -> Numbering:
    """Assign codes to the values of at least `_LEAST` tokens, in alphabetical order."""
    counts = np.bincount(stream.values[stream.values >= 0], minlength=len(stream.vocabulary))
    pairs = zip(stream.vocabulary, counts.tolist(), strict=True)
    return Numbering.of(sorted(value for value, count in pairs if count >= _LEAST))


def _codes_of(stream: Stream, numbering: Numbering) -> Codes:
    codes = np.append(
        numbering.codes(stream.vocabulary), np.int32(UNKNOWN)
    )  # of no value: the last
    return codes[stream.values]
