"""Counts of the documents of a run before training, and warnings about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.config.options import DataOptions
from bootstrap.data.label_maps import unrelated_classes
from bootstrap.data.samples import Sample
from bootstrap.data.splits import read_source_batches, splits_of
from corpus.batch import Batch, batch_of_texts, make_batch
from corpus.copies import Copies, Kind
from corpus.errors import Problem, Problems, number_of, quoted
from corpus.formats.batches import documents_of
from corpus.formats.records import UNUSABLE
from corpus.tokens.normalisation import UnusualCharacters, normalised_texts
from corpus.units import split_batch
from taggers.options import Coverage

#: With fewer entities, a class cannot be learned or evaluated reliably.
RARE = 30
#: The width of an interval of F1 that is narrow enough to choose by.
NARROW = 0.02
#: The ratio of lengths from which on documents are not of the same unit.
UNEQUAL = 4

#: The number of copies in a pool from which on they are named, if they are over 5 % of it.
MANY_COPIES = 100

#: The splits whose documents are scored, by their ids.
_SCORED = ("validation", "test")

_NAMED = 3  # ids that a warning names


@dataclass(slots=True)
class SplitReport:
    """Counts of a split, and its texts, ids and patients, to find those that are repeated.

    Parameters
    ----------
    sources, documents, tokens : int
        Number of texts in the source, of units, and of tokens.
    empty : int
        Number of units without any token.
    without_entities : int
        Number of units without entities.
    entities : Counter of str
        Number of entities of each class.
    problems : Problems
        Documents and annotations that could not be used as they are.
    hashes : set of int
        Hashes of the texts of the units.
    texts : set of str
        Whole texts, normalised; for unlabeled documents, only texts that other splits contain.
    annotated : set of str
        Those of them that have annotations.
    ids : Counter of str
        The ids of the units of annotated documents.
    groups : set of str
        The patients.
    covered : Counter of str
        Number of tokens that a resource of a tagger covers, by `Coverage.of`.
    unusual : UnusualCharacters
        The texts with soft hyphens, full-width letters and the like.
    copies : Counter of tuple of str and bool
        Number of texts that are copies of an earlier one: by the kind of copy, and whether the
        first is in another split.
    sample : Sample
        A random sample of the units.
    """

    problems: Problems
    sources: int = 0
    documents: int = 0
    tokens: int = 0
    empty: int = 0
    without_entities: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    hashes: set[int] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    annotated: set[str] = field(default_factory=set)
    ids: Counter[str] = field(default_factory=Counter)
    groups: set[str] = field(default_factory=set)
    covered: Counter[str] = field(default_factory=Counter)
    unusual: UnusualCharacters = field(default_factory=UnusualCharacters)
    copies: Counter[tuple[Kind, bool]] = field(default_factory=Counter)
    sample: Sample = field(default_factory=Sample, compare=False)

    @property
    def duplicates(self) -> int:
        """Number of units with the text of an earlier unit of the split."""
        return self.documents - len(self.hashes)

    @property
    def repeated(self) -> list[str]:
        """Ids that occur more than once."""
        return [name for name, count in self.ids.items() if count > 1]

    @property
    def unusable(self) -> int:
        """Number of annotations that lie outside of the text, contradict it or cannot be parsed."""
        return sum(self.problems.counts[kind] for kind in UNUSABLE)

    @property
    def unreadable(self) -> int:
        """Number of texts that cannot be read."""
        return self.problems.rejected - self.unusable


def check_notes(
    data: DataOptions,
    labels: Mapping[str, str] | None = None,
    coverages: Sequence[Coverage] = (),
    on_problem: Callable[[str, Problem], None] | None = None,
) -> dict[str, SplitReport]:
    """Read all documents of a run and count them.

    Parameters
    ----------
    data : DataOptions
        The documents of the run; its rules for problems are ignored, and all problems counted.
    labels : mapping of str to str, optional
        The class of each label of the source; by default, labels are classes.
    coverages : sequence of Coverage
        The resources of taggers whose covered tokens are counted.
    on_problem : callable, optional
        Called with the split of each problem and the problem; the reports name only the first few
        of a kind.

    Returns
    -------
    dict of str to SplitReport
        The report of each split.
    """

    def problems_of(split: str) -> Problems:
        callback = None if on_problem is None else partial(on_problem, split)
        return Problems(conflicts="longest", invalid="skip", on_problem=callback)

    *annotated, unlabeled = splits_of(data)
    copies = {kind: Copies(kind) for kind in get_args(Kind)}  # in all splits
    reports = {
        split: _check_split(
            data, split, labels, coverages, SplitReport(problems_of(split)), copies=copies
        )
        for split in annotated
    }
    texts = set().union(*(report.texts for report in reports.values()))
    known = pa.array(texts, pa.large_string())
    report = SplitReport(problems_of(unlabeled))
    # Labels of the unlabeled documents, if any, are not used.
    reports[unlabeled] = _check_split(
        data, unlabeled, {}, coverages, report, copies=copies, known=known
    )
    return reports


def _check_split(
    data: DataOptions,
    split: str,
    labels: Mapping[str, str] | None,
    coverages: Sequence[Coverage],
    report: SplitReport,
    *,
    copies: Mapping[Kind, Copies],
    known: pa.LargeStringArray | None = None,
) -> SplitReport:
    """Count the documents of a split, and keep all texts, or known ones."""
    own = {kind: Copies(kind) for kind in copies}
    for notes in read_source_batches(data, split, labels, report.problems):
        texts = notes.column("text")
        report.sources += len(notes)
        report.unusual.add(texts)
        report.groups.update(pc.unique(notes.column("group").drop_null()).to_pylist())
        for kind, others in copies.items():
            is_copy, is_any = own[kind].find(texts), others.find(texts)
            report.copies[kind, False] += int(is_copy.sum())
            report.copies[kind, True] += int((is_any & ~is_copy).sum())
        texts = normalised_texts(texts)
        if known is not None:
            texts = texts.filter(pc.is_in(texts, known))
        report.texts.update(text for text in texts.to_pylist() if text.strip())
        if known is None:
            has_spans = pc.greater(pc.list_value_length(notes.column("labels")), 0)
            report.annotated.update(texts.filter(has_spans).to_pylist())
        units = split_batch(notes, data.unit, report.problems).batch
        _count(units, report, coverages, labelled=split != "unlabeled")
    return report


def _count(
    units: pa.RecordBatch, report: SplitReport, coverages: Sequence[Coverage], *, labelled: bool
) -> None:
    """Add documents to the counts of a split."""
    ids, texts, labels = (units.column(name) for name in ("id", "text", "labels"))
    if labelled:
        report.ids.update(ids.to_pylist())
        batch = make_batch(documents_of(units), labelled=True, problems=report.problems)
    else:
        batch = batch_of_texts(texts, ids)
    report.covered.update({coverage.of: coverage.count(batch) for coverage in coverages})
    report.sample.add(units)
    report.documents += len(units)
    report.tokens += batch.n_tokens
    report.empty += int((batch.lengths == 0).sum())
    counts = pc.value_counts(labels.flatten()).to_pylist()
    report.entities.update({count["values"]: count["counts"] for count in counts})
    report.without_entities += int((np.asarray(labels.value_lengths()) == 0).sum())
    report.hashes.update(map(hash, pc.unique(texts).to_pylist()))


def warnings(
    reports: Mapping[str, SplitReport],
    data: DataOptions,
    *,
    batch_size: int,
    classes: Sequence[str] = (),
    coverages: Sequence[Coverage] = (),
) -> Iterator[str]:
    """Yield warnings about the counts, a line each.

    Parameters
    ----------
    reports : mapping of str to SplitReport
        From `check_notes`.
    data : DataOptions
        The documents of the run.
    batch_size : int
        Number of documents in a batch of the loop; 0 for a batch in proportion to their number.
    classes : sequence of str
        The classes that an initial model tags, if there is one.
    coverages : sequence of Coverage
        The resources whose covered tokens were counted.
    """
    yield from _length_warnings(reports, data)
    yield from _class_warnings(reports, classes)
    yield from _id_warnings(reports)
    yield from _shared_warnings(reports)
    if data.deduplicate == "none":
        yield from _copy_warnings(reports["unlabeled"])
    yield from _coverage_warnings(reports, coverages)
    number = reports["unlabeled"].documents
    if not number:
        yield "unlabeled: there are no documents, so iteration 0 will be the only one"
    elif number < batch_size:
        yield (
            f"unlabeled: {number_of(number, 'document')}, fewer than one batch of {batch_size:,}: "
            "there will be one iteration; set [loop] batch lower"
        )
    for split, report in reports.items():
        yield from (f"{split}: {line}" for line in report.problems.lines())
        yield from (f"{split}: {line}" for line in report.unusual.lines())


def samples_of(reports: Mapping[str, SplitReport]) -> dict[str, Batch]:
    """Tokenize the sample of each split, with tags for annotated splits."""
    return {
        split: make_batch(report.sample.documents, labelled=split != "unlabeled")
        for split, report in reports.items()
    }


def reasons_against(
    reports: Mapping[str, SplitReport], data: DataOptions, classes: Sequence[str] = ()
) -> Iterator[str]:
    """Yield why a run would be refused, or stop while it reads the annotated documents.

    See `warnings` for the parameters.
    """
    annotated = {split: report for split, report in reports.items() if split != "unlabeled"}
    for split, report in annotated.items():
        if not report.documents:
            yield f"{split} has no documents"
        elif not report.entities:
            yield f"{split} has no entities"
    if "seed" in annotated and not classes:
        documents = (annotated[split].sample.documents for split in ("seed", "validation"))
        if message := unrelated_classes(*documents):
            yield message
    scored = set().union(*(annotated[name].texts for name in _SCORED if name in annotated))
    if "seed" in annotated and (own := annotated["seed"].annotated) and own <= scored:
        yield "every annotated note of seed has the text of a validation or test note"
    for split in _SCORED:
        if split in annotated and (repeated := annotated[split].repeated):
            yield f"{split} has ids that occur more than once: {len(repeated):,}"
    for split, report in annotated.items():
        yield from (f"{split}: {line}" for line in _stops(data, report))


def _copy_warnings(pool: SplitReport) -> Iterator[str]:
    copies = pool.copies["near", False]
    if copies >= MANY_COPIES and copies > pool.sources / 20:
        yield (
            f"unlabeled: {copies / pool.sources:.0%} of its texts are copies of others, or have "
            'nearly the same words, such as forms with other names; [data] deduplicate = "exact" '
            'or "near" leaves all but one out'
        )


def _stops(rules: DataOptions, report: SplitReport) -> Iterator[str]:
    conflicting = report.problems.conflicting
    if conflicting and rules.conflicts == "stop":
        yield (
            f"a run stops at the first of the overlapping or discontinuous annotations "
            f'({conflicting:,}); [data] conflicts = "longest" keeps the longest'
        )
    faults = {"texts": report.unreadable, "annotations": report.unusable}
    if report.problems.rejected and rules.invalid == "stop":
        number = " and ".join(f"{what} ({count:,})" for what, count in faults.items() if count)
        yield (
            f"a run stops at the first of the {number} that cannot be used; "
            '[data] invalid = "skip" leaves them out'
        )


def cost_line(reports: Mapping[str, SplitReport]) -> str:
    """Estimate what a run with the default settings costs; docs/performance.md has measurements."""
    pool = reports["unlabeled"].tokens / 1e6
    annotated = sum(report.tokens for report in reports.values()) / 1e6 - pool
    seconds = 100 + 60 * pool + 200 * min(pool, 1) + 300 * annotated
    return (
        f"a run with the default settings takes about {number_of(round(seconds / 60), 'minute')} "
        f"of processor time and {0.9 + 0.03 * pool:.1f} GB; networks take longer"
    )


def interval_lines(validation: SplitReport) -> Iterator[str]:
    """Yield how many more validation documents would make the interval of F1 narrow."""
    entities = sum(validation.entities.values())
    # With E entities, the 95 % interval of an F1 of about 0.9 has a width of about E ** -0.5.
    more = round((NARROW**-2 / entities - 1) * validation.documents, -1) if entities else 0
    if more > 0:
        yield (
            f"validation: with {number_of(entities, 'entity', 'entities')}, the 95 % interval of "
            f"F1 is about {entities**-0.5:.2f} wide; for {NARROW:g}, annotate about {more:,.0f} "
            "more such documents"
        )


def _length_warnings(reports: Mapping[str, SplitReport], data: DataOptions) -> Iterator[str]:
    """Warn if annotated and unlabeled documents are not of the same unit, such as lines."""
    means = {
        split: report.tokens / max(report.documents - report.empty, 1)
        for split, report in reports.items()
        if report.tokens
    }
    pool = means.pop("unlabeled", 0)
    for split, mean in means.items():
        if pool and data.unit == "document" and not 1 / UNEQUAL < mean / pool < UNEQUAL:
            yield (
                f"{split}: a document has {mean:,.0f} tokens, and one of unlabeled {pool:,.0f}; if "
                'some are lines and others whole notes, set [data] unit = "line"'
            )


def _class_warnings(reports: Mapping[str, SplitReport], classes: Sequence[str]) -> Iterator[str]:
    annotated = {split: report for split, report in reports.items() if split != "unlabeled"}
    for split, report in annotated.items():
        if not report.entities:
            yield f"{split}: no entities"
        for name, count in sorted(report.entities.items()):
            if count < RARE:
                entity = number_of(count, f"{quoted(name)} entity", f"{quoted(name)} entities")
                yield f"{split}: only {entity}; scores on fewer than {RARE} are unreliable"
    learnable, where = set(classes), "[initial_model]" if classes else "the seed"
    if "seed" in reports:
        learnable |= set(reports["seed"].entities)
    evaluated = set(reports["validation"].entities)
    for name in map(quoted, sorted(evaluated - learnable)):
        yield (
            f"{name} is in validation and not in {where}: it cannot be learned, so all its "
            "entities are missed"
        )
    for name in map(quoted, sorted(learnable - evaluated)):
        yield f"{name} is in {where} and not in validation: it cannot be evaluated"


def _id_warnings(reports: Mapping[str, SplitReport]) -> Iterator[str]:
    for split, report in reports.items():
        if repeated := report.repeated:
            more = ", ..." if len(repeated) > _NAMED else ""
            names = ", ".join(map(quoted, repeated[:_NAMED])) + more
            yield f"{split}: ids that occur more than once: {len(repeated):,} ({names})"


def _coverage_warnings(
    reports: Mapping[str, SplitReport], coverages: Sequence[Coverage]
) -> Iterator[str]:
    for split, report in reports.items():
        for coverage in coverages:
            covered = report.covered[coverage.of]
            if covered < coverage.expected * report.tokens:
                yield (
                    f"{split}: {100 * covered / report.tokens:.1f} % of the tokens have "
                    f"{coverage.of}; {coverage.advice}"
                )


def _shared_warnings(reports: Mapping[str, SplitReport]) -> Iterator[str]:
    for left, right in combinations(reports, 2):
        these, those = reports[left], reports[right]
        if shared := len(these.texts & those.texts):
            pair = left in _SCORED and right == "unlabeled", left == "seed" and right in _SCORED
            end = "; left out" if pair[0] else "; left out of the seed" if pair[1] else ""
            yield f"texts of {left} that are also in {right}: {shared}{end}"
        groups = len(these.groups & those.groups)
        if groups and right in _SCORED:
            yield (
                f"patients (groups) both in {left} and in {right}: {groups}; scores are optimistic"
            )
        elif groups and left in _SCORED:
            yield f"patients of {left} that are also in unlabeled: {groups}; never selected"
