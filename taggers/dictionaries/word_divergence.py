"""What the frequencies of words among names and in the notes say of them (paper 003, 3.6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import HashIndex
from corpus.kernels.hashing import Hashes
from gazetteers.folding import fold
from gazetteers.frequencies import Frequencies, word_hashes
from taggers.arrays import array_files, read_arrays
from taggers.base import TrainingError
from taggers.dictionaries.greedy_decoding import WordJudgements
from taggers.dictionaries.name_share import name_share
from taggers.dictionaries.word_usage import CASES, Uses, case_numbers

Floats = npt.NDArray[np.float64]

#: Words that stand alone as a name in a smaller part of those who bear them join other words:
#: ``de``, ``la``, ``del``, ``san``.
_ALONE = 0.05
#: Signs that join the words of a name.
_HYPHENS = frozenset("-–‐")


class WordDivergence:
    """How far words are from being nothing but names.

    Of a word with the share f of a census, f times the share s of tokens that are names times the
    number of tokens are expected to be names: m, where there are n. Its divergence is
    ``max(0, log((n + a) / (m + a)))``. The smoothing a makes little of a difference where m is
    small: of most names less than one is expected, and those that occur do so once or more. Added
    to that is by how much fewer of the tokens that are capitalized like a token are names than of
    those capitalized like most names, as a logarithm.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (V,)
        Of the folded words.
    divergence : ndarray of float32, shape (V,)
        Of each.
    joins : ndarray of bool, shape (V,)
        Which of them join the words of a name, and are none.
    cases : ndarray of float64, shape (K,)
        What is added to the divergence of a token for its capitalization; 0 for that of most
        names.
    scales : ndarray of float64, shape (K,)
        The estimated share of all tokens that are names, capitalized so.
    """

    def __init__(
        self,
        hashes: Hashes,
        divergence: npt.NDArray[np.float32],
        joins: npt.NDArray[np.bool_],
        cases: Floats,
        scales: Floats,
    ) -> None:
        self.hashes = hashes
        self.divergence = divergence
        self.joins = joins
        self.cases = cases
        self.scales = scales
        self._index = HashIndex(hashes)

    @classmethod
    def of(cls, names: Frequencies, uses: Uses, smoothing: float) -> Self:
        """Compare words of names with their uses in the notes."""
        borne = names.counts.sum(axis=1)
        some = borne > 0  # what nobody bears is no name
        borne, counts = borne[some], uses.counts[some]
        shares = borne / max(borne.sum(), 1)
        scales = np.array([name_share(shares, column, uses.tokens) for column in counts.T])
        if not scales.any():  # too few to tell: all that are in the dictionary are taken for names
            scales = counts.sum(axis=0) / max(uses.tokens, 1)
        if not scales.any():
            raise TrainingError(
                "none of the dictionary's words occurs in the notes: no word can be told to be a "
                "name; are the dictionaries those of the people in the notes?"
            )
        expected = shares * scales.sum() * uses.tokens
        ratio = np.log((counts.sum(axis=1) + smoothing) / (expected + smoothing))
        joins = names.alone.sum(axis=1)[some] < _ALONE * borne
        return cls(
            names.hashes[some],
            np.maximum(ratio, 0.0).astype(np.float32),
            joins,
            _fewer_names(scales * uses.tokens / np.maximum(uses.totals, 1), scales),
            scales,
        )

    def judge(self, batch: Batch) -> WordJudgements:
        """Say of each word of a batch what is known of it."""
        types = batch.vocabulary
        rows = self._index.positions(word_hashes(fold(types)))
        known, cases = rows >= 0, case_numbers(types)
        joins = np.fromiter(map(_HYPHENS.__contains__, types), bool, len(types))
        joins[known] |= self.joins[rows[known]]
        named = known & ~joins
        divergence = np.full(len(types), np.inf)
        divergence[named] = self.divergence[rows[named]] + self.cases[cases[named]]
        return WordJudgements(divergence, joins, np.zeros(len(types), bool))

    def description(self) -> dict[str, dict[str, float]]:
        """Give what is said of capitalization, as JSON can hold it."""
        rows = zip(CASES, self.cases.tolist(), self.scales.tolist(), strict=True)
        return {name: {"added": added, "share": share} for name, added, share in rows}

    def files(self) -> dict[str, bytes]:
        """Give the content of a model's files."""
        return array_files(
            {"names": self.hashes, "divergence": self.divergence, "joins": self.joins}
        )

    @classmethod
    def read(cls, folder: Path, description: Mapping[str, Mapping[str, float]]) -> Self:
        """Read what `description` and `files` gave."""
        hashes, divergence, joins = read_arrays(folder, ("names", "divergence", "joins"))
        cases, scales = (
            np.array([float(description[name][key]) for name in CASES])
            for key in ("added", "share")
        )
        return cls(hashes, divergence, joins, cases, scales)


def _fewer_names(parts: Floats, scales: Floats) -> Floats:
    """Say how many fewer tokens are names than of those written like most names.

    Parameters
    ----------
    parts : ndarray of float64, shape (K,)
        Which part of the tokens that are written in each case are names.
    scales : ndarray of float64, shape (K,)
        Which part of all tokens are names that are written so.

    Returns
    -------
    ndarray of float64, shape (K,)
        Logarithms of ratios, 0 or more; finite, as JSON can hold them.
    """
    least = np.finfo(np.float64).tiny
    most = parts[scales.argmax()]
    fewer: Floats = np.maximum(np.log(most) - np.log(np.maximum(parts, least)), 0.0)
    return fewer
