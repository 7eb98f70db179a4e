"""The n-grams that may be entities, and what leaves the others out (paper 000, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch, Stream
from corpus.kernels.hash_index import ABSENT
from corpus.kernels.hashing import Hashes, hash_values
from corpus.storage.arrays import Expected
from corpus.tags import find_entities
from corpus.units import line_numbers
from taggers.features.words import Words
from taggers.keyed_table import KeyedTable
from taggers.model_folder import ModelFiles
from taggers.privacy.patient_counts import patients_of_words
from taggers.privacy.pruning import Pruning

Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: What a word may be in an entity, as bits: the first word, any word, the last word.
FIRST, WITHIN, LAST = 1, 2, 4
_ALL = FIRST | WITHIN | LAST

#: The name of the table in a model, and that of its column.
_NAME, _PLACES = "ngram-filter", "places"

#: Parts of speech of words that neither begin nor end an entity, by Apertium and by Universal
#: Dependencies.
_NOT_AT_ENDS = {
    *("pr", "det", "adv", "prn", "rel", "cnjcoo", "cnjsub", "cnjadv", "preadv", "ij", "sent"),
    *("cm", "lpar", "rpar"),
    *("ADP", "DET", "ADV", "PRON", "CCONJ", "SCONJ", "PUNCT", "INTJ", "AUX", "PART"),
}


@dataclass(frozen=True, slots=True, eq=False)
class NGramFilter:
    """Words that training documents do not have at a place of an entity.

    Words are compared in lower case, with each digit replaced by 0.

    Parameters
    ----------
    words : KeyedTable
        The words of training documents that are frequent enough, with the column ``places``: what
        each is in some entity, as bits. Words that are everything in some are left out.
    crosses_lines : bool
        Whether an entity of training documents ends in another line.
    """

    words: KeyedTable
    crosses_lines: bool

    @classmethod
    def from_training(cls, train: Batch, min_count: int) -> Self:
        """Learn from tagged documents; words with fewer occurrences are not known."""
        entities = find_entities(train.tags, train.document_offsets, train.labels)
        hashes, of_types = np.unique(_hashes(train), return_inverse=True)
        words = of_types.reshape(-1)[train.word_ids]
        places = np.zeros(len(hashes), np.uint8)
        within = train.tags != train.labels.index("O")
        for bit, tokens in ((FIRST, entities.first), (WITHIN, within), (LAST, entities.last)):
            places[words[tokens]] |= np.uint8(bit)
        counts = np.bincount(words, minlength=len(hashes))
        lines = line_numbers(train)
        table = KeyedTable(
            hashes,
            {_PLACES: places},
            patients=patients_of_words(train, len(hashes), lambda _: of_types.reshape(-1)),
        )
        return cls(
            table.take((counts >= min_count) & (places != _ALL)),
            bool((lines[entities.first] != lines[entities.last]).any()),
        )

    def find(self, batch: Batch, length: int, pos: Stream | None = None) -> tuple[Indices, Indices]:
        """Find the n-grams that may be entities.

        Parameters
        ----------
        batch : Batch
            Documents.
        length : int
            The largest number of words.
        pos : Stream, optional
            Parts of speech. With them, words alone do not say where an n-gram begins and ends.

        Returns
        -------
        first, last : ndarray of int64, shape (K,)
            The first and the last token of each, in the order of `first`, then of `last`.
        """
        table = self.words.values(_PLACES, _hashes(batch), absent=_ALL)
        places = table[batch.word_ids]
        within = (places & WITHIN) > 0
        if pos is None:
            begins, ends = ((places & bit) > 0 for bit in (FIRST, LAST))
        else:
            at_ends, inside = _allowed(batch, pos)
            begins, ends, within = at_ends, at_ends, within & inside
        # N-grams do not continue after a word that no entity has, in another line or document.
        breaks = ~within
        breaks[batch.document_offsets[:-1][batch.lengths > 0]] = True
        if not self.crosses_lines:
            breaks |= np.diff(line_numbers(batch), prepend=-1) != 0
        parts = np.cumsum(breaks)
        starts = np.flatnonzero(begins & within)
        ends &= within
        pairs = []
        for more in range(length):
            starts = starts[starts + more < batch.n_tokens]
            starts = starts[parts[starts + more] == parts[starts]]
            pairs.append(starts[ends[starts + more]])
        first = np.concatenate(pairs)
        last = first + np.repeat(np.arange(length), [len(part) for part in pairs])
        order = np.lexsort((last, first))
        return first[order], last[order]

    def having(self, words: Sequence[str]) -> Flags:
        """Return which words are in the table."""
        known: Flags = self.words.rows(hash_values("word", Words(words).zeroed)) != ABSENT
        return known

    def pruned(self, pruning: Pruning) -> NGramFilter:
        """Return a filter without the words of few patients."""
        return NGramFilter(self.words.pruned(pruning), self.crosses_lines)

    def files(self) -> dict[str, bytes]:
        """Return the content of the files of a model, by name."""
        return self.words.files(_NAME)

    @classmethod
    def from_model(cls, model: ModelFiles, key: int, *, crosses_lines: bool) -> Self:
        """Read a filter from the files of a model.

        Raises
        ------
        InputError
            If a file is missing, or is not what `files` returns.
        """
        columns = {_PLACES: Expected("uint8", (None,), 0, _ALL)}
        return cls(KeyedTable.from_model(model, _NAME, columns, key=key), crosses_lines)


def _hashes(batch: Batch) -> Hashes:
    return hash_values("word", Words(batch.vocabulary).zeroed)


def _allowed(batch: Batch, pos: Stream) -> tuple[Flags, Flags]:
    """Return which tokens may begin or end an n-gram, and be within one, by part of speech."""
    tags = [value.split("+")[0].split(".") for value in pos.vocabulary]
    verbs = [
        tag[0].startswith(("vb", "VERB")) and tag[1:] not in (["pp"], ["Part"]) for tag in tags
    ]
    inside = np.array([not verb for verb in verbs] + [True])
    at_ends = inside & np.array([tag[0] not in _NOT_AT_ENDS for tag in tags] + [True])
    is_word = np.array([any(map(str.isalnum, word)) for word in batch.vocabulary], bool)
    return at_ends[pos.values] & is_word[batch.word_ids], inside[pos.values]
