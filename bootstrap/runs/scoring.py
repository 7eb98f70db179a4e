"""Scores of the models of a run on test documents, which determine nothing in the run."""

from __future__ import annotations

from bootstrap.config.configuration import Configuration
from bootstrap.data.splits import LabelledNotes
from bootstrap.execution.parallel_tagger import ParallelTagger
from bootstrap.runs.document_counts import DocumentCounts
from bootstrap.runs.folder import Run
from bootstrap.self_training.state import Views
from corpus.evaluation import GoldBatch, score_batches
from corpus.scores import ConfusionCounts


def score_on_test(
    run: Run, test: LabelledNotes, configuration: Configuration, *, jobs: int
) -> None:
    """Score the model of every iteration on the test documents, unless it has been scored.

    Parameters
    ----------
    run : Run
        A finished run; the counts of each document are written to its folder.
    test : LabelledNotes
        The test documents.
    configuration : Configuration
        The configuration of the run.
    jobs : int
        Number of processes that tag.
    """
    gold = GoldBatch.from_documents(test.documents, test.batch)
    loop, measure = configuration.loop, configuration.select.measure
    for iteration in range(len(run.metrics())):
        if run.test_counts(iteration) is None:
            model = run.model_folder(iteration)
            tagger = ParallelTagger.load(model, trusted=configuration.kinds, jobs=jobs)
            views = Views(tagger, measure=measure, propagate=loop.propagate)
            tagging = views.tag(test.batch)
            predicted = test.batch.with_tags(tagging.tags, tagging.labels)
            counts = DocumentCounts.of(test.batch, score_batches(gold, predicted))
            run.save_test_counts(iteration, counts)


def scores_on_test(run: Run, iteration: int) -> ConfusionCounts | None:
    """Return the counts of strict entities in all test documents, if they have been scored."""
    counts = run.test_counts(iteration)
    return ConfusionCounts(*counts.all_classes.sum(axis=0).tolist()) if counts else None


def lines_on_test(run: Run) -> list[str]:
    """Describe the scores of iteration 0 and of the best iteration on the test documents.

    There are no lines if the run has no test documents or is not finished.
    """
    best = run.best_iteration()
    first, last = scores_on_test(run, 0), scores_on_test(run, best)
    if first is None or last is None:
        return []
    line = f"On the test documents, the model of iteration 0 has {_figures(first)}"
    if best:
        line += f"; that of iteration {best}, the best on validation, has {_figures(last)}"
    return [f"{line}."]


def _figures(counts: ConfusionCounts) -> str:
    return f"precision {counts.precision:.3f}, recall {counts.recall:.3f}, F1 {counts.f1:.3f}"
