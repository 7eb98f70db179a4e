"""Runs and groups of runs, as a report reads them, and which of them can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from bootstrap.reports.comparison import Point, RunResult
from bootstrap.reports.estimates import ScoreEstimates, estimate_scores
from bootstrap.runs.folder import Run
from bootstrap.runs.metrics import IterationMetrics, f1_of
from bootstrap.runs.outcome import Outcome, held_out_counts
from bootstrap.runs.records import DocumentCounts, RunError
from bootstrap.self_training.stopping import best_iteration
from corpus.errors import InputError
from corpus.evaluation.error_analysis import EntityError


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs that are shown as one, such as runs with several random states; at least one."""

    name: str
    runs: tuple[Run, ...]


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
        Its iterations, at least one.
    test : mapping of int to DocumentCounts
        The counts in the test documents, of the iterations that have some; empty unless requested.
    """

    name: str
    run: Run
    rows: tuple[IterationMetrics, ...]
    test: Mapping[int, DocumentCounts] = field(default_factory=dict)

    @classmethod
    def load(cls, run: Run, name: str, *, test: bool = False) -> RunRecord:
        """Read a run, and its scores on test documents if `test` is true.

        Raises
        ------
        RunError
            If it has no finished iteration, if a file is missing or damaged, or if it has no scores
            on test documents and they are requested.
        """
        rows = tuple(run.metrics())
        if not rows:
            raise RunError(f"{run.folder} has no finished iteration yet")
        if not test:
            return cls(name, run, rows)
        tested = {row.iteration: run.test_counts(row.iteration) for row in rows}
        record = cls(
            name, run, rows, {number: counts for number, counts in tested.items() if counts}
        )
        if record.best not in record.test:
            raise RunError(
                f"{run.folder} has no scores on test documents: its best iteration, "
                f"{record.best}, has no test.parquet"
            )
        return record

    @cached_property
    def best(self) -> int:
        """The number of the best iteration."""
        return best_iteration(f1_of(self.rows))

    @cached_property
    def headline(self) -> Outcome:
        """The gain of the run, on the test documents if they are scored."""
        return self.run.headline()

    @property
    def is_finished(self) -> bool:
        """Whether the run has stopped by itself."""
        return self.headline.stopped is not None

    @cached_property
    def counts(self) -> tuple[DocumentCounts, ...]:
        """The counts of each iteration in the validation documents."""
        return tuple(self.run.validation_counts(row.iteration) for row in self.rows)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the validation documents, and others that were predicted."""
        return tuple(
            sorted({*self.rows[0].classes, *(c for part in self.counts for c in part.classes)})
        )

    @cached_property
    def estimates(self) -> Callable[[int], dict[str, ScoreEstimates]]:
        """A function that returns the scores of an iteration with their intervals."""
        return cache(lambda iteration: estimate_scores(self.counts[iteration]))

    @cached_property
    def errors(self) -> tuple[list[EntityError], ...]:
        """The errors of each iteration."""
        return tuple(self.run.errors(row.iteration) for row in self.rows)

    @property
    def points(self) -> tuple[Point, ...]:
        """The scores of each iteration on validation."""
        return self._points(dict(enumerate(self.counts)))

    def result(self, group: str) -> RunResult:
        """Return the run as a member of a group, on validation.

        Each half of the documents is scored with the iteration that the other half selected.
        """
        counts = held_out_counts(self.rows, self.counts.__getitem__)
        return RunResult(group, "", None, self.best, self.points, _in_order(counts), self._seconds)

    def result_on_test(
        self, group: str, split: str = "", random_state: int | None = None
    ) -> RunResult:
        """Return the run as a member of a group, on the test documents."""
        points, tested = self._points(self.test), _in_order(self.test[self.best])
        return RunResult(group, split, random_state, self.best, points, tested, self._seconds)

    def _points(self, counts: Mapping[int, DocumentCounts]) -> tuple[Point, ...]:
        return tuple(
            Point(row.iteration, row.human_documents, row.human_tokens, scored.total, row.f1)
            for row in self.rows
            if (scored := counts.get(row.iteration))
        )

    @property
    def _seconds(self) -> float:
        return sum(sum(row.seconds.values()) for row in self.rows)

    @cached_property
    def material(self) -> tuple[tuple[object, ...], ...]:
        """What the run is scored on: classes, documents, gold entities, and test documents.

        Test documents are empty unless their scores are read.
        """
        counts = _in_order(self.counts[0])
        gold = [
            (name, *(column[:, 0] + column[:, 2]).tolist())
            for name, column in sorted(counts.classes.items())
        ]
        tested = tuple(sorted(self.test[self.best].ids)) if self.test else ()
        return (
            tuple(sorted(self.rows[0].classes)),
            counts.ids,
            tested,
            tuple(numbers for numbers in gold if any(numbers[1:])),
        )


@dataclass(frozen=True)
class GroupRecord:
    """A group of runs as a report reads it: all of them are scored on the same documents."""

    name: str
    records: tuple[RunRecord, ...]


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


def load_groups(groups: Sequence[RunGroup], *, test: bool = False) -> list[GroupRecord]:
    """Read the runs of groups, and their scores on test documents if `test` is true.

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
                    f"{record.run.folder} and {records[0].run.folder} have the name "
                    f"{group.name}, but {_difference(records[0], record)}; runs of one name "
                    "are averaged, so name them apart"
                )
        loaded.append(GroupRecord(group.name, records))
    return loaded


def _difference(first: RunRecord, other: RunRecord) -> str:
    """Describe why the scores of two runs cannot be compared."""
    names = (
        "classes",
        "validation documents",
        "test documents",
        "annotations of the validation documents",
    )
    pairs = zip(names, first.material, other.material, strict=True)
    return f"are scored on different {next(name for name, old, new in pairs if old != new)}"


def comparable_parts(groups: Iterable[GroupRecord]) -> list[list[GroupRecord]]:
    """Return the groups whose scores can be compared, each set in the order of its first group."""
    parts: dict[object, list[GroupRecord]] = {}
    for group in groups:
        parts.setdefault(group.records[0].material, []).append(group)
    return list(parts.values())


def require_comparable(groups: Sequence[GroupRecord]) -> None:
    """Raise a `RunError` if the scores of a group cannot be on one axis with the first."""
    for group in groups[1:]:
        first, other = groups[0].records[0], group.records[0]
        if first.material != other.material:
            raise RunError(
                f"{first.run.folder} and {other.run.folder} "
                f"{_difference(first, other)}: they cannot be on one axis; plot them apart, or "
                "write a page of both with `bootstrap report`"
            )


def parse_groups(arguments: Sequence[str]) -> list[RunGroup]:
    """Return the groups that a command line names.

    Parameters
    ----------
    arguments : sequence of str
        Run folders, or ``NAME=FOLDER``. Folders of one name are a group; a folder without a name is
        named by its last part, or by its whole path if several are alike.

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
            raise InputError(f"{folder} is named twice; name each run once")
        runs.append(Run(folder))
    return [RunGroup(name, tuple(runs)) for name, runs in groups.items()]


def _name_and_folder(argument: str) -> tuple[str | None, Path]:
    """Split ``NAME=FOLDER``; a folder that exists needs no name, whatever characters it has."""
    name, sign, folder = argument.partition("=")
    if not sign or Path(argument).exists():
        return None, Path(argument)
    if not name.strip() or not folder:
        raise InputError(f"{argument}: expected a run folder or NAME=FOLDER")
    return name.strip(), Path(folder)
