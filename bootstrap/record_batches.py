"""Functions of a record batch, for engines of other packages: Ray Data, Spark, Dask.

They are plain values that pickle. Each process loads the model once, and refuses another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from bootstrap.deidentification.deidentify import DeidentifyOptions, deidentify
from bootstrap.execution.parallel_tagger import SavedModel
from bootstrap.tagging import TagOptions, find_spans
from corpus.formats.batches import unlabelled, with_annotations
from corpus.formats.sources import CONFIDENCE, Columns
from corpus.formats.tabular.parquet import notes_of_rows, rows_of_notes


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
        """Return rows of notes with a column of the spans that the model finds, and of confidences.

        Raises
        ------
        InputError
            If there is no column of texts, or a text is missing, or the model cannot be loaded.
        """
        notes = notes_of_rows(rows, self.columns)
        spans = find_spans(self.options, self.model.load(), unlabelled(notes))
        tagged = with_annotations(notes, spans.lists, spans.confidences)
        names = [*rows.schema.names, self.columns.label, CONFIDENCE]
        return rows_of_notes(tagged, self.columns).select(list(dict.fromkeys(names)))


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
        """Return rows of notes with new texts and without spans; errors as in `BatchTagger`."""
        notes = notes_of_rows(rows, self.columns)
        result = deidentify(self.options, self.model.load(), unlabelled(notes))
        return rows_of_notes(result.beside(notes), self.columns).select(rows.schema.names)
