"""The inputs of a network for a word and its context, as arrays.

Whatever depends on the word alone is computed once per word type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import MOST_KEY, Hashes, hash_values
from corpus.storage.arrays import array_files
from corpus.storage.fields import Fields
from taggers.features.templates import Template, Templates
from taggers.features.words import Words
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
from taggers.privacy.identities import traces_of_values
from taggers.privacy.patient_counts import (
    Counts,
    expected_counts,
    patients_of_words,
)
from taggers.privacy.pruning import Pruning

#: Rows of a table, and the rows of another one with the same meaning.
Rows = tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]

#: The most characters that are read of a word: the first and the last ones of a longer word.
MAX_CHARACTERS = 24


@dataclass(frozen=True, slots=True, eq=False)
class WordArrays:
    """The inputs of V words.

    Parameters
    ----------
    vectors : ndarray of float32, shape (V, E)
        The joined vectors of embeddings.
    numbers : ndarray of int32, shape (V,)
        The number of each word of the training documents, from 1 on; 0 for other words.
    characters : ndarray of int32, shape (V, MAX_CHARACTERS)
        The codes of characters, from 1 on; 0 after the last one.
    features : ndarray of int32, shape (V, F)
        The code of the value of each feature.
    """

    vectors: npt.NDArray[np.float32]
    numbers: Codes
    characters: Codes
    features: Codes

    def by_name(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by their names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


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
        hashes = np.unique(_hashes(train.vocabulary))
        index = HashIndex(hashes)
        inputs = cls(
            vectors.counted(train),
            hashes,
            patients_of_words(train, len(hashes), lambda types: index.positions(_hashes(types))),
            vocabulary_of_characters(train),
            {
                template.name: vocabulary_of_feature(templates.feature(template.name)(words), train)
                for template in templates.features
            },
            {
                template.name: vocabulary_of_stream(train.streams[template.name], train)
                for template in templates.streams
            },
        )
        return inputs, inputs.arrays(train.vocabulary, templates)

    def arrays(self, types: Sequence[str], templates: Templates) -> WordArrays:
        """Compute the inputs of words."""
        words = Words(types)
        features = [
            vocabulary.codes(templates.feature(name)(words))
            for name, vocabulary in self.features.items()
        ]
        return WordArrays(
            self.vectors.lookup(types),
            self._numbers(_hashes(types)),
            self._characters(types),
            _columns(features, len(types)),
        )

    def _numbers(self, hashes: Hashes) -> Codes:
        """Return the numbers of words, from 1 on; `UNKNOWN` for others."""
        rows = HashIndex(self.words, self.key).positions(hashes)
        return np.where(rows == ABSENT, UNKNOWN, rows + 1).astype(np.int32)

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
        points = np.array(read, f"U{MAX_CHARACTERS}").view(np.uint32).reshape(-1, MAX_CHARACTERS)
        known = [ord(character) for character in self.characters.values]
        codes = np.ones(max(known, default=0) + 2, np.int32)  # the last is that of all beyond
        codes[known] = np.arange(2, len(known) + 2)
        read_codes = codes.take(points, mode="clip")
        return np.where(np.arange(MAX_CHARACTERS) < lengths[:, None], read_codes, np.int32(0))

    def stream_codes(self, batch: Batch) -> Codes:
        """Return the codes of the streams of each token, shape (N, S)."""
        columns = []
        for name, vocabulary in self.streams.items():
            stream = batch.streams[name]
            codes = np.append(vocabulary.codes(stream.vocabulary), np.int32(UNKNOWN))
            columns.append(codes[stream.values])  # no value, -1, indexes the last
        return _columns(columns, batch.n_tokens)

    def common_rows(self, before: WordInputs) -> dict[str, Rows]:
        """Return the rows of words, characters and values that other inputs have, too.

        Returns
        -------
        dict of str to (source, target)
            Rows of the weights of the other network, and the rows of the same weights here, by the
            names of these weights.
        """
        tables = {
            "words": _common(before._numbers(self.words)),
            "characters": _common(before.characters.codes(self.characters.values), first=2),
        }
        for kind in ("features", "streams"):
            others = getattr(before, kind)
            for name, vocabulary in getattr(self, kind).items():
                if name in others:
                    tables[f"{kind}/{name}"] = _common(others[name].codes(vocabulary.values))
        return tables

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
        for kind, kept_values in vocabularies.items():
            for name, vocabulary in getattr(self, kind).items():
                kept_values[name], taken[f"{kind}/{name}"] = vocabulary.pruned(pruning, hashed=True)
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
        vocabularies = (*self.features.values(), *self.streams.values())
        values = sum(len(vocabulary.values) for vocabulary in vocabularies)
        vectors = {"words with a vector": self.vectors.size} if self.vectors.tables else {}
        return {"words": len(self.words), "feature values": values, **vectors}

    def traces(
        self, words: Sequence[str], templates: Templates
    ) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words are known, as words, as values and as parts of words."""
        vocabularies = {**self.features, **self.streams}
        values = traces_of_values(
            words, templates, lambda name, values: vocabularies[name].codes(values) != UNKNOWN
        )
        vectors = {"vectors": self.vectors.having(words)} if self.vectors.tables else {}
        known = self._numbers(_hashes(words)) != UNKNOWN
        return {"words": known, **values, **vectors}

    def files(self) -> dict[str, bytes]:
        """Return the contents of a model's files: arrays in NumPy's format."""
        vocabularies = (self.characters, *self.features.values(), *self.streams.values())
        patients = np.concatenate([self.patients, *(values.patients for values in vocabularies)])
        return array_files({"words": self.words, "patients": patients}) | self.vectors.files()

    def description(self) -> dict[str, Any]:
        """Return the description that `from_model` needs in addition to the files."""
        return {
            "key": self.key,
            "vectors": self.vectors.description(),
            "characters": self.characters.values,
            "features": {name: codes.values for name, codes in self.features.items()},
            "streams": {name: codes.values for name, codes in self.streams.items()},
        }

    @classmethod
    def from_model(cls, model: ModelFiles, templates: Templates) -> Self:
        """Read inputs from the files of a model with these features and streams.

        Raises
        ------
        InputError
            If a file or the description of the model is not what was saved.
        """
        described = model.fields.fields("inputs")
        characters = described.distinct_texts("characters")
        ascending = list(characters) == sorted(characters)
        if not ascending or any(len(character) != 1 for character in characters):
            raise described.error("characters", "a list of ascending characters")
        features = _values(described.fields("features"), templates.features)
        streams = _values(described.fields("streams"), templates.streams)
        vectors = WordVectors.from_model(model, described.rows("vectors"))
        words, key = model.hashes("words"), described.integer("key", least=0, most=MOST_KEY)
        lists = [*features.values(), *streams.values()]
        bounds = np.cumsum([len(words), len(characters), *map(len, lists)])
        counts = model.array("patients", expected_counts(int(bounds[-1])))
        own, of_characters, *others = np.split(counts, bounds[:-1])
        vocabularies = [
            Vocabulary(values, patients, key)
            for values, patients in zip(lists, others, strict=True)
        ]
        return cls(
            vectors,
            words,
            own,
            Vocabulary(characters, of_characters),
            dict(zip(features, vocabularies, strict=False)),
            dict(zip(streams, vocabularies[len(features) :], strict=True)),
            key,
        )


def _values(described: Fields, templates: Sequence[Template]) -> dict[str, tuple[str, ...]]:
    """Return the values of features or streams of these names."""
    names = [template.name for template in templates]
    if list(described) != names:
        raise InputError(f"{described.place}: expected the features and streams of its templates")
    return {name: described.distinct_texts(name) for name in names}


def _columns(codes: Sequence[Codes], rows: int) -> Codes:
    return np.stack(codes, axis=1) if codes else np.zeros((rows, 0), np.int32)


def _common(codes: Codes, first: int = 1) -> Rows:
    """Return the rows of values with a code, and the rows of unknown ones, which come before."""
    known = np.flatnonzero(codes)
    unknown = np.arange(first)
    return np.append(unknown, codes[known] + first - 1), np.append(unknown, known + first)


def _hashes(types: Sequence[str]) -> Hashes:
    return hash_values("word", types)
