"""``bootstrap check``: checks of the notes and the settings of a run before training."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bootstrap.cli.arguments import Commands, add_command, add_configuration
from corpus.errors import InputError, shown

if TYPE_CHECKING:
    from rich.table import Table

    from bootstrap.config.configuration import Configuration
    from bootstrap.data.checks import SplitReport
    from bootstrap.data.representativeness import Profile

#: The maximum number of beginnings of documents in the table.
_SHOWN_BEGINNINGS = 3


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "check", main, "check the configuration and the notes of a run before training"
    )
    add_configuration(parser)
    parser.add_argument(
        "--problems", type=Path, metavar="FILE", help="write all problems found, one per line"
    )


def main(options: argparse.Namespace) -> None:
    """Count documents, tokens and entities of each split and print warnings."""
    from bootstrap.cli.console import figures_table, output, print_lines, write_file
    from bootstrap.config.configuration import load_configuration
    from bootstrap.data.checks import check_notes, samples_of, warnings, will_not_start
    from bootstrap.data.preparation import refuse_unknown_classes
    from bootstrap.data.representativeness import compare
    from bootstrap.data.samples import MOST_TOKENS, SAMPLED, predicted_shares
    from bootstrap.data.splits import source_lines

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
    table = figures_table("", *reports)
    for title, counts in _rows(reports, data.unit):
        table.add_row(title, *(f"{count:,}" for count in counts))
    print_lines([*source_lines(data), ""])
    output.print(table)
    samples = samples_of(reports)
    compared = compare(samples)
    seed_sample = samples.pop("seed", None)
    predicted = {} if seed_sample is None else predicted_shares(seed_sample, samples)
    title = (
        f"in at most {SAMPLED:,} documents of each ({MOST_TOKENS:,} tokens for the small CRF), "
        "drawn at random:"
    )
    print_lines(["", title])
    output.print(_profile_table(compared.profiles, predicted))
    cost_lines, of_gold = _rounds_of(configuration)
    classes = (*classes, *of_gold)
    size = 0 if configuration.active else configuration.loop.batch
    lines = list(warnings(reports, data, batch_size=size, classes=classes, coverages=coverages))
    lines += compared.lines()
    if cost_lines:
        print_lines(["", *cost_lines])
    print_lines(["", *(f"! {line}" for line in lines)] if lines else ["", "no warnings"])
    if will_not_start(reports, data):
        raise InputError(f"{shown(options.config)}: a run will not start with these notes")
    seed = reports["seed"].entities if "seed" in reports else ()
    refuse_unknown_classes(configuration, {*classes, *seed})


def _rounds_of(configuration: Configuration) -> tuple[list[str], Sequence[str]]:
    """Describe what a round of active learning costs, and return the classes of its documents."""
    from bootstrap.active_learning.cost import estimate_cost
    from bootstrap.data.preparation import check_budget
    from bootstrap.data.splits import read_notes
    from corpus.tags import classes_of

    active = configuration.active
    if active is None:
        return [], ()
    notes = read_notes(configuration.data, configuration.labels, batch_size=1, active=active)
    check_budget(active, notes)
    assert notes.gold is not None
    cost = estimate_cost(notes.seed.batch, notes.gold.batch, active)
    return [*notes.gold.problems.lines(), *cost.lines()], classes_of(notes.gold.batch.labels)


def _rows(reports: Mapping[str, SplitReport], unit: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the title of each row, and a count for each split or each annotated split."""
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


def _profile_table(
    profiles: Mapping[str, Profile], predicted: Mapping[str, Mapping[str, float]]
) -> Table:
    """Build a table of the documents of each split.

    `predicted` has the share of tokens in entities by split and class, for some splits.
    """
    from bootstrap.cli.console import figures_table
    from bootstrap.data.representativeness import percent

    def percents(shares: Iterable[float | None]) -> list[str]:
        return [percent(share, digits=1) for share in shares]

    table = figures_table("", *profiles)
    every = list(profiles.values())
    table.add_row("tokens per document (median)", *(f"{split.length:,.0f}" for split in every))
    table.add_row("documents with entities", *percents(split.with_entities for split in every))
    names = sorted({name for split in every for name in split.tokens})
    for name in names:
        means = (split.per_document.get(name) for split in every)
        table.add_row(
            f"  {shown(name)} per document",
            *("" if mean is None else f"{mean:.2f}" for mean in means),
        )
    for name in names:
        shares = (split.tokens.get(name) for split in every)
        table.add_row(f"  tokens in {shown(name)}", *percents(shares))
        if predicted:
            shares = (predicted.get(split, {}).get(name) for split in profiles)
            table.add_row("    as a small CRF of the seed tags them", *percents(shares))
    for name in _beginnings(every):
        shares = (split.beginnings.get(name, 0) for split in every)
        table.add_row(f'beginning with the shapes "{name}"', *percents(shares))
    return table


def _beginnings(profiles: Sequence[Profile]) -> list[str]:
    """Return the beginnings whose shares differ most between splits."""

    def spread(name: str) -> float:
        shares = [split.beginnings.get(name, 0) for split in profiles]
        return max(shares) - min(shares)

    names = {name for split in profiles for name in split.beginnings}
    return sorted(names, key=lambda name: (-spread(name), name))[:_SHOWN_BEGINNINGS]
