"""Tables of the words of embeddings, which a model keeps: of their vectors or of their clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.kernels.hash_index import ABSENT, Positions
from corpus.kernels.hashing import MOST_KEY, Hashes
from corpus.storage.fields import Fields
from taggers.embeddings.embedding import word_hashes
from taggers.embeddings.embedding_files import NORMALISATIONS
from taggers.features.words import Words
from taggers.keyed_table import KeyedTable
from taggers.privacy.patient_counts import patients_of_words
from taggers.privacy.pruning import Pruning


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingTable:
    """What is known of the V words of an embedding.

    Parameters
    ----------
    normalisation : str
        The normalisation of words before lookup.
    table : KeyedTable
        The words, with one column.
    """

    normalisation: str
    table: KeyedTable

    def hashes(self, words: Words) -> Hashes:
        """Return the hashes of normalised words."""
        return word_hashes(NORMALISATIONS[self.normalisation](words))

    def rows(self, types: Sequence[str]) -> Positions:
        """Return the row of each word, or `ABSENT`."""
        return self.table.rows(self.hashes(Words(types)))

    def description(self) -> dict[str, Any]:
        """Return what a model says of the table, for JSON."""
        return {"normalisation": self.normalisation, "key": self.table.key}

    def files(self, name: str) -> dict[str, bytes]:
        """Return the contents of a model's files, whose names begin with a name."""
        return self.table.files(name)


_Table = TypeVar("_Table", bound=EmbeddingTable)


class EmbeddingTables(Generic[_Table]):
    """Tables of several embeddings.

    Parameters
    ----------
    tables : iterable of EmbeddingTable
        None for no embeddings.
    """

    #: The name of the files of a model, of their column, and of what a pruning may keep.
    name: ClassVar[str]

    def __init__(self, tables: Iterable[_Table] = ()) -> None:
        self.tables = tuple(tables)

    @property
    def size(self) -> int:
        """The number of words of all embeddings."""
        return sum(len(table.table) for table in self.tables)

    def counted(self, train: Batch) -> Self:
        """Return the tables with the numbers of patients of training documents."""
        return self._with(
            lambda table: table.table.with_patients(
                patients_of_words(train, len(table.table), table.rows)
            )
        )

    def pruned(self, pruning: Pruning) -> Self:
        """Return the tables without the words of few patients."""
        keep = self.name in pruning.keep
        return self._with(lambda table: table.table.pruned(pruning, keep=keep))

    def _with(self, changed: Callable[[_Table], KeyedTable]) -> Self:
        return type(self)(replace(table, table=changed(table)) for table in self.tables)

    def having(self, types: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which words are in some table."""
        known = np.zeros(len(types), bool)
        for table in self.tables:
            known |= table.rows(types) != ABSENT
        return known

    def description(self) -> list[dict[str, Any]]:
        """Return the description that is needed in addition to the files, for JSON."""
        return [table.description() for table in self.tables]

    def files(self) -> dict[str, bytes]:
        """Return the contents of a model's files: arrays in NumPy's format."""
        return {
            name: content
            for number, table in enumerate(self.tables)
            for name, content in table.files(f"{self.name}-{number}").items()
        }


def described(fields: Fields) -> tuple[str, int]:
    """Return the normalisation and the key of a table that a model describes."""
    normalisation = fields.text("normalisation")
    if normalisation not in NORMALISATIONS:
        raise fields.error("normalisation", f"one of {', '.join(NORMALISATIONS)}")
    return normalisation, fields.integer("key", least=0, most=MOST_KEY)
