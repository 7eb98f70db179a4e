"""Tokens of clinical notes, with exact offsets.

Notes run words together (``28027España``, ``bases...Normas.Pulmicort-100``), so a token ends
wherever the kind of character changes: letters, digits, or any other single character. Exceptions
are units that would lose their meaning if split: ``col·legi``, a clitic with its apostrophe
(``l'`` in ``l'home``) and an identity number with its letter (``12345678Z``). Letters are split
before a capital that follows a lower-case letter, where notes often lack a space
(``MartínezNHC``).

The exact definition is the regular expression in `corpus.tokens.expression`. It is applied to the
normalised form of a text (`corpus.tokens.normalisation`), in which words have no invisible
characters and no compatibility forms; the offsets of tokens refer to the text itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpus.kernels.code_points import code_points
from corpus.tokens.expression import Expression
from corpus.tokens.normalisation import normalise_joined

if TYPE_CHECKING:
    from corpus.tokens.scanner import Scanner

#: The number of characters that are processed at a time; bounds the memory needed.
_CHUNK = 1 << 19

#: The number of characters from which compiled code is worth the time to load it.
_FEW = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens of texts, each the index of its word type and a pair of offsets.

    Parameters
    ----------
    vocabulary : tuple of str
        The distinct words in normalised form, in the order of their first appearance.
    word_ids : ndarray of int32, shape (N,)
        The index into `vocabulary` of each token.
    starts, ends : ndarray of int32, shape (N,)
        Half-open offsets of each token in its text.
    document_offsets : ndarray of int64, shape (D + 1,)
        Tokens ``document_offsets[d]`` to ``document_offsets[d + 1]`` belong to text ``d``.
    """

    vocabulary: tuple[str, ...]
    word_ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    document_offsets: npt.NDArray[np.int64]

    @property
    def n_tokens(self) -> int:
        """The number of tokens, N."""
        return len(self.word_ids)


def tokenize(texts: Sequence[str]) -> Tokens:
    """Find the tokens of texts.

    Parameters
    ----------
    texts : sequence of str
        Any number of texts, of any length.

    Returns
    -------
    Tokens
        The tokens of a text do not depend on the other texts.
    """
    finder = _finder(sum(map(len, texts)))
    chunks = [_tokenize_chunk(chunk, finder) for chunk in in_chunks(texts, _CHUNK)]
    counts = [np.zeros(1, np.int64), *(chunk[3] for chunk in chunks)]
    return Tokens(
        vocabulary=tuple(finder.types),
        word_ids=_concatenated([chunk[0] for chunk in chunks]),
        starts=_concatenated([chunk[1] for chunk in chunks]),
        ends=_concatenated([chunk[2] for chunk in chunks]),
        document_offsets=np.cumsum(np.concatenate(counts), dtype=np.int64),
    )


def _finder(characters: int) -> Expression | Scanner:
    """Select the faster of two implementations with equal results."""
    if characters < _FEW and "corpus.tokens.scanner" not in sys.modules:
        return Expression()
    from corpus.tokens.scanner import Scanner  # noqa: PLC0415 - numba is slow to import

    return Scanner()


def in_chunks(texts: Iterable[str], characters: int) -> Iterator[list[str]]:
    """Yield texts in lists, each complete once it has at least `characters` characters."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) + 1
        if size >= characters:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


_Chunk = tuple[
    npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]
]


def _tokenize_chunk(texts: list[str], finder: Expression | Scanner) -> _Chunk:
    """Return the words, starts and ends of the tokens, and the number of tokens of each text."""
    joined, text_ends = _joined(texts)
    codes = code_points(joined)
    changed = normalise_joined(codes, text_ends, texts)
    if changed:
        texts = [changed[row].text if row in changed else text for row, text in enumerate(texts)]
        joined, text_ends = _joined(texts)
        codes = code_points(joined)
    words, starts, ends = finder.find(joined, codes)
    boundaries = np.searchsorted(starts, text_ends)
    counts = np.diff(boundaries, prepend=0)
    origins = np.repeat(np.concatenate([[0], text_ends[:-1]]), counts)
    starts, ends = (starts - origins).astype(np.int32), (ends - origins).astype(np.int32)
    for row, normalised in changed.items():
        here = slice(boundaries[row] - counts[row], boundaries[row])
        starts[here] = normalised.starts[starts[here]]
        ends[here] = normalised.ends[ends[here] - 1]
    return words, starts, ends, counts.astype(np.int64)


def _joined(texts: Sequence[str]) -> tuple[str, npt.NDArray[np.int64]]:
    """Join texts with a line end after each; return where each of them ends."""
    # A line end is a gap: no token reaches from one text into the next.
    lengths = np.fromiter((len(text) + 1 for text in texts), np.int64, len(texts))
    return "\n".join([*texts, ""]), np.cumsum(lengths)


def _concatenated(arrays: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    return np.concatenate([np.zeros(0, np.int32), *arrays])
