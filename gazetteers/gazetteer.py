"""Gazetteers: terms with their classes and counts, stored as Parquet files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.errors import InputError
from corpus.ragged import number_used
from corpus.storage.atomic import new_file
from corpus.storage.tables import read_columns, table_errors_of, write_table

#: The columns of a gazetteer.
COLUMNS = pa.schema(
    [
        pa.field("term", pa.large_string()),
        pa.field("class", pa.large_string()),
        pa.field("count", pa.int64()),
    ]
)
#: Rows per row group of the file.
_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class ClassSize:
    """The size of a class of a gazetteer."""

    name: str
    terms: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Gazetteer:
    """Terms of one or several classes, such as names of people, hospitals or towns.

    Parameters
    ----------
    terms : pyarrow.LargeStringArray
        Folded terms of one or several words with single spaces between them. A term has one row
        for each of its classes.
    classes : pyarrow.LargeStringArray
        The class of each term.
    counts : ndarray of int64
        The number of people or places with each name; 1 if the source has no counts.
    """

    terms: pa.LargeStringArray
    classes: pa.LargeStringArray
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows: a term counts once for each of its classes."""
        return len(self.terms)

    @classmethod
    def from_table(cls, table: pa.Table) -> Gazetteer:
        """Build a gazetteer from rows and sum the counts of each term and class.

        Parameters
        ----------
        table : pyarrow.Table
            Rows in any order, with the columns ``term``, ``class`` and ``count``.

        Returns
        -------
        Gazetteer
            Sorted by descending count, then by class and by term.
        """
        summed = _sum_counts(table)
        keys = [("count", "descending"), ("class", "ascending"), ("term", "ascending")]
        order = pc.sort_indices(summed, sort_keys=keys)
        terms, classes, counts = (
            summed[name].combine_chunks().take(order) for name in COLUMNS.names
        )
        return cls(terms, classes, counts.to_numpy())

    def table(self) -> pa.Table:
        """Return the gazetteer as a table with the columns ``term``, ``class`` and ``count``."""
        return pa.table([self.terms, self.classes, self.counts], schema=COLUMNS)

    def sizes(self) -> list[ClassSize]:
        """Return the size of each class, in order of descending count."""
        groups = self.table().group_by("class", use_threads=False)
        summed = groups.aggregate([("count", "sum"), ("term", "count")])
        keys = [("count_sum", "descending"), ("class", "ascending")]
        return [
            ClassSize(row["class"], row["term_count"], row["count_sum"])
            for row in summed.sort_by(keys).to_pylist()
        ]

    def rows_of_term(self, term: str) -> pa.Table:
        """Return the rows of a folded term, one for each of its classes."""
        return self.table().filter(pc.equal(self.terms, term))

    def rows_with_word(self, word: str) -> pa.Table:
        """Return the rows of the terms of several words that contain a folded word."""
        # "Vitoria-Gasteiz" and "Ballestero, El" have two words, as in notes.
        pattern = rf"(^|[^\pL\pN]){re.escape(word)}($|[^\pL\pN])"
        has_word = pc.match_substring_regex(self.terms, pattern)
        return self.table().filter(pc.and_(has_word, pc.not_equal(self.terms, word)))

    def save(self, path: Path) -> None:
        """Write the gazetteer to a new Parquet file.

        Raises
        ------
        InputError
            If the file exists or cannot be created.
        """
        with new_file(path) as file:
            write_table(self.table(), file, row_group_size=_ROWS)

    @classmethod
    def load(cls, path: Path) -> Gazetteer:
        """Read a file that `save` wrote.

        Raises
        ------
        InputError
            If the file does not exist, is damaged or is not a gazetteer.
        """
        if not path.exists():
            raise InputError(f"{path} does not exist; expected a gazetteer")
        expected = "a gazetteer; bootstrap gazetteer import creates one from a CSV or TSV file"
        with table_errors_of(path, expected, "import it again"):
            table = read_columns(path, COLUMNS)
        terms, classes, counts = (column.combine_chunks() for column in table.columns)
        counts = counts.to_numpy()
        _check_counts(counts, path)
        return cls(terms, classes, counts)


def _check_counts(counts: npt.NDArray[np.int64], path: Path) -> None:
    """Raise an `InputError` if there is no count, or a negative one, or their sum is too large."""
    if not len(counts):
        raise InputError(f"{path} has no terms; expected at least one")
    if counts.min() < 0:
        row = int(np.flatnonzero(counts < 0)[0]) + 1
        raise InputError(f"{path}, row {row:,}: the count is negative; expected 0 or more")
    if counts.sum(dtype=np.float64) >= 2.0**62:
        raise InputError(f"{path}: the sum of its counts is 2 ** 62 or more, the limit")


def _sum_counts(table: pa.Table) -> pa.Table:
    """Add up the counts of each term and class, and return the columns of a gazetteer."""
    # Faster than grouping by two columns of strings.
    terms, classes = (_encoded(table[name]) for name in ("term", "class"))
    n_classes = max(len(classes.dictionary), 1)
    pairs = terms.indices.to_numpy().astype(np.int64) * n_classes + classes.indices.to_numpy()
    distinct, inverse = number_used(pairs, len(terms.dictionary) * n_classes)
    counts = np.zeros(len(distinct), np.int64)
    np.add.at(counts, inverse, table["count"].to_numpy())
    columns = [
        texts.dictionary.cast(pa.large_string()).take(pa.array(rows))
        for texts, rows in ((terms, distinct // n_classes), (classes, distinct % n_classes))
    ]
    return pa.table([*columns, counts], schema=COLUMNS)


def _encoded(texts: pa.ChunkedArray) -> pa.DictionaryArray:
    array = texts.combine_chunks()
    return array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()


def merge(gazetteers: Sequence[Gazetteer]) -> Gazetteer:
    """Merge gazetteers and sum the counts of each term and class.

    Parameters
    ----------
    gazetteers : sequence of Gazetteer
        At least one.
    """
    return Gazetteer.from_table(pa.concat_tables([gazetteer.table() for gazetteer in gazetteers]))


def terms_by_class(gazetteers: Iterable[Gazetteer]) -> dict[str, list[str]]:
    """Return the terms of each class, with the classes in the order of their first term."""
    terms: dict[str, list[str]] = {}
    for gazetteer in gazetteers:
        columns = gazetteer.terms.to_pylist(), gazetteer.classes.to_pylist()
        for term, name in zip(*columns, strict=True):
            terms.setdefault(name, []).append(term)
    return terms
