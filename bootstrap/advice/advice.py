"""The advice at the end of a run, and its record in ``advice.json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.advice.documents import uncertain_documents
from bootstrap.advice.lists import (
    EntityRecall,
    ListedRecall,
    UnusedList,
    listed_recall,
    unused_lists,
)
from bootstrap.data.representativeness import compare
from bootstrap.data.sample import sample_of
from bootstrap.data.splits import Notes
from corpus.batch import Batch, concatenate
from taggers.base import Tagger
from taggers.options import TaggerOptions

#: The maximum number of documents to annotate.
PROPOSED = 50
#: The maximum numbers of unlabeled documents, and of their tokens, that are looked at.
_MOST_DOCUMENTS = 10_000
_MOST_TOKENS = 2_000_000
#: The confidence in a document. Its probability would be lowest for the longest documents, and the
#: probability per token for those of a few words.
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
        Classes of which more entities should be in the gazetteers of the tagger.
    unused : tuple of UnusedList
        Builtin lists that contain missed entities.
    warnings : tuple of str
        A seed of another kind than validation (see `bootstrap.data.representativeness`).
    """

    annotate: tuple[str, ...]
    considered: int
    listed: tuple[ListedRecall, ...]
    unused: tuple[UnusedList, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """Build the record from the values that `to_dict` returned.

        Raises
        ------
        ValueError
            If it has other keys or values of other types.
        """
        try:
            found = cls(
                annotate=tuple(map(str, record["annotate"])),
                considered=int(record["considered"]),
                listed=tuple(ListedRecall(**each) for each in record["listed"]),
                unused=tuple(UnusedList(**each) for each in record["unused"]),
                warnings=tuple(map(str, record["warnings"])),
            )
        except (KeyError, TypeError, ValueError):
            raise ValueError("not the advice of a run") from None
        return found


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
        The classes of which entities are missed, and may be in lists that the model does not use.
    batch_size : int
        The maximum number of unlabeled documents to read: that of a batch of the run, or 0 for
        10,000. At most 10,000 documents and 2,000,000 tokens are read.
    annotated : sequence of Batch
        Documents that have been annotated in addition to the seed.

    Returns
    -------
    Advice

    Raises
    ------
    InputError
        If the unlabeled documents cannot be read.
    """
    validation = notes.validation.batch
    recall = EntityRecall.of(validation, tagger.tag(validation))
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
        # The first documents of the pool do not show whether validation stands for all of them.
        warnings=tuple(compared.seed_lines()) if compared.seed_is_biased else (),
    )


def _first_documents(notes: Notes, most: int) -> Batch:
    """Read the first unlabeled documents; the problems that a run reports stay as they are."""
    pool = notes.unlabeled
    problems = pool.problems
    try:
        parts = list(_within(pool.batches(), most))
    finally:
        pool.problems = problems
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
    groups = pa.array(sorted(notes.validation.groups), pa.large_string())
    left_out = pc.is_in(pool.groups, groups).to_numpy(zero_copy_only=False)
    for batch in (notes.seed.batch, *annotated):
        left_out |= pc.is_in(pool.texts, batch.texts).to_numpy(zero_copy_only=False)
    return pool.take(np.flatnonzero(~left_out))
