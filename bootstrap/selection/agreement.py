"""Agreement of views: the spans that several taggers support, at the rate of the reference.

Two taggers with different views of a document, such as one with the features of its layout and one
without, make different errors. A span that both support is more often right than one that a single
tagger is sure of (co-training; Blum and Mitchell, 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from bootstrap.selection.contexts import contexts_of
from bootstrap.selection.proportional import Selection
from bootstrap.selection.proportions import Reference, content_of, proportions_of
from corpus.batch import Batch
from corpus.ragged import count_by_row, offsets_of, ranges_of
from corpus.tags import UNKNOWN, TokenSpans, classes_of, find_entities, tags_of_entities
from taggers.base import Tagging

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Average = Literal["words", "contexts"]

#: The maximum number of words of an entity whose other occurrences are found.
MAX_WORDS = 8

#: The minimum support of an occurrence that no tagger tagged: more likely an entity than not.
_LIKELY = 0.5

#: The least candidates of a context that is judged, and the mean support of the views but the
#: first below which none of them is an entity.
_ENOUGH, _REJECTED = 5, 0.15

_OUTSIDE = -1
_OTHER = -2  # a class that the first tagger does not have


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """The decisions of a tagger, token by token.

    Parameters
    ----------
    classes : ndarray of int64, shape (N,)
        The class of each token; -1 outside of entities.
    confidence : ndarray of float64, shape (N,)
        The marginal probability of its tag.
    known : ndarray of bool, shape (C,)
        Whether the tagger has each class. It abstains from entities of the others.
    """

    classes: Indices
    confidence: Floats
    known: Flags

    @classmethod
    def from_tagging(cls, tagging: Tagging, names: Sequence[str]) -> Opinions:
        """Return the decisions of a tagging, with classes as indices into `names`."""
        if tagging.token_confidence is None:
            raise ValueError("agreement needs the confidence of every token")
        index = {name: number for number, name in enumerate(names)}
        of_label = [
            _OUTSIDE if label == "O" else index.get(label[2:], _OTHER) for label in tagging.labels
        ]
        own = classes_of(tagging.labels)
        known = np.array([name in own for name in names], bool)
        return cls(np.array(of_label, np.int64)[tagging.tags], tagging.token_confidence, known)

    @property
    def outside(self) -> Floats:
        """The probability that each token is outside of entities, shape (N,)."""
        return np.where(self.classes == _OUTSIDE, self.confidence, 1 - self.confidence)

    def support(self, spans: TokenSpans) -> Floats:
        """Compute the support of spans: the lowest probability of their class at their tokens.

        A token that the tagger puts outside of entities with probability p supports every class
        with the remaining 1 - p, which is an upper bound of its probability.
        """
        if not len(spans.first):
            return np.zeros(0)
        lengths = spans.last - spans.first + 1
        begins = offsets_of(lengths)[:-1]
        tokens = ranges_of(spans.first, lengths)
        classes, confidence = self.classes[tokens], self.confidence[tokens]
        same = classes == np.repeat(spans.classes, lengths)
        left = np.where(classes == _OUTSIDE, 1 - confidence, 0.0)
        lowest: Floats = np.minimum.reduceat(np.where(same, confidence, left), begins)
        return lowest


def agreed_spans(
    taggings: Sequence[Tagging],
    batch: Batch,
    *,
    reference: Reference | None,
    share: float,
    min_outside: float,
    average: Average | None,
    most: int,
    rng: np.random.Generator,
) -> Selection:
    """Select the spans with the highest mean support of several taggers that have their class.

    The candidates are the entities that any tagger tags. The candidates of each class are selected
    in descending order of support, until their number per token is `share` times the reference
    rate. Tokens of other candidates are unknown. All other tokens are outside of entities if the
    mean probability of that is at least `min_outside`, and otherwise unknown.

    Parameters
    ----------
    taggings : sequence of Tagging
        The taggings of the batch by one or more taggers, with the confidence of tokens.
    batch : Batch
        The documents tagged.
    reference : Reference or None
        The entities of each class per token. Without one, all candidates with a support of at
        least one half are selected.
    share : float
        The share of the reference rate that is selected.
    min_outside : float
        The threshold of tokens outside of entities.
    average : {"words", "contexts"}, optional
        With what the support of a candidate is averaged: with the mean support of all occurrences
        of its words, which become candidates themselves; or with the mean support of the
        candidates of its context (see `bootstrap.selection.contexts`). Then candidates of a
        context that the views but the first hardly support are outside of entities.
    most : int
        The maximum number of documents. If there are more, a random sample is selected, which keeps
        the rates.
    rng : numpy.random.Generator
        Draws that sample.

    Returns
    -------
    Selection
        Documents with the tags of the selected spans; other tags are unknown.
    """
    labels = taggings[0].labels
    names = classes_of(labels)
    opinions = [Opinions.from_tagging(tagging, names) for tagging in taggings]
    candidates = _union([_entities(tagging, batch, names) for tagging in taggings])
    support = _support(opinions, candidates)
    if average == "words":
        candidates, support = _with_recurrences(batch, candidates, support, opinions)
    rejected = np.zeros(len(candidates.first), bool)
    if average == "contexts":
        support, rejected = _in_contexts(batch, candidates, support, opinions)
    limits = _limits(reference, names, share, batch.n_tokens)
    accepted = np.flatnonzero(~rejected)
    chosen = _best_disjoint(candidates.take(accepted), support[accepted], limits, batch.n_tokens)
    outside = np.mean([view.outside for view in opinions if view.known.all()], axis=0)
    tags = np.where(outside >= min_outside, labels.index("O"), UNKNOWN).astype(np.int16)
    tags[candidates.covered(batch.n_tokens)] = UNKNOWN
    tags[candidates.take(rejected).covered(batch.n_tokens)] = labels.index("O")
    selected = chosen.covered(batch.n_tokens)
    tags[selected] = tags_of_entities(chosen, batch.n_tokens, labels)[selected]
    number = count_by_row(tags != UNKNOWN, batch.document_offsets)
    usable = np.flatnonzero(number)
    indices, proportions = usable, None
    if len(usable) > most:
        indices = np.sort(rng.choice(usable, most, replace=False)).astype(np.int64)
    if reference is not None:
        classes = reference.proportions.classes
        content = content_of(batch, tags, labels, classes).take(indices)
        proportions = proportions_of(content, classes)
    confidence = number / np.maximum(batch.lengths, 1)
    return Selection(
        indices,
        confident=len(usable),
        bound=len(indices),
        proportions=proportions,
        tagging=replace(taggings[0], tags=tags, confidence=confidence),
    )


def _entities(tagging: Tagging, batch: Batch, names: Sequence[str]) -> TokenSpans:
    """Return the entities of a tagging, with classes as indices into `names`."""
    entities = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    own = classes_of(tagging.labels)
    number = np.array([names.index(name) if name in names else _OTHER for name in own], np.int64)
    known = number[entities.classes] != _OTHER if len(own) else np.zeros(0, bool)
    return TokenSpans(entities.first[known], entities.last[known], number[entities.classes[known]])


def _union(spans: Sequence[TokenSpans]) -> TokenSpans:
    """Return distinct spans, in the order of their tokens."""
    rows = [np.stack([part.first, part.last, part.classes], axis=1) for part in spans]
    return TokenSpans(*np.unique(np.concatenate(rows), axis=0).T)


def _support(opinions: Sequence[Opinions], spans: TokenSpans) -> Floats:
    """Compute the mean support of spans over the taggers that have their class, shape (E,)."""
    known = np.array([view.known[spans.classes] for view in opinions])
    support = np.array([view.support(spans) for view in opinions])
    mean: Floats = (support * known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return mean


def _with_recurrences(
    batch: Batch, candidates: TokenSpans, support: Floats, opinions: Sequence[Opinions]
) -> tuple[TokenSpans, Floats]:
    """Add the other occurrences of candidates, and average the support over occurrences."""
    spans, groups = recurrences(batch, candidates)
    own = _support(opinions, spans)
    number = np.bincount(groups)
    average = np.bincount(groups, weights=own) / number
    mixed = np.where(number[groups] > 1, (own + average[groups]) / 2, own)
    keys = _keys(spans, batch.n_tokens)
    is_candidate = np.isin(keys, _keys(candidates, batch.n_tokens))
    number_tagged = offsets_of(candidates.covered(batch.n_tokens))
    overlaps = number_tagged[spans.last + 1] > number_tagged[spans.first]
    kept = is_candidate | (~overlaps & (mixed >= _LIKELY))
    return spans.take(kept), mixed[kept]


def _in_contexts(
    batch: Batch, candidates: TokenSpans, support: Floats, opinions: Sequence[Opinions]
) -> tuple[Floats, Flags]:
    """Average the support over contexts, and return which candidates are in rejected ones."""
    groups = contexts_of(batch, candidates)
    number = np.maximum(np.bincount(groups), 1)
    average = (np.bincount(groups, weights=support) / number)[groups]
    others = np.bincount(groups, weights=_support(opinions[1:], candidates)) / number
    rejected = ((number >= _ENOUGH) & (others < _REJECTED))[groups]
    mixed = np.where(number[groups] > 1, (support + average) / 2, support)
    return mixed, rejected


def _keys(spans: TokenSpans, tokens: int) -> Indices:
    """Return a unique number for each span; lengths and classes are few."""
    classes = int(spans.classes.max(initial=0)) + 1
    return (spans.first * (tokens + 1) + spans.last) * max(classes, 4096) + spans.classes


def _limits(
    reference: Reference | None, names: Sequence[str], share: float, tokens: int
) -> dict[int, float]:
    """Return the number of spans of each class that may be selected."""
    if reference is None:
        return {}
    rates = dict(zip(reference.proportions.classes, reference.proportions.values, strict=False))
    return {
        number: np.floor(share * rates[name] * tokens) if name in rates else 0.0
        for number, name in enumerate(names)
    }


def _best_disjoint(
    spans: TokenSpans, support: Floats, limits: dict[int, float], tokens: int
) -> TokenSpans:
    """Select disjoint spans by descending support; without limits, those that are likely."""
    used = np.zeros(tokens, bool)
    left, chosen = dict(limits), []
    rows = np.stack([spans.first, spans.last, spans.classes], axis=1).tolist()
    for index in np.argsort(-support, kind="stable").tolist():
        first, last, kind = rows[index]
        enough = left[kind] < 1 if limits else support[index] < _LIKELY
        if enough or used[first : last + 1].any():
            continue
        used[first : last + 1] = True
        chosen.append(index)
        if limits:
            left[kind] -= 1
    order = np.sort(np.array(chosen, np.int64))
    return spans.take(order)


def recurrences(batch: Batch, spans: TokenSpans) -> tuple[TokenSpans, Indices]:
    """Find all occurrences of the words of spans in the documents of a batch.

    Parameters
    ----------
    batch : Batch
        The documents.
    spans : TokenSpans
        Spans of the batch. Spans of more than `MAX_WORDS` words have no other occurrences.

    Returns
    -------
    spans : TokenSpans
        The spans, and every other place with the same words in the same order, once for each class
        of the spans with these words. They are distinct and in the order of their tokens.
    groups : ndarray of int64
        The number of the words and the class of each of them.
    """
    lengths, words = spans.last - spans.first + 1, batch.word_ids
    size = len(batch.vocabulary)
    remaining = np.repeat(batch.document_offsets[1:], batch.lengths) - np.arange(batch.n_tokens)
    long = np.flatnonzero(lengths > MAX_WORDS)
    number = len(long)
    parts = [(spans.first[long], spans.last[long], spans.classes[long], np.arange(number))]
    for length in np.unique(lengths[lengths <= MAX_WORDS]).tolist():
        own = spans.take(lengths == length)
        first = np.flatnonzero(remaining >= length)
        texts, of_first = (np.zeros(len(part), np.int64) for part in (own.first, first))
        # Each step numbers the beginnings of texts with one more word, and drops other places.
        for step in range(length):
            known, texts = np.unique(texts * size + words[own.first + step], return_inverse=True)
            longer = of_first * size + words[first + step]
            of_first = np.minimum(np.searchsorted(known, longer), len(known) - 1)
            is_known = known[of_first] == longer
            first, of_first = first[is_known], of_first[is_known]
        pairs = np.unique(np.stack([texts, own.classes], axis=1), axis=0)
        # An occurrence is repeated for each class of its words; these are neighbours in the pairs.
        repeats = np.bincount(pairs[:, 0])
        rows = ranges_of(offsets_of(repeats)[of_first], repeats[of_first])
        first = np.repeat(first, repeats[of_first])
        parts.append((first, first + length - 1, pairs[rows, 1], rows + number))
        number += len(pairs)
    first, last, classes, groups = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.lexsort((classes, last, first))
    return TokenSpans(first[order], last[order], classes[order]), groups[order]
