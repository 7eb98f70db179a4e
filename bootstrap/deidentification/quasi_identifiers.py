"""What somebody may know of patients: columns of their notes, and texts of annotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corpus.errors import InputError, quoted
from corpus.flat import FlatTexts, flat_spans
from corpus.formats.batches import columns_after_notes
from corpus.patients import patient_keys
from gazetteers.folding import fold

Hashes: TypeAlias = npt.NDArray[np.uint64]


def patient_table(
    batches: Iterable[pa.RecordBatch], columns: Sequence[str], classes: Sequence[str]
) -> pa.Table:
    """Return what the notes of each patient say, as numbers that are equal for equal values.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Annotated notes with their other columns.
    columns : sequence of str
        Names of other columns.
    classes : sequence of str
        Classes of annotations. Their values are the folded texts.

    Returns
    -------
    Table
        A row for each patient, and a column for each of `columns` and `classes`: a number for the
        set of the values in all notes of the patient.

    Raises
    ------
    InputError
        If the notes lack one of the columns or of the classes.
    """
    patients: list[Hashes] = []
    cells: list[list[tuple[Hashes, Hashes]]] = [[] for _ in (*columns, *classes)]
    seen_columns, seen_classes = set[str](), set[str]()
    for notes in batches:
        keys = _hashed(patient_keys(notes.column("group"), notes.column("id")))
        patients.append(keys)
        others, mentions = columns_after_notes(notes), _mentions(notes)
        seen_columns |= {*others}
        seen_classes |= {*mentions}
        for cell, name in zip(cells, columns, strict=False):
            if name in others:
                cell.append((keys, _hashed(others[name])))
        for cell, name in zip(cells[len(columns) :], classes, strict=True):
            if name in mentions:
                rows, values = mentions[name]
                cell.append((keys[rows], values))
    if missing := [name for name in columns if name not in seen_columns]:
        raise InputError(
            f"the notes have no other column {quoted(missing[0])}; CSV, Parquet and JSON lines "
            "have other columns"
        )
    if missing := [name for name in classes if name not in seen_classes]:
        raise InputError(f"the notes have no annotations of the class {quoted(missing[0])}")
    numbered, _ = np.unique(np.concatenate(patients), return_inverse=True)
    sets = [_sets(cell, numbered) for cell in cells]
    return pa.table(sets, [*columns, *classes])


def _sets(cells: Sequence[tuple[Hashes, Hashes]], patients: Hashes) -> Hashes:
    """Return a number for the set of the values of each patient."""
    pairs = np.unique(np.concatenate([np.stack(cell, axis=1) for cell in cells]), axis=0)
    sums = np.zeros(len(patients), np.uint64)
    with np.errstate(over="ignore"):  # hashes add up in any order
        np.add.at(sums, np.searchsorted(patients, pairs[:, 0]), pairs[:, 1])
    return sums


def _mentions(notes: pa.RecordBatch) -> dict[str, tuple[npt.NDArray[np.int64], Hashes]]:
    """Return the notes of the annotations of each class, and what these are."""
    source = FlatTexts(notes.column("text"))
    rows, starts, ends = flat_spans(notes, source.offsets)
    texts = pa.array(fold(source.ranges(starts, ends).to_pylist()), pa.large_string())
    hashes, labels = _hashed(texts), notes.column("labels").flatten()
    return {
        label: (rows[kept], hashes[kept])
        for label in labels.unique().to_pylist()
        if len(kept := np.flatnonzero(pc.equal(labels, label)))
    }


def _hashed(values: pa.Array) -> Hashes:
    """Return a number for each value, the same for equal values; a missing value has one."""
    encoded = values.dictionary_encode(null_encoding="encode")
    texts = [
        repr(value).encode("utf-8", "surrogatepass") for value in encoded.dictionary.to_pylist()
    ]
    digests = b"".join(blake2b(text, digest_size=8).digest() for text in texts)
    numbers: Hashes = np.frombuffer(digests, np.uint64)[encoded.indices.to_numpy()]
    return numbers
