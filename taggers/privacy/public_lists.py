"""Public lists within a model: their words were not learned from notes.

A word of a public list tells nothing about a patient only if the model has the whole list. If names
were found in notes, even the names that are also in a census were found in notes. Words of a list
that a model contains only in part are therefore not public.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.kernels.hash_index import ABSENT, HashIndex
from corpus.kernels.hashing import Hashes
from gazetteers.builtin import BUILTIN_LISTS, read_gazetteer
from gazetteers.frequencies import Frequencies
from gazetteers.gazetteer import Gazetteer, terms_by_class

#: Selects the words of a list that a model has, shape (V,).
Selection = Callable[[Frequencies], npt.NDArray[np.bool_]]


def all_words(names: Frequencies) -> npt.NDArray[np.bool_]:
    """Select all words."""
    return np.ones(len(names.words), bool)


class PublicLists:
    """The built-in lists, and those that the user calls public.

    Parameters
    ----------
    paths : sequence of str
        Gazetteers besides the built-in lists; see `gazetteers.builtin.read_gazetteer`.
    """

    def __init__(self, paths: Sequence[str] = ()) -> None:
        self._paths = tuple(dict.fromkeys([*BUILTIN_LISTS, *paths]))

    @cached_property
    def _parts(self) -> list[Gazetteer]:
        """The terms of each class of each list."""
        return [part for path in self._paths for part in _by_class(read_gazetteer(path))]

    @cached_property
    def _frequencies(self) -> list[Frequencies]:
        return [Frequencies.from_gazetteer(part) for part in self._parts]

    def words_within(self, hashes: Hashes, selection: Selection = all_words) -> Gazetteer | None:
        """Return the lists, by class, that a table contains completely.

        Parameters
        ----------
        hashes : ndarray of uint64
            Hashes of the folded words of the table.
        selection : callable
            Selects the words of a list that such a table has.

        Returns
        -------
        Gazetteer or None
            None if there is no such list.
        """
        index = HashIndex(hashes)
        within = []
        for part, names in zip(self._parts, self._frequencies, strict=True):
            wanted = names.hashes[selection(names)]
            if len(wanted) and (index.positions(wanted) != ABSENT).all():
                within.append(part.table())
        return Gazetteer.from_table(pa.concat_tables(within)) if within else None

    def is_public(self, hashes: Hashes, selection: Selection = all_words) -> npt.NDArray[np.bool_]:
        """Return which words of a table belong to a list that it contains completely."""
        gazetteer = self.words_within(hashes, selection)
        if gazetteer is None:
            return np.zeros(len(hashes), bool)
        names = Frequencies.from_gazetteer(gazetteer)
        positions = HashIndex(names.hashes[selection(names)]).positions(hashes)
        public: npt.NDArray[np.bool_] = positions != ABSENT
        return public

    def public_phrases(self, phrases: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
        """Return the phrases of each class that are public; classes stay without phrases."""
        known, public = {term for terms in phrases.values() for term in terms}, set[str]()
        for part in self._parts:
            own = set(part.terms.to_pylist())
            if own <= known:
                public |= own
        return {
            name: tuple(term for term in terms if term in public) for name, terms in phrases.items()
        }


def _by_class(gazetteer: Gazetteer) -> Iterator[Gazetteer]:
    table = gazetteer.table()
    for name in terms_by_class([gazetteer]):
        yield Gazetteer.from_table(table.filter(pc.equal(gazetteer.classes, name)))
