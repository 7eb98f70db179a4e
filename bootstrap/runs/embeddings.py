"""Word embeddings and clusters that a run trains on the text of all its documents."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bootstrap.data.splits import Notes
from bootstrap.embedding_training import (
    ENCODED,
    EmbeddingRecipe,
    encode_notes,
    is_trained,
    locked_folder,
    train_recipes,
    vocabulary_size,
)
from bootstrap.execution.parallel_tagger import ReportStage
from bootstrap.execution.processes import in_processes
from corpus.document import Document
from corpus.errors import Problems
from corpus.storage.atomic import write_atomically
from corpus.units import split_documents
from taggers.embeddings import automatic
from taggers.embeddings.embedding_files import cluster_files

_log = logging.getLogger(__name__)

#: The last file of the folder: what was trained.
_DESCRIPTION = "trained.json"

#: The fingerprint of the notes; a run is never resumed with others.
_NOTES: dict[str, Any] = {"source": "the documents of the run", "unit": "line"}

_REPORTED = 1000  # documents read between two reports


def embeddings_of_notes(
    folder: Path,
    notes: Notes,
    random_state: int,
    *,
    jobs: int,
    report: ReportStage,
    test_text: bool = False,
) -> Path | None:
    """Train embeddings and clusters of the documents of a run; see `trained_embeddings`.

    `test_text` is whether the text of the test documents is used; labels never are.
    """
    test = notes.test.documents if notes.test and test_text else ()
    return trained_embeddings(
        folder,
        lambda: _lines(notes, np.random.default_rng(_seeds(random_state)), report, test),
        random_state,
        jobs=jobs,
        report=report,
    )


def trained_embeddings(
    folder: Path,
    lines: Callable[[], Iterable[Document]],
    random_state: int,
    *,
    jobs: int,
    report: ReportStage,
) -> Path | None:
    """Train embeddings and clusters in a folder, unless they are there.

    What an interrupted process has begun is continued, with the same result.

    Parameters
    ----------
    folder : Path
        The folder, for these documents and this random state only.
    lines : callable
        Returns the documents, split into the unit that context windows do not cross.
    random_state : int
        The seed.
    jobs : int
        Number of embeddings trained at the same time.
    report : callable
        Called with the progress.

    Returns
    -------
    Path or None
        The folder, or None if the documents have too few words.
    """
    if not (folder / _DESCRIPTION).is_file():
        with locked_folder(folder):
            _train(folder, lines, random_state, jobs=jobs, report=report)
    shutil.rmtree(folder / ENCODED, ignore_errors=True)
    return folder if cluster_files(folder) else None


def _seeds(random_state: int) -> np.random.SeedSequence:
    """Return seeds that differ from the loop's seeds for the same random state."""
    return np.random.SeedSequence([random_state, *b"embeddings"])


def _train(
    folder: Path,
    lines: Callable[[], Iterable[Document]],
    random_state: int,
    *,
    jobs: int,
    report: ReportStage,
) -> None:
    """Train embeddings and clusters, and write a description of them in the end."""
    state = int(_seeds(random_state).generate_state(1)[0])
    counts = encode_notes(folder, lines, _NOTES, resume=True)
    words = vocabulary_size(counts, automatic.NORMALISATION, automatic.min_count_for(counts.tokens))
    ks = automatic.ks_for(words)
    if ks:
        recipes = [
            EmbeddingRecipe(
                automatic.NORMALISATION, automatic.training_options(counts.tokens, window, state)
            )
            for window in automatic.WINDOWS
        ]
        left = [recipe for recipe in recipes if not is_trained(folder, recipe, _NOTES, resume=True)]
        if left:
            train_recipes(folder, left, counts, _NOTES, jobs=jobs, report=report)
        _cluster([folder / recipe.name for recipe in recipes], ks, state, jobs=jobs, report=report)
    else:
        _log.warning(
            "the documents have %s distinct words that are frequent enough, and clusters need %s: "
            'clusters = "%s" has no effect',
            *(f"{words:,}", f"{automatic.MIN_WORDS:,}", automatic.AUTO),
        )
    description = {
        "documents": counts.total,
        "tokens": counts.tokens,
        "words": words,
        "clusterings": [name for name, _ in cluster_files(folder)],
    }
    write_atomically(folder / _DESCRIPTION, json.dumps(description, indent=1).encode())


def _cluster(
    folders: Sequence[Path], ks: Sequence[int], random_state: int, *, jobs: int, report: ReportStage
) -> None:
    """Compute the clusterings of embeddings, each embedding in a process."""
    from taggers.embeddings.clusters import (  # noqa: PLC0415 - numba is slow to import
        ClusterOptions,
        find_clusterings,
    )

    wanted = [ClusterOptions(k, random_state) for k in ks]
    done, total = [0] * len(folders), sum(options.k * options.passes for options in wanted)
    tasks = [(folder, wanted) for folder in folders]
    for number, steps in in_processes(find_clusterings, tasks, jobs=jobs):
        done[number] = steps
        report("training clusters", sum(done), len(folders) * total)


def _lines(
    notes: Notes, rng: np.random.Generator, report: ReportStage, test: Sequence[Document] = ()
) -> Iterator[Document]:
    """Yield the lines of all documents, without labels; a large pool is sampled."""
    candidates = notes.gold.documents if notes.gold else ()
    unread = {(document.id, document.text): document for document in candidates}
    pool = notes.unlabeled
    problems = pool.problems  # only the iterations report problems

    def read(stage: str) -> Iterator[Document]:
        for number, document in enumerate(pool.documents(), start=1):
            if number % _REPORTED == 0:
                report(stage, number, 0)
            yield document

    def sampled() -> Iterator[Document]:
        for document in read("reading notes"):
            unread.pop((document.id, document.text), None)
            if share >= 1 or rng.random() < share:
                yield document

    try:
        characters = sum(len(document.text) for document in read("measuring notes"))
        share = automatic.MAX_CHARACTERS / max(characters, 1)
        yield from _split([*notes.seed.documents, *notes.validation.documents, *test])
        yield from _split(sampled())
        # Usually, the candidates of active learning are unlabeled documents, too.
        yield from _split(unread.values())
    finally:
        pool.problems = problems


def _split(documents: Iterable[Document]) -> Iterator[Document]:
    """Split documents into lines without labels."""
    unlabeled = (replace(document, spans=()) for document in documents)
    return split_documents(unlabeled, "line", Problems())
