"""The terms of gazetteers by class: look-ups of the words of mentions, and draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gazetteers.gazetteer import COLUMNS, Gazetteer


class TermLists:
    """The terms of gazetteers by class.

    The probability of a term in its class is its share of the counts of the class.

    Parameters
    ----------
    gazetteers : iterable of Gazetteer
        Any number. Equal classes are joined.
    """

    def __init__(self, gazetteers: Iterable[Gazetteer]) -> None:
        table = pa.concat_tables(
            [COLUMNS.empty_table(), *(gazetteer.table() for gazetteer in gazetteers)]
        )
        self._terms = table["term"].combine_chunks()
        self._numbers = table["class"].combine_chunks().dictionary_encode()
        self._counts = np.maximum(table["count"].to_numpy(), 1).astype(float)
        names = self._numbers.dictionary.to_pylist()
        indices = self._numbers.indices.to_numpy()
        self._rows = {name: np.flatnonzero(indices == n) for n, name in enumerate(names)}
        self._sums = {name: np.cumsum(self._counts[rows]) for name, rows in self._rows.items()}
        self._rests: dict[tuple[str, str], list[str]] = {}

    @property
    def classes(self) -> list[str]:
        """The classes, in the order in which they first appear."""
        return list(self._rows)

    def shares(self, terms: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the probability of terms in each of their classes.

        Returns
        -------
        dict of str to dict of str to float
            Only of the terms that occur.
        """
        wanted = pa.array(dict.fromkeys(terms), pa.large_string())
        rows = pa.array(np.flatnonzero(pc.is_in(self._terms, value_set=wanted)))
        shares: dict[str, dict[str, float]] = {}
        columns = (self._terms.take(rows).to_pylist(), self._numbers.take(rows).to_pylist())
        for term, name, count in zip(*columns, self._counts[rows], strict=True):
            classes = shares.setdefault(term, {})
            classes[name] = classes.get(name, 0.0) + float(count / self._sums[name][-1])
        return shares

    def draw(self, name: str, share: float) -> str:
        """Return the term of a class at a share, in [0, 1), of the counts of all its terms.

        Random shares draw terms in proportion to their counts.
        """
        rows, sums = self._rows[name], self._sums[name]
        chosen = int(np.searchsorted(sums, share * sums[-1], side="right"))
        term: str = self._terms[int(rows[min(chosen, len(rows) - 1)])].as_py()
        return term

    def rests(self, name: str, words: str) -> list[str]:
        """Return the terms of a class that begin with some folded words, without these words."""
        if (name, words) not in self._rests:
            terms = self._terms.take(pa.array(self._rows[name]))
            terms = terms.filter(pc.starts_with(terms, f"{words} "))
            rests = pc.utf8_slice_codeunits(terms, len(words) + 1)
            self._rests[name, words] = rests.to_pylist()
        return self._rests[name, words]

    def size(self, name: str) -> int:
        """Return the number of terms of a class; 0 if there is no such class."""
        return len(self._rows.get(name, ()))
