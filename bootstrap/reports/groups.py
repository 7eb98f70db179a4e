"""Runs and groups of runs, as a report reads them, and which of them can be compared."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from bootstrap.reports.comparison import Point, RunResult, total_of
from bootstrap.reports.estimates import ScoreEstimates, estimate_scores
from bootstrap.runs.folder import Run
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.outcome import Outcome, held_out_counts
from bootstrap.runs.records import DocumentCounts, RunError, TaggingError
from corpus.errors import InputError, shown


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs that are shown as one, such as those of several random states; at least one."""

    name: str
    runs: tuple[Run, ...]


class _Estimates(dict[int, dict[str, ScoreEstimates]]):
    """The scores of iterations with their intervals, which are computed when they are asked for."""

    def __init__(self, counts: Sequence[DocumentCounts]) -> None:
        super().__init__()
        self._counts = counts

    def __missing__(self, iteration: int) -> dict[str, ScoreEstimates]:
        self[iteration] = estimate_scores(self._counts[iteration])
        return self[iteration]


@dataclass(frozen=True)
class RunRecord:
    """A run as a report reads it.

    Parameters
    ----------
    name : str
        Its name.
    run : Run
        Its folder.
    rows : tuple of IterationMetrics
        Its iterations, of which there is at least one.
    counts : tuple of DocumentCounts
        The counts of each iteration in the validation documents.
    outcome : Outcome
        Its gain.
    test : mapping of int to DocumentCounts
        The counts in the test documents, of the iterations that have some; empty unless requested.
    """

    name: str
    run: Run
    rows: tuple[IterationMetrics, ...]
    counts: tuple[DocumentCounts, ...]
    outcome: Outcome
    test: Mapping[int, DocumentCounts] = field(default_factory=dict)

    @classmethod
    def load(cls, run: Run, name: str, *, test: bool = False) -> RunRecord:
        """Read a run.

        Parameters
        ----------
        run : Run
            Its folder.
        name : str
            Its name in the report.
        test : bool
            Whether its scores on test documents are read, too.

        Raises
        ------
        RunError
            If it has no finished iteration, if a file is missing or damaged, or if it has no scores
            on test documents and they are requested.
        """
        rows = tuple(run.metrics())
        if not rows:
            raise RunError(f"{shown(run.folder)} has no finished iteration yet")
        counts = tuple(run.validation_counts(row.iteration) for row in rows)
        outcome = run.outcome()
        return cls(name, run, rows, counts, outcome, _test(run, rows, outcome) if test else {})

    @property
    def best(self) -> int:
        """The number of the best iteration."""
        return self.outcome.iteration

    @property
    def is_finished(self) -> bool:
        """Whether the run has stopped by itself."""
        return self.outcome.stopped is not None

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the validation documents, and others that were predicted."""
        return tuple(sorted({*self.rows[0].classes}.union(*(each.classes for each in self.counts))))

    @cached_property
    def estimates(self) -> Mapping[int, dict[str, ScoreEstimates]]:
        """The scores of each iteration with their intervals."""
        return _Estimates(self.counts)

    @cached_property
    def errors(self) -> list[TaggingError] | None:
        """The errors of the best iteration; None if they were not recorded."""
        return self.run.errors(self.best)

    @cached_property
    def error_kinds(self) -> tuple[Counter[str] | None, ...]:
        """The number of errors of each iteration by kind; None where they were not recorded."""
        return tuple(self.run.error_kinds(row.iteration) for row in self.rows)

    def result(self, group: str) -> RunResult:
        """Return the run as a member of a group, on validation.

        Each half of the documents is scored with the iteration that the other half selected.
        """
        points = self._points(self.counts)
        return self._result(group, points, held_out_counts(self.rows, self.counts))

    def result_on_test(self, group: str) -> RunResult:
        """Return the run as a member of a group, on the test documents."""
        counts = self.test[self.best]
        return self._result(group, self._points([counts] * len(self.rows)), counts)

    def _points(self, counts: Sequence[DocumentCounts]) -> tuple[Point, ...]:
        return tuple(
            Point(row.iteration, row.human_documents, row.human_tokens, total_of(each), row.f1)
            for row, each in zip(self.rows, counts, strict=True)
        )

    def _result(self, group: str, points: tuple[Point, ...], counts: DocumentCounts) -> RunResult:
        seconds = sum(sum(row.seconds.values()) for row in self.rows)
        return RunResult(group, "", None, self.best, points, _in_order(counts), seconds)

    @cached_property
    def material(self) -> str:
        """A digest of what the run is scored on: documents, classes and gold entities.

        Test documents are part of it if their scores are read.
        """
        counts = _in_order(self.counts[0])
        digest = hashlib.blake2b(repr(sorted(self.rows[0].classes)).encode(), digest_size=16)
        gold = {
            name: (column[:, 0] + column[:, 2]).tolist()
            for name, column in sorted(counts.classes.items())
        }
        gold = {name: numbers for name, numbers in gold.items() if any(numbers)}
        digest.update(repr((counts.ids, gold, self.test_documents)).encode())
        return digest.hexdigest()

    @property
    def test_documents(self) -> tuple[str, ...]:
        """The test documents whose scores are read, in the order of their ids."""
        return tuple(sorted(self.test[self.best].ids)) if self.test else ()


@dataclass(frozen=True)
class GroupRecord:
    """A group of runs as a report reads it: all of them are scored on the same documents."""

    name: str
    records: tuple[RunRecord, ...]

    @property
    def material(self) -> str:
        """A digest of what the runs are scored on; see `RunRecord.material`."""
        return self.records[0].material


def _in_order(counts: DocumentCounts) -> DocumentCounts:
    """Return counts in the order of the ids of their documents."""
    order = np.argsort(np.array(counts.ids, object), kind="stable")
    return replace(
        counts,
        ids=tuple(counts.ids[place] for place in order),
        groups=tuple(counts.groups[place] for place in order),
        classes={name: column[order] for name, column in counts.classes.items()},
        confidence=None,
    )


def _test(
    run: Run, rows: Sequence[IterationMetrics], outcome: Outcome
) -> dict[int, DocumentCounts]:
    """Read the counts in the test documents."""
    counts = {row.iteration: run.test_counts(row.iteration) for row in rows}
    if counts[outcome.iteration] is None:
        raise RunError(
            f"{shown(run.folder)} has no scores on test documents: its best iteration, "
            f"{outcome.iteration}, has no test.parquet"
        )
    return {iteration: each for iteration, each in counts.items() if each}


def load_groups(groups: Sequence[RunGroup], *, test: bool = False) -> list[GroupRecord]:
    """Read the runs of groups.

    Parameters
    ----------
    groups : sequence of RunGroup
        The groups.
    test : bool
        Whether their scores on test documents are read, too.

    Raises
    ------
    RunError
        If a run cannot be read, see `RunRecord.load`, or if runs of a group are scored on
        different documents or classes.
    """
    loaded = []
    for group in groups:
        alone = len(group.runs) == 1
        records = tuple(
            RunRecord.load(run, group.name if alone else f"{group.name} ({number})", test=test)
            for number, run in enumerate(group.runs, 1)
        )
        for record in records[1:]:
            if record.material != records[0].material:
                raise RunError(
                    f"{shown(record.run.folder)} and {shown(records[0].run.folder)} have the name "
                    f"{shown(group.name)}, but {_difference(records[0], record)}; runs of one name "
                    "are averaged, so name them apart"
                )
        loaded.append(GroupRecord(group.name, records))
    return loaded


def _difference(first: RunRecord, other: RunRecord) -> str:
    """Describe why the scores of two runs cannot be compared."""
    if set(first.rows[0].classes) != set(other.rows[0].classes):
        return "are scored on different classes"
    if set(first.counts[0].ids) != set(other.counts[0].ids):
        return "are scored on different validation documents"
    if first.test_documents != other.test_documents:
        return "are scored on different test documents"
    return "are scored on different annotations of the validation documents"


def comparable_parts(groups: Iterable[GroupRecord]) -> list[list[GroupRecord]]:
    """Return the groups whose scores can be compared, each set in the order of its first group."""
    parts: dict[str, list[GroupRecord]] = {}
    for group in groups:
        parts.setdefault(group.material, []).append(group)
    return list(parts.values())


def require_comparable(groups: Sequence[GroupRecord]) -> None:
    """Raise a `RunError` if the scores of a group cannot be on one axis with those of the first."""
    for group in groups[1:]:
        first, other = groups[0].records[0], group.records[0]
        if first.material != other.material:
            raise RunError(
                f"{shown(first.run.folder)} and {shown(other.run.folder)} "
                f"{_difference(first, other)}: they cannot be on one axis; plot them apart, or "
                "write a page of both with `bootstrap report`"
            )


def parse_groups(arguments: Sequence[str]) -> list[RunGroup]:
    """Return the groups that a command line names.

    Parameters
    ----------
    arguments : sequence of str
        Run folders, or ``NAME=FOLDER``. Folders of one name are a group; a folder without a name
        has that of its last part, or its whole path if several are alike.

    Raises
    ------
    InputError
        If a name is empty, or a run is named twice in a group.
    """
    pairs = [_name_and_folder(argument) for argument in arguments]
    plain = [folder.resolve().name for name, folder in pairs if name is None]
    given = {name for name, _ in pairs if name is not None}
    groups: dict[str, list[Run]] = {}
    for name, folder in pairs:
        short = folder.resolve().name
        alone = plain.count(short) == 1 and short not in given
        runs = groups.setdefault(name or (short if alone else str(folder)), [])
        if folder.resolve() in (run.folder.resolve() for run in runs):
            raise InputError(f"{shown(folder)} is named twice; name each run once")
        runs.append(Run(folder))
    return [RunGroup(name, tuple(runs)) for name, runs in groups.items()]


def _name_and_folder(argument: str) -> tuple[str | None, Path]:
    """Split ``NAME=FOLDER``; a folder that exists needs no name, whatever characters it has."""
    name, sign, folder = argument.partition("=")
    if not sign or Path(argument).exists():
        return None, Path(argument)
    if not name.strip() or not folder:
        raise InputError(f"{shown(argument)}: expected a run folder or NAME=FOLDER")
    return name.strip(), Path(folder)
