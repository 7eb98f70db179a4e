"""Places of Spain, cities and countries with their names as they are written, and their size."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import accumulate

from gazetteers.folding import fold

WRITTEN_PLACES = "written-places-es.parquet"

#: The size of similar places, as a factor, and the least number of places to choose from.
SIMILAR = 2.5
LEAST_SIMILAR = 10

_WORD = re.compile(r"[^\W_]+")
_ARTICLE = re.compile(r"(el|la|los|las|els|les|l|a|o|as|os) (?=...)")


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The places of a class, in the order of their size.

    Parameters
    ----------
    names : sequence of str
        Their names as they are written.
    catalan : sequence of str
        Their Catalan names; empty where they are the same.
    provinces : sequence of str
        The provinces of towns; empty for other places.
    sizes : sequence of int
        The population; for streets, the number of provinces that have one of this name.
    rows : mapping of str to int
        The place of each name, also in other languages, by its `place_key`.
    """

    names: Sequence[str]
    catalan: Sequence[str]
    provinces: Sequence[str]
    sizes: Sequence[int]
    rows: Mapping[str, int]
    _sums: Sequence[int]

    def drawn(self, share: float) -> int:
        """Return the place at a share, in [0, 1), of the sizes of all; shares draw by size."""
        return self._drawn(0, len(self.names), share)

    def similar(self, size: int, share: float) -> int:
        """Return the place at a share, in [0, 1), of the sizes of all places of a similar size."""
        middle = bisect_left(self.sizes, size)
        first = min(bisect_left(self.sizes, size / SIMILAR), middle - LEAST_SIMILAR // 2)
        end = max(bisect_right(self.sizes, size * SIMILAR), middle + LEAST_SIMILAR // 2)
        number = len(self.names)
        return self._drawn(
            max(0, min(first, number - LEAST_SIMILAR)), min(number, max(end, LEAST_SIMILAR)), share
        )

    def _drawn(self, first: int, end: int, share: float) -> int:
        least, most = self._sums[first], self._sums[end]
        return bisect_right(self._sums, least + share * (most - least), first, end) - 1


def place_key(name: str) -> str:
    """Return the folded words of a name, by which it is looked up.

    >>> place_key("L'Hospitalet"), place_key("VITORIA-GASTEIZ")
    ('l hospitalet', 'vitoria gasteiz')
    """
    return " ".join(_WORD.findall(fold([name])[0]))


@functools.cache
def written_places() -> Mapping[str, Places]:
    """Return the places of the package by class.

    The classes are town, city (in America), province, region, country, postal_code, hospital,
    health_centre, street and square. Names in Catalan have classes of their own, such as street_ca.
    """
    from corpus.storage.tables import read_table  # noqa: PLC0415 - pyarrow is slow to import

    with as_file(files("gazetteers") / "resources" / WRITTEN_PLACES) as path:
        rows = read_table(path).sort_by([("class", "ascending"), ("size", "ascending")])
    kinds = rows["class"].to_pylist()
    return {
        kind: _places(rows.slice(bisect_left(kinds, kind), kinds.count(kind)).to_pydict())
        for kind in dict.fromkeys(kinds)
    }


def _places(columns: Mapping[str, list[str]]) -> Places:
    names, catalan, others = (columns[name] for name in ("name", "catalan", "others"))
    sizes = list(map(int, columns["size"]))
    forms = [f"{name}/{own}/{more}" for name, own, more in zip(names, catalan, others, strict=True)]
    rows: dict[str, int] = {}
    without_article: dict[str, int] = {}
    for row, all_forms in enumerate(fold(forms)):  # the largest place of a name is the last
        for form in (all_forms, *all_forms.split("/")):
            key = " ".join(_WORD.findall(form))
            rows[key] = row
            without_article[_ARTICLE.sub("", key, count=1)] = row
    sums = [0, *accumulate(sizes)]
    return Places(names, catalan, columns["province"], sizes, without_article | rows, sums)


def _town(name: str) -> tuple[Places, int | None]:
    towns = written_places()["town"]
    return towns, towns.rows.get(place_key(name))


def province_of(town: str) -> str | None:
    """Return the province of a town, the largest of its name; None if it is unknown.

    >>> province_of("ALCOY")
    'Alicante'
    """
    towns, row = _town(town)
    return None if row is None else towns.provinces[row]


def population_of(town: str) -> int | None:
    """Return the population of a town in 2019, the largest of its name; None if it is unknown."""
    towns, row = _town(town)
    return None if row is None else towns.sizes[row]
