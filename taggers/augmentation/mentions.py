"""The distinct mentions of a batch, and where they occur."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import TokenSpans, classes_of, find_entities
from corpus.tokens import tokenize
from corpus.tokens.characters import is_hidden
from corpus.tokens.normalisation import normalised_text
from gazetteers.folding import fold

Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_APOSTROPHES = "'’"
_CLITICS = "ldsnmt"


@dataclass(frozen=True, eq=False)
class Mention:
    """The text of a mention and its tokens.

    Parameters
    ----------
    text : str
        The text.
    words, folded : tuple of str
        The tokens, as written and folded.
    starts, ends : tuple of int
        Half-open offsets of the tokens in the text.
    """

    text: str
    words: tuple[str, ...]
    folded: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @cached_property
    def lettered(self) -> tuple[int, ...]:
        """The numbers of the tokens with a letter."""
        return tuple(n for n, word in enumerate(self.words) if has_letter(word))

    @cached_property
    def term(self) -> str:
        """The mention as a term of a gazetteer: folded, without punctuation around it."""
        if not self.lettered:
            return ""
        text = self.text[self.starts[self.lettered[0]] : self.ends[self.lettered[-1]]]
        return " ".join(fold([normalised_text(text).replace("\n", " ")])[0].split())


def has_letter(word: str) -> bool:
    """Return whether a word has a letter."""
    return word.isalpha() or any(character.isalpha() for character in word)


def parse_mentions(texts: Sequence[str]) -> list[Mention]:
    """Tokenize the texts of mentions."""
    tokens = tokenize(texts)
    types = fold(tokens.vocabulary)
    starts, ends, words = (a.tolist() for a in (tokens.starts, tokens.ends, tokens.word_ids))
    offsets = tokens.document_offsets.tolist()
    mentions = []
    for text, first, after in zip(texts, offsets[:-1], offsets[1:], strict=True):
        of_text = slice(first, after)
        mentions.append(
            Mention(
                text,
                tuple(tokens.vocabulary[word] for word in words[of_text]),
                tuple(types[word] for word in words[of_text]),
                tuple(starts[of_text]),
                tuple(ends[of_text]),
            )
        )
    return mentions


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The entities of a batch, S of them, and the M distinct pairs of their class and text.

    Parameters
    ----------
    classes : tuple of str
        The classes of the labels of the batch.
    mentions : tuple of Mention, length M
        The text of each pair.
    of_classes : ndarray of int64, shape (M,)
        The index into `classes` of each pair.
    spans : TokenSpans
        The tokens of each entity.
    documents, numbers : ndarray of int64, shape (S,)
        The document of each entity, and its pair.
    fixed : ndarray of bool, shape (S,)
        Whether other text would not be a separate token in place of the entity, because
        a letter or a digit precedes or follows it immediately.
    elided : ndarray of bool, shape (S,)
        Whether the entity follows an elision such as ``l'`` and so begins with a vowel sound.
    """

    classes: tuple[str, ...]
    mentions: tuple[Mention, ...]
    of_classes: Indices
    spans: TokenSpans
    documents: Indices
    numbers: Indices
    fixed: Flags
    elided: Flags

    @classmethod
    def of(cls, batch: Batch) -> Occurrences:
        """Find the entities of a batch.

        Parameters
        ----------
        batch : Batch
            Any batch; unknown tags are outside of entities.
        """
        spans = find_entities(batch.tags, batch.document_offsets, batch.labels)
        documents = np.searchsorted(batch.document_offsets, spans.first, side="right") - 1
        starts, ends = batch.starts[spans.first].tolist(), batch.ends[spans.last].tolist()
        texts = dict(enumerate(batch.texts.to_pylist()))
        index: dict[tuple[int, str], int] = {}
        numbers = np.zeros(len(starts), np.int64)
        borders = np.zeros((len(starts), 2), bool)
        rows = zip(documents.tolist(), starts, ends, spans.classes.tolist(), strict=True)
        for row, (document, start, end, kind) in enumerate(rows):
            text = texts[document]
            numbers[row] = index.setdefault((kind, text[start:end]), len(index))
            before = text[max(start - 2, 0) : start]
            elided = _is_elision(before) and text[start].isalpha()
            joins_before = _is_elision(before) or _joins(before[-1:])
            fixed = (joins_before and not elided) or _joins(text[end : end + 2])
            borders[row] = fixed, elided
        return cls(
            classes=classes_of(batch.labels),
            mentions=tuple(parse_mentions([text for _, text in index])),
            of_classes=np.array([kind for kind, _ in index], np.int64),
            spans=spans,
            documents=documents.astype(np.int64),
            numbers=numbers,
            fixed=borders[:, 0],
            elided=borders[:, 1],
        )


def _is_elision(before: str) -> bool:
    """Return whether two characters are an article or pronoun with its apostrophe."""
    return before[-1:] in _APOSTROPHES and before[:1].lower() in _CLITICS if before[1:] else False


def _joins(context: str) -> bool:
    """Return whether the first character of a context may become part of a token beside it."""
    if not context:
        return False
    character = context[0]
    if is_hidden(character):
        return True
    if character in _APOSTROPHES:
        return context[1:].isalpha()
    return character.isalnum() or character in "_·" or unicodedata.category(character) == "Mn"


def begins_with_vowel_sound(text: str) -> bool:
    """Return whether an elided article can precede a text."""
    return fold([text[:1]])[0] in {"a", "e", "i", "o", "u", "h"}
