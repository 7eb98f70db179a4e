"""``bootstrap tag``: notes with the spans that a model finds."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from bootstrap.cli.commands.convert import written_lines
from bootstrap.cli.console import (
    StageProgress,
    print_report,
    report_compiling,
    report_problems,
)
from bootstrap.cli.inputs import columns_of, problems_of, read_note_batches
from bootstrap.cli.outputs import Output, output_of
from bootstrap.config.tagger_sections import TaggerSection, parse_kind
from bootstrap.execution.parallel_tagger import ParallelTagger, in_folder
from bootstrap.execution.processes import default_jobs
from bootstrap.inference import UnitFile, find_model, fitted_tagger, read_unit_file
from bootstrap.tagging import TagOptions, TagSummary, tagged_batches
from corpus.counts import count_words
from corpus.errors import InputError
from corpus.formats import FORMATS, find_files
from corpus.formats.sources import CONFIDENCE, SPAN_CONFIDENCES
from corpus.formats.synthetic import is_synthetic
from corpus.kernels.compiled import warm_up
from corpus.storage.manifest import digest_of_content
from taggers import Tagger, make_tagger
from taggers.base import Detail, kernels_of
from taggers.model_folder import read_digest
from taggers.propagation import refuse_unknown

_KIND = "kind:"  # begins the name of a kind of tagger, in the place of a model


def main(options: argparse.Namespace) -> None:
    """Tag a corpus and write it."""
    model = named_model(options)
    output = output_of(options, columns_of(options, model.of_run.columns))
    detail: Detail = "entity" if options.span_confidence else "document"
    if options.span_confidence and "span confidences" not in FORMATS[output.format].keeps:
        raise InputError(
            f"the format {output.format} cannot store the confidence of spans: write JSONL or "
            "Parquet"
        )
    reaches = {**model.of_run.propagate, **dict(options.propagate or ())}
    min_probability = {**model.of_run.min_probability, **dict(options.min_probability or ())}
    # Before the target is created.
    refuse_unknown([*reaches, *min_probability], model.tagger.labels)
    propagate = {name: reach for name, reach in reaches.items() if reach}
    warm_up(*kernels_of(model.tagger), announce=report_compiling)
    how = TagOptions(model.of_run.unit, options.measure, detail, propagate, min_probability)
    confidences = [CONFIDENCE, *([SPAN_CONFIDENCES] if detail == "entity" else [])]
    summary = TagSummary()
    with ExitStack() as stack:
        made_by = {"command": "tag", "model": model.digest, "options": how}
        for figures in stack.enter_context(output.begun(made_by)):
            summary.update(TagSummary.from_dict(figures["report"]))
        tagger = stack.enter_context(model.ready(output))
        bar = stack.enter_context(StageProgress("notes"))
        for part in output.parts():
            of_part = TagSummary()
            # The target has the column of the annotations: the source need not have it.
            notes = output.read(part.source, labelled=False)
            tagged = tagged_batches(notes, tagger, how, of_part)
            output.write(part, _reported(tagged, summary, of_part, bar, output.total), confidences)
            part.figures["report"] = of_part.as_dict()
            summary.update(of_part)
    report_problems(output.problems)
    report_problems(summary.unusual)
    lines = [*written_lines(output.written, options.target, output.problems), *summary.lines()]
    print_report(lines, options.target)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """The model that a command names, and the settings of its run.

    Parameters
    ----------
    tagger : Tagger
        The tagger, which is trained unless the command names its kind.
    of_run : UnitFile
        The settings of the run.
    section : TaggerSection, optional
        The kind of tagger and its options, if the command names them.
    """

    tagger: Tagger
    of_run: UnitFile
    section: TaggerSection | None = None

    @property
    def digest(self) -> str:
        """What identifies the model: its digest, or its kind and options."""
        if self.section:
            return f"{self.section.kind} {digest_of_content(repr(self.section).encode())}"
        return read_digest(in_folder(self.tagger).folder)

    @contextmanager
    def ready(self, output: Output) -> Iterator[Tagger]:
        """Return the tagger; one that needs no annotated notes is fitted first."""
        with ExitStack() as stack:
            tagger = self.tagger
            if self.section:
                count = partial(_count_words, output)
                jobs = output.options.jobs or default_jobs()
                tagger = stack.enter_context(fitted_tagger(self.section, count, jobs=jobs))
            # What is loaded stays, and need not be searched for garbage again and again.
            gc.freeze()
            yield tagger


def named_model(options: argparse.Namespace) -> NamedModel:
    """Return the model that a command names.

    Raises
    ------
    InputError
        If there is none, or it is damaged.
    """
    if options.model.startswith(_KIND):
        section = parse_kind(options.model.removeprefix(_KIND), options.overrides)
        tagger = make_tagger(section.kind, section.options)
        return NamedModel(tagger, UnitFile("document"), section)
    if options.overrides:
        raise InputError(f"--set is for kind:NAME, such as kind:lists; {options.model} is a model")
    folder, jobs = find_model(Path(options.model)), options.jobs or default_jobs()
    loaded = ParallelTagger.load(folder, trust=options.trust, jobs=jobs)
    return NamedModel(loaded, read_unit_file(folder))


def _count_words(output: Output, path: Path) -> Path:
    """Count the words of the notes before they are tagged, and write them to a file."""
    options = output.options
    if not (output.is_dataset or is_synthetic(options.source)):
        find_files(options.source)  # which refuses what can be read only once
    notes = (
        batch
        for source in output.sources()
        for batch in read_note_batches(
            options, problems_of(options), source=source, columns=output.columns, labelled=False
        )
    )
    with StageProgress("notes") as bar:
        count_words(notes, progress=lambda n: bar.report("counting words", n, output.total)).save(
            path
        )
    return path


def _reported(
    batches: Iterable[pa.RecordBatch],
    before: TagSummary,
    summary: TagSummary,
    bar: StageProgress,
    total: int,
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        tokens = f"{before.tokens + summary.tokens:,} tokens"
        bar.report("tagging", before.notes + summary.notes, total, note=tokens)
        yield batch
