"""Functions of a record batch, for engines of other packages: Ray Data, Spark, Dask.

They are plain values that pickle. Each process loads the model once, and refuses another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from bootstrap.deidentification.deidentify import DeidentifyOptions, deidentify
from bootstrap.execution.parallel_tagger import SavedModel
from bootstrap.tagging import TagOptions, find_spans
from corpus.formats.batches import with_annotations
from corpus.formats.sources import Columns
from corpus.formats.tabular.parquet import notes_of_rows, spans_of_notes


@dataclass(frozen=True, slots=True)
class BatchTagger:
    """A function that tags notes; see `bootstrap.Model.batch_tagger`.

    Parameters
    ----------
    model : SavedModel
        The model.
    options : TagOptions
        How notes are tagged.
    columns : Columns
        The names of columns.
    """

    model: SavedModel
    options: TagOptions
    columns: Columns

    def __call__(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with columns of the spans that the model finds, and of confidences.

        Raises
        ------
        InputError
            If there is no column of texts, or a text is missing, or the model cannot be loaded.
        """
        notes = notes_of_rows(rows, self.columns)
        spans = find_spans(self.options, self.model.load(), notes)
        new = {self.columns.label: spans_of_notes(with_annotations(notes, spans.lists, {}))}
        new |= spans.confidences
        rows = _without(rows, *new)
        for name, values in new.items():
            rows = rows.append_column(name, values)
        return rows


@dataclass(frozen=True, slots=True)
class BatchDeidentifier:
    """A function that de-identifies notes; see `bootstrap.Model.batch_deidentifier`.

    Parameters
    ----------
    model : SavedModel
        The model.
    options : DeidentifyOptions
        How notes are de-identified.
    columns : Columns
        The names of columns.
    """

    model: SavedModel
    options: DeidentifyOptions
    columns: Columns

    def __call__(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with new texts, and without spans; errors as in `BatchTagger`."""
        notes = notes_of_rows(rows, self.columns)
        result = deidentify(self.options, self.model.load(), notes)
        rows, texts = _without(rows, self.columns.label), result.notes.column("text")
        place = rows.schema.get_field_index(self.columns.text)
        kind = rows.schema.field(place).type
        if not isinstance(kind, pa.DictionaryType):
            texts = texts.cast(kind)
        return rows.set_column(place, self.columns.text, texts)


def _without(rows: pa.RecordBatch, *names: str) -> pa.RecordBatch:
    return rows.drop_columns([name for name in names if name in rows.schema.names])
