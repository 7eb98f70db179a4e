"""Names that come again: a full name found for sure makes its words names in the rest of a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError, shown
from corpus.streams import NOTHING
from corpus.tags import TokenSpans, classes_of, find_entities
from taggers.base import Tagging

#: A full name is found for sure if its probability is this.
SURE = 0.9

#: Shorter words are initials and particles.
_SHORTEST = 3

Classes = npt.NDArray[np.int64]


def with_repeated_names(
    tagging: Tagging, batch: Batch, notes: npt.NDArray[np.int64], classes: Sequence[str]
) -> Tagging:
    """Tag the words of full names wherever else they stand in the same note.

    Names of two words or more with a probability of `SURE` are taken. Where one of their words of
    three letters or more with a capital stands outside of any entity, written in the same way, it
    is one, or joins one of its class beside it, together with what stands between two of them.

    Parameters
    ----------
    tagging : Tagging
        Of the batch, with the probabilities of entities.
    batch : Batch
        D documents.
    notes : ndarray of int64, shape (D,)
        The note, or the patient, that each document is of.
    classes : sequence of str
        Classes of names. Words of other entities, such as of hospitals, mean other things too.

    Returns
    -------
    Tagging
        Entities that are new or longer have the probability `SURE`; the confidence of documents
        and the marginals stay.

    Raises
    ------
    InputError
        If the tagger knows no such class.
    """
    refuse_unknown(classes, tagging.labels)
    known = classes_of(tagging.labels)
    found = find_entities(tagging.tags, batch.documents, tagging.labels)
    of_tokens, begins = _by_token(found, len(batch.words))
    keys = np.repeat(notes, batch.lengths) * len(batch.types) + batch.words
    lent, of_lent = _lent(tagging, found, keys, [known.index(name) for name in classes])
    again = (of_tokens == NOTHING) & np.isin(keys, lent)
    added = _between_names(again, again & _may_be_names(batch), batch.documents)
    of_tokens[added] = of_lent[np.searchsorted(lent, keys[added])]
    _join(of_tokens, begins, added, batch.documents)
    tags = _tags(of_tokens, begins, tagging.labels)
    assert tagging.entities is not None
    after = find_entities(tags, batch.documents, tagging.labels)
    return replace(
        tagging,
        tags=tags,
        tokens=None if tagging.tokens is None else np.where(added, SURE, tagging.tokens),
        entities=_probabilities(found, tagging.entities, after),
    )


def refuse_unknown(classes: Sequence[str], labels: Sequence[str]) -> None:
    """Refuse classes of names that a tagger with such labels does not know.

    Raises
    ------
    InputError
        If there is one.
    """
    known = classes_of(labels)
    for name in classes:
        if name not in known:
            raise InputError(
                f"the model does not tag {shown(name)}; it tags {', '.join(map(shown, known))}"
            )


def notes_of(batch: Batch) -> npt.NDArray[np.int64]:
    """Give each document the number of its note or patient, shape (D,); one without stands alone.

    Units of a note, such as its lines, are in the group of its patient, or in that of the note.
    """
    numbers: dict[str, int] = {}
    groups = enumerate(batch.groups.to_pylist())
    return np.array(
        [row if name is None else numbers.setdefault(name, row) for row, name in groups], np.int64
    )


def _lent(
    tagging: Tagging, found: TokenSpans, keys: npt.NDArray[np.int64], classes: Sequence[int]
) -> tuple[npt.NDArray[np.int64], Classes]:
    """Give the words that full names lend to the rest of their notes, and the class of each."""
    sure = (tagging.entity_confidence(found) >= SURE) & (found.last > found.first)
    sure &= np.isin(found.classes, classes)
    of_tokens, _ = _by_token(
        TokenSpans(found.first[sure], found.last[sure], found.classes[sure]), len(keys)
    )
    inside = of_tokens != NOTHING
    lent, first = np.unique(keys[inside], return_index=True)
    return lent, of_tokens[inside][first]


def _may_be_names(batch: Batch) -> npt.NDArray[np.bool_]:
    """Say which tokens are written like names: not ``de``, and not a part of an address."""
    fits = np.array([len(word) >= _SHORTEST and word[0].isupper() for word in batch.types], bool)
    at = np.array([word == "@" for word in batch.types], bool)[batch.words]
    follows = _follow(batch.documents, len(at))
    beside = np.zeros(len(at), bool)
    beside[:-1] |= at[1:] & follows[1:]
    beside[1:] |= at[:-1] & follows[1:]
    return fits[batch.words] & ~beside


def _follow(documents: npt.NDArray[np.int64], tokens: int) -> npt.NDArray[np.bool_]:
    """Say which tokens come after another one of their document."""
    follows = np.ones(tokens, bool)
    follows[documents[:-1][documents[:-1] < tokens]] = False
    return follows


def _between_names(
    again: npt.NDArray[np.bool_], names: npt.NDArray[np.bool_], documents: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Of words that come again one after the other, take those from the first name to the last."""
    places = np.arange(len(again))
    # Tokens of a run have the same number.
    run: npt.NDArray[np.int64] = np.cumsum(~again, dtype=np.int64)
    run += np.repeat(np.arange(len(documents) - 1), np.diff(documents)) * (len(again) + 1)
    first, last = (np.full(len(again), edge) for edge in (len(again), -1))
    of_names, numbers = places[names], np.unique(run, return_inverse=True)[1].reshape(-1)
    np.minimum.at(first, numbers[names], of_names)
    np.maximum.at(last, numbers[names], of_names)
    return again & (places >= first[numbers]) & (places <= last[numbers])


def _by_token(found: TokenSpans, tokens: int) -> tuple[Classes, npt.NDArray[np.bool_]]:
    """Give the class of each token's entity, or -1, and whether it begins one."""
    of_tokens, begins = np.full(tokens, NOTHING, np.int64), np.zeros(tokens, bool)
    lengths = found.last - found.first + 1
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    of_tokens[np.repeat(found.first, lengths) + within] = np.repeat(found.classes, lengths)
    begins[found.first] = True
    return of_tokens, begins


def _join(
    of_tokens: Classes,
    begins: npt.NDArray[np.bool_],
    added: npt.NDArray[np.bool_],
    documents: npt.NDArray[np.int64],
) -> None:
    """Say which tokens begin an entity, where what was added touches others of its class."""
    same = np.zeros(len(of_tokens), bool)
    same[1:] = of_tokens[1:] == of_tokens[:-1]
    same &= _follow(documents, len(same))
    after = np.zeros(len(added), bool)
    after[1:] = added[:-1]
    begins[added] = True
    begins[same & (added | after)] = False


def _tags(
    of_tokens: Classes, begins: npt.NDArray[np.bool_], labels: Sequence[str]
) -> npt.NDArray[np.int16]:
    """Write the class of each token as a tag."""
    names = classes_of(labels)
    begin, inside = (
        np.array([*(labels.index(f"{side}-{name}") for name in names), labels.index("O")], np.int16)
        for side in "BI"
    )
    return np.where(begins, begin[of_tokens], inside[of_tokens])


def _probabilities(
    before: TokenSpans, known: npt.NDArray[np.float64], after: TokenSpans
) -> npt.NDArray[np.float64]:
    """Give what is known of the entities that were there before, and `SURE` for the others."""
    found = np.zeros((len(after.first), known.shape[1]))
    found[np.arange(len(found)), after.classes] = SURE
    if len(before.first):
        old = np.minimum(np.searchsorted(before.first, after.first), len(before.first) - 1)
        kept = (before.first[old] == after.first) & (before.last[old] == after.last)
        found[kept] = known[old[kept]]
    return found
