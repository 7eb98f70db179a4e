"""``bootstrap check``: the notes of a run before anything is trained."""

from __future__ import annotations

import argparse

from rich.table import Table

from bootstrap.checking import check_notes, warnings
from bootstrap.commands.console import output, say
from bootstrap.configuration import load_configuration


def main(options: argparse.Namespace) -> None:
    """Count documents, tokens and entities of each split and say what to look at."""
    configuration = load_configuration(options.config, options.overrides)
    reports = check_notes(configuration)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("")
    for split in reports:
        table.add_column(split, justify="right")
    rows = {
        "texts": [report.sources for report in reports.values()],
        f"documents ({configuration.data.unit})": [r.documents for r in reports.values()],
        "  without tokens": [report.empty for report in reports.values()],
        "  same text as another": [report.duplicates for report in reports.values()],
        "tokens": [report.tokens for report in reports.values()],
        "patients (groups)": [len(report.groups) for report in reports.values()],
    }
    for title, counts in rows.items():
        table.add_row(title, *(f"{count:,}" for count in counts))
    labelled = [reports["seed"], reports["validation"]]
    table.add_row(
        "  without entities", *(f"{report.without_entities:,}" for report in labelled), ""
    )
    for name in sorted({name for report in labelled for name in report.entities}):
        table.add_row(name, *(f"{report.entities[name]:,}" for report in labelled), "")
    output.print(table)
    found = list(warnings(configuration, reports))
    say(["", *(f"! {line}" for line in found)] if found else ["", "nothing to warn of"])
