"""Word embeddings and clusters that a run trains on the text of all its documents."""

from __future__ import annotations

import copy
import json
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.data.splits import Notes
from bootstrap.embedding_training import (
    ENCODED,
    EmbeddingRecipe,
    cluster_embeddings,
    encode_notes,
    is_trained,
    locked_folder,
    train_recipes,
    vocabulary_size,
)
from bootstrap.execution.parallel_tagger import ReportStage
from corpus.batch import distinct, joined_keys, keys_of
from corpus.storage.atomic import write_atomically
from corpus.units import unit_texts
from taggers.embeddings import automatic
from taggers.embeddings.embedding_files import cluster_files

_log = logging.getLogger(__name__)

#: The last file of the folder: what was trained.
_DESCRIPTION = "trained.json"

#: The fingerprint of the notes; a run is never resumed with others.
_NOTES: dict[str, Any] = {"source": "the documents of the run", "unit": "line"}


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

    def lines() -> Iterator[pa.LargeStringArray]:
        rng = np.random.default_rng(_seeds(random_state))
        return _lines(notes, rng, report, test_text=test_text)

    return trained_embeddings(
        folder,
        lines,
        random_state,
        jobs=jobs,
        report=report,
    )


def trained_embeddings(
    folder: Path,
    lines: Callable[[], Iterable[pa.LargeStringArray]],
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
        Returns the texts of the documents, split into the unit that context windows do not cross.
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
    lines: Callable[[], Iterable[pa.LargeStringArray]],
    random_state: int,
    *,
    jobs: int,
    report: ReportStage,
) -> None:
    """Train embeddings and clusters, and write a description of them in the end."""
    from taggers.embeddings.clusters import ClusterOptions  # noqa: PLC0415 - numba is slow to import

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
        wanted = [ClusterOptions(k, state) for k in ks]
        tasks = [(folder / recipe.name, wanted) for recipe in recipes]
        cluster_embeddings(tasks, jobs=jobs, report=report)
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


def _lines(
    notes: Notes, rng: np.random.Generator, report: ReportStage, *, test_text: bool = False
) -> Iterator[pa.LargeStringArray]:
    """Yield the lines of all documents; a large pool is sampled."""
    pool = copy.copy(notes.unlabeled)  # only the iterations report problems

    def read(stage: str) -> Iterator[pa.RecordBatch]:
        number = 0
        for units in pool.units():
            number += len(units)
            report(stage, number, 0)
            yield units

    texts = (units.column("text") for units in read("measuring notes"))
    characters = sum(int(np.asarray(pc.utf8_length(part)).sum()) for part in texts)
    share = automatic.MAX_CHARACTERS / max(characters, 1)
    for split in (notes.seed, notes.validation, notes.test if test_text else None):
        if split:
            yield unit_texts(split.batch.texts, "line")
    # Usually, the candidates of active learning are unlabeled documents, too.
    gold = notes.gold.batch if notes.gold else notes.seed.batch.slice(0, 0)
    gold = gold.take(distinct(gold))
    is_unread = np.ones(len(gold), bool)
    for units in read("reading notes"):
        texts = units.column("text")
        if len(gold):
            keys = joined_keys(units.column("id"), texts)
            is_unread &= ~np.asarray(pc.is_in(keys_of(gold), keys))
        if share < 1:
            texts = texts.filter(pa.array(rng.random(len(texts)) < share))
        yield unit_texts(texts, "line")
    yield unit_texts(gold.texts.filter(pa.array(is_unread)), "line")
