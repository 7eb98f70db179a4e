"""``bootstrap check``: the notes of a run before anything is trained."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from rich.table import Table

from bootstrap.cli.console import output, say, write_file
from bootstrap.config.configuration import load_configuration
from bootstrap.data.checks import SplitReport, check_notes, warnings, will_not_start
from bootstrap.data.preparation import refuse_unknown_classes
from bootstrap.data.splits import source_lines
from corpus.errors import InputError, shown


def main(options: argparse.Namespace) -> None:
    """Count documents, tokens and entities of each split and say what to look at.

    Raises
    ------
    InputError
        If a run would not start.
    """
    configuration = load_configuration(options.config, options.overrides)
    data, model = configuration.data, configuration.initial_model
    classes = model.classes if model else ()
    coverages = configuration.check()
    problems: list[str] = []
    reports = check_notes(
        data,
        configuration.labels,
        coverages,
        on_problem=lambda split, problem: problems.append(f"{split}: {problem}\n"),
    )
    if options.problems:
        write_file(options.problems, "".join(problems).encode())
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("", overflow="fold")
    for split in reports:
        table.add_column(split, justify="right")
    for title, counts in _rows(reports, data.unit):
        table.add_row(title, *(f"{count:,}" for count in counts))
    say([*source_lines(data), ""])
    output.print(table)
    size = configuration.loop.batch
    found = list(warnings(reports, data, batch_size=size, classes=classes, coverages=coverages))
    say(["", *(f"! {line}" for line in found)] if found else ["", "nothing to warn of"])
    if will_not_start(reports, data):
        raise InputError(f"{shown(options.config)}: a run will not start with these notes")
    seed = reports["seed"].entities if "seed" in reports else ()
    refuse_unknown_classes(configuration, {*classes, *seed})


def _rows(reports: Mapping[str, SplitReport], unit: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the title of each row and a count for each split, or for those with labels."""
    every = list(reports.values())
    labelled = [report for split, report in reports.items() if split != "unlabeled"]
    yield "texts", [report.sources for report in every]
    yield "texts that cannot be read", [report.unreadable for report in every]
    yield f"documents ({unit})", [report.documents for report in every]
    yield "  without tokens", [report.empty for report in every]
    yield "  same text as another", [report.duplicates for report in every]
    yield "  without entities", [report.without_entities for report in labelled]
    yield "tokens", [report.tokens for report in every]
    for name in {name: None for report in every for name in report.covered}:
        yield f"  with {name}", [report.covered[name] for report in every]
    yield "patients (groups)", [len(report.groups) for report in every]
    yield "overlapping or discontinuous annotations", [report.conflicting for report in every]
    yield "annotations outside the text or malformed", [report.unusable for report in every]
    yield "annotations not aligned with tokens", [report.misaligned for report in every]
    yield "entities", [report.entities.total() for report in labelled]
    for name in sorted({name for report in labelled for name in report.entities}):
        yield f"  {shown(name)}", [report.entities[name] for report in labelled]
