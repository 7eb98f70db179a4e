"""Gazetteers: terms of classes, and how many bear each. A Parquet file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus.errors import InputError, shown
from corpus.storage import new_file

#: The columns of a gazetteer.
COLUMNS = pa.schema(
    [
        pa.field("term", pa.large_string()),
        pa.field("class", pa.large_string()),
        pa.field("count", pa.int64()),
    ]
)
#: Rows that are written at once.
_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class ClassSize:
    """How much a gazetteer has of a class.

    Parameters
    ----------
    name : str
        Of the class.
    terms : int
        How many terms there are.
    count : int
        How many bear them, together.
    """

    name: str
    terms: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Gazetteer:
    """Terms of one class or several: names of people, of hospitals, of towns.

    Parameters
    ----------
    terms : pyarrow.LargeStringArray
        Folded, of one word or more with single spaces between them. A term is there once for each
        of its classes.
    classes : pyarrow.LargeStringArray
        The class of each term.
    counts : ndarray of int64
        How many people or places bear it; 1 where a source does not say.
    """

    terms: pa.LargeStringArray
    classes: pa.LargeStringArray
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Give the number of terms, those of several classes once for each."""
        return len(self.terms)

    @classmethod
    def of(cls, table: pa.Table) -> Gazetteer:
        """Add up the counts of each term and class.

        Parameters
        ----------
        table : pyarrow.Table
            With the columns ``term``, ``class`` and ``count``, of any rows.

        Returns
        -------
        Gazetteer
            The most frequent first, then in the order of classes and of terms.
        """
        summed = added_up(table)
        keys = [("count", "descending"), ("class", "ascending"), ("term", "ascending")]
        order = pc.sort_indices(summed, sort_keys=keys)
        terms, classes, counts = (
            summed[name].combine_chunks().take(order) for name in COLUMNS.names
        )
        return cls(terms, classes, counts.to_numpy())

    def table(self) -> pa.Table:
        """Give the columns ``term``, ``class`` and ``count``."""
        return pa.table([self.terms, self.classes, self.counts], schema=COLUMNS)

    def sizes(self) -> list[ClassSize]:
        """Say how much there is of each class, the one with the highest count first."""
        summed = self.table().group_by("class").aggregate([("count", "sum"), ("term", "count")])
        keys = [("count_sum", "descending"), ("class", "ascending")]
        return [
            ClassSize(row["class"], row["term_count"], row["count_sum"])
            for row in summed.sort_by(keys).to_pylist()
        ]

    def of_term(self, term: str) -> pa.Table:
        """Give the rows of a term: one for each of its classes.

        Parameters
        ----------
        term : str
            Folded.
        """
        return self.table().filter(pc.equal(self.terms, term))

    def with_word(self, word: str) -> pa.Table:
        """Give the rows of terms of several words of which one is this word.

        Parameters
        ----------
        word : str
            Folded.
        """
        # "Vitoria-Gasteiz" and "Ballestero, El" have two words, as they have in notes.
        alone = rf"(^|[^\pL\pN]){re.escape(word)}($|[^\pL\pN])"
        found = pc.match_substring_regex(self.terms, alone)
        return self.table().filter(pc.and_(found, pc.not_equal(self.terms, word)))

    def save(self, path: Path) -> None:
        """Write a new Parquet file.

        Raises
        ------
        InputError
            If there is something of this name, or it cannot be made.
        """
        with new_file(path) as file:
            pq.write_table(self.table(), file, compression="zstd", row_group_size=_ROWS)

    @classmethod
    def load(cls, path: Path) -> Gazetteer:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If it is not there, damaged or something else.
        """
        if not path.exists():
            raise InputError(f"{shown(path)} is not there; expected a gazetteer")
        try:
            table = pq.read_table(path)
            columns = [table[field.name].combine_chunks() for field in COLUMNS]
        except (OSError, ValueError, KeyError, pa.ArrowException):
            raise InputError(
                f"{shown(path)} is not a gazetteer; bootstrap gazetteer import makes one of a CSV "
                "or TSV file"
            ) from None
        if [column.type for column in columns] != COLUMNS.types or any(
            column.null_count for column in columns
        ):
            raise InputError(
                f"{shown(path)} is not a gazetteer: its columns are not "
                f"{', '.join(COLUMNS.names)} as bootstrap gazetteer import writes them"
            )
        return cls(columns[0], columns[1], columns[2].to_numpy())


def added_up(table: pa.Table) -> pa.Table:
    """Add up the counts of each term and class.

    Parameters
    ----------
    table : pyarrow.Table
        With the columns ``term`` and ``class``, as strings or encoded by dictionaries, and
        ``count``.

    Returns
    -------
    pyarrow.Table
        With the columns of a gazetteer.
    """
    # Several times as fast as to group by two columns of strings.
    terms, classes = (_encoded(table[name]) for name in ("term", "class"))
    many = max(len(classes.dictionary), 1)
    pairs = terms.indices.to_numpy().astype(np.int64) * many + classes.indices.to_numpy()
    found, places = _distinct(pairs, len(terms.dictionary) * many)
    counts = np.zeros(len(found), np.int64)
    np.add.at(counts, places, table["count"].to_numpy())
    columns = [
        texts.dictionary.cast(pa.large_string()).take(pa.array(each))
        for texts, each in ((terms, found // many), (classes, found % many))
    ]
    return pa.table([*columns, counts], schema=COLUMNS)


def _distinct(
    numbers: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Give the different numbers below `size`, and the place of each number among them."""
    if size > 4 * len(numbers):
        return np.unique(numbers, return_inverse=True)
    there = np.zeros(size, bool)
    there[numbers] = True
    found = np.flatnonzero(there)
    places = np.zeros(size, np.int64)
    places[found] = np.arange(len(found))
    return found, places[numbers]


def _encoded(texts: pa.ChunkedArray) -> pa.DictionaryArray:
    whole = texts.combine_chunks()
    return whole if isinstance(whole, pa.DictionaryArray) else whole.dictionary_encode()


def merged(gazetteers: Sequence[Gazetteer]) -> Gazetteer:
    """Put gazetteers together, and add up the counts of terms that several have of a class.

    Parameters
    ----------
    gazetteers : sequence of Gazetteer
        At least one.
    """
    return Gazetteer.of(pa.concat_tables([each.table() for each in gazetteers]))


def terms_by_class(gazetteers: Iterable[Gazetteer]) -> dict[str, list[str]]:
    """Give the terms of each class, the classes in the order in which they first appear."""
    found: dict[str, list[str]] = {}
    for each in gazetteers:
        for term, name in zip(each.terms.to_pylist(), each.classes.to_pylist(), strict=True):
            found.setdefault(name, []).append(term)
    return found
