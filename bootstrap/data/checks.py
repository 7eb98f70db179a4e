"""What there is to know of the notes of a run before anything is trained."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bootstrap.config.configuration import Configuration, DataOptions
from bootstrap.data.splits import digest_of, read_sources, splits_of
from corpus.batch import MISALIGNED, Batch, make_batch
from corpus.counts import WordCounts
from corpus.document import Document
from corpus.errors import InputError, shown
from corpus.formats.annotations import UNUSABLE
from corpus.problems import Problem, Problems
from corpus.units import split_document
from taggers.annotators import Phrases

if TYPE_CHECKING:
    from gazetteers.frequencies import Frequencies
    from taggers.embeddings.word_clusters import WordClusters

#: Fewer entities of a class than this are too few to learn it from, or to judge it by.
RARE = 30

_CHUNK = 5000  # documents tokenized at a time
_NAMED = 3  # ids that a warning names


@dataclass(slots=True)
class SplitReport:
    """Counts of a split.

    Parameters
    ----------
    sources, documents, tokens : int
        Texts in the source, units of them, and their tokens.
    empty : int
        Units without any token.
    without_entities : int
        Units without entities.
    entities : Counter of str
        Entities of each class.
    problems : Problems
        What could not be used as it stood.
    digests : Counter of bytes
        Of the texts of the units, to find duplicates by.
    texts : set of bytes
        Digests of whole texts, to find those by that other splits have too; of unlabeled notes,
        only of those.
    covered : Counter of str
        Tokens whose word has a cluster, by the embedding of the clusters.
    named : int
        Tokens whose word is in the dictionaries that the run starts from.
    ids : Counter of str
        Of the units of annotated notes.
    groups : set of str
        Patients.
    """

    problems: Problems
    sources: int = 0
    documents: int = 0
    tokens: int = 0
    empty: int = 0
    without_entities: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    digests: Counter[bytes] = field(default_factory=Counter)
    texts: set[bytes] = field(default_factory=set)
    covered: Counter[str] = field(default_factory=Counter)
    named: int = 0
    ids: Counter[str] = field(default_factory=Counter)
    groups: set[str] = field(default_factory=set)

    @property
    def duplicates(self) -> int:
        """Units whose text another unit of the split has already."""
        return self.documents - len(self.digests)

    @property
    def repeated(self) -> list[str]:
        """Ids that more than one unit has."""
        return [name for name, count in self.ids.items() if count > 1]

    @property
    def conflicting(self) -> int:
        """Annotations that overlap another one or are discontinuous."""
        return self.problems.conflicting

    @property
    def unusable(self) -> int:
        """Annotations that lie outside of the text, disagree with it or do not parse."""
        return sum(self.problems.counts[kind] for kind in UNUSABLE)

    @property
    def misaligned(self) -> int:
        """Annotations that begin or end within a token."""
        return self.problems.counts[MISALIGNED]

    @property
    def unreadable(self) -> int:
        """Texts that cannot be read."""
        return self.problems.rejected - self.unusable


@dataclass(frozen=True, slots=True)
class Covering:
    """What a run looks words up in.

    Parameters
    ----------
    clusters : WordClusters or None
        Those that its tagger looks at.
    names : Frequencies or None
        The dictionaries that it starts from.
    """

    clusters: WordClusters | None
    names: Frequencies | None

    @classmethod
    def of(cls, configuration: Configuration) -> Covering:
        """Open what a run looks at.

        Raises
        ------
        InputError
            If something is not there.
        """
        return cls(clusters_of(configuration), names_of(configuration))


def check_notes(
    configuration: Configuration, told: Callable[[str, Problem], None] | None = None
) -> dict[str, SplitReport]:
    """Read all notes of a run and count what is in them.

    Parameters
    ----------
    configuration : Configuration
        Problems are collected whatever it says of them.
    told : callable, optional
        Told of each problem and its split; the reports name the first few of a kind.

    Returns
    -------
    dict of str to SplitReport
        By split.
    """

    def problems_of(split: str) -> Problems:
        tell = None if told is None else partial(told, split)
        return Problems(conflicts="longest", invalid="skip", told=tell)

    covering = Covering.of(configuration)
    phrases_of(configuration)  # they are told if they cannot be read
    *annotated, unlabeled = splits_of(configuration.data)
    reports = {
        split: _check_split(configuration, split, problems_of(split), covering)
        for split in annotated
    }
    known = set().union(*(report.texts for report in reports.values()))
    problems = problems_of(unlabeled)
    reports[unlabeled] = _check_split(configuration, unlabeled, problems, covering, known)
    return reports


def _check_split(
    configuration: Configuration,
    split: str,
    problems: Problems,
    covering: Covering,
    known: set[bytes] | None = None,
) -> SplitReport:
    """Count what is in a split, and remember its texts, or those of them that are known."""
    report = SplitReport(problems)
    labelled = split != "unlabeled"
    labels = configuration.labels if labelled else {}
    chunk: list[Document] = []
    for source in read_sources(configuration.data, split, labels, problems):
        report.sources += 1
        digest = digest_of(source)
        if digest is not None and (known is None or digest in known):
            report.texts.add(digest)
        if source.group is not None:
            report.groups.add(source.group)
        chunk += (unit for _, unit in split_document(source, configuration.data.unit, problems))
        if len(chunk) >= _CHUNK:
            _count(chunk, report, labelled, covering)
            chunk = []
    _count(chunk, report, labelled, covering)
    return report


def _count(
    documents: list[Document], report: SplitReport, labelled: bool, covering: Covering
) -> None:
    batch = make_batch(documents, labelled=labelled, problems=report.problems)
    if covering.clusters:
        report.covered.update(covered_tokens(covering.clusters, batch))
    if covering.names:
        counts = np.bincount(batch.words, minlength=len(batch.types))
        report.named += int(counts[covering.names.rows(batch.types) >= 0].sum())
    report.documents += len(batch)
    report.tokens += len(batch.words)
    report.empty += int((batch.lengths == 0).sum())
    if labelled:
        report.ids.update(document.id for document in documents)
    for document in documents:
        report.entities.update(span.label for span in document.spans)
        report.without_entities += not document.spans
        text = document.text.encode("utf-8", "surrogatepass")
        report.digests[hashlib.blake2b(text, digest_size=8).digest()] += 1


def clusters_of(configuration: Configuration) -> WordClusters | None:
    """Open the clusters that the tagger of a run looks at, if it does.

    Raises
    ------
    InputError
        If they are not there.
    """
    if not configuration.tagger.clusters:
        return None
    from taggers.embeddings.word_clusters import WordClusters  # noqa: PLC0415 - slow to import

    options = configuration.tagger
    return WordClusters.read(Path(options.clusters), options.clustering_names)


def names_of(configuration: Configuration) -> Frequencies | None:
    """Read all dictionaries of names and counts of a run, and give those names that it starts from.

    Raises
    ------
    InputError
        If something is not there, or is something else.
    """
    start, others = configuration.start, configuration.tagger.names
    if not (start or others):
        return None
    from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - slow to import
        NameFrequencies,
    )
    from taggers.dictionaries.name_lists import read_names  # noqa: PLC0415 - slow to import

    if others:
        NameFrequencies.of(read_names(others))
    if not start:
        return None
    if not_names := getattr(start.tagger, "not_names", ()):
        read_names(not_names)
    Phrases.of_files(start.tagger.blocked)
    if start.tagger.counts:
        WordCounts.load(Path(start.tagger.counts))
    return read_names(start.tagger.names, start.tagger.classes)


def refuse_unknown_names(configuration: Configuration, seed: Iterable[str]) -> None:
    """Refuse classes of names to tag again that the first model of a run does not tag at all.

    Parameters
    ----------
    configuration : Configuration
        Of the run.
    seed : iterable of str
        The classes of the seed.

    Raises
    ------
    InputError
        If there is one.
    """
    start = configuration.start
    known, what = ({start.tagger.label}, "[start] tags") if start else (set(seed), "the seed has")
    for name in configuration.loop.repeated:
        if name not in known:
            raise InputError(
                f"[loop] repeated names {shown(name)}; {what} only "
                f"{', '.join(map(shown, sorted(known)))}"
            )


def phrases_of(configuration: Configuration) -> Phrases | None:
    """Read the phrases that the tagger of a run looks at, if it does.

    Raises
    ------
    InputError
        If they are not there.
    """
    paths = configuration.tagger.phrases
    return Phrases.of_files(paths) if paths else None


def covered_tokens(clusters: WordClusters, batch: Batch) -> dict[str, int]:
    """Count the tokens of a batch that have a cluster, by embedding."""
    counts = np.bincount(batch.words, minlength=len(batch.types)).astype(np.int64)
    return clusters.covered(batch.types, counts)


def warnings(configuration: Configuration, reports: dict[str, SplitReport]) -> Iterator[str]:
    """Yield what in the counts asks for a second look, a line each."""
    yield from _class_warnings(configuration, reports)
    yield from _id_warnings(reports)
    yield from _shared_warnings(reports)
    yield from _cluster_warnings(reports)
    number, batch = reports["unlabeled"].documents, configuration.loop.batch
    if number < batch:
        yield (
            f"unlabeled: {number:,} documents are fewer than one batch of {batch:,}: there will "
            f"be {'one iteration' if number else 'no iteration'}; set [loop] batch lower"
        )
    for split, report in reports.items():
        yield from (f"{split}: {line}" for line in report.problems.lines())
        yield from (f"{split}: {line}" for line in _stops(configuration.data, report))


def will_not_start(configuration: Configuration, reports: dict[str, SplitReport]) -> bool:
    """Say whether a run would be refused, or would stop while it reads the annotated notes."""
    annotated = [report for split, report in reports.items() if split != "unlabeled"]
    return (
        any(not report.entities for report in annotated)
        or bool(reports["validation"].repeated)
        or any(True for report in annotated for _ in _stops(configuration.data, report))
    )


def _stops(rules: DataOptions, report: SplitReport) -> Iterator[str]:
    if report.conflicting and rules.conflicts == "stop":
        yield (
            f"a run stops at the first of these {report.conflicting} overlapping or discontinuous "
            'annotations; [data] conflicts = "longest" keeps the longest'
        )
    faults = {"texts": report.unreadable, "annotations": report.unusable}
    if report.problems.rejected and rules.invalid == "stop":
        number = " and ".join(f"{count} {what}" for what, count in faults.items() if count)
        yield (
            f"a run stops at the first of these {number} that cannot be used; "
            '[data] invalid = "skip" leaves them out'
        )


def _class_warnings(configuration: Configuration, reports: dict[str, SplitReport]) -> Iterator[str]:
    annotated = {split: report for split, report in reports.items() if split != "unlabeled"}
    for split, report in annotated.items():
        if not report.entities:
            yield f"{split}: not one entity; a run will not start"
        for name, count in sorted(report.entities.items()):
            if count < RARE:
                yield f"{split}: only {count} {shown(name)}; fewer than {RARE} say little"
    taught = {configuration.start.tagger.label} if configuration.start else set()
    where = "[start]" if taught else "the seed"
    if "seed" in reports:
        taught |= set(reports["seed"].entities)
    wanted = set(reports["validation"].entities)
    for name in map(shown, sorted(wanted - taught)):
        yield f"{name} is in validation and not in {where}: nothing can learn it, all are missed"
    for name in map(shown, sorted(taught - wanted)):
        yield f"{name} is in {where} and not in validation: nothing judges it"


def _id_warnings(reports: dict[str, SplitReport]) -> Iterator[str]:
    for split, end in (("seed", ""), ("validation", "; a run will not start")):
        if split in reports and (repeated := reports[split].repeated):
            more = ", ..." if len(repeated) > _NAMED else ""
            names = ", ".join(map(shown, repeated[:_NAMED])) + more
            yield f"{split}: {len(repeated):,} ids are there more than once ({names}){end}"


def _cluster_warnings(reports: dict[str, SplitReport]) -> Iterator[str]:
    for split, report in reports.items():
        for name, covered in report.covered.items():
            if covered < report.tokens / 2:
                yield (
                    f"{split}: {100 * covered / report.tokens:.1f} % of the tokens have a cluster "
                    f"in {name}; was it made of other notes, or of words normalised in another way?"
                )


def _shared_warnings(reports: dict[str, SplitReport]) -> Iterator[str]:
    for left, right in combinations(reports, 2):
        shared = len(reports[left].texts & reports[right].texts)
        if shared:
            held_out = (left, right) == ("validation", "unlabeled")
            end = ", where they are left out" if held_out else ""
            yield f"{shared} texts of {left} are also in {right}{end}"
        groups = len(reports[left].groups & reports[right].groups)
        if groups and (left, right) == ("seed", "validation"):
            yield f"{groups} patients (groups) are in seed and in validation: scores will flatter"
        elif groups and left == "validation":
            yield f"{groups} patients of validation are in unlabeled too and will not be selected"
