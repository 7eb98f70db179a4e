"""``bootstrap deidentify`` and ``bootstrap key``: notes without the patient."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from anonymizers.keys import VARIABLE, Key, write_new_key
from anonymizers.reversible import ReplacedTexts, map_writer, read_map, replaced_rows
from bootstrap.cli.arguments import refuse_shared_paths
from bootstrap.cli.commands.convert import written_lines
from bootstrap.cli.commands.tag import NamedModel, named_model
from bootstrap.cli.console import (
    StageProgress,
    print_lines,
    print_report,
    report_compiling,
    report_problems,
    write_file,
)
from bootstrap.cli.inputs import columns_of, problems_of, read_note_batches
from bootstrap.cli.outputs import Output, output_of
from bootstrap.config.configuration import load_data
from bootstrap.data.splits import read_source_batches
from bootstrap.datasets import PRIVATE, Part, is_begun
from bootstrap.deidentification.deidentify import (
    Deidentified,
    DeidentifyOptions,
    deidentified_batches,
    deidentify_options,
)
from bootstrap.deidentification.recall import Estimate, coverage_of, estimated
from bootstrap.deidentification.report import IN_DOUBT, Report
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.execution.processes import default_jobs
from bootstrap.reports.deidentification import ShownNotes, deidentification_report
from bootstrap.reports.page import page_of
from bootstrap.runs.folder import Run
from corpus.arguments import is_url, path_or_store
from corpus.errors import InputError, number_of
from corpus.formats import (
    FORMATS,
    Columns,
    count_records,
    find_files,
    has_column,
    read_batches,
    target_of,
    write_batches,
)
from corpus.formats.files import is_standard
from corpus.formats.places import Place
from corpus.formats.sources import Source, format_of, locate
from corpus.formats.synthetic import is_synthetic
from corpus.kernels.compiled import warm_up
from corpus.storage.atomic import refuse_existing
from corpus.storage.manifest import digest_of_file
from taggers import Tagger
from taggers.base import kernels_of

#: Stands for the annotations of the notes, in the place of a model.
ANNOTATIONS = "-"


def main(options: argparse.Namespace) -> None:
    """Replace what is found in notes, and write them."""
    model = None if options.model == ANNOTATIONS else named_model(options)
    how, report = _how(options, model)
    _refuse_mistakes(options, how)
    columns = columns_of(options, model.of_run.columns if model else Columns())
    output = output_of(options, columns, _target_format(options))
    _refuse_maps(options, output)
    if model is None:
        output.problems.conflicts = "joined"  # what is left out would stay in the text
    shown = ShownNotes(options.show_text) if options.show_text is not None else None
    kernels = (*kernels_of(model.tagger), *how.kernels) if model else ()
    warm_up(*kernels, announce=report_compiling)
    with ExitStack() as stack:
        for figures in stack.enter_context(output.begun(_made_by(options, how, model))):
            report.update(figures["report"] | figures.get(PRIVATE, {IN_DOUBT: []}))
        tagger = stack.enter_context(model.ready(output)) if model else None
        bar = stack.enter_context(StageProgress("notes"))
        if tagger and (options.recall or options.gold or options.json or options.html):
            report.estimate = _estimate(options, columns, tagger, how)
        if options.recall and report.estimate:
            how = replace(how, threshold=report.estimate.threshold)
        for part in output.parts():
            of_part = Report(report.policy, report.fingerprint)
            notes = output.read(part.source, labelled=model is None)
            results = deidentified_batches(notes, tagger, how)
            if shown:
                results = shown.watched(results)
            with ExitStack() as maps:
                if options.reversible:
                    path = _map_of(options, output, part)
                    results = _mapped(results, maps.enter_context(map_writer(path, how.key)))
                results = _counted(results, report, of_part, bar, output.total)
                batches = (new.beside(notes, spans=options.spans) for notes, new in results)
                checked = batches if model else _annotated(batches, output, part, of_part)
                output.write(part, checked)
            part.figures["report"] = numbers = of_part.as_dict()
            part.figures[PRIVATE] = {IN_DOUBT: numbers.pop(IN_DOUBT)}
        if model is None:
            _refuse_unannotated(report, f"; {options.target} has them as they were: remove it")
    report_problems(output.problems)
    written = written_lines(output.written, options.target, output.problems)
    lines = [*written, *report.lines()]
    if shown and shown.missing and not output.resumed:
        lines.append(f"{number_of(shown.missing, 'id')} of --show-text: no note has it")
    print_report(lines, options.target)
    if options.json:
        write_file(options.json, (json.dumps(report.as_dict(), indent=2) + "\n").encode())
    if options.html:
        page = page_of(deidentification_report(report, shown.blocks() if shown else ()))
        write_file(options.html, page.encode())


def _made_by(
    options: argparse.Namespace, how: DeidentifyOptions, model: NamedModel | None
) -> dict[str, object]:
    """Return what determines a dataset besides the notes."""
    known, name = how.policy.known, options.policy or ""
    files = [*([known.table] if known and known.table else []), *how.policy.phrases, name]
    gold = find_files(options.gold) if options.gold else []
    digests = [
        [digest_of_file(Path(file)) for file in named if Path(file).is_file()]
        for named in (files, gold)
    ]
    return {
        "command": "deidentify",
        "model": model.digest if model else ANNOTATIONS,
        "policy": (name, digests[0]),
        "key": how.key.fingerprint if _key(options) else "",
        "options": (how.unit, options.recall, digests[1], options.spans),
        "choice of reports (--json, --html)": how.doubts,
        "map": options.reversible and options.reversible.resolve(),
    }


def _refuse_maps(options: argparse.Namespace, output: Output) -> None:
    """Raise an `InputError` if a dataset has no folder of its own for maps."""
    if not (options.reversible and output.is_dataset):
        return
    maps, target = Place(options.reversible), Place(options.target)
    if maps.overlaps(target) or maps.overlaps(Place(path_or_store(options.source))):
        raise InputError("--reversible: maps are for nobody who gets OUT: name another folder")
    if not (options.resume and is_begun(target)):
        refuse_existing(options.reversible)


def _map_of(options: argparse.Namespace, output: Output, part: Part) -> Path:
    """Return the path of a map: one for each file of a dataset, which is made again with it."""
    path: Path = options.reversible
    if output.is_dataset and isinstance(part.source, Source):
        path /= f"{part.source.name}.map"
        path.unlink(missing_ok=True)
    return path


def _refuse_mistakes(options: argparse.Namespace, how: DeidentifyOptions) -> None:
    """Raise an `InputError` for options that contradict each other."""
    known = how.policy.known
    refuse_shared_paths(options, [*([known.table] if known else []), *how.policy.phrases])
    if options.reversible and _key(options) is None:
        raise InputError("--reversible needs a key, which makes the map unreadable for others")
    if options.show_text is not None and not options.html:
        raise InputError("--show-text shows notes on a page: name it with --html")
    if options.model != ANNOTATIONS:
        if options.recall and not (options.gold or Run(Path(options.model)).has_begun()):
            raise InputError("--recall needs annotated notes: name a run as MODEL, or --gold NOTES")
        return
    of_model = (options.overrides, options.recall, options.gold, options.cluster)
    if any(of_model) or options.invalid == "skip":
        raise InputError(
            "--set, --recall, --gold, --cluster and --invalid skip are for a model; - replaces "
            "annotations alone, and all of them"
        )
    if how.policy.known or how.policy.phrases:
        raise InputError(
            "- replaces annotations alone: for [known] and phrases of the policy, name a model, "
            "such as kind:patterns"
        )


def _target_format(options: argparse.Namespace) -> str | None:
    """Return the format of OUT: plain text stays plain text; None for the one of its name."""
    if options.target_format or options.spans or Path(options.target).suffix:
        return str(options.target_format) if options.target_format else None
    if is_standard(options.target) or is_synthetic(options.source) or is_url(options.source):
        return None
    source = options.source_format or format_of(locate(options.source))
    return "text" if source == "text" else None


def _how(options: argparse.Namespace, model: NamedModel | None) -> tuple[DeidentifyOptions, Report]:
    """Return how notes are de-identified, and a report without numbers."""
    key = _key(options)
    name = options.policy or ("surrogates" if key else "placeholders")
    how = deidentify_options(name, key, model.of_run.unit if model else "document")
    how = replace(how, doubts=bool(options.json or options.html))
    return how, Report(name, key.fingerprint if key else "", recall=options.recall)


def _mapped(
    results: Iterable[tuple[pa.RecordBatch, Deidentified]], add: Callable[[pa.RecordBatch], None]
) -> Iterator[tuple[pa.RecordBatch, Deidentified]]:
    """Yield results as they are, and write what was replaced."""
    for notes, result in results:
        add(replaced_rows(notes, result.originals, result.notes, result.spans))
        yield notes, result


def _estimate(
    options: argparse.Namespace, columns: Columns, tagger: Tagger, how: DeidentifyOptions
) -> Estimate | None:
    """Measure on annotated notes what is left; None if there are none."""
    problems, run = problems_of(options), Run(Path(options.model))
    if options.gold:
        batches = read_batches(options.gold, columns=columns, problems=problems)
    elif run.has_begun():
        data, labels = load_data(run.config_file)
        batches = read_source_batches(data, "validation", labels, problems)
        if run.final_model():  # which has learned from these documents
            jobs = options.jobs or default_jobs()
            tagger = ParallelTagger.load(run.best_model(), trust=options.trust, jobs=jobs)
    else:
        return None
    coverage = coverage_of(batches, tagger, how)
    if options.gold and not len(coverage.needed):
        raise InputError(f"{options.gold} has no annotations; --gold expects annotated notes")
    return estimated(coverage, options.recall)


def _counted(
    results: Iterable[tuple[pa.RecordBatch, Deidentified]],
    report: Report,
    of_part: Report,
    bar: StageProgress,
    total: int,
) -> Iterator[tuple[pa.RecordBatch, Deidentified]]:
    """Yield results as they are, and add them to the reports of all notes and of a part."""
    for notes, result in results:
        report.add(result)
        of_part.add(result)
        bar.report("de-identifying", report.first.notes, total)
        yield notes, result


def _annotated(
    batches: Iterable[pa.RecordBatch], output: Output, part: Part, report: Report
) -> Iterator[pa.RecordBatch]:
    """Yield batches, and fail before they are complete if nobody has annotated the notes."""
    yield from batches
    if not isinstance(part.source, Source):
        _refuse_unannotated(report)
    elif report.first.notes and not has_column(part.source, output.columns.label):
        raise InputError(
            f"{part.source.name} has no column of annotations, so that nothing would be replaced"
        )


def _refuse_unannotated(report: Report, more: str = "") -> None:
    if report.first.notes and not report.first.mentions:
        raise InputError(
            "the notes have no annotations, so that nothing would be replaced; name a model in "
            f"the place of -, or the column of the annotations with --label-column{more}"
        )


def key(options: argparse.Namespace) -> None:
    """Write a new key."""
    made = write_new_key(options.file)
    print_lines(f"wrote a key with the fingerprint {made.fingerprint} to {options.file}")


def reidentify(options: argparse.Namespace) -> None:
    """Restore what was replaced, and write the notes."""
    secret = _key(options)
    if secret is None:
        raise InputError(f"reidentify needs the key of the map: name --key-file, or set {VARIABLE}")
    problems, columns = problems_of(options), columns_of(options)
    target = target_of(options.target, format=options.target_format, columns=columns)
    replaced = ReplacedTexts(read_map(options.map, secret))
    total = count_records(options.source, format=options.source_format)
    notes = read_note_batches(
        options, problems, columns=columns, carry=FORMATS[target.format].carry
    )
    left = done = 0

    def restored() -> Iterator[pa.RecordBatch]:
        nonlocal left, done
        for batch in notes:
            result, missing = replaced.restore(batch)
            left, done = left + missing, done + len(batch)
            bar.report("putting back", done, total)
            yield result

    with StageProgress("notes") as bar:
        written = write_batches(restored(), target.path, format=target.format, columns=columns)
    report_problems(problems)
    lines = list(written_lines(written, options.target, problems))
    if left:
        lines.append(
            f"{number_of(left, 'note')} could not be put back: the text has changed, or several "
            "notes with this id and text were different"
        )
    print_report(lines, options.target)


def _key(options: argparse.Namespace) -> Key | None:
    """Return the key of a command, from its file or the environment."""
    return Key.read(options.key_file) if options.key_file else Key.from_environment()
