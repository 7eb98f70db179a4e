"""Matching of phrases, such as names of hospitals and streets, in notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.compiled import kernel_array
from corpus.kernels.hashing import Hashes
from corpus.lines import line_numbers
from corpus.ragged import ranges_of
from corpus.streams import NO_VALUE, Stream
from corpus.tags import TokenSpans
from gazetteers.gazetteer import Gazetteer, terms_by_class
from gazetteers.phrases.automaton import CompiledPhrases
from gazetteers.phrases.matching import find_longest

#: The class of phrases that look like names but are not.
BLOCKED = "BLOCKED"


class PhraseMatcher:
    """A matcher of phrases that finds the longest matches from left to right, without overlap.

    Parameters
    ----------
    phrases : mapping of str to sequence of str
        Terms of any case, by class. The class of a phrase of several classes is `BLOCKED`, or else
        the first of them.
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]]) -> None:
        self.phrases = {name: tuple(dict.fromkeys(terms)) for name, terms in phrases.items()}
        self.classes = tuple(self.phrases)

    @classmethod
    def of(cls, gazetteers: Iterable[Gazetteer]) -> Self:
        """Build a matcher from gazetteers, with classes in the order of their first term."""
        return cls(terms_by_class(gazetteers))

    @property
    def types(self) -> tuple[str, ...]:
        """The values of streams: ``B-`` and ``I-`` of each class."""
        return tuple(f"{side}-{name}" for name in self.classes for side in "BI")

    def find(self, batch: Batch, hashes: Hashes | None = None) -> TokenSpans:
        """Return the first and the last token of each match, and the index of its class.

        Parameters
        ----------
        batch : Batch
            The documents.
        hashes : ndarray of uint64, optional
            The hashes of the surfaces of the vocabulary, if they are known; see
            `gazetteers.phrases.automaton.surface_hashes`.
        """
        size = batch.n_tokens
        found = (np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))
        columns = (batch.word_ids, batch.visible_starts(), batch.ends)
        words, starts, ends = map(kernel_array, columns)
        tokens = (words, starts, ends, line_numbers(batch))
        compiled = self._compiled
        types, tree = compiled.types(batch.vocabulary, hashes), compiled.tree
        n_matches = find_longest(
            tokens,
            (types.bits, types.plain, types.dotted, types.alone, types.capital),
            (tree.keys, tree.children, tree.classes, tree.words),
            self._blocked,
            found,
        )
        return TokenSpans(*(column[:n_matches] for column in found))

    def match(self, batch: Batch) -> Stream:
        """Return the phrase that each token belongs to.

        Parameters
        ----------
        batch : Batch
            The documents.

        Returns
        -------
        Stream
            A stream with the vocabulary `types`. The first token of a match has twice the index of
            its class, and the others one more.
        """
        found = self.find(batch)
        values = np.full(batch.n_tokens, NO_VALUE, np.int32)
        lengths = found.last - found.first + 1
        values[ranges_of(found.first, lengths)] = np.repeat(2 * found.classes + 1, lengths)
        values[found.first] = 2 * found.classes
        return Stream(self.types, values)

    @property
    def _blocked(self) -> int:
        return self.classes.index(BLOCKED) if BLOCKED in self.classes else -1

    @cached_property
    def _compiled(self) -> CompiledPhrases:
        """The compiled phrases, built at the first search because few commands need them."""
        order = sorted(range(len(self.classes)), key=lambda kind: kind != self._blocked)
        pairs = [(term, kind) for kind in order for term in self.phrases[self.classes[kind]]]
        return CompiledPhrases.of([term for term, _ in pairs], [kind for _, kind in pairs])


def blocked(stream: Stream) -> npt.NDArray[np.bool_]:
    """Return whether each token belongs to a phrase of `BLOCKED`.

    Parameters
    ----------
    stream : Stream
        The result of `PhraseMatcher.match`.
    """
    kinds = [value[2:] == BLOCKED for value in stream.vocabulary]
    return np.array([*kinds, False])[stream.values]
