"""Words of mentions that stand elsewhere in the notes of the patient: a surname alone, a number."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from anonymizers.mention import Mention, folded
from anonymizers.surrogates.names import is_frequent_name
from corpus.batch import Batch
from gazetteers.builtin import BLOCKING, CUE_WORDS, read_gazetteer
from gazetteers.common_words import is_common
from gazetteers.folding import fold
from gazetteers.grammar import Grammar

Indices: TypeAlias = npt.NDArray[np.int64]
#: The class of the mention that a word is from, by the number of the patient and the folded word.
PatientWords: TypeAlias = dict[tuple[int, str], str]

#: What has found the spans, for the report.
REPEATED = "repeated word"

#: Words of fewer characters are initials, particles and small numbers.
_LEAST = 4
#: The categories whose words may identify a patient, wherever they stand.
_TELLING = frozenset({"person", "place", "organisation", "telephone", "number", "email"})
_WORD = re.compile(r"\w+")


def words_of(mentions: Iterable[Mention], patients: Indices) -> PatientWords:
    """Return the words of mentions that must not stand elsewhere.

    Parameters
    ----------
    mentions : iterable of Mention
        What was found in notes. The words that many places have, such as ``hospital``, are left
        out, and so are the domains of addresses.
    patients : ndarray of int64, shape (D,)
        The number of the patient of each note.
    """
    numbers = patients.tolist()
    return {
        (numbers[mention.note], word): mention.label
        for mention in mentions
        if mention.category in _TELLING
        for word in _telling_words(mention.text, is_person=mention.category == "person")
    }


def recurring_tokens(
    batch: Batch, patients: Indices, words: PatientWords
) -> tuple[Indices, list[str]]:
    """Find the words of mentions of patients in their notes.

    Parameters
    ----------
    batch : Batch
        Notes, or their units.
    patients : ndarray of int64, shape (len(batch),)
        The number of the patient of each.
    words : PatientWords
        The words. They do not count where they are in lower case and words of the language, such as
        ``blanco``.

    Returns
    -------
    tokens : ndarray of int64
        The tokens that are such a word.
    labels : list of str
        The class of the mention that each word is from.
    """
    numbers = {word: number for number, word in enumerate(dict.fromkeys(w for _, w in words))}
    of_types = np.full(len(batch.vocabulary) + 1, -1, np.int64)
    for row, (word, written) in enumerate(
        zip(fold(batch.vocabulary), batch.vocabulary, strict=True)
    ):
        if word in numbers and not is_common(written):
            of_types[row] = numbers[word]
    of_tokens = of_types[batch.word_ids]
    tokens = np.flatnonzero(of_tokens >= 0)
    keys = np.repeat(patients, batch.lengths)[tokens] * len(numbers) + of_tokens[tokens]
    labels = {
        patient * len(numbers) + numbers[word]: name for (patient, word), name in words.items()
    }
    kept = [row for row, key in enumerate(keys.tolist()) if key in labels]
    return tokens[kept], [labels[key] for key in keys[kept].tolist()]


def may_tell(text: str) -> bool:
    """Return whether a text has a word or a number that may identify somebody."""
    words = _WORD.findall(text)
    return any(_tells(folded(word)) and not is_common(word) for word in words)


@functools.lru_cache(1 << 16)  # names and places repeat
def _telling_words(text: str, *, is_person: bool) -> tuple[str, ...]:
    """Return the folded words of a mention that may identify somebody.

    A word that is usual beside names of places, such as ``plaza``, may be the name of a person, and
    so may one of a phrase that is no name, such as ``signo de Romberg``.
    """
    words = _WORD.findall(folded(text).partition("@")[0])
    if not is_person:
        return tuple(filter(_tells, words))
    usual = _words_beside(CUE_WORDS)
    return tuple(
        word
        for word in words
        if len(word) >= _LEAST and (word not in usual or is_frequent_name(word))
    )


def _tells(word: str) -> bool:
    return len(word) >= _LEAST and word not in _words_beside(CUE_WORDS, BLOCKING)


@functools.cache
def _words_beside(*lists: str) -> frozenset[str]:
    """Return the folded words beside names of places, and those of lists."""
    terms = [term for name in lists for term in read_gazetteer(name).terms.tolist()]
    return Grammar.read().place_words | frozenset(_WORD.findall(" ".join(fold(terms))))
