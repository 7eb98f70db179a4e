"""Replacement of mentions by others of the same kind, in copies of gold documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch, make_batch
from corpus.document import Document, Span
from corpus.errors import Problems
from corpus.tags import UNKNOWN
from gazetteers.builtin import read_gazetteer
from gazetteers.casing import begins_with_vowel_sound
from gazetteers.gazetteer import Gazetteer
from gazetteers.grammar import Grammar
from gazetteers.term_lists import TermLists
from taggers.augmentation.augment_options import AugmentOptions
from taggers.augmentation.classified import ClassifiedMentions
from taggers.augmentation.mentions import Occurrence, Occurrences

#: What stands between mentions without context, and its probabilities.
_SEPARATORS = (" ", ". ", ", ", " - ", " (", "; ", ": ")
_SEPARATOR_SHARES = (0.3, 0.25, 0.25, 0.05, 0.05, 0.05, 0.05)
_FULL_STOP = 0.5  # the probability of a full stop at the end

#: The most tokens of the copied documents, counted for each copy. A seed that gets less than two
#: copies of each has enough mentions of its own, and gets none.
MOST_TOKENS = 400_000


class MentionReplacement:
    """Copies of gold documents in which mentions are replaced by others of the same kind.

    The kinds of the mentions of each class are learned at construction: each class is a mixture of
    kinds, whose weights are estimated by expectation maximization.

    Parameters
    ----------
    gold : Batch
        Documents with tags; unknown tags are outside of entities.
    options : AugmentOptions
        The options.
    gazetteers : sequence of Gazetteer, optional
        The gazetteers; read from the options if None.

    Raises
    ------
    InputError
        If a gazetteer or the grammar is missing or invalid.
    """

    def __init__(
        self,
        gold: Batch,
        options: AugmentOptions,
        gazetteers: Sequence[Gazetteer] | None = None,
    ) -> None:
        if gazetteers is None:
            gazetteers = [read_gazetteer(path) for path in options.gazetteers]
        grammar = Grammar.read(Path(options.grammar) if options.grammar else None)
        self._gold, self._options = gold, options
        self._occurrences = Occurrences.from_batch(gold)
        self._mentions = ClassifiedMentions(self._occurrences, TermLists(gazetteers), grammar)

    @property
    def kinds(self) -> Mapping[str, Mapping[str, float]]:
        """For each class with mentions, the share of each kind among its mentions."""
        return self._mentions.shares

    @property
    def distinct(self) -> Mapping[str, Mapping[str, int]]:
        """For each class with mentions, the number of its distinct mentions of each kind."""
        return self._mentions.distinct

    @cached_property
    def rows(self) -> list[int]:
        """The documents that are copied: those with entities and without unknown tags."""
        gold, offsets = self._gold, self._gold.document_offsets.tolist()
        return [
            row
            for row, entities in enumerate(self._occurrences.documents)
            if entities and not (gold.tags[offsets[row] : offsets[row + 1]] == UNKNOWN).any()
        ]

    def copies(self, rng: np.random.Generator) -> Batch:
        """Build copies of the documents with entities.

        Returns
        -------
        Batch
            ``options.copies`` copies of each document with entities, one document after another,
            or fewer: together they have at most `MOST_TOKENS` tokens of the documents. The copy 3
            of the document ``a`` has the id ``a+3``, its group, and the weight of the document
            divided by the number of its copies, times ``options.weight``.
        """
        gold, chosen = self._gold, self.rows
        tokens = sum(int(gold.lengths[row]) for row in chosen)
        enough = MOST_TOKENS // max(tokens, 1)
        number = min(self._options.copies, enough if enough > 1 else 0)
        ids, texts, groups = (column.to_pylist() for column in (gold.ids, gold.texts, gold.groups))
        separator = "+"
        while any(separator in name for name in ids):
            separator += "+"
        copies = []
        for row in chosen:
            entities = self._occurrences.documents[row]
            for copy in range(1, number + 1):
                text, spans = _joined(self._pieces(texts[row], entities, rng))
                copies.append(Document(f"{ids[row]}{separator}{copy}", text, spans, groups[row]))
        weights = np.ones(len(gold)) if gold.weights is None else gold.weights
        share = self._options.weight / max(number, 1)
        return self._batch(copies, np.repeat(weights[chosen] * share, number))

    def _pieces(
        self, text: str, entities: Sequence[Occurrence], rng: np.random.Generator
    ) -> Iterator[tuple[str, str]]:
        """Yield the pieces of a copy of a text, each with its class, or "" for context."""
        done = 0
        for entity in entities:
            new = text[entity.start : entity.end]
            if rng.random() < self._options.replace and not entity.fixed:
                drawn = self._mentions.draw(entity.mention, self._options.own, rng)
                if drawn.strip() and (begins_with_vowel_sound(drawn) or not entity.elided):
                    new = drawn
            yield text[done : entity.start], ""
            yield new, self._occurrences.class_of(entity.mention)
            done = entity.end
        yield text[done:], ""

    def _batch(self, documents: Sequence[Document], weights: npt.NDArray[np.floating]) -> Batch:
        """Return derived documents as a batch with the labels of the gold documents."""
        classes = self._occurrences.classes
        batch = make_batch(documents, labelled=True, classes=classes, problems=Problems())
        derived = np.ones(len(documents), bool)
        return replace(batch, weights=weights.astype(np.float32), derived=derived)

    def joined(
        self, rng: np.random.Generator, number: int, weight: float, longest: int = 4
    ) -> Batch:
        """Build documents that consist of mentions with punctuation between them.

        Without the context of the gold documents, a tagger learns to find mentions in other
        contexts too.

        Parameters
        ----------
        rng : numpy.random.Generator
            The source of randomness.
        number : int
            The number of documents; there are none if the gold documents have no entity.
        weight : float
            The weight of all documents together.
        longest : int
            The maximum number of mentions of a document. All numbers from 1 are equally likely.

        Returns
        -------
        Batch
            Documents with the ids ``joined+1``, ``joined+2`` and so on, and without groups.
        """
        entities = list(chain.from_iterable(self._occurrences.documents))
        documents = []
        for row in range(number if entities else 0):
            pieces: list[tuple[str, str]] = []
            for place in rng.integers(len(entities), size=rng.integers(1, longest + 1)).tolist():
                mention = entities[place].mention
                text = self._occurrences.mentions[mention].text
                if rng.random() < self._options.replace:
                    text = self._mentions.draw(mention, self._options.own, rng).strip() or text
                if pieces:
                    pieces.append((str(rng.choice(_SEPARATORS, p=_SEPARATOR_SHARES)), ""))
                pieces.append((text, self._occurrences.class_of(mention)))
            if rng.random() < _FULL_STOP:
                pieces.append((".", ""))
            documents.append(Document(f"joined+{row + 1}", *_joined(pieces)))
        return self._batch(documents, np.full(len(documents), weight / max(len(documents), 1)))


def _joined(pieces: Iterable[tuple[str, str]]) -> tuple[str, tuple[Span, ...]]:
    """Return the text that consists of pieces, and the spans of those with a class."""
    text, spans = "", []
    for piece, name in pieces:
        if name:
            spans.append(Span(len(text), len(text) + len(piece), name))
        text += piece
    return text, tuple(spans)
