"""Propagation: what is found once in a note is tagged wherever it stands again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE, Batch
from corpus.errors import InputError, quoted
from corpus.ragged import owners_of
from corpus.tags import TokenSpans, classes_of, find_entities, tags_of_tokens
from taggers.base import Tagging
from taggers.options import Reach

#: The minimum probability of an entity that is propagated, and the probability that is assigned to
#: the resulting entities.
MIN_PROBABILITY = 0.9

#: The minimum length of a propagated word; shorter words are initials and particles.
_MIN_LETTERS = 3

#: The minimum number of characters of a propagated text, without spaces.
_MIN_CHARACTERS = 4

Classes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]


def propagate(
    tagging: Tagging, batch: Batch, notes: Indices, reaches: Mapping[str, Reach]
) -> Tagging:
    """Tag other occurrences of entities in the same note, outside of all entities.

    Entities with a probability of at least `MIN_PROBABILITY` are propagated:

    - ``"text"``: the whole text, with the same spelling. It has at least four characters, and a
      capital first letter or a digit. A text does not stand beside an ``@``.
    - ``"words"``: after that, each word of a name of at least two words that has the same spelling,
      at least three letters and an initial capital. Other words of full names between two such
      words, such as ``de``, are included. A new name is merged with an adjacent one of its class.

    Parameters
    ----------
    tagging : Tagging
        The tagging of the batch, with the probabilities of entities.
    batch : Batch
        D documents.
    notes : ndarray of int64, shape (D,)
        The number of the note or patient of each document; see
        `corpus.patients.number_patients`.
    reaches : mapping of str to {"text", "words"}
        What is propagated of the entities of each class. Words suit people alone: those of
        hospitals, for example, also occur with other meanings.

    Returns
    -------
    Tagging
        New and extended entities have the probability `MIN_PROBABILITY`. The confidence of
        documents and the marginals are unchanged.

    Raises
    ------
    InputError
        If the tagger lacks one of the classes.
    """
    refuse_unknown(reaches, tagging.labels)
    assert tagging.entity_probabilities is not None
    known = classes_of(tagging.labels)
    before = find_entities(tagging.tags, batch.document_offsets, tagging.labels)
    token_classes, begins = before.by_token(batch.n_tokens)
    outside = token_classes == NO_VALUE
    keys = np.repeat(notes, batch.lengths) * len(batch.vocabulary) + batch.word_ids
    sure = tagging.entity_confidence(before) >= MIN_PROBABILITY
    whole = sure & np.isin(before.classes, [known.index(name) for name in reaches])
    _add_texts(token_classes, begins, before.take(whole), keys, batch)
    with_words = [known.index(name) for name, reach in reaches.items() if reach == "words"]
    full = sure & np.isin(before.classes, with_words) & (before.last > before.first)
    names, name_classes = _words(before.take(full), keys)
    recurring = (token_classes == NO_VALUE) & np.isin(keys, names)
    added = _between_names(recurring, recurring & _may_be_names(batch), batch.document_offsets)
    token_classes[added] = name_classes[np.searchsorted(names, keys[added])]
    _join(token_classes, begins, added, batch.document_offsets)
    tags = tags_of_tokens(token_classes, begins, tagging.labels)
    after = find_entities(tags, batch.document_offsets, tagging.labels)
    confidence = tagging.token_confidence
    if confidence is not None:
        confidence = np.where(outside & (token_classes != NO_VALUE), MIN_PROBABILITY, confidence)
    return replace(
        tagging,
        tags=tags,
        token_confidence=confidence,
        entity_probabilities=_probabilities(before, tagging.entity_probabilities, after),
    )


def refuse_unknown(classes: Iterable[str], labels: Sequence[str]) -> None:
    """Check that the labels of a tagger include all classes of names.

    Raises
    ------
    InputError
        If a class is missing.
    """
    known = classes_of(labels)
    for name in classes:
        if name not in known:
            raise InputError(
                f"the model does not tag {name}; it tags {', '.join(map(quoted, known))}"
            )


def _add_texts(
    token_classes: Classes, begins: Flags, sources: TokenSpans, keys: Indices, batch: Batch
) -> None:
    """Tag the texts of entities where they stand outside of entities, the longest first."""
    sources = sources.take(_may_recur(sources, batch))
    lengths = sources.last - sources.first + 1
    documents = owners_of(batch.document_offsets)
    after_at, before_at = _beside_at(batch)
    starts = np.flatnonzero(np.isin(keys, keys[sources.first]) & (token_classes == NO_VALUE))
    for length in np.unique(lengths)[::-1].tolist():
        firsts, classes = sources.first[lengths == length], sources.classes[lengths == length]
        fits = starts[starts + length <= len(keys)]
        lasts = fits + length - 1
        fits = fits[(documents[fits] == documents[lasts]) & ~(after_at[fits] | before_at[lasts])]
        windows = np.concatenate([firsts, fits])[:, None] + np.arange(length)
        texts, numbers = np.unique(keys[windows], axis=0, return_inverse=True)
        numbers = numbers.reshape(-1)
        of_text = np.full(len(texts), NO_VALUE, np.int64)
        of_text[numbers[: len(firsts)][::-1]] = classes[::-1]  # of several, the first one's
        kinds = of_text[numbers[len(firsts) :]]
        recurs = kinds != NO_VALUE
        for first, kind in zip(fits[recurs].tolist(), kinds[recurs].tolist(), strict=True):
            tokens = slice(first, first + length)
            if (token_classes[tokens] == NO_VALUE).all():
                token_classes[tokens] = kind
                begins[first] = True


def _may_recur(sources: TokenSpans, batch: Batch) -> Flags:
    """Return which entities have a text of which another occurrence is hardly a coincidence."""
    vocabulary = batch.vocabulary
    sizes = np.array([len(word) for word in vocabulary], np.int64)[batch.word_ids]
    digits = np.array([any(map(str.isdigit, word)) for word in vocabulary], bool)[batch.word_ids]
    capitals = np.array([word[0].isupper() for word in vocabulary], bool)[batch.word_ids]
    sums = [np.append(0, np.cumsum(part)) for part in (sizes, digits)]
    size, n_digits = (part[sources.last + 1] - part[sources.first] for part in sums)
    recurs: Flags = (size >= _MIN_CHARACTERS) & (capitals[sources.first] | (n_digits > 0))
    return recurs


def _words(names: TokenSpans, keys: Indices) -> tuple[Indices, Classes]:
    """Return the keys of the words of full names, sorted, and the class of each."""
    token_classes, _ = names.by_token(len(keys))
    inside = token_classes != NO_VALUE
    words, first = np.unique(keys[inside], return_index=True)
    return words, token_classes[inside][first]


def _may_be_names(batch: Batch) -> Flags:
    """Return which tokens can be names: capitalized, long enough, and not next to an ``@``."""
    capitalized = np.array(
        [len(word) >= _MIN_LETTERS and word[0].isupper() for word in batch.vocabulary], bool
    )
    after_at, before_at = _beside_at(batch)
    return capitalized[batch.word_ids] & ~after_at & ~before_at


def _beside_at(batch: Batch) -> tuple[Flags, Flags]:
    """Return which tokens are after an ``@`` and before one in their document."""
    at = np.array([word == "@" for word in batch.vocabulary], bool)[batch.word_ids]
    follows = _follow(batch.document_offsets, len(at))
    after, before = np.zeros((2, len(at)), bool)
    after[1:] = at[:-1] & follows[1:]
    before[:-1] = at[1:] & follows[1:]
    return after, before


def _follow(document_offsets: Indices, tokens: int) -> Flags:
    """Return which tokens are not the first token of their document."""
    follows = np.ones(tokens, bool)
    follows[document_offsets[:-1][document_offsets[:-1] < tokens]] = False
    return follows


def _between_names(recurring: Flags, names: Flags, document_offsets: Indices) -> Flags:
    """Select the tokens of each run of recurring words from its first name to its last."""
    places = np.arange(len(recurring))
    # All tokens of a run get the same number.
    run: Indices = np.cumsum(~recurring, dtype=np.int64)
    run += owners_of(document_offsets) * (len(recurring) + 1)
    first, last = (np.full(len(recurring), edge) for edge in (len(recurring), -1))
    of_names, numbers = places[names], np.unique(run, return_inverse=True)[1].reshape(-1)
    np.minimum.at(first, numbers[names], of_names)
    np.maximum.at(last, numbers[names], of_names)
    return recurring & (places >= first[numbers]) & (places <= last[numbers])


def _join(token_classes: Classes, begins: Flags, added: Flags, document_offsets: Indices) -> None:
    """Update which tokens begin an entity, merging added tokens with neighbours of their class."""
    same = np.zeros(len(token_classes), bool)
    same[1:] = token_classes[1:] == token_classes[:-1]
    same &= _follow(document_offsets, len(same))
    after = np.zeros(len(added), bool)
    after[1:] = added[:-1]
    begins[added] = True
    begins[same & (added | after)] = False


def _probabilities(
    before: TokenSpans, known: npt.NDArray[np.float64], after: TokenSpans
) -> npt.NDArray[np.float64]:
    """Return the known probabilities of unchanged entities, and `MIN_PROBABILITY` for others."""
    probabilities = np.zeros((len(after.first), known.shape[1]))
    probabilities[np.arange(len(probabilities)), after.classes] = MIN_PROBABILITY
    if len(before.first):
        old = np.minimum(np.searchsorted(before.first, after.first), len(before.first) - 1)
        kept = (before.first[old] == after.first) & (before.last[old] == after.last)
        probabilities[kept] = known[old[kept]]
    return probabilities
