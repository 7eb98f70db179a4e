"""Annotators of lines: the header of the line of a token, and the last word before a colon."""

from __future__ import annotations

import unicodedata
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import NO_VALUE, Batch, Stream
from corpus.storage.fields import Fields
from corpus.units import line_numbers

Indices = npt.NDArray[np.int64]

_MAX_HEADER_WORDS = 4


class _WithoutSettings:
    def settings(self) -> dict[str, Any]:
        """Return nothing: it has no settings."""
        return {}

    @classmethod
    def from_settings(cls, settings: Fields) -> Self:
        """Create an annotator from its settings."""
        return cls()


class LineHeaders(_WithoutSettings):
    """Annotator of line headers: up to four words before the first colon of a line.

    All tokens of the line get the header as their value. ``Fecha de ingreso: 3 de mayo`` has the
    header ``fecha de ingreso``. Only colons after a word of letters count, unlike the
    colon of ``10:30``.
    """

    def annotate(self, batch: Batch) -> Stream:
        """Return the header of the line of each token, in lower case."""
        lines = line_numbers(batch)
        colons = _colons_after_letters(batch, lines)
        begins = np.flatnonzero(np.diff(lines, prepend=-1))
        owner = np.searchsorted(begins, colons, side="right") - 1
        owner, first = np.unique(owner, return_index=True)
        colons = colons[first]
        short = colons - begins[owner] <= _MAX_HEADER_WORDS
        owner, colons = owner[short], colons[short]
        parts: dict[bytes, int] = {}  # distinct headers as word ids, since most headers recur
        of_lines = [
            parts.setdefault(batch.word_ids[first:last].tobytes(), len(parts))
            for first, last in zip(begins[owner].tolist(), colons.tolist(), strict=True)
        ]
        headers: dict[str, int] = {}
        numbers = [
            headers.setdefault(_header_text(batch, np.frombuffer(part, np.int32)), len(headers))
            for part in parts
        ]
        values = np.full(len(begins), NO_VALUE, np.int32)
        values[owner] = np.array(numbers, np.int32)[np.array(of_lines, np.int64)]
        lengths = np.diff(np.append(begins, len(lines)))
        return Stream(tuple(headers), np.repeat(values, lengths))


class Colons(_WithoutSettings):
    """Annotator of colons: the word before the latest colon in the line of a token.

    In ``NHC: 123 Nombre: Ana``, ``123`` has the value ``nhc`` and ``Ana`` the value ``nombre``.
    """

    def annotate(self, batch: Batch) -> Stream:
        """Return the word before the latest colon that precedes each token, in lower case."""
        lines = line_numbers(batch)
        colons = _colons_after_letters(batch, lines)
        if not len(colons):
            return Stream((), np.full(len(lines), NO_VALUE, np.int32))
        before = np.searchsorted(colons, np.arange(len(lines))) - 1  # colon of each token
        colon = colons[before]
        has_value = (before >= 0) & (lines[colon] == lines)
        used, words = np.unique(batch.word_ids[colons - 1], return_inverse=True)
        words_before: dict[str, int] = {}
        numbers = [
            words_before.setdefault(_composed(batch, word).lower(), len(words_before))
            for word in used.tolist()
        ]
        values = np.array(numbers, np.int32)[words.reshape(-1)][before]
        return Stream(tuple(words_before), np.where(has_value, values, np.int32(NO_VALUE)))


def _header_text(batch: Batch, words: npt.NDArray[np.int32]) -> str:
    return " ".join(_composed(batch, word) for word in words.tolist()).lower()


def _composed(batch: Batch, word: int) -> str:
    """Return a word type normalised to NFC."""
    return unicodedata.normalize("NFC", batch.vocabulary[word])


def _colons_after_letters(batch: Batch, lines: Indices) -> Indices:
    """Return the indices of colons that follow a word of letters in the same line."""
    if ":" not in batch.vocabulary:
        return np.zeros(0, np.int64)
    colons = np.flatnonzero(batch.word_ids == batch.vocabulary.index(":"))
    colons = colons[colons > 0].astype(np.int64)
    used, before = np.unique(batch.word_ids[colons - 1], return_inverse=True)
    letters = np.array([_composed(batch, word).isalpha() for word in used.tolist()], bool)
    after: npt.NDArray[np.bool_] = letters[before.reshape(-1)]
    kept: Indices = colons[after & (lines[colons - 1] == lines[colons])]
    return kept
