"""The comparison of runs, in groups or as the variants of an experiment.

Compared runs are scored on the same documents, which did not select their iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bootstrap.reports.tables import Estimate
from bootstrap.runs.outcome import f1_gain_interval
from bootstrap.runs.records import DocumentCounts
from corpus.arguments import elements_of, typed
from corpus.evaluation.measures import ConfusionCounts


@dataclass(frozen=True, slots=True)
class Point:
    """The scores of an iteration, and what people had annotated until then.

    Parameters
    ----------
    iteration : int
        The number of the iteration.
    documents, tokens : int
        The documents annotated by people, including the seed, and their tokens.
    counts : ConfusionCounts
        Strict entities in the documents that score.
    validation_f1 : float
        F1 on the validation documents, which selects.
    """

    iteration: int
    documents: int
    tokens: int
    counts: ConfusionCounts
    validation_f1: float


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """The result of a run.

    Parameters
    ----------
    variant : str
        The name of the variant or the group.
    split : str
        The name of the documents that score the run.
    random_state : int or None
        The random state of the run, by which runs are compared in pairs; None for a group of runs,
        in which every run is compared with every run of another group.
    best : int
        The iteration with the highest validation F1.
    points : tuple of Point
        All iterations.
    tested : DocumentCounts
        The counts of the selected iteration in each document.
    seconds : float
        The duration of all iterations.
    """

    variant: str
    split: str
    random_state: int | None
    best: int
    points: tuple[Point, ...]
    tested: DocumentCounts
    seconds: float

    @property
    def pair(self) -> tuple[str, int | None]:
        """What the run shares with runs of other variants: split and random state."""
        return self.split, self.random_state

    @property
    def counts(self) -> ConfusionCounts:
        """Strict entities of the selected iteration in all documents."""
        return self.tested.total

    @property
    def f1(self) -> float:
        """Strict entity F1 of the selected iteration."""
        return self.counts.f1

    def classes(self) -> Mapping[str, ConfusionCounts]:
        """Return the counts of each class."""
        return self.tested.class_counts()

    def at(self, documents: int) -> Point | None:
        """Return the model that a person would use after annotating this number of documents.

        It is the best iteration on validation after the most annotations up to this number, if any.
        """
        points = best_points(self.points, "documents")
        return next((point for point in reversed(points) if point.documents <= documents), None)


def best_points(points: Iterable[Point], axis: str) -> list[Point]:
    """Return the iteration with the highest validation F1 at each place of an axis.

    They are in the order of the places; ties go to the first iteration.

    Parameters
    ----------
    points : iterable of Point
        The iterations of a run.
    axis : {"iteration", "documents", "tokens"}
        The number of the iteration, or what people annotated until then.
    """
    best: dict[int, Point] = {}
    for point in points:
        place = getattr(point, axis)
        if place not in best or point.validation_f1 > best[place].validation_f1:
            best[place] = point
    return [best[place] for place in sorted(best)]


def by_variant(results: Iterable[RunResult]) -> dict[str, list[RunResult]]:
    """Group results by their variant, in their order."""
    groups: dict[str, list[RunResult]] = {}
    for result in results:
        groups.setdefault(result.variant, []).append(result)
    return groups


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a figure over runs.

    Parameters
    ----------
    number : int
        Number of runs.
    mean, deviation, lowest, highest : float
        Mean, standard deviation (of a sample; 0 for one run), minimum and maximum.
    """

    number: int
    mean: float
    deviation: float
    lowest: float
    highest: float

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Self:
        """Compute the distribution of at least one value."""
        array = np.asarray(values, np.float64)
        deviation = float(array.std(ddof=1)) if len(array) > 1 else 0.0
        ends = float(array.min()), float(array.max())
        return cls(len(array), float(array.mean()), deviation, *ends)

    @property
    def range(self) -> tuple[float, float] | None:
        """The lowest and the highest value; None if there is one value."""
        return (self.lowest, self.highest) if self.number > 1 else None

    @property
    def known_deviation(self) -> float | None:
        """The standard deviation; None if there is one value."""
        return self.deviation if self.number > 1 else None

    @property
    def estimate(self) -> Estimate:
        """The mean and the range, as a cell of a table."""
        return Estimate(self.mean, self.range)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the F1 of two variants.

    Parameters
    ----------
    spread : Spread
        The differences of pairs: runs on the same split with the same random state. Without random
        states, the difference of the means.
    interval : tuple of (float, float) or None
        The 95 % confidence interval of the mean difference, from resampled documents: all runs are
        scored on the same ones. It takes the models as they are. None if the documents are too few.
    """

    spread: Spread
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of a variant.

    Parameters
    ----------
    variant : str
        Its name.
    f1 : Spread
        Strict entity F1 of its runs.
    counts : ConfusionCounts
        The counts of all its runs together.
    classes : mapping of str to float
        The mean F1 of each class over the runs.
    documents, tokens : float
        The mean number of documents and tokens annotated by people at the end.
    seconds : float
        The mean duration of a run.
    difference : Difference or None
        The difference to the first variant; None for itself, and without pairs of runs.
    """

    variant: str
    f1: Spread
    counts: ConfusionCounts
    classes: Mapping[str, float]
    documents: float
    tokens: float
    seconds: float
    difference: Difference | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values of JSON."""
        scores = {"precision": self.counts.precision, "recall": self.counts.recall}
        return asdict(self) | {
            "classes": dict(self.classes),
            "counts": scores | self.counts._asdict(),
        }


@typed
def compare(results: Sequence[RunResult], first: str | None = None) -> list[Row]:
    """Compare variants with the first.

    Parameters
    ----------
    results : sequence of RunResult
        The finished runs, in the order of the plan.
    first : str, optional
        The variant that the others are compared with; by default, the first run's variant. Without
        a finished run of it, there are no differences.

    Returns
    -------
    list of Row
        A row for each variant with a finished run.
    """
    groups = by_variant(elements_of(results, "results", RunResult))
    first = next(iter(groups), "") if first is None else first
    names = sorted({name for result in results for name in result.tested.classes})
    return [
        Row(
            variant,
            Spread.from_values([result.f1 for result in runs]),
            ConfusionCounts(*np.sum([result.counts for result in runs], axis=0).tolist()),
            {name: _class_f1(runs, name) for name in names},
            float(np.mean([result.points[-1].documents for result in runs])),
            float(np.mean([result.points[-1].tokens for result in runs])),
            float(np.mean([result.seconds for result in runs])),
            None if variant == first else _difference(groups.get(first, ()), runs),
        )
        for variant, runs in groups.items()
    ]


def _class_f1(results: Sequence[RunResult], name: str) -> float:
    """Return the mean F1 of a class over the runs in which it occurs; 0 if it occurs in none."""
    none = ConfusionCounts(0, 0, 0)
    counts = [result.classes().get(name, none) for result in results]
    return float(np.mean([part.f1 for part in counts if any(part)] or [0.0]))


def _difference(first: Sequence[RunResult], second: Sequence[RunResult]) -> Difference | None:
    """Compare the runs of two variants that have a counterpart; None if none has."""
    shared = {result.pair for result in first} & {result.pair for result in second}
    before, after = (
        sorted((result for result in side if result.pair in shared), key=lambda r: str(r.pair))
        for side in (first, second)
    )
    if not shared:
        return None
    if len(before) == len(after) == len(shared):
        values = [new.f1 - old.f1 for old, new in zip(before, after, strict=True)]
    else:
        means = [float(np.mean([result.f1 for result in side])) for side in (before, after)]
        values = [means[1] - means[0]]
    return Difference(Spread.from_values(values), _interval(before, after))


def _interval(
    before: Sequence[RunResult], after: Sequence[RunResult]
) -> tuple[float, float] | None:
    """Estimate the interval of the mean difference: documents are drawn for all runs alike."""
    units, number = {}, 0
    for split, tested in {result.split: result.tested for result in before}.items():
        units[split] = tested.units + number
        number = int(units[split].max(initial=number - 1)) + 1
    return f1_gain_interval(
        [_in_all_splits(result, units) for result in before],
        [_in_all_splits(result, units) for result in after],
        np.concatenate([*units.values()]),
    )


def _in_all_splits(
    result: RunResult, units: Mapping[str, npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """Return the counts of a run in the documents of all splits: 0 in other splits."""
    parts = [
        result.tested.all_classes
        if split == result.split
        else np.zeros((len(of_split), 3), np.int64)
        for split, of_split in units.items()
    ]
    return np.concatenate(parts)


def compare_at(
    results: Sequence[RunResult], numbers: Sequence[int]
) -> list[tuple[str, list[Point]]]:
    """Compare variants at numbers of annotated documents.

    A variant has no row for a number if all its runs begin with more documents, or if nothing was
    annotated since the number before.

    Returns
    -------
    list of (str, list of Point)
        The name of a variant, and the model of each run at a number; see `RunResult.at`.
    """
    rows = []
    for variant, runs in by_variant(results).items():
        before: list[Point] = []
        for number in sorted(numbers):
            points = [point for result in runs if (point := result.at(number))]
            if points and points != before:
                before = points
                rows.append((variant, points))
    return rows
