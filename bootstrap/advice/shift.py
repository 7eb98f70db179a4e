"""Whether a model fits new notes: how these differ from the notes of its run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.data.samples import sample_of
from corpus.batch import Batch
from corpus.errors import quoted
from corpus.ragged import count_by_row
from corpus.tags import classes_of, find_entities
from taggers import Tagger

#: The share of the notes of the run whose confidence counts as low.
_LOW = 0.1
#: How much more unknown words there may be, in proportion and as a share of all tokens.
_MORE_UNKNOWN, _MORE_POINTS = 1.5, 0.02
#: How many times as often notes may be of low confidence, and tokens in entities of a class.
_MORE_LOW, _OTHER_SHARE = 2.0, 2.0
#: In fewer documents of the run, nothing is judged.
_RARE = 10
#: Resamples of the documents for an interval.
_RESAMPLES = 1000

Figures = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A share in the notes of a run, and in new ones.

    Parameters
    ----------
    name : str
        What it is a share of.
    of_run, of_new : float
        The shares.
    low, high : float
        The 95 % interval of `of_new`, by resampling documents.
    is_large : bool
        Whether the difference is too large for the model, and no chance.
    """

    name: str
    of_run: float
    of_new: float
    low: float
    high: float
    is_large: bool


def find_shift(tagger: Tagger, notes: Batch, new: Batch) -> list[Difference]:
    """Compare new notes with those of a run.

    Compared are unknown words, documents whose confidence is lower than that of nine tenths of
    those of the run, and tokens in entities of each class. One half of the notes of the run are
    those whose words are known, and the other half is compared, so that chance alone makes no
    difference.

    Parameters
    ----------
    tagger : Tagger
        The model of the run.
    notes, new : Batch
        Random samples of the unlabeled notes of the run, at least two, and of the new ones.
    """
    order = np.random.default_rng(0).permutation(len(notes))
    known, compared = (notes.take(np.sort(part)) for part in np.array_split(order, 2))
    new = sample_of(new, len(compared))
    vocabulary = pa.array({*map(str.casefold, known.vocabulary)}, pa.large_string())
    figures = [_figures(batch, tagger, vocabulary) for batch in (compared, new)]
    tokens, unknown_tokens, entities, confidence = zip(*figures, strict=True)
    limit = np.quantile(confidence[0], _LOW)
    is_low = [(part < limit).astype(float) for part in confidence]
    documents = [np.ones(len(part)) for part in confidence]
    unknown = _difference(
        "unknown words",
        unknown_tokens,
        tokens,
        most=lambda share: np.maximum(share * _MORE_UNKNOWN, share + _MORE_POINTS),
    )
    low = _difference(
        "documents of low confidence", is_low, documents, most=lambda share: share * _MORE_LOW
    )
    classes = (
        _difference(
            f"tokens in {quoted(name)}",
            [part[row] for part in entities],
            tokens,
            most=lambda share: share * _OTHER_SHARE,
            least=lambda share: share / _OTHER_SHARE,
        )
        for row, name in enumerate(classes_of(tagger.labels))
    )
    return [unknown, low, *classes]


def _figures(
    batch: Batch, tagger: Tagger, vocabulary: pa.LargeStringArray
) -> tuple[Figures, Figures, Figures, Figures]:
    """Tag documents; return their tokens, unknown ones, those in entities, and the confidence."""
    words = pa.array([*map(str.casefold, batch.vocabulary)], pa.large_string())
    is_unknown = ~np.asarray(pc.is_in(words, vocabulary), bool)[batch.word_ids]
    number, offsets = len(batch), batch.document_offsets
    tagging = tagger.tag(batch, measure="normalised")
    spans = find_entities(tagging.tags, offsets, tagging.labels)
    rows = np.searchsorted(offsets, spans.first, side="right") - 1
    lengths = spans.last - spans.first + 1
    entities = [
        np.bincount(rows[of_class], lengths[of_class], number)
        for of_class in (spans.classes == row for row in range(len(classes_of(tagging.labels))))
    ]
    unknown = count_by_row(is_unknown, offsets).astype(float)
    return batch.lengths.astype(float), unknown, np.array(entities), tagging.confidence


def _difference(
    name: str,
    numbers: Sequence[Figures],
    totals: Sequence[Figures],
    *,
    most: Callable[[Figures], Figures],
    least: Callable[[Figures], Figures] = lambda share: 0 * share,
) -> Difference:
    """Compare numbers of documents in proportion to totals: those of a run, and new ones.

    The difference is large if the new share is beyond `most` or `least` of the other in 99 % of the
    resamples of both, and the other is of some documents.
    """
    rng = np.random.default_rng(0)
    resampled = []
    for part, whole in zip(numbers, totals, strict=True):
        size = len(part)
        weights = rng.multinomial(size, np.full(size, 1 / size), _RESAMPLES)
        resampled.append((weights @ part) / np.maximum(weights @ whole, 1))
    of_run, of_new = (
        float(part.sum() / max(whole.sum(), 1)) for part, whole in zip(numbers, totals, strict=True)
    )
    low, high = (float(share) for share in np.quantile(resampled[1], (0.025, 0.975)))
    above = resampled[1] - most(resampled[0])
    below = least(resampled[0]) - resampled[1]
    is_common = np.count_nonzero(numbers[0]) >= _RARE
    # With 5 % of doubt, shared by a few rows.
    is_large = bool(is_common and max(np.quantile(above, 0.01), np.quantile(below, 0.01)) > 0)
    return Difference(name, of_run, of_new, low, high, is_large)
