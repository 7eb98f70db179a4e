"""Mentions: their words, and where they occur in a batch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.tags import classes_of
from corpus.tokens.normalisation import normalised_text
from gazetteers.folding import fold

_WORD = re.compile(r"[^\W\d_]+")
_ELISION = re.compile("[ldsnmt]['’]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """The text of a mention and its words, which consist of letters.

    Parameters
    ----------
    text, folded : str
        The normalised form of the text, as it is and folded. Both have the same length.
    offsets : tuple of (int, int)
        Half-open offsets of the words in both texts.
    """

    text: str
    folded: str
    offsets: tuple[tuple[int, int], ...]

    @property
    def folded_words(self) -> list[str]:
        """The folded words."""
        return [self.folded[start:end] for start, end in self.offsets]

    @property
    def term(self) -> str:
        """The mention as a term of a gazetteer: from the first to the last word, folded."""
        if not self.offsets:
            return ""
        return " ".join(self.folded[self.offsets[0][0] : self.offsets[-1][1]].split())


def parse_mentions(texts: Sequence[str]) -> list[Mention]:
    """Find the words of the normalised forms of mentions."""
    plain = list(map(normalised_text, texts))
    return [
        Mention(
            text,
            folded if len(folded) == len(text) else text,
            tuple(match.span() for match in _WORD.finditer(text)),
        )
        for text, folded in zip(plain, fold(plain), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An entity of a document.

    Parameters
    ----------
    start, end : int
        Half-open offsets in the text.
    mention : int
        Its number among the distinct mentions of a batch.
    fixed : bool
        Whether other text would not be a separate token in its place, because a letter or a digit
        precedes or follows it immediately.
    elided : bool
        Whether it follows an elision such as ``l'`` and so begins with a vowel sound.
    """

    start: int
    end: int
    mention: int
    fixed: bool
    elided: bool


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The entities of a batch, and the M distinct pairs of their class and text.

    Parameters
    ----------
    classes : tuple of str
        The classes of the labels of the batch.
    mentions : list of Mention, length M
        The text of each pair.
    of_classes : ndarray of int64, shape (M,)
        The index into `classes` of each pair.
    documents : list of list of Occurrence
        The entities of each document.
    """

    classes: tuple[str, ...]
    mentions: list[Mention]
    of_classes: npt.NDArray[np.int64]
    documents: list[list[Occurrence]]

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The number of the mention of each entity."""
        rows = [entity.mention for entities in self.documents for entity in entities]
        return np.array(rows, np.int64)

    def class_of(self, mention: int) -> str:
        """Return the class of a mention."""
        return self.classes[int(self.of_classes[mention])]

    @classmethod
    def from_batch(cls, batch: Batch) -> Self:
        """Find the entities of a batch; unknown tags are outside of entities."""
        classes = classes_of(batch.labels)
        index: dict[tuple[str, str], int] = {}
        documents = []
        for text, spans in zip(batch.texts.to_pylist(), batch.spans(), strict=True):
            entities = []
            for span in spans:
                number = index.setdefault((span.label, text[span.start : span.end]), len(index))
                before, after = text[max(span.start - 2, 0) : span.start], text[span.end :][:1]
                elided = bool(_ELISION.fullmatch(before)) and text[span.start].isalpha()
                fixed = _is_inside_word(before[-1:]) or _is_inside_word(after)
                entities.append(Occurrence(span.start, span.end, number, fixed, elided))
            documents.append(entities)
        return cls(
            classes,
            parse_mentions([text for _, text in index]),
            np.array([classes.index(name) for name, _ in index], np.int64),
            documents,
        )


def _is_inside_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "·")
