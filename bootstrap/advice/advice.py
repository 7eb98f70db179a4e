"""The advice at the end of a run, and its record in ``advice.json``."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.active_learning.choice import ChoiceLimits, choose_round
from bootstrap.advice.lists import (
    EntityRecall,
    ListedRecall,
    UnusedList,
    listed_recall,
    unused_lists,
)
from bootstrap.data.representativeness import compare
from bootstrap.data.samples import sample_of
from bootstrap.data.splits import Notes
from corpus.batch import Batch, concatenate
from corpus.errors import InputError
from corpus.storage.atomic import write_atomically
from corpus.storage.manifest import manifest_bytes, read_manifest
from taggers.base import Tagger
from taggers.options import TaggerOptions

#: The file with the ids of unlabeled documents to annotate, one a line.
ANNOTATE = "annotate.txt"
#: The file with all of the advice; it is written last.
ADVICE = "advice.json"
#: Documents with this Jaccard similarity of their word types or more are near duplicates.
SIMILAR = 0.5
#: The maximum number of documents to annotate.
PROPOSED = 50
#: The maximum numbers of unlabeled documents, and of their tokens, to read.
_MOST_DOCUMENTS = 10_000
_MOST_TOKENS = 2_000_000
#: The measure of confidence. The probability would be lowest for the longest documents, and the
#: probability per token for documents of a few words.
_MEASURE = "min_marginal"


@dataclass(frozen=True, slots=True)
class Advice:
    """What would add most to the recall of a run for the least work.

    Parameters
    ----------
    annotate : tuple of str
        The ids of unlabeled documents to annotate, the most uncertain first.
    considered : int
        The number of unlabeled documents from which they were chosen.
    listed : tuple of ListedRecall
        Classes that should have more entities in the gazetteers of the tagger.
    unused : tuple of UnusedList
        Builtin lists that contain missed entities.
    warnings : tuple of str
        A warning if seed and validation differ (see `bootstrap.data.representativeness`).
    """

    annotate: tuple[str, ...]
    considered: int
    listed: tuple[ListedRecall, ...]
    unused: tuple[UnusedList, ...]
    warnings: tuple[str, ...]


def advise(
    tagger: Tagger,
    options: TaggerOptions,
    notes: Notes,
    missed: Sequence[str],
    *,
    batch_size: int,
    annotated: Sequence[Batch] = (),
) -> Advice:
    """Measure what would add most to the recall of a model.

    Parameters
    ----------
    tagger : Tagger
        The best model of a run.
    options : TaggerOptions
        The options of this model.
    notes : Notes
        The documents of the run. Of the unlabeled documents, the first ones are read.
    missed : sequence of str
        The classes with missed entities, which may be in lists that the model does not use.
    batch_size : int
        The maximum number of unlabeled documents to read: the batch size of the run, or 0 for
        10,000. At most 10,000 documents and 2,000,000 tokens are read.
    annotated : sequence of Batch
        Documents that have been annotated in addition to the seed.

    Raises
    ------
    InputError
        If the unlabeled documents cannot be read.
    """
    validation = notes.validation.batch
    recall = EntityRecall.from_tagging(validation, tagger.tag(validation))
    pool = _first_documents(notes, min(batch_size or _MOST_DOCUMENTS, _MOST_DOCUMENTS))
    candidates = _candidates(pool, notes, annotated)
    confidence = tagger.tag(candidates, measure=_MEASURE).confidence
    chosen = uncertain_documents(candidates, confidence, PROPOSED)
    known = concatenate([notes.seed.batch, *annotated]) if annotated else notes.seed.batch
    splits = {"seed": known, "validation": validation, "unlabeled": pool}
    compared = compare({name: sample_of(batch) for name, batch in splits.items()})
    return Advice(
        annotate=tuple(candidates.ids.take(pa.array(chosen)).to_pylist()),
        considered=len(candidates),
        listed=tuple(listed_recall(recall, options)),
        unused=tuple(unused_lists(recall, options, missed)),
        # The first documents of the pool do not show whether validation represents all of them.
        warnings=tuple(compared.seed_lines()) if compared.seed_is_biased else (),
    )


def _first_documents(notes: Notes, most: int) -> Batch:
    """Read the first unlabeled documents."""
    pool = copy.copy(notes.unlabeled)  # the problems that a run reports do not change
    parts = list(_within(pool.batches(), most))
    return concatenate(parts) if parts else notes.validation.batch.slice(0, 0)


def _within(batches: Iterable[Batch], most: int) -> Iterator[Batch]:
    """Yield batches up to a number of documents and of tokens."""
    tokens = 0
    for batch in batches:
        fitting = int(np.searchsorted(batch.document_offsets[1:], _MOST_TOKENS - tokens, "right"))
        part = batch.slice(0, min(most, max(fitting, 1)))
        most, tokens = most - len(part), tokens + part.n_tokens
        yield part
        if most <= 0 or len(part) < len(batch) or tokens >= _MOST_TOKENS:
            return


def _candidates(pool: Batch, notes: Notes, annotated: Sequence[Batch]) -> Batch:
    """Leave out documents of patients of validation, and texts that are annotated already."""
    groups = pa.array(sorted(notes.validation.own.groups), pa.large_string())
    left_out = pc.is_in(pool.groups, groups).to_numpy(zero_copy_only=False)
    for batch in (notes.seed.batch, *annotated):
        left_out |= pc.is_in(pool.texts, batch.texts).to_numpy(zero_copy_only=False)
    return pool.take(np.flatnonzero(~left_out))


def uncertain_documents(
    batch: Batch, confidence: npt.NDArray[np.float64], number: int
) -> npt.NDArray[np.int64]:
    """Return the documents with the least certain tags, without near duplicates.

    Uncertainty sampling (Lewis and Gale, "A sequential algorithm for training text classifiers",
    SIGIR 1994; for sequences: Culotta and McCallum, AAAI 2005), without documents that resemble a
    more uncertain one.

    Parameters
    ----------
    batch : Batch
        D documents.
    confidence : ndarray of float64, shape (D,)
        The confidence in the tags of each.
    number : int
        The maximum number of documents.

    Returns
    -------
    ndarray of int64, shape (n,)
        The indices of at most `number` documents with tokens, the most uncertain first. No two of
        them have a Jaccard similarity of `SIMILAR` or more; word types are compared in lower case
        and with all digits as 0. Empty if at least half of the documents share the lowest
        confidence, which then ranks nothing. This can happen with a dictionary model.
    """
    filled = confidence[batch.lengths > 0]
    if not len(filled) or np.median(filled) == filled.min():
        return np.zeros(0, np.int64)
    return choose_round(-confidence, batch, ChoiceLimits(number, near_duplicate=SIMILAR))


def save_advice(folder: Path, advice: Advice) -> None:
    """Write the advice of a run into its folder."""
    ids = "".join(f"{_on_a_line(name)}\n" for name in advice.annotate)
    write_atomically(folder / ANNOTATE, ids.encode())
    write_atomically(folder / ADVICE, manifest_bytes(asdict(advice)))


def _on_a_line(name: str) -> str:
    """Return an id, or a JSON string if the id cannot be read back from a line."""
    plain = name.isprintable() and name == name.strip() and name and not name.startswith('"')
    return name if plain else json.dumps(name)


def read_advice(folder: Path) -> Advice | None:
    """Read the advice of a run; None if it has none.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = folder / ADVICE
    if not path.exists():
        return None
    try:
        return msgspec.convert(read_manifest(path).description, Advice)
    except (InputError, ValueError):
        raise InputError(f"{path} is damaged; remove it, and resume the run to write it") from None
