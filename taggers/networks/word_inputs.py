"""What a network reads of a word and of its context, as arrays.

Whatever depends on the word alone is computed once per word type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch, Stream
from corpus.errors import InputError
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import MOST_KEY, Hashes, hash_values
from corpus.storage.arrays import array_files
from corpus.storage.json_fields import Fields
from taggers.features import Words
from taggers.model_folder import ModelFiles
from taggers.networks.vocabulary import (
    UNKNOWN,
    Codes,
    Vocabulary,
    vocabulary_of_characters,
    vocabulary_of_feature,
    vocabulary_of_stream,
)
from taggers.networks.word_vectors import WordVectors
from taggers.privacy.identities import PART, WHOLE, identities
from taggers.privacy.patient_counts import (
    Counts,
    expected_counts,
    patients_of_words,
)
from taggers.privacy.pruning import AFFIXES, Pruning
from taggers.templates import Templates

#: The characters that are read of a word. Of a longer one, they are its first and its last ones.
MAX_CHARACTERS = 24


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
    patients : ndarray of int32, shape (W,)
        The number of patients of each word; see `taggers.privacy.patient_counts`.
    characters : Vocabulary
        Characters, in ascending order. Unknown ones have the code 1 in `WordArrays`, and these
        follow.
    features, streams : mapping of str to Vocabulary
        The values of features and of streams, by name.
    key : int
        The key of the hashes of words; 0 for none.
    """

    vectors: WordVectors
    words: Hashes
    patients: Counts
    characters: Vocabulary
    features: Mapping[str, Vocabulary]
    streams: Mapping[str, Vocabulary]
    key: int = 0

    @classmethod
    def from_training(
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
        columns = {each.name: templates.feature(each.name)(words) for each in templates.features}
        features = {name: vocabulary_of_feature(values, train) for name, values in columns.items()}
        streams = {
            each.name: vocabulary_of_stream(train.streams[each.name], train)
            for each in templates.streams
        }
        hashes = np.unique(_hashes(train.vocabulary))
        index = HashIndex(hashes)
        inputs = cls(
            vectors.counted(train),
            hashes,
            patients_of_words(train, len(hashes), lambda types: index.positions(_hashes(types))),
            vocabulary_of_characters(train),
            features,
            streams,
        )
        return inputs, inputs.of(train.vocabulary, templates)

    def of(self, types: Sequence[str], templates: Templates) -> WordArrays:
        """Compute the inputs of words."""
        words = Words(types)
        rows = HashIndex(self.words, self.key).positions(_hashes(types))
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

    def pruned(self, pruning: Pruning) -> tuple[WordInputs, dict[str, npt.NDArray[np.int64]]]:
        """Return the inputs without the words and values of few patients.

        Returns
        -------
        WordInputs
        rows : mapping of str to ndarray of int64
            The rows that remain of the weights of words, of characters and of values, by the names
            of these weights.
        """
        kept = np.flatnonzero(pruning.keeps(self.patients))
        words, key = pruning.with_hashes(self.words[kept], self.key)
        characters, rows = self.characters.pruned(pruning, hashed=False)
        taken = {
            "words": np.concatenate([np.zeros(1, np.int64), kept + 1]),
            "characters": np.concatenate([np.zeros(1, np.int64), rows + 1]),
        }
        vocabularies: dict[str, dict[str, Vocabulary]] = {"features": {}, "streams": {}}
        for kind, found in vocabularies.items():
            for name, each in getattr(self, kind).items():
                found[name], taken[f"{kind}/{name}"] = each.pruned(pruning, hashed=True)
        inputs = WordInputs(
            self.vectors.pruned(pruning),
            words,
            pruning.known(self.patients[kept]),
            characters,
            **vocabularies,
            key=key,
        )
        return inputs, taken

    def contents(self) -> dict[str, int]:
        """Return the number of words and values."""
        values = sum(
            len(each.values) for kind in (self.features, self.streams) for each in kind.values()
        )
        found = {"words": len(self.words), "feature values": values}
        return found | ({"words with a vector": self.vectors.size} if self.vectors.tables else {})

    def traces(
        self, words: Sequence[str], templates: Templates
    ) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words are known, as words, as values and as parts of words."""
        whole, parts = np.zeros(len(words), bool), np.ones(len(words), bool)
        some = np.zeros(len(words), bool)
        vocabularies = {**self.features, **self.streams}
        for name, values, kinds in identities(words, templates):
            known = vocabularies[name].codes(values) != UNKNOWN
            whole |= known & (kinds == WHOLE)
            parts &= known | (kinds != PART)
            some |= kinds == PART
        rows = HashIndex(self.words, self.key).positions(_hashes(words))
        found = {"words": rows != ABSENT, "features": whole, AFFIXES: parts & some}
        return found | ({"vectors": self.vectors.having(words)} if self.vectors.tables else {})

    def files(self) -> dict[str, bytes]:
        """Return the contents of a model's files: arrays in NumPy's format."""
        vocabularies = (self.characters, *self.features.values(), *self.streams.values())
        patients = np.concatenate([self.patients, *(each.patients for each in vocabularies)])
        return array_files({"words": self.words, "patients": patients}) | self.vectors.files()

    def description(self) -> dict[str, Any]:
        """Return the description that `from_model` needs in addition to the files."""
        return {
            "key": self.key,
            "vectors": self.vectors.description(),
            "characters": self.characters.values,
            "features": {name: each.values for name, each in self.features.items()},
            "streams": {name: each.values for name, each in self.streams.items()},
        }

    @classmethod
    def from_model(cls, model: ModelFiles, templates: Templates) -> Self:
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
            _values(found.fields(key), [each.name for each in wanted])
            for key, wanted in (("features", templates.features), ("streams", templates.streams))
        )
        vectors = WordVectors.from_model(model, found.rows("vectors"))
        words, key = model.hashes("words"), found.integer("key", least=0, most=MOST_KEY)
        lists = [characters, *features.values(), *streams.values()]
        bounds = np.cumsum([len(words), *map(len, lists)])
        patients = np.split(model.array("patients", expected_counts(int(bounds[-1]))), bounds[:-1])
        counts = iter(patients[2:])
        return cls(
            vectors,
            words,
            patients[0],
            Vocabulary.from_values(characters, patients[1]),
            {
                name: Vocabulary.from_values(each, next(counts), key)
                for name, each in features.items()
            },
            {
                name: Vocabulary.from_values(each, next(counts), key)
                for name, each in streams.items()
            },
            key,
        )


def _values(found: Fields, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of features or streams of these names."""
    if list(found) != list(names):
        raise InputError(f"{found.place}: expected {', '.join(names)}")
    return {name: found.distinct_texts(name) for name in names}


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


def _codes_of(stream: Stream, vocabulary: Vocabulary) -> Codes:
    codes = np.append(
        vocabulary.codes(stream.vocabulary), np.int32(UNKNOWN)
    )  # of no value: the last
    return codes[stream.values]
