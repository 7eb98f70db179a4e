"""``bootstrap audit``: which names of its training notes a model confirms to a stranger."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import (
    Commands,
    add_columns,
    add_command,
    add_gold,
    add_list,
    add_model,
    add_rules,
)

if TYPE_CHECKING:
    from rich.table import Table

    from bootstrap.audit import Audit, Confirmed, Group


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "audit", main, "find out which names of its training notes a model reveals"
    )
    add_model(parser)
    parser.add_argument(
        "--against",
        nargs="+",
        required=True,
        metavar="LIST",
        help="the names that a stranger tries: gazetteers, or built-in lists such as census-es",
    )
    parser.add_argument(
        "--notes",
        nargs="+",
        required=True,
        metavar="NOTES",
        help="all annotated notes that the model was trained on",
    )
    parser.add_argument(
        "--before",
        type=Path,
        metavar="MODEL",
        help="the run or model that MODEL was exported from, to compare it with",
    )
    add_list(
        parser, "--classes", "CLASS", "the classes of annotations that are names (default: all)"
    )
    add_gold(parser, "annotated notes to score the models on")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures as JSON")
    add_columns(parser)
    add_rules(parser)


def main(options: argparse.Namespace) -> None:
    """Audit a model, print the figures, and write them as JSON if requested."""
    from bootstrap.audit import audit
    from bootstrap.cli.console import output, print_lines, report_problems, write_file
    from bootstrap.cli.inputs import columns_of, problems_of, read_gold
    from corpus.corpora import read_corpus

    problems, columns = problems_of(options), columns_of(options)
    notes = chain.from_iterable(
        read_corpus(source, columns=columns, problems=problems) for source in options.notes
    )
    gold = read_gold(options, problems)
    models = [options.model] if options.before is None else [options.before, options.model]
    audited = audit(models, options.against, notes, classes=options.classes or (), gold=gold)
    report_problems(problems)
    if options.json:
        text = json.dumps(asdict(audited), ensure_ascii=False, indent=1) + "\n"
        write_file(options.json, text.encode())
    print_lines(
        [
            f"{audited.documents:,} documents of {audited.patients:,} patients; "
            f"{audited.listed:,} names in the lists",
        ]
    )
    for name, confirmed in audited.models.items():
        print_lines(["", name])
        output.print(_table(confirmed))
        print_lines(_lines(confirmed, audited))


def _table(confirmed: Confirmed) -> Table:
    from bootstrap.cli.console import figures_table
    from taggers.privacy.pruning import AFFIXES

    groups = (confirmed.names, confirmed.rare, confirmed.other, confirmed.absent)
    table = figures_table(
        "confirmed", "names in notes", "of one patient", "as other words", "not in notes"
    )
    table.add_row("by any part", *(_share(group, group.confirmed) for group in groups))
    for part in confirmed.names.by_part:
        name = f"  {part} (of others, too)" if part == AFFIXES else f"  {part}"
        table.add_row(name, *(_share(group, group.by_part[part]) for group in groups))
    return table


def _share(group: Group, number: int) -> str:
    return f"{number:,} of {group.total:,} ({number / max(group.total, 1):.1%})"


def _lines(confirmed: Confirmed, audited: Audit) -> Iterator[str]:
    yield (
        f"confirmed names are annotated in {confirmed.documents:,} of {audited.documents:,} "
        f"documents, of {confirmed.patients:,} of {audited.patients:,} patients"
    )
    if confirmed.f1 is None:
        yield "F1 was not measured; name annotated notes with --gold"
    else:
        yield f"F1 on {audited.gold:,} annotated documents: {confirmed.f1:.4f}"
