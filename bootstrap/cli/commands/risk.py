"""``bootstrap risk``: how well what is left in notes tells patients apart."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import pyarrow as pa

from anonymizers.risk import SIZES, k_anonymity
from bootstrap.cli.console import (
    StageProgress,
    print_figures,
    print_lines,
    report_problems,
    write_file,
)
from bootstrap.cli.inputs import problems_of, read_note_batches
from bootstrap.deidentification.quasi_identifiers import patient_table
from corpus.errors import InputError, number_of


def main(options: argparse.Namespace) -> None:
    """Print the k-anonymity of patients."""
    columns, classes = options.columns or (), options.classes or ()
    if not (columns or classes):
        raise InputError("nothing tells patients apart: name --columns or --classes")
    problems = problems_of(options)
    notes = read_note_batches(options, problems, labelled=bool(classes), carry="columns")
    with StageProgress("notes") as bar:
        table = patient_table(_reported(notes, bar), columns, classes)
    report_problems(problems)
    risk = k_anonymity(table, table.schema.names)
    if options.json:
        write_file(options.json, (json.dumps(asdict(risk), indent=2) + "\n").encode())
    print_lines(
        f"{number_of(risk.records, 'patient')} with {risk.classes:,} different combinations of "
        f"values; the rarest one has {risk.smallest:,} of them (k = {risk.smallest:,})"
    )
    print_figures(
        ("patients who share their values with", "share of all"),
        [(f"fewer than {k} patients, themselves included", f"{risk.below[k]:.1%}") for k in SIZES],
    )
    print_figures(
        ("left out", "patients who are still alone"),
        [(name, f"{share:.1%}") for name, share in risk.unique_without.items()],
    )


def _reported(batches: Iterable[pa.RecordBatch], bar: StageProgress) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        done += len(batch)
        bar.report("reading", done, 0)
        yield batch
