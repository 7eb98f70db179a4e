"""``bootstrap tag``: notes with the spans that a model finds."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bootstrap.cli.commands.convert import written_lines
from bootstrap.cli.console import (
    StageProgress,
    print_report,
    report_compiling,
    report_problems,
)
from bootstrap.cli.inputs import columns_of, problems_of, read_note_batches
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.execution.processes import default_jobs
from bootstrap.inference import TagOptions, find_model, read_unit_file, tag_batch, tagged_batches
from corpus.corpora import count_records
from corpus.errors import InputError
from corpus.formats import FORMATS, Encoded, Target, target_of
from corpus.formats.batches import SCHEMA
from corpus.formats.sources import CONFIDENCE
from corpus.kernels.compiled import warm_up
from corpus.tokens.normalisation import UnusualCharacters
from taggers import Tagger
from taggers.base import Detail
from taggers.name_propagation import refuse_unknown

#: The borders of the confidences that are counted.
_BORDERS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(slots=True)
class _Summary:
    """Counts of the notes that were tagged."""

    notes: int = 0
    tokens: int = 0
    confidences: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(len(_BORDERS) - 1, np.int64)
    )
    unusual: UnusualCharacters = field(default_factory=UnusualCharacters)

    def add(self, other: _Summary) -> None:
        """Add the counts of other notes."""
        self.notes += other.notes
        self.tokens += other.tokens
        self.confidences += other.confidences
        self.unusual.update(other.unusual)

    def lines(self) -> Iterator[str]:
        """Yield the number of tokens, and the distribution of the confidences."""
        if not self.notes:
            return
        yield f"{self.tokens:,} tokens; confidence of the notes:"
        for low, high, count in zip(_BORDERS, _BORDERS[1:], self.confidences, strict=False):
            yield f"  {low:4.2f} to {high:4.2f}  {count / max(self.notes, 1):6.1%}  {count:,}"


@dataclass(frozen=True, slots=True)
class _Part:
    """Tagged notes as they are written, with their schema and counts."""

    encoded: Encoded
    schema: pa.Schema
    summary: _Summary


def main(options: argparse.Namespace) -> None:
    """Tag a corpus and write it."""
    problems, summary = problems_of(options), _Summary()
    folder, jobs = find_model(options.model), options.jobs or default_jobs()
    tagger = ParallelTagger.load(folder, trust=options.trust, jobs=jobs)
    of_run = read_unit_file(folder)
    columns = columns_of(options, of_run.columns)
    target = target_of(options.target, format=options.target_format, columns=columns)
    detail: Detail = "entity" if options.span_confidence else "document"
    if options.span_confidence and "span confidences" not in FORMATS[target.format].keeps:
        raise InputError(
            f"the format {target.format} cannot store the confidence of spans: write JSONL or "
            "Parquet"
        )
    propagate = tuple(options.propagate or of_run.propagate)
    refuse_unknown(propagate, tagger.labels)  # before the target is created
    warm_up(*tagger.kernels, announce=report_compiling)
    how = TagOptions(of_run.unit, options.measure, detail, propagate)
    total = count_records(options.source, format=options.source_format)
    notes = read_note_batches(
        options,
        problems,
        columns=columns,
        # The target has the column of the annotations: the source need not have it.
        labelled=False,
        carry=FORMATS[target.format].carry,
    )
    gc.freeze()  # what is loaded stays, and need not be searched for garbage again and again
    with StageProgress("notes") as bar:
        parts = tagged_batches(notes, tagger, partial(_tagged_part, how, target))
        first = next(parts, None)
        schema, parts = (first.schema, chain([first], parts)) if first else (SCHEMA, parts)
        written = target.write(_counted(parts, summary, bar, total), schema)
    report_problems(problems)
    report_problems(summary.unusual)
    lines = [*written_lines(written, options.target, problems), *summary.lines()]
    print_report(lines, options.target)


def _tagged_part(
    options: TagOptions, target: Target, tagger: Tagger, notes: pa.RecordBatch
) -> _Part:
    """Tag and encode notes, which may be done in another process."""
    tagged, tokens = tag_batch(options, tagger, notes)
    unusual = UnusualCharacters()
    unusual.add(notes.column("text"))
    confidences, _ = np.histogram(tagged.column(CONFIDENCE).to_numpy(), _BORDERS)
    summary = _Summary(len(notes), tokens, confidences, unusual)
    return _Part(target.encode(tagged), tagged.schema, summary)


def _counted(
    parts: Iterable[_Part], summary: _Summary, bar: StageProgress, total: int
) -> Iterator[Encoded]:
    for part in parts:
        summary.add(part.summary)
        bar.report("tagging", summary.notes, total, note=f"{summary.tokens:,} tokens")
        yield part.encoded
