"""The terms of gazetteers by class: look-ups of the words of mentions, and random draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gazetteers.gazetteer import COLUMNS, Gazetteer

#: The minimum share of the terms of a class that begin with a word for it to be typical of the
#: class, and their minimum number.
_MIN_SHARE, _MIN_TERMS = 0.02, 10


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
        self._rests: dict[tuple[str, str, bool], list[str]] = {}

    @property
    def classes(self) -> list[str]:
        """The classes, in the order in which they first appear."""
        return list(self._rows)

    def shares(self, terms: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the probability of terms in each of their classes.

        Parameters
        ----------
        terms : sequence of str
            Folded terms.

        Returns
        -------
        dict of str to dict of str to float
            Only of the terms that occur.
        """
        wanted = pa.array(dict.fromkeys(terms), pa.large_string())
        rows = np.flatnonzero(pc.is_in(self._terms, value_set=wanted))
        shares: dict[str, dict[str, float]] = {}
        sums = {name: float(self._counts[rows].sum()) for name, rows in self._rows.items()}
        names = self._numbers.take(pa.array(rows)).to_pylist()
        for term, name, count in zip(
            self._terms.take(pa.array(rows)).to_pylist(), names, self._counts[rows], strict=True
        ):
            classes = shares.setdefault(term, {})
            classes[name] = classes.get(name, 0.0) + float(count / sums[name])
        return shares

    def drawing(self, name: str) -> Callable[[np.random.Generator], str]:
        """Return a function that draws terms of a class, in proportion to their counts."""
        rows = self._rows[name]
        edges = np.cumsum(self._counts[rows])

        def draw(rng: np.random.Generator) -> str:
            chosen = int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))
            term: str = self._terms[int(rows[min(chosen, len(rows) - 1)])].as_py()
            return term

        return draw

    def typical_words(self, name: str) -> list[str]:
        """Return words that many terms of a class begin with.

        At least 2 % of the terms of the class, and 10, have several words of which it is the first.
        """
        terms = self._of_class(name)
        several = terms.filter(pc.match_substring(terms, " "))
        firsts = pc.list_element(pc.split_pattern(several, " ", max_splits=1), 0)
        counts = {row["values"]: row["counts"] for row in pc.value_counts(firsts).to_pylist()}
        least = max(_MIN_TERMS, _MIN_SHARE * len(terms))
        return [word for word, count in counts.items() if count >= least]

    def rests(self, name: str, words: str, *, at_end: bool = False) -> list[str]:
        """Return the terms of a class that begin with words, without these words.

        Parameters
        ----------
        name : str
            The class.
        words : str
            One or several folded words.
        at_end : bool
            Whether the terms end with the words instead.
        """
        key = (name, words, at_end)
        if key not in self._rests:
            terms = self._of_class(name)
            if at_end:
                terms = terms.filter(pc.ends_with(terms, f" {words}"))
                rests = pc.utf8_slice_codeunits(terms, 0, -len(words) - 1)
            else:
                terms = terms.filter(pc.starts_with(terms, f"{words} "))
                rests = pc.utf8_slice_codeunits(terms, len(words) + 1)
            self._rests[key] = rests.to_pylist()
        return self._rests[key]

    def size(self, name: str) -> int:
        """Return the number of terms of a class; 0 if there is no such class."""
        return len(self._rows.get(name, ()))

    def _of_class(self, name: str) -> pa.LargeStringArray:
        return self._terms.take(pa.array(self._rows.get(name, np.zeros(0, np.int64))))
