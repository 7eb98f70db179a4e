"""``bootstrap check``: checks of the notes and the settings of a run before training."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bootstrap.active_learning.cost import estimate_cost
from bootstrap.advice.shift import find_shift
from bootstrap.cli.commands.assess import NOT_ENOUGH
from bootstrap.cli.console import (
    print_figures,
    print_lines,
    report_compiling,
    report_problems,
    write_file,
)
from bootstrap.config.configuration import Configuration, load_configuration
from bootstrap.config.options import DataOptions, listed, named
from bootstrap.config.presets import language_lines
from bootstrap.data.checks import (
    SplitReport,
    check_notes,
    cost_line,
    interval_lines,
    reasons_against,
    samples_of,
    warnings,
)
from bootstrap.data.pattern_trust import PatternTrust, trusted_patterns
from bootstrap.data.preparation import check_budget, refuse_unknown_classes
from bootstrap.data.representativeness import Profile, compare, percent
from bootstrap.data.samples import MOST_TOKENS, SAMPLED, Sample, predicted_shares
from bootstrap.data.splits import Notes, read_notes, read_source_batches, source_lines
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.execution.processes import default_jobs
from bootstrap.runs.folder import Run
from bootstrap.runs.lists import list_lines, with_classes_of_lists
from bootstrap.runs.runner import warm_up_taggers
from corpus.batch import Batch, make_batch
from corpus.errors import InputError, Problems, number_of, one_line, quoted
from corpus.tags import MISALIGNED, classes_of
from corpus.units import split_batch

#: The maximum number of beginnings of documents in the table, and of warnings.
_SHOWN_BEGINNINGS, _MOST_WARNINGS = 3, 20


#: With fewer new documents, no difference would be seen.
_FEW = 50


def main(options: argparse.Namespace) -> int:
    """Print warnings about the notes of a run, or whether its model fits new notes."""
    if options.notes:
        return _compare_notes(options)
    _check_splits(options)
    return 0


def _compare_notes(options: argparse.Namespace) -> int:
    """Compare new notes with those of a run; the exit code is `NOT_ENOUGH` if they differ."""
    if options.problems:
        raise InputError("--problems is for the notes of a configuration, without NOTES")
    run = Run(options.config)
    run.best_iteration()  # refuses other folders
    configuration = load_configuration(run.config_file, options.overrides, trust=options.trust)
    warm_up_taggers(configuration, report_compiling)
    data = configuration.data
    tagger = ParallelTagger.load(run.model(), trust=configuration.kinds, jobs=default_jobs())
    notes, new = (_sample(part) for part in (data, replace(data, unlabeled=options.notes)))
    for batch, source in ((notes, named(data.unlabeled)), (new, options.notes)):
        if len(batch) < _FEW:
            documents = number_of(len(batch), "document")
            raise InputError(f"{source}: {documents}; expected {_FEW} or more, to compare them")
    differences = find_shift(tagger, notes, new)
    fits = not any(difference.is_large for difference in differences)
    print_lines("the model fits" if fits else "the notes differ from those of the run", "")
    print_figures(
        ["share of tokens or documents", "of the run", "of NOTES", "95 % interval", ""],
        (
            [
                row.name,
                percent(row.of_run, 1),
                percent(row.of_new, 1),
                f"{percent(row.low, 1)} to {percent(row.high, 1)}",
                "differs" if row.is_large else "",
            ]
            for row in differences
        ),
    )
    if fits:
        return 0
    print_lines(
        "",
        "How well it finds entities in them, annotated notes show: annotate 50, and run",
        f"  bootstrap evaluate GOLD TAGGED, after bootstrap tag {options.config} GOLD TAGGED",
        "A run that starts from this model learns from them:",
        f"  bootstrap run --continue {options.config} --set data.unlabeled={options.notes} "
        "--out NEW",
    )
    return NOT_ENOUGH


def _sample(data: DataOptions) -> Batch:
    """Return a random sample of the unlabeled notes."""
    sample, problems = Sample(), Problems(conflicts="longest", invalid="skip")
    for notes in read_source_batches(data, "unlabeled", {}, problems):
        sample.add(split_batch(notes, data.unit, problems).batch)
    report_problems(problems)
    return make_batch(sample.documents, labelled=False)


def _check_splits(options: argparse.Namespace) -> None:
    """Count documents, tokens and entities of each split and print warnings."""
    configuration = load_configuration(options.config, options.overrides, trust=options.trust)
    configuration = with_classes_of_lists(configuration)
    data, model = configuration.data, configuration.initial_model
    classes = model.classes if model else ()
    coverages = configuration.check()
    problems: list[str] = []
    try:
        reports = check_notes(
            data,
            configuration.labels,
            coverages,
            on_problem=lambda split, problem: problems.append(
                f"{one_line(f'{split}: {problem}')}\n"
            ),
        )
    except InputError as error:
        raise InputError(f"{options.config}: not ready: {error}") from None
    if options.problems:
        write_file(options.problems, "".join(problems).encode())
    samples = samples_of(reports)
    compared = compare(samples)
    cost_lines, of_gold = _rounds_of(configuration)
    classes = (*classes, *of_gold)
    size = 0 if configuration.active else configuration.loop.batch
    lines = [*language_lines(listed(data.language)), *compared.lines()]
    lines += warnings(reports, data, batch_size=size, classes=classes, coverages=coverages)
    lines += interval_lines(reports["validation"])
    reasons = list(reasons_against(reports, data, classes))
    verdict = [f"not ready: {reason}" for reason in reasons] or ["ready"]
    print_lines(*verdict, "", *source_lines(data), "")
    rows = _rows(reports, data.unit)
    print_figures(["", *reports], ([title, *map("{:,}".format, counts)] for title, counts in rows))
    seed_sample = samples.pop("seed", None)
    predicted = {} if seed_sample is None else predicted_shares(seed_sample, samples)
    title = (
        f"in at most {SAMPLED:,} documents of each ({MOST_TOKENS:,} tokens for the small CRF), "
        "drawn at random:"
    )
    print_lines("", title)
    print_figures(["", *compared.profiles], _profile_rows(compared.profiles, predicted))
    if cost_lines:
        print_lines("", *cost_lines)
    print_lines("", *(f"! {line}" for line in lines[:_MOST_WARNINGS]))
    if len(lines) > _MOST_WARNINGS:
        more = number_of(len(lines) - _MOST_WARNINGS, "more line")
        print_lines(f"and {more}; --problems FILE writes all problems with notes")
    if not lines:
        print_lines("no warnings")
    print_lines("", cost_line(reports))
    if reasons:
        raise InputError(f"{options.config}: not ready: {reasons[0]}")
    seed = reports["seed"].entities if "seed" in reports else ()
    refuse_unknown_classes(configuration, {*classes, *seed})
    notes = read_notes(configuration.data, configuration.labels, batch_size=1)
    print_lines(*list_lines(configuration, notes), *_pattern_lines(configuration, notes))


def _pattern_lines(configuration: Configuration, notes: Notes) -> list[str]:
    """Describe the class of each class of patterns, and how many of its patterns are trusted."""
    if not configuration.patterns.files:
        return []
    seed, validation = notes.seed.batch, notes.validation.batch
    by_class: dict[tuple[str, str], list[PatternTrust]] = {}
    for decision in trusted_patterns(configuration.patterns, seed, validation).decisions:
        by_class.setdefault((decision.label, decision.tagged_as), []).append(decision)
    lines = [
        f"  {quoted(label)}: {quoted(tagged_as) if tagged_as else 'no entities'}, "
        f"{sum(row.is_trusted for row in rows)} of {number_of(len(rows), 'pattern')} trusted; "
        f"{sum(row.right for row in rows):,} of {sum(row.spans for row in rows):,} spans right"
        for (label, tagged_as), rows in by_class.items()
    ]
    return ["", "patterns, and what their spans are in the annotated notes:", *lines]


def _rounds_of(configuration: Configuration) -> tuple[list[str], Sequence[str]]:
    """Describe what a round of active learning costs, and return the classes of its documents."""
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
    yield "  copies of an earlier text", [report.copies["exact", False] for report in every]
    yield "    or with nearly the same words", [report.copies["near", False] for report in every]
    title = "  copies of a text in a split to the left"
    yield title, [report.copies["exact", True] for report in every]
    yield "    or with nearly the same words", [report.copies["near", True] for report in every]
    yield f"documents ({unit})", [report.documents for report in every]
    yield "  without tokens", [report.empty for report in every]
    yield "  same text as another", [report.duplicates for report in every]
    yield "  without entities", [report.without_entities for report in labelled]
    yield "tokens", [report.tokens for report in every]
    for name in {name: None for report in every for name in report.covered}:
        yield f"  with {name}", [report.covered[name] for report in every]
    yield "patients (groups)", [len(report.groups) for report in every]
    yield (
        "overlapping or discontinuous annotations",
        [report.problems.conflicting for report in every],
    )
    yield "annotations outside the text or malformed", [report.unusable for report in every]
    misaligned = [report.problems.counts[MISALIGNED] for report in every]
    yield "annotations not aligned with tokens", misaligned
    yield "entities", [report.entities.total() for report in labelled]
    for name in sorted({name for report in labelled for name in report.entities}):
        yield f"  {quoted(name)}", [report.entities[name] for report in labelled]


def _profile_rows(
    profiles: Mapping[str, Profile], predicted: Mapping[str, Mapping[str, float]]
) -> Iterator[list[str]]:
    """Yield rows of figures of the documents of each split."""
    # `predicted` has the share of tokens in entities by split and class, for some splits.

    def percents(title: str, shares: Iterable[float | None]) -> list[str]:
        return [title, *(percent(share, digits=1) for share in shares)]

    every = list(profiles.values())
    yield ["tokens per document (median)", *(f"{split.length:,.0f}" for split in every)]
    yield percents("documents with entities", (split.with_entities for split in every))
    names = sorted({name for split in every for name in split.tokens})
    for name in names:
        means = (split.per_document.get(name) for split in every)
        cells = ("" if mean is None else f"{mean:.2f}" for mean in means)
        yield [f"  {quoted(name)} per document", *cells]
    for name in names:
        yield percents(f"  tokens in {quoted(name)}", (split.tokens.get(name) for split in every))
        if predicted:
            shares = (predicted.get(split, {}).get(name) for split in profiles)
            yield percents("    as a small CRF of the seed tags them", shares)
    for name in _beginnings(every):
        shares = (split.beginnings.get(name, 0) for split in every)
        yield percents(f'beginning with the shapes "{name}"', shares)


def _beginnings(profiles: Sequence[Profile]) -> list[str]:
    """Return the beginnings whose shares differ most between splits."""

    def spread(name: str) -> float:
        shares = [split.beginnings.get(name, 0) for split in profiles]
        return max(shares) - min(shares)

    names = {name for split in profiles for name in split.beginnings}
    return sorted(names, key=lambda name: (-spread(name), name))[:_SHOWN_BEGINNINGS]
