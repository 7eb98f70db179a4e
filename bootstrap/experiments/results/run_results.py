"""Results of the runs of an experiment on their test documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bootstrap.experiments.folder import ExperimentFolder, read_run
from bootstrap.runs.document_counts import DocumentCounts
from bootstrap.runs.errors import RunError
from bootstrap.runs.folder import Run
from corpus.scores import ConfusionCounts


@dataclass(frozen=True, slots=True)
class Point:
    """The scores of an iteration, and what people had annotated until then.

    Parameters
    ----------
    iteration : int
        The number of the iteration.
    documents, tokens : int
        The documents annotated by people, those of the seed included, and their tokens.
    counts : ConfusionCounts
        Strict entities in the test documents.
    validation_f1 : float
        F1 on the validation documents.
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
        The name of the variant.
    split : str
        The name of the split.
    random_state : int
        The random state.
    best : int
        The iteration with the highest validation F1.
    points : tuple of Point
        All iterations.
    tested : DocumentCounts
        The counts of the best iteration in each test document.
    seconds : float
        The duration of all iterations.
    """

    variant: str
    split: str
    random_state: int
    best: int
    points: tuple[Point, ...]
    tested: DocumentCounts
    seconds: float

    @property
    def pair(self) -> tuple[str, int]:
        """What the run has in common with those of other variants: split and random state."""
        return self.split, self.random_state

    @property
    def counts(self) -> ConfusionCounts:
        """Strict entities of the best iteration in the test documents."""
        return self.points[self.best].counts

    @property
    def f1(self) -> float:
        """Strict entity F1 of the best iteration on the test documents."""
        return self.counts.f1

    def classes(self) -> Mapping[str, ConfusionCounts]:
        """Return the counts of each class."""
        return self.tested.class_counts()

    def at(self, documents: int) -> Point | None:
        """Return the model that a person would use after annotating this number of documents.

        That is the best on validation of the iterations after the most annotations up to the
        number, if there are any.
        """
        found = [point for point in self.best_points("documents") if point.documents <= documents]
        return found[-1] if found else None

    def best_points(self, annotated: str) -> list[Point]:
        """Return the iteration with the highest validation F1 of those after the same annotations.

        They are in the order of the annotations; of equal ones, the first is taken.

        Parameters
        ----------
        annotated : {"documents", "tokens"}
            What is counted.
        """
        best: dict[int, Point] = {}
        for point in self.points:
            place = getattr(point, annotated)
            if place not in best or point.validation_f1 > best[place].validation_f1:
                best[place] = point
        return [best[place] for place in sorted(best)]


def read_results(experiment: ExperimentFolder) -> list[RunResult]:
    """Read the results of the runs of an experiment that are finished, in the order of the plan.

    Raises
    ------
    RunError
        If the folder is not an experiment, or the files of a run are damaged.
    """
    results, known = [], dict[str, tuple[str, ...]]()
    for variant, split, state, run in experiment.runs():
        with read_run(run):
            found = _result(variant, split, state, run)
        if found:
            if known.setdefault(split, found.tested.ids) != found.tested.ids:
                raise RunError(
                    f"{run.folder}: its scores are of other test documents than those of the other "
                    "runs: the run is damaged; remove its folder to carry it out again"
                )
            results.append(found)
    return results


def _result(variant: str, split: str, random_state: int, run: Run) -> RunResult | None:
    """Read the result of a run; None if it is not finished."""
    if not (run.has_begun() and run.is_finished()):
        return None
    rows, best = run.metrics(), run.best_iteration()
    tested = {row.iteration: run.test_counts(row.iteration) for row in rows}
    if tested[len(rows) - 1] is None:  # it was killed before all models were scored
        return None
    points = tuple(
        Point(
            row.iteration,
            row.human_documents,
            row.human_tokens,
            _total(tested[row.iteration]),
            row.f1,
        )
        for row in rows
    )
    of_best = tested[best]
    assert of_best is not None
    seconds = sum(sum(row.seconds.values()) for row in rows)
    return RunResult(variant, split, random_state, best, points, of_best, seconds)


def _total(counts: DocumentCounts | None) -> ConfusionCounts:
    if counts is None:
        raise RunError("a run has no scores of an iteration on its test documents")
    return ConfusionCounts(*counts.all_classes.sum(axis=0).tolist())


def by_variant(results: Iterable[RunResult]) -> dict[str, list[RunResult]]:
    """Group results by their variant, in their order."""
    groups: dict[str, list[RunResult]] = {}
    for result in results:
        groups.setdefault(result.variant, []).append(result)
    return groups
