"""What the features of words and of their context are read from: clusters, gazetteers, annotators.

The taggers that are trained on annotated documents share these resources and their checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError
from taggers.annotators import ANNOTATORS
from taggers.annotators.phrases import Phrases
from taggers.embeddings.listing import cluster_files
from taggers.options import Coverage
from taggers.templates import Template

if TYPE_CHECKING:
    from taggers.embeddings.word_clusters import WordClusters

#: The stream of the option of the same name.
PHRASES = "phrases"

#: The streams that describe the layout of a document.
LAYOUT = ("header", "colon")

_OTHER_NOTES = "were the embeddings trained on other notes, or on words normalised differently?"


def name_of(template: str) -> str:
    """Return the name of the feature or stream of a template, without its window."""
    return Template.parse(template, (0,)).name


def without_layout(streams: Iterable[str]) -> tuple[str, ...]:
    """Return the templates of streams that do not describe the layout of a document."""
    return tuple(each for each in streams if name_of(each) not in LAYOUT)


def check_streams(names: Sequence[str], phrases: Sequence[str], others: Sequence[str] = ()) -> None:
    """Check that annotators add all streams, since documents have none of their own.

    Parameters
    ----------
    names : sequence of str
        The names of streams.
    phrases : sequence of str
        The gazetteers of the stream "phrases".
    others : sequence of str
        Other names that are accepted.

    Raises
    ------
    InputError
        If a stream does not exist, or "phrases" has no gazetteers.
    """
    known = [*ANNOTATORS, *others]
    for name in names:
        if name == PHRASES and not phrases:
            raise InputError(
                'the stream "phrases" has no phrases: name gazetteers in phrases, or remove it'
            )
        if name not in known:
            raise InputError(
                f'there is no stream or feature "{name}"; the streams are {", ".join(known)}'
            )


def check_lists(names: Sequence[str], phrases: Sequence[str]) -> None:
    """Read gazetteers of names and of phrases.

    Raises
    ------
    InputError
        If one is missing or has another format.
    """
    if phrases:
        Phrases.of_files(phrases)
    if names:
        from taggers.dictionaries.name_frequencies import (  # noqa: PLC0415 - numba is slow to import
            NameFrequencies,
        )
        from taggers.dictionaries.name_lists import read_names  # noqa: PLC0415 - the same

        NameFrequencies.of(read_names(names))


def in_lists(
    batch: Batch, names: Sequence[str], phrases: Sequence[str]
) -> npt.NDArray[np.bool_] | None:
    """Return which tokens are in a phrase, or are words of names.

    Returns
    -------
    ndarray of bool, shape (N,), or None
        None if there are neither names nor phrases.
    """
    if not (names or phrases):
        return None
    found = np.zeros(batch.n_tokens, bool)
    if phrases:
        from gazetteers.phrases.matcher import blocked  # noqa: PLC0415 - numba is slow to import

        stream = Phrases.of_files(phrases).annotate(batch)
        found |= (stream.values >= 0) & ~blocked(stream)
    if names:
        from taggers.dictionaries.name_lists import read_names  # noqa: PLC0415 - the same

        read = read_names(names)
        rows = read.rows(batch.vocabulary)
        found |= ((rows >= 0) & (read.alone[rows] > 0).any(axis=1))[batch.word_ids]
    return found


def cluster_paths(folder: str) -> list[Path]:
    """Return the files of the clusterings of a folder of embeddings."""
    listed = [path for _, path in cluster_files(Path(folder))]
    hashes = sorted({path.with_name("hashes.npy") for path in listed})
    return [*(path.with_suffix(".npy") for path in listed), *hashes]


def check_clusters(folder: str, names: Sequence[str] = ()) -> list[Coverage]:
    """Read clusterings, and return the coverage of tokens by those of each embedding.

    Parameters
    ----------
    folder : str
        A folder of embeddings with clusters.
    names : sequence of str
        The clusterings; all by default.

    Raises
    ------
    InputError
        If there are no clusterings, or one of the names is unknown.
    """
    from taggers.embeddings.word_clusters import (  # noqa: PLC0415 - numba is slow to import
        WordClusters,
    )

    clusters = WordClusters.read(Path(folder), names)
    return [_coverage(WordClusters([table])) for table in clusters.tables]


def _coverage(clusters: WordClusters) -> Coverage:
    embedding = clusters.names[0].rpartition("-k")[0]

    def count(batch: Batch) -> int:
        counts = np.bincount(batch.word_ids, minlength=len(batch.vocabulary)).astype(np.int64)
        return sum(clusters.covered(batch.vocabulary, counts).values())

    return vector_coverage(f"a cluster in {embedding}", count)


def vector_coverage(of: str, count: Callable[[Batch], int]) -> Coverage:
    """Return the coverage of tokens by embeddings, of which half are expected at least."""
    return Coverage(of=of, count=count, expected=0.5, advice=_OTHER_NOTES)
