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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from corpus.kernels.code_points import code_points
from corpus.ragged import offsets_of
from corpus.tokens.expression import Expression
from corpus.tokens.normalisation import Texts, joined_texts, normalise_joined

if TYPE_CHECKING:
    from corpus.tokens.scanner import Scanner

#: The number of characters, or of bytes, from which compiled code is worth the time to load it.
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


def tokenize(texts: Texts) -> Tokens:
    """Find the tokens of texts.

    Parameters
    ----------
    texts : sequence of str or pyarrow.LargeStringArray
        Any number of texts, of any length.

    Returns
    -------
    Tokens
        The tokens of a text do not depend on the other texts.
    """
    finder = _finder(texts.nbytes if isinstance(texts, pa.Array) else sum(map(len, texts)))
    chunks = [(np.zeros(0, np.int32),) * 4]
    chunks += [_tokenize_joined(joined, ends, finder) for joined, ends in joined_texts(texts)]
    words, starts, ends, counts = map(np.concatenate, zip(*chunks, strict=True))
    return Tokens(tuple(finder.types), words, starts, ends, offsets_of(counts))


def _finder(size: int) -> Expression | Scanner:
    """Select the faster of two implementations with equal results."""
    if size < _FEW and "corpus.tokens.scanner" not in sys.modules:
        return Expression()
    from corpus.tokens.scanner import Scanner  # noqa: PLC0415 - numba is slow to import

    return Scanner()


_Int32s = npt.NDArray[np.int32]


def _tokenize_joined(
    text: str, text_ends: npt.NDArray[np.int64], finder: Expression | Scanner
) -> tuple[_Int32s, _Int32s, _Int32s, _Int32s]:
    """Return the words, starts and ends of the tokens, and the number of tokens of each text."""
    codes = code_points(text)
    form = normalise_joined(text, codes, text_ends)
    if form:
        text, codes = form.text, code_points(form.text)
    words, starts, ends = finder.find(text, codes)
    if form:
        starts, ends = form.starts[starts], form.ends[ends - 1]
    text_ends = text_ends.astype(np.int32)  # which is looked up among its like
    counts = np.diff(np.searchsorted(starts, text_ends), prepend=0)
    origins = np.repeat(np.concatenate([np.zeros(1, np.int32), text_ends[:-1]]), counts)
    return words, starts - origins, ends - origins, counts.astype(np.int32)
