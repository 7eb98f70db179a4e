"""``bootstrap audit``: which names of its training notes a model confirms to an attacker."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain

from bootstrap.audit import Audit, Confirmed, Group, audit
from bootstrap.cli.console import print_figures, print_lines, report_problems, write_file
from bootstrap.cli.inputs import columns_of, problems_of, read_gold
from corpus.formats import read
from taggers.privacy.pruning import AFFIXES

_TITLES = ("confirmed", "names in notes", "of one patient", "as other words", "not in notes")


def main(options: argparse.Namespace) -> None:
    """Audit a model, print the figures, and write them as JSON if requested."""
    problems, columns = problems_of(options), columns_of(options)
    notes = chain.from_iterable(
        read(source, columns=columns, problems=problems) for source in options.notes
    )
    gold = read_gold(options, problems)
    models = [options.model] if options.before is None else [options.before, options.model]
    audited = audit(
        models,
        options.against,
        notes,
        classes=options.classes or (),
        gold=gold,
        trust=options.trust,
    )
    report_problems(problems)
    if options.json:
        text = json.dumps(asdict(audited), ensure_ascii=False, indent=1) + "\n"
        write_file(options.json, text.encode())
    print_lines(
        f"{audited.documents:,} documents of {audited.patients:,} patients; "
        f"{audited.listed:,} names in the lists"
    )
    for name, confirmed in audited.models.items():
        print_lines("", name)
        print_figures(_TITLES, _rows(confirmed))
        print_lines(*_lines(confirmed, audited))


def _rows(confirmed: Confirmed) -> Iterator[list[str]]:
    groups = (confirmed.names, confirmed.rare, confirmed.other, confirmed.absent)
    yield ["by any part", *(_share(group, group.confirmed) for group in groups)]
    for part in confirmed.names.by_part:
        name = f"  {part} (of others, too)" if part == AFFIXES else f"  {part}"
        yield [name, *(_share(group, group.by_part[part]) for group in groups)]


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
