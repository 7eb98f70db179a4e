"""Replacement of mentions by others of the same kind, in copies of gold documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.batch import Batch, make_batch
from corpus.document import Document
from corpus.ragged import ranges_of
from corpus.tags import TokenSpans, tags_of_entities
from gazetteers.builtin import read_gazetteer
from gazetteers.gazetteer import Gazetteer
from taggers.augmentation.augment_options import AugmentOptions
from taggers.augmentation.classified import ClassifiedMentions
from taggers.augmentation.grammar import Grammar
from taggers.augmentation.mentions import Occurrences, begins_with_vowel_sound
from taggers.augmentation.splicing import Replacements, splice
from taggers.augmentation.term_lists import TermLists

Indices = npt.NDArray[np.int64]

#: What stands between mentions without context, and its probabilities.
_SEPARATORS = (" ", ". ", ", ", " - ", " (", "; ", ": ")
_SEPARATOR_SHARES = (0.3, 0.25, 0.25, 0.05, 0.05, 0.05, 0.05)
_FULL_STOP = 0.5  # the probability of a full stop at the end
_PLACE = "x"  # a token that stands for a mention


def read_gazetteers(paths: Sequence[str]) -> list[Gazetteer]:
    """Read gazetteers.

    Parameters
    ----------
    paths : sequence of str
        Paths or names of builtin lists; see `gazetteers.builtin.read_gazetteer`.

    Raises
    ------
    InputError
        If a gazetteer is missing or has another format.
    """
    return [read_gazetteer(path) for path in paths]


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
            gazetteers = read_gazetteers(options.gazetteers)
        grammar = Grammar.read(Path(options.grammar) if options.grammar else None)
        self._gold = replace(gold, streams={})
        self._options = options
        self._found = Occurrences.of(gold)
        self._mentions = ClassifiedMentions(self._found, TermLists(gazetteers), grammar)

    @property
    def kinds(self) -> Mapping[str, Mapping[str, float]]:
        """For each class with mentions, the share of its mentions that is of each kind."""
        return self._mentions.shares

    @property
    def distinct(self) -> Mapping[str, Mapping[str, int]]:
        """For each class with mentions, the number of its distinct mentions of each kind."""
        return self._mentions.distinct

    def copies(self, rng: np.random.Generator) -> Batch:
        """Build copies of the documents with entities.

        Parameters
        ----------
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        Batch
            ``options.copies`` copies of each document with entities, one document after another.
            The copy 3 of the document ``a`` has the id ``a+3``, its group, and the weight of the
            document times ``options.weight / options.copies``.
        """
        number, found = self._options.copies, self._found
        documents = np.unique(found.documents)
        # The entities of a document are consecutive; each copy repeats all of them.
        bounds = np.searchsorted(found.documents, [documents, documents + 1])
        sizes = np.repeat(bounds[1] - bounds[0], number)
        begins = np.repeat(bounds[0], number)
        copies = np.repeat(np.arange(len(sizes)), sizes)
        entities = ranges_of(begins, sizes)
        kept = (rng.random(len(entities)) < self._options.replace) & ~found.fixed[entities]
        copies, entities = copies[kept], entities[kept]
        texts = self._mentions.draw(found.numbers[entities], self._options.own, rng)
        phrases, numbers = self._phrases(texts, found.numbers[entities])
        suitable = ~found.elided[entities] | _begin_with_vowel_sounds(phrases)[numbers]
        copies, entities, numbers = copies[suitable], entities[suitable], numbers[suitable]
        spans = found.spans
        replacements = Replacements(copies, spans.first[entities], spans.last[entities], numbers)
        batch = splice(self._gold, np.repeat(documents, number), replacements, phrases)
        suffixes = np.tile(np.arange(1, number + 1), len(documents))
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        share = self._options.weight / max(number, 1)
        return replace(
            batch,
            ids=_copy_ids(batch.ids, suffixes, self._gold.ids),
            weights=(weights * share).astype(np.float32),
            derived=np.ones(len(batch), bool),
        )

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
        found = self._found
        number = number if len(found.numbers) else 0
        sizes = rng.integers(1, longest + 1, size=number)
        total = int(sizes.sum())
        mentions = found.numbers[rng.integers(max(len(found.numbers), 1), size=total)]
        is_drawn = rng.random(total) < self._options.replace
        drawn = iter(self._mentions.draw(mentions[is_drawn], self._options.own, rng))
        texts = [
            next(drawn) if new else found.mentions[mention].text
            for mention, new in zip(mentions.tolist(), is_drawn.tolist(), strict=True)
        ]
        phrases, numbers = self._phrases(texts, mentions)
        batch, places = self._frameworks(sizes, found.of_classes[mentions], rng)
        copies = np.repeat(np.arange(number), sizes)
        replacements = Replacements(copies, places, places, numbers)
        joined = splice(batch, np.arange(number), replacements, phrases)
        weights = np.full(number, weight / max(number, 1), np.float32)
        return replace(joined, weights=weights, derived=np.ones(number, bool))

    def _phrases(self, texts: Sequence[str], mentions: Indices) -> tuple[Batch, Indices]:
        """Build a batch of the distinct texts, and number the texts that replace mentions.

        A mention whose text has no tokens is replaced by itself.
        """
        own = [mention.text for mention in self._found.mentions]
        index: dict[str, int] = {}
        numbers = np.array(
            [index.setdefault(text, len(index)) for text in (*own, *texts)], np.int64
        )
        documents = [Document(str(number), text) for text, number in index.items()]
        phrases = make_batch(documents, labelled=False)
        drawn = numbers[len(own) :]
        return phrases, np.where(phrases.lengths[drawn] > 0, drawn, numbers[mentions])

    def _frameworks(
        self, sizes: Indices, classes: Indices, rng: np.random.Generator
    ) -> tuple[Batch, Indices]:
        """Build documents of separators between tokens that stand for mentions of classes.

        Returns
        -------
        batch : Batch
        places : ndarray of int64
            The tokens that stand for mentions.
        """
        shares = np.array(_SEPARATOR_SHARES)
        chosen = rng.choice(len(_SEPARATORS), p=shares / shares.sum(), size=len(classes)).tolist()
        stops = (rng.random(len(sizes)) < _FULL_STOP).tolist()
        texts = []
        ends = np.cumsum(sizes).tolist()
        for size, end, stop in zip(sizes.tolist(), ends, stops, strict=True):
            separators = [_SEPARATORS[number] for number in chosen[end - size + 1 : end]]
            text = "".join([_PLACE, *(separator + _PLACE for separator in separators)])
            texts.append(text + "." if stop else text)
        documents = [Document(f"joined+{n}", text) for n, text in enumerate(texts, 1)]
        batch = make_batch(documents, labelled=True, classes=self._found.classes)
        is_place = np.array([word == _PLACE for word in batch.vocabulary], bool)[batch.word_ids]
        places = np.flatnonzero(is_place)
        tags = tags_of_entities(TokenSpans(places, places, classes), batch.n_tokens, batch.labels)
        return batch.with_tags(tags, batch.labels), places


def _copy_ids(
    ids: pa.LargeStringArray, suffixes: Indices, taken: pa.LargeStringArray
) -> pa.LargeStringArray:
    """Return the ids of copies, which differ from those of the gold documents."""
    separator = "+"
    while True:
        numbers = pa.array(suffixes).cast(pa.large_string())
        found = pc.binary_join_element_wise(ids, numbers, pa.scalar(separator, pa.large_string()))
        if not pc.any(pc.is_in(found, value_set=taken)).as_py():
            return found
        separator += "+"


def _begin_with_vowel_sounds(phrases: Batch) -> npt.NDArray[np.bool_]:
    return np.array([begins_with_vowel_sound(text) for text in phrases.texts.to_pylist()], bool)
