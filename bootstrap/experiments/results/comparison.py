"""Comparison of the variants of an experiment: mean, spread and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bootstrap.experiments.results.run_results import Point, RunResult, by_variant
from bootstrap.runs.gain import mean_f1_difference_interval
from corpus.scores import ConfusionCounts


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
    def of(cls, values: Sequence[float]) -> Self:
        """Compute the distribution of values, of which there is at least one."""
        found = np.asarray(values, np.float64)
        deviation = float(found.std(ddof=1)) if len(found) > 1 else 0.0
        return cls(
            len(found), float(found.mean()), deviation, float(found.min()), float(found.max())
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the F1 of two variants in pairs of runs.

    Parameters
    ----------
    spread : Spread
        The differences of the pairs: runs on the same split with the same random state.
    interval : tuple of (float, float) or None
        The 95 % confidence interval of the difference, from resampled test documents; None if they
        are too few.
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
        Strict entity F1 of its runs on their test documents.
    counts : ConfusionCounts
        The counts of all its runs together.
    classes : mapping of str to float
        The mean F1 of each class over the runs.
    documents, tokens : float
        The mean number of documents and tokens annotated by people at the end.
    difference : Difference or None
        The difference to the first variant; None for itself, and without pairs of runs.
    """

    variant: str
    f1: Spread
    counts: ConfusionCounts
    classes: Mapping[str, float]
    documents: float
    tokens: float
    difference: Difference | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values of JSON."""
        counts = {
            "precision": self.counts.precision,
            "recall": self.counts.recall,
            **self.counts._asdict(),
        }
        return {**asdict(self), "classes": dict(self.classes), "counts": counts}


def compare(results: Sequence[RunResult], first: str | None = None) -> list[Row]:
    """Compare the variants of an experiment with the first.

    Parameters
    ----------
    results : sequence of RunResult
        The finished runs, in the order of the plan.
    first : str, optional
        The variant that the others are compared with; by default, that of the first run. Without a
        finished run of it, there are no differences.

    Returns
    -------
    list of Row
        A row for each variant with a finished run.
    """
    groups = by_variant(results)
    first = next(iter(groups), "") if first is None else first
    names = sorted({name for result in results for name in result.tested.classes})
    return [
        Row(
            variant,
            Spread.of([result.f1 for result in found]),
            _sum([result.counts for result in found]),
            {name: _class_f1(found, name) for name in names},
            float(np.mean([result.points[-1].documents for result in found])),
            float(np.mean([result.points[-1].tokens for result in found])),
            None if variant == first else _difference(groups.get(first, ()), found),
        )
        for variant, found in groups.items()
    ]


def _sum(counts: Sequence[ConfusionCounts]) -> ConfusionCounts:
    return ConfusionCounts(*np.sum(counts, axis=0).tolist())


def _class_f1(results: Sequence[RunResult], name: str) -> float:
    """Return the mean F1 of a class over the runs in which it occurs; 0 if it occurs in none."""
    none = ConfusionCounts(0, 0, 0)
    found = [result.classes().get(name, none) for result in results]
    return float(np.mean([counts.f1 for counts in found if any(counts)] or [0.0]))


def _difference(first: Sequence[RunResult], second: Sequence[RunResult]) -> Difference | None:
    """Compare runs in pairs; None if there is no pair."""
    by_pair = {result.pair: result for result in first}
    pairs = [(by_pair[result.pair], result) for result in second if result.pair in by_pair]
    if not pairs:
        return None
    spread = Spread.of([after.f1 - before.f1 for before, after in pairs])
    return Difference(spread, _interval(pairs))


def _interval(pairs: Sequence[tuple[RunResult, RunResult]]) -> tuple[float, float] | None:
    """Estimate the interval of the mean difference: test documents are drawn for all runs alike."""
    units, number = {}, 0
    for split, of_split in {left.split: left for left, _ in pairs}.items():
        units[split] = of_split.tested.units + number
        number = int(units[split].max(initial=number - 1)) + 1
    before, after = ([_in_all_splits(pair[side], units) for pair in pairs] for side in (0, 1))
    return mean_f1_difference_interval(before, after, np.concatenate([*units.values()]))


def _in_all_splits(
    result: RunResult, units: Mapping[str, npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """Return the counts of a run in the test documents of all splits: 0 in those of the others."""
    parts = [
        result.tested.all_classes
        if split == result.split
        else np.zeros((len(of_split), 3), np.int64)
        for split, of_split in units.items()
    ]
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class AtDocuments:
    """The figures of a variant at a number of annotated documents.

    Parameters
    ----------
    variant : str
        Its name.
    documents : float
        The mean number of annotated documents, at most the number asked for.
    f1 : Spread
        Strict entity F1 of each run at this number; see `RunResult.at`.
    tokens : float
        The mean number of tokens annotated by people until then.
    """

    variant: str
    documents: float
    f1: Spread
    tokens: float


def compare_at(results: Sequence[RunResult], numbers: Sequence[int]) -> list[AtDocuments]:
    """Compare variants at numbers of annotated documents.

    A variant has no row for a number if all its runs begin with more documents, or if nothing was
    annotated since the number before.
    """
    rows = []
    for variant, found in by_variant(results).items():
        before: list[Point] = []
        for number in sorted(numbers):
            points = [point for result in found if (point := result.at(number))]
            if points and points != before:
                before = points
                f1 = Spread.of([point.counts.f1 for point in points])
                tokens = float(np.mean([point.tokens for point in points]))
                documents = float(np.mean([point.documents for point in points]))
                rows.append(AtDocuments(variant, documents, f1, tokens))
    return rows
